package httpin

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// connections is a listener that holds so many connections at most, and in which those who have shown that they may
// come do not wait for others: when there is no more room, the oldest connection that has not shown so is closed, of
// the address that has most of these. Only when there is none, new ones wait.
type connections struct {
	net.Listener
	most int

	mu       sync.Mutex
	room     *sync.Cond
	all      int
	closed   bool
	unproven map[string]*list.List // of *connection, by the address they come from, oldest first
}

// connection is one of them.
type connection struct {
	net.Conn
	of      *connections
	address string
	place   *list.Element // among the unproven; nil: it is none of them
	over    bool
}

func newConnections(l net.Listener, most int) *connections {
	c := &connections{Listener: l, most: most, unproven: make(map[string]*list.List)}
	c.room = sync.NewCond(&c.mu)
	return c
}

// Accept waits for a connection, and until there is room for it.
func (c *connections) Accept() (net.Conn, error) {
	accepted, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	address, _, err := net.SplitHostPort(accepted.RemoteAddr().String())
	if err != nil {
		address = accepted.RemoteAddr().String()
	}
	conn := &connection{Conn: accepted, of: c, address: address}
	c.mu.Lock()
	for c.all >= c.most && !c.closed {
		oldest := c.oldest()
		if oldest == nil {
			c.room.Wait()
			continue
		}
		c.leave(oldest)
		defer oldest.Conn.Close()
	}
	c.all++
	if c.unproven[address] == nil {
		c.unproven[address] = list.New()
	}
	conn.place = c.unproven[address].PushBack(conn)
	c.mu.Unlock()
	return conn, nil
}

// oldest returns the connection that makes room for another; nil if all have shown that they may come.
func (c *connections) oldest() *connection {
	var most *list.List
	for _, those := range c.unproven {
		if most == nil || those.Len() > most.Len() {
			most = those
		}
	}
	if most == nil {
		return nil
	}
	return most.Front().Value.(*connection)
}

// prove notes that a connection has shown that it may come.
func (c *connections) prove(conn *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.proven(conn)
}

func (c *connections) proven(conn *connection) {
	if conn.place == nil {
		return
	}
	those := c.unproven[conn.address]
	those.Remove(conn.place)
	conn.place = nil
	if those.Len() == 0 {
		delete(c.unproven, conn.address)
	}
}

func (c *connections) leave(conn *connection) {
	if conn.over {
		return
	}
	conn.over = true
	c.proven(conn)
	c.all--
	c.room.Signal()
}

// Close has nobody wait for room any more.
func (c *connections) Close() error {
	c.mu.Lock()
	c.closed = true
	c.room.Broadcast()
	c.mu.Unlock()
	return c.Listener.Close()
}

// Close makes room.
func (conn *connection) Close() error {
	conn.of.mu.Lock()
	conn.of.leave(conn)
	conn.of.mu.Unlock()
	return conn.Conn.Close()
}

type connectionKey struct{}

// withConnection is what the contexts of requests know their connection by.
func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// prove notes that the sender of a request has shown that it may come.
func prove(r *http.Request) {
	if conn, ok := r.Context().Value(connectionKey{}).(*connection); ok {
		conn.of.prove(conn)
	}
}
