package mailout

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/textproto"
	"strconv"
	"time"

	gomail "github.com/wneessen/go-mail"

	"github.com/webrace/webrace/internal/credentials"
)

// deliver hands a mail to the server until it is accepted.
func (s *stage) deliver(ctx context.Context, m *gomail.Msg) error {
	for attempt := 1; ; attempt++ {
		err := s.attempt(ctx, m)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case isPermanent(err):
			s.env.Counter("refused").Add(1)
			return err
		case attempt == s.options.Attempts:
			s.env.Counter("given_up").Add(1)
			return fmt.Errorf("%d times (option attempts): %w", attempt, err)
		}
		s.env.Counter("repeated").Add(1)
		wait := time.NewTimer(s.backoff(attempt))
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return ctx.Err()
		}
	}
}

// backoff is how long to wait after so many attempts: about twice as long each time, and never the same for
// all who wait.
func (s *stage) backoff(attempts int) time.Duration {
	wait, most := time.Duration(s.options.Backoff), time.Duration(s.options.MaxBackoff)
	for range attempts - 1 {
		if wait >= most/2 {
			wait = most
			break
		}
		wait *= 2
	}
	return wait/2 + rand.N(wait/2+1)
}

// attempt hands the mail over once, by a connection of its own.
func (s *stage) attempt(ctx context.Context, m *gomail.Msg) error {
	ctx, end := context.WithCancel(ctx)
	defer end() // and with it the connection, in any case
	version := s.secrets.Version(s.options.Secret)
	client, err := s.dial(ctx)
	if isLogin(err) && s.renewed(ctx, version) {
		client, err = s.dial(ctx)
	}
	if err != nil {
		return err
	}
	defer client.Close() // the mail was accepted or not before that
	err = client.Send(m)
	if m.IsDelivered() {
		return nil
	}
	return err
}

// dial connects, and logs in.
func (s *stage) dial(ctx context.Context) (*gomail.Client, error) {
	o := s.options
	settings := []gomail.Option{
		gomail.WithTimeout(time.Duration(o.Timeout)), gomail.WithHELO(s.domain()),
		gomail.WithTLSConfig(s.tlsConfig()),
		gomail.WithTLSPolicy(gomail.NoTLS),
	}
	if o.TLS == "starttls" {
		settings = append(settings, gomail.WithTLSPolicy(gomail.TLSMandatory))
	}
	settings = append(settings, gomail.WithDialContextFunc(func(_ context.Context, network, address string) (net.Conn, error) {
		return s.connect(ctx, network, address)
	}))
	user, password, err := s.login(ctx)
	if err != nil {
		return nil, err
	}
	if user != "" {
		how := map[string]gomail.SMTPAuthType{
			"starttls": gomail.SMTPAuthAutoDiscover, "tls": gomail.SMTPAuthPlain, "none": gomail.SMTPAuthPlainNoEnc, // on this machine
		}[o.TLS]
		settings = append(settings, gomail.WithSMTPAuth(how), gomail.WithUsername(user), gomail.WithPassword(password))
	}
	port := o.Port
	if port == 0 {
		port = map[string]int{"starttls": 587, "tls": 465, "none": 25}[o.TLS]
	}
	client, err := gomail.NewClient(o.Host, append(settings, gomail.WithPort(port))...)
	if err != nil {
		return nil, err
	}
	return client, client.DialWithContext(ctx)
}

// connect connects to the server, until the context ends: a run that is cancelled waits for no server.
func (s *stage) connect(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: time.Duration(s.options.Timeout)}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	if s.options.TLS != "tls" {
		return conn, nil
	}
	secure := tls.Client(conn, s.tlsConfig())
	handshake, end := context.WithTimeout(ctx, dialer.Timeout)
	defer end()
	if err := secure.HandshakeContext(handshake); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return secure, nil
}

func (s *stage) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: s.options.Host, RootCAs: s.roots, MinVersion: tls.VersionTLS12}
}

// login returns who we are to the server; nothing if it need not know.
func (s *stage) login(ctx context.Context) (user, password string, err error) {
	if s.options.Secret == "" {
		return "", "", nil
	}
	secret, err := s.secrets.Get(ctx, s.options.Secret)
	bounds, host := secret.Bounds(), s.options.Host
	switch {
	case err != nil:
		return "", "", fmt.Errorf("option secret: %w", err)
	case secret.Kind() != credentials.KindBasic:
		return "", "", fmt.Errorf("option secret: %s is no user and password (webrace-store secret set %[1]s --kind basic --user U)", s.options.Secret)
	case len(bounds.Hosts) > 0 && !bounds.Admit(host) && !bounds.Admit(net.JoinHostPort(host, strconv.Itoa(s.options.Port))):
		return "", "", fmt.Errorf("option secret: %s is not for %s: webrace-store secret set %[1]s --host %[2]s … allows it", s.options.Secret, host)
	}
	user, password = secret.Reveal()
	return user, password, nil
}

// isLogin reports whether the server refuses who we claim to be (RFC 4954, section 6).
func isLogin(err error) bool {
	var reply *textproto.Error
	return errors.As(err, &reply) && (reply.Code == 535 || reply.Code == 530)
}

// renewed has the secret read anew that was refused, and reports whether it is another one now.
func (s *stage) renewed(ctx context.Context, version uint64) bool {
	renewed, err := s.secrets.Renew(ctx, s.options.Secret, version)
	if err != nil {
		s.env.Logger.Warn("the secret is not accepted, and no other can be read", "error", err)
	}
	if renewed {
		s.env.Counter("secrets_renewed").Add(1)
	}
	return renewed
}

// isPermanent reports whether the server has refused for good (a reply of 5xx).
func isPermanent(err error) bool {
	var sent *gomail.SendError
	if errors.As(err, &sent) && sent.ErrorCode() > 0 {
		return sent.ErrorCode() >= 500
	}
	var reply *textproto.Error
	return errors.As(err, &reply) && reply.Code >= 500
}
