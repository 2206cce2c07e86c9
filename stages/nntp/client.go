package nntp

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/webrace/webrace/stages/internal/agent"
)

// client asks a server as one of its readers. The answers of servers tell what they can, so that CAPABILITIES, which
// old ones do not know, is not asked for.
type client struct {
	visit  *agent.Visit
	conn   *agent.Conn
	over   net.Conn // conn, or TLS over it
	in     *bufio.Reader
	secure bool // nobody in between can read what is sent
	broken bool // nothing more is to be said to the server
	old    bool // the server knows XOVER, and not OVER
}

// open connects to the server of a visit, makes the connection secure and logs in where that is asked for.
func open(ctx context.Context, v *agent.Visit) (*client, error) {
	c := &client{visit: v}
	return c, c.connect(ctx)
}

// Reopen connects anew, where more is still to come than is wanted.
func (c *client) Reopen(ctx context.Context) error {
	c.broken = true
	if err := c.Close(); err != nil {
		return err
	}
	return c.connect(ctx)
}

func (c *client) connect(ctx context.Context) error {
	over, conn, err := c.visit.Dial(ctx, ports)
	if err != nil {
		return err
	}
	*c = client{visit: c.visit, over: over, conn: conn, in: buffered(over), secure: c.visit.Scheme == "nntps", old: c.old}
	if err := c.begin(ctx); err != nil {
		c.broken = true
		return errors.Join(err, c.Close())
	}
	return nil
}

// begin makes the client a reader, and logs it in. MODE READER comes first: INN speaks the language of servers until
// then, which has no STARTTLS, and its effect is not undone by that (RFC 4642, section 2.2.2).
func (c *client) begin(ctx context.Context) error {
	greeting, err := c.answer("the greeting")
	if err != nil {
		return err
	}
	if greeting.code != 200 && greeting.code != 201 {
		return c.refused(ctx, "the greeting", greeting)
	}
	mode, err := c.ask("MODE READER")
	if err != nil {
		return err
	}
	account := c.visit.Request.Secret != ""
	if account || mode.code == 483 {
		if err := c.startTLS(ctx); err != nil {
			return err
		}
	}
	if account {
		if err := c.logIn(ctx); err != nil {
			return err
		}
	}
	if mode.code == 480 && account || mode.code == 483 && c.secure {
		if mode, err = c.ask("MODE READER"); err != nil {
			return err
		}
	}
	switch mode.code {
	case 200, 201, 500, 501: // servers that have readers alone may not know it
		return nil
	}
	return c.refused(ctx, "MODE READER", mode)
}

// startTLS makes the connection secure, if the server can (RFC 4642). What it has sent before that is of somebody in
// between.
func (c *client) startTLS(ctx context.Context) error {
	if c.secure {
		return nil
	}
	r, err := c.ask("STARTTLS")
	if err != nil || r.code != 382 {
		return err
	}
	if c.in.Buffered() > 0 {
		return agent.Failf("%s sends something between STARTTLS and the secure connection", c.visit.Host)
	}
	secure := tls.Client(c.conn, c.visit.TLS())
	if err := c.conn.Expect(0); err != nil {
		return err
	}
	if err := secure.HandshakeContext(ctx); err != nil {
		return agent.Untrusted(c.conn.Explain(err))
	}
	c.over, c.in, c.secure = secure, buffered(secure), true
	return nil
}

// logIn has the account let in (RFC 4643, section 2.3). Before that RFC, 482 and 452 were refusals, too.
func (c *client) logIn(ctx context.Context) error {
	return c.visit.LogIn(ctx, c.secure, func(user, password string) (accepted bool, err error) {
		r, err := c.ask("AUTHINFO USER", user)
		if err == nil && r.code == 381 {
			r, err = c.ask("AUTHINFO PASS", password)
		}
		switch {
		case err != nil:
			return false, err
		case r.code == 281:
			return true, nil
		case r.code == 481 || r.code == 482 || r.code == 452:
			return false, nil
		}
		return false, c.refused(ctx, "AUTHINFO", r)
	})
}

// ask sends a command, and returns the line that answers it.
func (c *client) ask(verb string, words ...string) (reply, error) {
	line, err := command(verb, words...)
	if err != nil {
		return reply{}, err
	}
	if err := c.send(verb, line, 0); err != nil {
		return reply{}, err
	}
	return c.answer(verb)
}

// send sends commands, whose first answer may have so many bytes.
func (c *client) send(verb, lines string, bytes int64) error {
	if err := c.conn.Expect(bytes); err != nil {
		return err
	}
	_, err := c.over.Write([]byte(lines))
	return c.failed(verb, err)
}

// answer reads the line of an answer. A server that is not there for a while is asked again later.
func (c *client) answer(verb string) (reply, error) {
	line, err := readLine(c.in)
	if err != nil {
		return reply{}, c.failed(verb, err)
	}
	r, ok := parseReply(line)
	switch {
	case !ok:
		c.broken = true
		return reply{}, c.visit.Said(verb, fmt.Errorf("what it answers is no NNTP: %s", visible(string(line))))
	case r.code == 400 || r.code == 403:
		c.broken = true
		return reply{}, errors.New(c.said(verb, r, "it is to be asked again later").Error())
	}
	return r, nil
}

// said makes an error of an answer that would come again, and of what it means.
func (c *client) said(verb string, r reply, means string) error {
	return agent.Failf("%v (%s)", c.visit.Said(verb, fmt.Errorf("%d %s", r.code, r.text)), means)
}

// refused is the error of an answer that is none of those which a command has when all is well.
func (c *client) refused(ctx context.Context, verb string, r reply) error {
	switch {
	case r.code == 480 && c.visit.Request.Secret == "":
		return c.visit.LogIn(ctx, c.secure, nil)
	case r.code == 480:
		return c.said(verb, r, "it asks for another account than that of secret "+c.visit.Request.Secret)
	case r.code == 483 && !c.secure:
		return c.said(verb, r, "it asks for a secure connection, and makes none by STARTTLS; nntps:// begins with one")
	case r.code == 502 && strings.HasPrefix(verb, "AUTHINFO"):
		return c.said(verb, r, "it takes no account; what anybody may read needs no secret")
	case r.code == 502:
		return c.said(verb, r, "it does not let this be read")
	}
	return c.said(verb, r, "which was not expected")
}

// failed is the error of a connection. What the network does may pass.
func (c *client) failed(verb string, err error) error {
	if err == nil {
		return nil
	}
	c.broken = true
	if err = c.conn.Explain(err); errors.Is(err, agent.ErrTooMuch) {
		return err
	}
	return fmt.Errorf("%s: %w", verb, err)
}

// Resume gives the session to another visit.
func (c *client) Resume(ctx context.Context, v *agent.Visit) {
	c.visit = v
	c.conn.Resume(ctx)
}

// Rest lets the session be nobody's. A server that has more to tell than it was asked for is left.
func (c *client) Rest() bool { return !c.broken && c.in.Buffered() == 0 && c.conn.Rest() }

// Close takes leave of a server that is still there.
func (c *client) Close() error {
	if !c.broken {
		_ = c.send("QUIT", "QUIT\r\n", 0) // it may have gone first; its answer is not waited for
	}
	if err := c.conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
