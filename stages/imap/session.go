package imap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
	"github.com/emersion/go-sasl"

	"github.com/webrace/webrace/stages/internal/agent"
)

// session is all that is asked of a server that has let an account in. It stands between the stage and a library that
// is a beta.
type session interface {
	Examine(name string) (mailbox, error)                            // opens it, to be read only
	List(first, last uint32) (uids []uint32, err error)              // of messages by their place in the mailbox, from 1
	Fetch(uids []uint32, most int64, each func(message) error) error // at most so many bytes of each, in ascending order
	agent.Session
}

// mailbox is what a server tells of one.
type mailbox struct {
	Validity, Next uint32 // Next is 0 where the server does not say
	Messages       uint32
}

// message is one that was fetched.
type message struct {
	body      []byte
	truncated bool
}

// mostListed is how many messages may be new at one visit.
const mostListed = 1_000_000

// client is a session by go-imap.
type client struct {
	*imapclient.Client
	visit  *agent.Visit
	conn   *agent.Conn
	over   net.Conn // the connection by which the library speaks: conn, or TLS over it
	broken bool     // nothing more is to be said to the server
}

// open connects to the server of a visit, makes the connection secure, and logs in.
func open(ctx context.Context, v *agent.Visit) (session, error) {
	c, secure, err := connect(ctx, v)
	if err != nil {
		return nil, err
	}
	if err := c.logIn(ctx, secure); err != nil {
		c.broken = true
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// connect connects to the server, and tells whether nobody in between can read what is said. By the scheme imap that is
// asked for; where a server cannot, the password is not sent, unless it may be.
func connect(ctx context.Context, v *agent.Visit) (c *client, secure bool, err error) {
	if c, err = dial(ctx, v); err != nil {
		return nil, false, err
	}
	if v.Scheme == "imaps" {
		c.Client = imapclient.New(c.over, nil)
		return c, true, c.greeted()
	}
	c.Client, err = imapclient.NewStartTLS(c.over, &imapclient.Options{TLSConfig: v.TLS()})
	var refused *imap.Error
	switch {
	case err == nil:
		return c, true, nil
	case !errors.As(err, &refused):
		return nil, false, errors.Join(agent.Untrusted(c.conn.Explain(err)), closed(c.over))
	}
	if err := closed(c.over); err != nil {
		return nil, false, err
	}
	if c, err = dial(ctx, v); err != nil {
		return nil, false, err
	}
	c.Client = imapclient.New(c.over, nil)
	return c, false, c.greeted()
}

func dial(ctx context.Context, v *agent.Visit) (*client, error) {
	over, conn, err := v.Dial(ctx, ports)
	if err != nil {
		return nil, err
	}
	return &client{visit: v, over: over, conn: conn}, nil
}

// greeted waits for the server to say that it is one.
func (c *client) greeted() error {
	err := c.WaitGreeting()
	if err == nil {
		return nil
	}
	c.broken = true
	return errors.Join(c.failed("the greeting", err), c.Close())
}

// logIn has the account let in. A server that takes none without TLS says so.
func (c *client) logIn(ctx context.Context, secure bool) error {
	if err := c.conn.Expect(0); err != nil {
		return err
	}
	caps := c.Caps()
	if c.State() == imap.ConnStateAuthenticated { // it knows by the network who asks
		return nil
	}
	return c.visit.LogIn(ctx, secure, func(user, password string) (accepted bool, err error) {
		if caps.Has(imap.CapLoginDisabled) && !caps.Has(imap.AuthCap(sasl.Plain)) {
			return false, agent.Failf("%s lets nobody in by a password", c.visit.Host)
		}
		if err := c.conn.Expect(0); err != nil {
			return false, err
		}
		if caps.Has(imap.AuthCap(sasl.Plain)) {
			err = c.Authenticate(sasl.NewPlainClient("", user, password))
		} else {
			err = c.Login(user, password).Wait()
		}
		var refused *imap.Error
		if errors.As(err, &refused) && refused.Type == imap.StatusResponseTypeNo && refused.Code != imap.ResponseCodeUnavailable {
			return false, nil
		}
		return err == nil, c.failed("LOGIN", err)
	})
}

// Examine opens a mailbox such that nothing in it is changed.
func (c *client) Examine(name string) (mailbox, error) {
	if err := c.conn.Expect(0); err != nil {
		return mailbox{}, err
	}
	is, err := c.Select(name, &imap.SelectOptions{ReadOnly: true}).Wait()
	if err != nil {
		return mailbox{}, c.failed("EXAMINE "+name, err)
	}
	if is.UIDValidity == 0 {
		return mailbox{}, agent.Failf("%s does not say under which UIDVALIDITY the messages of %s are numbered, so that new ones cannot be told", c.visit.Host, name)
	}
	return mailbox{Validity: is.UIDValidity, Next: uint32(is.UIDNext), Messages: is.NumMessages}, nil
}

// listedBytes is more than the line of a UID has.
const listedBytes = 64

// List returns the UIDs of the messages in these places.
func (c *client) List(first, last uint32) (uids []uint32, err error) {
	if err := c.conn.Expect(int64(last-first+1) * listedBytes); err != nil {
		return nil, err
	}
	var places imap.SeqSet
	places.AddRange(first, last)
	listing := c.Client.Fetch(places, &imap.FetchOptions{UID: true})
	for m := listing.Next(); m != nil; m = listing.Next() {
		for item := m.Next(); item != nil; item = m.Next() {
			if uid, ok := item.(imapclient.FetchItemDataUID); ok {
				uids = append(uids, uint32(uid.UID))
			}
		}
	}
	return uids, c.failed("FETCH", listing.Close())
}

// wholeMessage asks for a message, and marks it as read by nobody.
func wholeMessage(most int64) *imap.FetchOptions {
	return &imap.FetchOptions{UID: true, BodySection: []*imap.FetchItemBodySection{{Peek: true, Partial: &imap.SectionPartial{Size: most + 1}}}}
}

// Fetch passes messages on as they come.
func (c *client) Fetch(uids []uint32, most int64, each func(message) error) (err error) {
	var set imap.UIDSet
	for _, uid := range uids {
		set.AddNum(imap.UID(uid))
	}
	if err := c.conn.Expect(most); err != nil {
		return err
	}
	fetching := c.Client.Fetch(set, wholeMessage(most))
	torn := false // a literal could not be read to its end: the library goes on behind it, and must not be made to read it
	defer func() {
		if err != nil { // what is still to come is not waited for
			c.broken = true
			c.conn.Close()
		}
		if torn {
			return
		}
		if closed := c.failed("UID FETCH", fetching.Close()); err == nil {
			err = closed
		}
	}()
	for data := fetching.Next(); data != nil; data = fetching.Next() {
		m, err := read(data, most)
		if torn = err != nil; torn {
			return c.failed("UID FETCH", err)
		}
		if err := c.conn.Expect(most); err != nil {
			return err
		}
		if m.body == nil { // news of its flags alone
			continue
		}
		if err := each(m); err != nil {
			return err
		}
	}
	return nil
}

// read reads a message as it comes.
func read(data *imapclient.FetchMessageData, most int64) (m message, err error) {
	for item := data.Next(); item != nil; item = data.Next() {
		switch item := item.(type) {
		case imapclient.FetchItemDataBodySection:
			if item.Literal == nil || m.body != nil {
				continue
			}
			if m.body, err = readBody(item.Literal, most+1); err != nil {
				return m, err
			}
			if int64(len(m.body)) < min(item.Literal.Size(), most+1) {
				return m, io.ErrUnexpectedEOF
			}
			if int64(len(m.body)) > most {
				m.body, m.truncated = m.body[:most], true
			}
		}
	}
	return m, nil
}

// promised is how many bytes of a body there is room for before any of them has come.
const promised = 64 << 10

// readBody reads at most so many bytes of a body.
func readBody(body imap.LiteralReader, most int64) ([]byte, error) {
	var b bytes.Buffer
	b.Grow(int(min(body.Size(), most, promised)) + bytes.MinRead)
	_, err := b.ReadFrom(io.LimitReader(body, most))
	return b.Bytes(), err
}

// Resume gives the session to another visit.
func (c *client) Resume(ctx context.Context, v *agent.Visit) {
	c.visit = v
	c.conn.Resume(ctx)
}

// Rest lets the session be nobody's.
func (c *client) Rest() bool { return !c.broken && c.conn.Rest() }

// Close takes leave of a server that is still there, and does not wait for its answer.
func (c *client) Close() error {
	if !c.broken && c.conn.Expect(0) == nil {
		c.Logout()
	}
	return closed(c.Client)
}

// closed closes what the library may have closed already.
func closed(c io.Closer) error {
	if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// failed is the error of a command. What the server refuses it refuses again; what the network does may pass.
func (c *client) failed(command string, err error) error {
	if err == nil {
		return nil
	}
	c.broken = true
	var refused *imap.Error
	if errors.As(err, &refused) && refused.Code != imap.ResponseCodeUnavailable && refused.Code != imap.ResponseCodeInUse {
		return c.visit.Said(command, err)
	}
	if err = c.conn.Explain(err); errors.Is(err, agent.ErrTooMuch) {
		return err
	}
	return fmt.Errorf("%s: %w", command, err)
}
