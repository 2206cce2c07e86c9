package control

import (
	"net"
	"sync"
	"time"
)

// impatient is a connection that gives up a read or a write when the other side is silent for long, as it is where
// packets are lost without a word, or where a server is halted. A deadline that its user sets comes first.
type impatient struct {
	net.Conn
	within time.Duration

	mu   sync.Mutex
	user bool // has set a deadline
}

func (c *impatient) Read(b []byte) (int, error) {
	if err := c.limit(c.Conn.SetReadDeadline); err != nil {
		return 0, err
	}
	return c.Conn.Read(b)
}

func (c *impatient) Write(b []byte) (int, error) {
	if err := c.limit(c.Conn.SetWriteDeadline); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

func (c *impatient) limit(set func(time.Time) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.user {
		return nil
	}
	return set(time.Now().Add(c.within))
}

func (c *impatient) SetDeadline(t time.Time) error     { return c.userSets(c.Conn.SetDeadline, t) }
func (c *impatient) SetReadDeadline(t time.Time) error { return c.userSets(c.Conn.SetReadDeadline, t) }
func (c *impatient) SetWriteDeadline(t time.Time) error {
	return c.userSets(c.Conn.SetWriteDeadline, t)
}

func (c *impatient) userSets(set func(time.Time) error, t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.user = !t.IsZero()
	return set(t)
}
