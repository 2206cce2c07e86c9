package postgres

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy passes connections on to a server, and can cut them at a commit: a program then does not know whether it was
// one. It reads the messages of PostgreSQL's protocol, version 3.
type Proxy struct {
	listener net.Listener
	server   string

	atCommit, atAnswer atomic.Pointer[func() (cut bool)]
	atChange           atomic.Pointer[func(statement string) (cut bool)]
	passing            sync.RWMutex // locked while it is frozen
	frozen             atomic.Bool
	open               sync.WaitGroup
	mu                 sync.Mutex
	closed             bool
	connections        map[net.Conn]struct{}
}

// NewProxy starts a proxy in front of a server, which ends with the test.
func NewProxy(t testing.TB, s *Server) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: listener, server: s.Address(), connections: make(map[net.Conn]struct{})}
	never := func() bool { return false }
	p.AtCommit(never)
	p.AtAnswer(never)
	p.AtChange(func(string) bool { return false })
	p.open.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// URL is where a database of the server is reached through the proxy.
func (p *Proxy) URL(t testing.TB, database string) string {
	t.Helper()
	return at(t, database, p.listener.Addr().String())
}

// AtCommit has f called before the server hears that it should commit a transaction. The connection is cut instead if f
// returns so.
func (p *Proxy) AtCommit(f func() (cut bool)) { p.atCommit.Store(&f) }

// AtAnswer has f called when a transaction was committed, before the client hears of it. The connection is cut instead
// if f returns so.
func (p *Proxy) AtAnswer(f func() (cut bool)) { p.atAnswer.Store(&f) }

// AtChange has f called when a statement was executed that is a transaction of its own, before the client hears of it.
// The connection is cut instead if f returns so.
func (p *Proxy) AtChange(f func(statement string) (cut bool)) { p.atChange.Store(&f) }

// Freeze makes the proxy pass nothing on, and keep all connections open, as where packets are lost: nobody hears of it.
func (p *Proxy) Freeze() {
	p.passing.Lock()
	p.frozen.Store(true)
}

// Thaw makes it go on, with what it was sent meanwhile.
func (p *Proxy) Thaw() {
	if p.frozen.Swap(false) {
		p.passing.Unlock()
	}
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // it was closed
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil { // as if the proxy were not there, either
			client.Close()
			continue
		}
		if !p.keep(client, server) {
			return
		}
		p.open.Go(func() { p.pass(client, server) })
	}
}

// keep notes connections that are to be closed with the proxy, and reports whether that is open.
func (p *Proxy) keep(connections ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range connections {
		if p.closed {
			c.Close()
			continue
		}
		p.connections[c] = struct{}{}
	}
	return !p.closed
}

func (p *Proxy) close() {
	p.Thaw()
	p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for c := range p.connections {
		c.Close()
	}
	p.mu.Unlock()
	p.open.Wait()
}

// pass passes on what both sides send, until one ends or a transaction is cut.
func (p *Proxy) pass(client, server net.Conn) {
	var both sync.WaitGroup
	direction := func(to, from net.Conn, hello bool, cut func(message []byte) bool) {
		both.Go(func() {
			passMessages(passed{p, to}, from, hello, cut)
			client.Close()
			server.Close()
		})
	}
	var alone transactions
	direction(server, client, true, func(m []byte) bool {
		alone.asked(m)
		return isCommit(m) && (*p.atCommit.Load())()
	})
	direction(client, server, false, func(m []byte) bool {
		statement, ended := alone.answered(m)
		return isCommitted(m) && (*p.atAnswer.Load())() || ended && (*p.atChange.Load())(statement)
	})
	both.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.connections, client)
	delete(p.connections, server)
}

// passed is what a proxy writes to, unless it is frozen.
type passed struct {
	p  *Proxy
	to io.Writer
}

func (w passed) Write(message []byte) (int, error) {
	w.p.passing.RLock()
	defer w.p.passing.RUnlock()
	return w.to.Write(message)
}

// passMessages passes whole messages on, until one of them is to be cut. The first of a client has no type.
func passMessages(to io.Writer, from io.Reader, hello bool, cut func(message []byte) bool) {
	for {
		head := 5 // the type, and the length of the rest
		if hello {
			head, hello = 4, false
		}
		message := make([]byte, head)
		if _, err := io.ReadFull(from, message); err != nil {
			return
		}
		rest := make([]byte, binary.BigEndian.Uint32(message[head-4:])-4)
		if _, err := io.ReadFull(from, rest); err != nil {
			return
		}
		if message = append(message, rest...); cut(message) {
			return
		}
		if _, err := to.Write(message); err != nil {
			return
		}
	}
}

// isCommit reports whether a client has a transaction committed, by a query of this alone.
func isCommit(message []byte) bool {
	return message[0] == 'Q' && bytes.EqualFold(bytes.Trim(message[5:], "\x00; "), []byte("commit"))
}

// isCommitted reports whether a server tells that it has committed a transaction.
func isCommitted(message []byte) bool {
	return message[0] == 'C' && bytes.Equal(message[5:], []byte("COMMIT\x00"))
}

// transactions finds the statements of a connection that are transactions of their own, in the extended protocol.
type transactions struct {
	mu      sync.Mutex
	texts   map[string]string // of what was prepared, by its name
	bound   string            // the statement that is to be executed
	running bool              // it is, outside a transaction
	inside  bool              // a transaction
}

// asked notes a message of the client.
func (t *transactions) asked(message []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch rest := message[min(len(message), 5):]; message[0] {
	case 'P': // parse: a name, a text
		name, rest, _ := bytes.Cut(rest, []byte{0})
		text, _, _ := bytes.Cut(rest, []byte{0})
		if t.texts == nil {
			t.texts = make(map[string]string)
		}
		t.texts[string(name)] = string(text)
	case 'B': // bind: a portal, a name
		_, rest, _ = bytes.Cut(rest, []byte{0})
		name, _, _ := bytes.Cut(rest, []byte{0})
		t.bound = t.texts[string(name)]
	case 'E':
		t.running = !t.inside
	}
}

// answered notes a message of the server, and returns the statement that it says has ended.
func (t *transactions) answered(message []byte) (statement string, ended bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if message[0] != 'Z' { // ready for the next
		return "", false
	}
	ended = t.running
	t.running, t.inside = false, message[5] != 'I'
	return t.bound, ended
}
