package pipeline

import (
	"fmt"
	"net"
	"slices"
	"sync"

	"github.com/webrace/webrace/internal/pointer"
)

// Listen listens on an address for a stage, which closes the listener when it is closed. A stage that takes
// the place of another in a reload, and listens on the same address as that is written, takes the listener
// over: the port is open all the time, and a client that connects meanwhile is answered by the one or the other. Port 0
// is, for the successor of the stage that asked for it, the port that that one got. For other stages the
// address is in use.
func (e *Env) Listen(network, address string) (net.Listener, error) {
	if e.resources == nil {
		return net.Listen(network, address)
	}
	r := e.resources
	r.mu.Lock()
	defer r.mu.Unlock()
	key := e.listenerKey(network, address)
	shared := r.listeners[key]
	switch {
	case shared == nil:
		inner, err := net.Listen(network, address)
		if err != nil {
			return nil, r.cannotListen(err, address)
		}
		shared = &sharedListener{key: key, inner: inner, accepted: make(chan acceptance), closed: make(chan struct{})}
		if r.listeners == nil {
			r.listeners = make(map[string]*sharedListener)
		}
		r.listeners[key] = shared
		shared.pump.Go(shared.accept)
	case !e.succeeds(shared.owner):
		return nil, fmt.Errorf("listen on %s %s: stage %s of pipeline %s does so already: give one of them another address", network, address, shared.owner.Stage, shared.owner.Pipeline)
	}
	shared.owner = e
	shared.users++
	return &listener{shared: shared, resources: r, closed: make(chan struct{})}, nil
}

// cannotListen adds who has the port, if it is a stage of this program, by whatever name of the address.
func (r *Resources) cannotListen(err error, address string) error {
	_, port, _ := net.SplitHostPort(address)
	for _, s := range r.listeners {
		if _, taken, splitErr := net.SplitHostPort(s.inner.Addr().String()); splitErr == nil && taken == port {
			return fmt.Errorf("%w: stage %s of pipeline %s listens on %s: give one of them another address", err, s.owner.Stage, s.owner.Pipeline, s.inner.Addr())
		}
	}
	return fmt.Errorf("%w: free this address, or give the stage another", err)
}

// listenerKey names what stages may share.
func (e *Env) listenerKey(network, address string) string {
	key := network + " " + address
	if _, port, err := net.SplitHostPort(address); err == nil && (port == "0" || port == "") {
		key += " " + e.Pipeline + "/" + e.Stage
	}
	return key
}

// succeeds reports whether the stage is of the same name as another, or is one of those that take the place
// of that in a reload.
func (e *Env) succeeds(other *Env) bool {
	if e.Pipeline != other.Pipeline {
		return false
	}
	next := pointer.Load(&e.next)
	return e.Stage == other.Stage || next != nil && next.takesOut(other)
}

func (l *reload) takesOut(e *Env) bool {
	return slices.ContainsFunc(l.gone, func(n *node) bool { return n.env == e })
}

// sharedListener is a listener that is open as long as a stage uses it.
type sharedListener struct {
	key      string
	inner    net.Listener
	owner    *Env // the stage that asked for it last; this and users are guarded by the mutex of the resources
	users    int
	accepted chan acceptance
	closed   chan struct{}
	pump     sync.WaitGroup
}

type acceptance struct {
	conn net.Conn
	err  error
}

// accept accepts connections for the stages that take them, which no Close of one user interrupts.
func (s *sharedListener) accept() {
	for {
		conn, err := s.inner.Accept()
		select {
		case s.accepted <- acceptance{conn, err}:
		case <-s.closed:
			if conn != nil {
				conn.Close()
			}
			return
		}
	}
}

// listener is one user of a shared listener.
type listener struct {
	shared    *sharedListener
	resources *Resources
	closed    chan struct{}
	once      sync.Once
}

var _ net.Listener = (*listener)(nil)

func (l *listener) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
		return nil, net.ErrClosed
	default:
	}
	select {
	case a := <-l.shared.accepted:
		return a.conn, a.err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Addr() net.Addr { return l.shared.inner.Addr() }

// Close ends the use of the listener, once; the last one closes it.
func (l *listener) Close() (err error) {
	l.once.Do(func() {
		close(l.closed)
		err = l.resources.leave(l.shared)
	})
	return err
}

func (r *Resources) leave(s *sharedListener) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.users--; s.users > 0 {
		return nil
	}
	delete(r.listeners, s.key)
	close(s.closed)
	err := s.inner.Close()
	s.pump.Wait()
	return err
}
