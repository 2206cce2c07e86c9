package agent

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"net"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/credentials"
)

// Conn is a connection to a server that may say anything: who asks it for something says first how many bytes may come,
// and has an end of the time that it may take. Deadlines that are set by others are passed over.
type Conn struct {
	net.Conn
	within time.Duration

	mu       sync.Mutex
	left     int64
	deadline time.Time
	stop     func() bool // forgets the context with which it ends
}

// ErrTooMuch means that more has come than was expected.
var ErrTooMuch error = &Failure{"the server sends more than it was asked for"}

// besides is how many bytes an answer may have that was not asked for more: a greeting, or what is said about a
// mailbox.
const besides = 64 << 10

// Expect allows so many bytes for what is asked next, with what TLS adds to them, and lets its time begin.
func (c *Conn) Expect(bytes int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left <= 0 && !c.deadline.IsZero() { // the connection is over, and its reader tells why
		return nil
	}
	c.left, c.deadline = bytes+bytes/8+besides, time.Now().Add(c.within)
	if err := c.Conn.SetDeadline(c.deadline); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

func (c *Conn) Read(b []byte) (int, error) {
	c.mu.Lock()
	left := c.left
	c.mu.Unlock()
	if left <= 0 {
		return 0, ErrTooMuch
	}
	n, err := c.Conn.Read(b[:min(int64(len(b)), left)])
	c.mu.Lock()
	c.left -= int64(n)
	c.mu.Unlock()
	return n, err
}

// Resume has the connection end with ctx, in the place of what it ended with before.
func (c *Conn) Resume(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { c.Conn.Close() })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop = stop
}

// Rest has the connection end with nothing, and lets the server be silent, until it is resumed. It returns false if
// the connection has ended.
func (c *Conn) Rest() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stop() || c.left <= 0 {
		return false
	}
	c.left, c.deadline = besides, time.Time{}
	return c.Conn.SetDeadline(c.deadline) == nil
}

// Close ends the connection.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stop()
	return c.Conn.Close()
}

// Explain returns [ErrTooMuch] in the place of an error that comes of it: libraries keep no more of errors than their
// texts.
func (c *Conn) Explain(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil && c.left <= 0 {
		return ErrTooMuch
	}
	return err
}

// The library that speaks the protocol has limits of its own, which are no limits of a visit.
func (c *Conn) SetDeadline(time.Time) error      { return nil }
func (c *Conn) SetReadDeadline(time.Time) error  { return nil }
func (c *Conn) SetWriteDeadline(time.Time) error { return nil }

// Dial connects to the server of the source, by TLS where its scheme is one of those that begin with it. The connection
// ends with ctx.
func (v *Visit) Dial(ctx context.Context, ports map[string]string) (conn net.Conn, raw *Conn, err error) {
	host, port := v.Host, ports[v.Scheme]
	if h, p, err := net.SplitHostPort(v.Host); err == nil {
		host, port = h, p
	}
	within, cancel := context.WithTimeout(ctx, time.Duration(v.agent.options.ConnectTimeout))
	defer cancel()
	dialer := net.Dialer{Control: v.agent.guard.Control}
	under, err := dialer.DialContext(within, "tcp", net.JoinHostPort(trimBrackets(host), port))
	if err != nil {
		return nil, nil, err
	}
	raw = &Conn{Conn: under, within: time.Duration(v.agent.options.Timeout)}
	raw.Resume(ctx)
	if err := raw.Expect(besides); err != nil {
		return nil, nil, errors.Join(err, raw.Close())
	}
	if !encrypted[v.Scheme] {
		return raw, raw, nil
	}
	secure := tls.Client(raw, v.TLS())
	if err := secure.HandshakeContext(within); err != nil {
		raw.Close() // which may be closed, since its time was over
		return nil, nil, Untrusted(raw.Explain(err))
	}
	return secure, raw, nil
}

var encrypted = map[string]bool{"imaps": true, "pop3s": true, "nntps": true}

// TLS is how a secure connection to the server of the source is made.
func (v *Visit) TLS() *tls.Config {
	host := v.Host
	if h, _, err := net.SplitHostPort(v.Host); err == nil {
		host = h
	}
	return &tls.Config{ServerName: trimBrackets(host), MinVersion: tls.VersionTLS12}
}

func trimBrackets(host string) string {
	if len(host) > 1 && host[0] == '[' && host[len(host)-1] == ']' {
		return host[1 : len(host)-1]
	}
	return host
}

// Untrusted makes of an error of TLS that another try would meet again what came of the visit.
func Untrusted(err error) error {
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	if errors.As(err, &certificate) || errors.As(err, &record) {
		return Failf("no secure connection can be made: %v", err)
	}
	return err
}

// LogIn has the account of the visit's secret let in by a function that returns whether the server took it. The
// password goes to no server that the secret is not for. A source without a secret is a failure.
func (v *Visit) LogIn(ctx context.Context, secure bool, in func(user, password string) (accepted bool, err error)) error {
	name := v.Request.Secret
	if name == "" {
		return Failf("the URD names no secret, and %s asks for an account: webrace-store secret set NAME --kind basic --user USER --host %s, and secret=\"NAME\" in the URD", v.Host, v.Host)
	}
	err := v.obtain(ctx, secure)
	switch {
	case errors.Is(err, credentials.ErrNothing):
		return Failf("secret %s is of kind none, and %s asks for an account", name, v.Host)
	case err != nil:
		return err
	case v.grant == nil:
		return Failf("secret %s is not for %s: webrace-store secret set %s --host %s says that it is", name, v.Host, name, v.Host)
	}
	user, password, ok := v.grant.Account()
	if !ok {
		return Failf("secret %s is no account: webrace-store secret set %s --kind basic --user USER stores one", name, name)
	}
	accepted, err := in(user, password)
	if err != nil {
		return err
	}
	paused := v.grant.LoggedIn(accepted)
	if accepted {
		v.asked = account{v.Scheme, v.Host, user, password}
		return nil
	}
	v.agent.env.Counter("unauthorized").Add(1)
	if paused {
		v.agent.env.Counter("secrets_paused").Add(1)
		v.agent.env.Logger.Warn("a secret was refused too often, and is not sent there for a while (option unauthorized_pause)", "secret", name, "host", v.Host)
	}
	return Failf("%s does not accept secret %s (basic): webrace-store secret set %s stores another", v.Host, name, name)
}

// obtain obtains what the secret of the visit grants at its server, by a connection that is secure or not.
func (v *Visit) obtain(ctx context.Context, secure bool) error {
	broker, err := v.agent.broker()
	if err != nil {
		return err
	}
	scheme := v.Scheme
	if secure && !encrypted[scheme] {
		scheme += "s" // it was made secure
	}
	v.grant, err = broker.Grant(ctx, v.Request.Secret, scheme, v.Host, v.Request.Reach)
	return err
}

// account returns as whom the visit may ask the server; ok is false if it may not, or not by a password. Nothing is
// sent.
func (v *Visit) account(ctx context.Context) (of account, ok bool) {
	of = account{scheme: v.Scheme, host: v.Host}
	if v.Request.Secret != "" {
		if v.obtain(ctx, true) != nil || v.grant == nil {
			return account{}, false
		}
		v.grant.Close()
		if of.user, of.password, ok = v.grant.Account(); !ok {
			return account{}, false
		}
	}
	v.asked = of
	return of, true
}

// Reveals reports whether a text holds the secret of the visit, also as SASL PLAIN sends it (RFC 4616).
func (v *Visit) Reveals(text string) bool {
	if v.grant == nil {
		return false
	}
	user, password, _ := v.grant.Account()
	return v.grant.Reveals(text) || strings.Contains(text, base64.StdEncoding.EncodeToString([]byte("\x00"+user+"\x00"+password)))
}

// Said makes an error of what a server answered to a command.
func (v *Visit) Said(command string, err error) error {
	return Failf("%s: %s: %.300s", v.Host, command, v.plain(err.Error()))
}

// plain is a text that a server may have a part in, without what it repeats of the secret, and without characters that
// do something to a terminal.
func (v *Visit) plain(text string) string {
	if v.Reveals(text) {
		return "the answer holds the secret"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n': // between the errors of a command, and of the end of the session
			return ' '
		case !unicode.IsPrint(r):
			return utf8.RuneError
		}
		return r
	}, text)
}
