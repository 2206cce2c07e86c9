// Package connections bounds how many connections a process holds open as a server, so that clients who open many and
// finish no request take neither the descriptors of its files nor the room of clients who do.
package connections

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"

	"github.com/webrace/webrace/internal/descriptors"
)

// Pool is the room for connections that servers share. When there is none left for a new one, another is closed: the
// oldest of those that have had no request admitted, of the address that has most of these; else the one that has been
// idle longest. Only when each has an admitted request under way, new ones wait.
type Pool struct {
	most int

	mu      sync.Mutex
	room    *sync.Cond
	held    int
	servers []*server
}

// Process is the pool of this process: a third of its descriptors.
var Process = sync.OnceValue(func() *Pool { return NewPool(descriptors.Limit() / 3) })

// NewPool returns a pool of so many connections.
func NewPool(most int) *Pool {
	p := &Pool{most: max(most, 4)}
	p.room = sync.NewCond(&p.mu)
	return p
}

// server is a listener whose connections are of the pool. It holds three quarters of it at most, so that another has
// room even while all of its own are at work.
type server struct {
	net.Listener
	pool *Pool
	most int

	// Guarded by the mutex of the pool:
	held       int
	closed     bool
	unadmitted map[string]*list.List // of *connection, by the address they come from, oldest first
	idle       list.List             // of *connection that had requests admitted, the longest idle first
}

// connection is one of them.
type connection struct {
	net.Conn
	server  *server
	address string
	within  *list.List // of those that may be closed for others; nil while an admitted request is under way
	place   *list.Element
	over    bool
}

// Serve has a server answer at a listener, with so many connections at most, until one of them is closed. Handlers call
// [Admit] for each request that is to be answered. One with a configuration of TLS speaks that.
func (p *Pool) Serve(s *http.Server, l net.Listener, most int) error {
	limited := &server{Listener: l, pool: p, most: max(1, min(most, p.most*3/4)), unadmitted: make(map[string]*list.List)}
	s.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connectionKey{}, pooled(conn))
	}
	s.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateIdle {
			pooled(conn).rest()
		}
	}
	p.mu.Lock()
	p.servers = append(p.servers, limited)
	p.mu.Unlock()
	defer p.forget(limited)
	if s.TLSConfig != nil {
		return s.ServeTLS(limited, "", "")
	}
	return s.Serve(limited)
}

// pooled returns the connection of the pool that one of a server is, or that its TLS is spoken over.
func pooled(conn net.Conn) *connection {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	return conn.(*connection)
}

type connectionKey struct{}

// Admit notes that the sender of a request may have it answered: until the answer is written, its connection is not
// closed for others.
func Admit(r *http.Request) {
	if conn, ok := r.Context().Value(connectionKey{}).(*connection); ok {
		conn.server.pool.mu.Lock()
		defer conn.server.pool.mu.Unlock()
		conn.keep()
	}
}

// AdmitAll returns a handler that admits each request, for a server that everybody who reaches it may ask.
func AdmitAll(inner http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Admit(r)
		inner.ServeHTTP(w, r)
	})
}

func (p *Pool) forget(gone *server) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, s := range p.servers {
		if s == gone {
			p.servers = append(p.servers[:i], p.servers[i+1:]...)
			return
		}
	}
}

// Accept waits for a connection, and until there is room for it.
func (s *server) Accept() (net.Conn, error) {
	accepted, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	conn := &connection{Conn: accepted, server: s, address: addressOf(accepted)}
	for _, closed := range s.makeRoom() {
		_ = closed.Conn.Close()
	}
	s.pool.mu.Lock()
	defer s.pool.mu.Unlock()
	if s.unadmitted[conn.address] == nil {
		s.unadmitted[conn.address] = list.New()
	}
	conn.mayGo(s.unadmitted[conn.address])
	return conn, nil
}

// addressOf returns the host that a connection comes from; for all of this machine's sockets it is one.
func addressOf(conn net.Conn) string {
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		return conn.RemoteAddr().String()
	}
	return host
}

// makeRoom counts a new connection when there is room for it, and returns those that have to be closed for it.
func (s *server) makeRoom() (leaving []*connection) {
	p := s.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	for !s.closed && (s.held >= s.most || p.held >= p.most) {
		among := p.servers
		if s.held >= s.most {
			among = []*server{s}
		}
		next := nextToGo(among)
		if next == nil {
			p.room.Wait()
			continue
		}
		next.leave()
		leaving = append(leaving, next)
	}
	s.held++
	p.held++
	return leaving
}

// nextToGo returns the connection of some servers that makes room for another; nil if each is at work.
func nextToGo(servers []*server) *connection {
	var unadmitted, idle *list.List
	for _, s := range servers {
		for _, those := range s.unadmitted {
			if unadmitted == nil || those.Len() > unadmitted.Len() {
				unadmitted = those
			}
		}
		if s.idle.Len() > 0 && (idle == nil || s.idle.Len() > idle.Len()) {
			idle = &s.idle
		}
	}
	switch {
	case unadmitted != nil:
		return unadmitted.Front().Value.(*connection)
	case idle != nil:
		return idle.Front().Value.(*connection)
	}
	return nil
}

// Close has nobody wait for room any more.
func (s *server) Close() error {
	s.pool.mu.Lock()
	s.closed = true
	s.pool.room.Broadcast()
	s.pool.mu.Unlock()
	return s.Listener.Close()
}

// The methods that follow are called with the pool locked, but for rest and Close.

// mayGo puts a connection among those that may be closed for others.
func (c *connection) mayGo(those *list.List) { c.within, c.place = those, those.PushBack(c) }

// keep takes a connection from among those that may be closed for others.
func (c *connection) keep() {
	if c.within == nil {
		return
	}
	c.within.Remove(c.place)
	if unadmitted := c.server.unadmitted[c.address]; unadmitted == c.within && unadmitted.Len() == 0 {
		delete(c.server.unadmitted, c.address)
	}
	c.within, c.place = nil, nil
}

// leave makes room, once.
func (c *connection) leave() {
	if c.over {
		return
	}
	c.over = true
	c.keep()
	c.server.held--
	c.server.pool.held--
	c.server.pool.room.Broadcast() // one of several servers may use it
}

// rest notes that a connection waits for its next request.
func (c *connection) rest() {
	c.server.pool.mu.Lock()
	defer c.server.pool.mu.Unlock()
	if c.within == nil && !c.over {
		c.mayGo(&c.server.idle)
		c.server.pool.room.Broadcast()
	}
}

// Close makes room.
func (c *connection) Close() error {
	c.server.pool.mu.Lock()
	c.leave()
	c.server.pool.mu.Unlock()
	return c.Conn.Close()
}
