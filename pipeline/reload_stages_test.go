package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// world is what outlives the stages below.
type world struct {
	mu     sync.Mutex
	seen   map[int]int // how often each item came to the sink
	cursor uint64      // of the feed
	port   net.Addr
	queue  *shelf
	opens  atomic.Int64 // stages that are open
}

// port is a source that listens: a connection sends a number, and is answered ok once all that was made of it
// has been dealt with, or later if it could not be handed out.
type portOptions struct {
	Greeting string `toml:"greeting" doc:"makes it another one"`
}

type portStage struct {
	*world
	env      *Env
	listener net.Listener
	closing  sync.Once
	mu       sync.Mutex // around the emitter, which belongs to one goroutine
}

func (p *portStage) Open(context.Context) (err error) {
	p.listener, err = p.env.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		p.world.mu.Lock()
		p.world.port = p.listener.Addr()
		p.world.mu.Unlock()
	}
	return err
}

func (p *portStage) Close() (err error) {
	if p.listener != nil {
		p.closing.Do(func() { err = p.listener.Close() })
	}
	return err
}

func (p *portStage) Run(ctx context.Context, out Emitter) error {
	defer context.AfterFunc(ctx, func() { p.Close() })()
	var conns sync.WaitGroup
	defer conns.Wait()
	for {
		conn, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		conns.Go(func() { p.serve(ctx, conn, out) })
	}
}

func (p *portStage) serve(ctx context.Context, conn net.Conn, out Emitter) {
	defer conn.Close()
	var i int
	if _, err := fmt.Fscanln(conn, &i); err != nil {
		return
	}
	ended := make(chan error, 1)
	it := NewItem(i, func(o Outcome) { ended <- o.Err })
	p.mu.Lock()
	_ = out.Emit(ctx, it) // an error is the outcome's as well
	p.mu.Unlock()
	if err := <-ended; err != nil {
		fmt.Fprintln(conn, "later")
		return
	}
	fmt.Fprintln(conn, "ok")
}

// feed follows a log of the even numbers that never ends.
type feed struct {
	*world
	env *Env
}

func (f feed) Run(ctx context.Context, out Emitter) error {
	return Follow(ctx, f.env, Log[uint64]{
		Next: func(ctx context.Context, after uint64, max int) ([]uint64, error) {
			for f.queue.length() > 50 && ctx.Err() == nil {
				time.Sleep(100 * time.Microsecond)
			}
			return []uint64{after + 1, after + 2}, ctx.Err()
		},
		Last:  func(context.Context) (uint64, error) { return 1 << 62, nil },
		Seq:   func(n uint64) uint64 { return n },
		Value: func(_ context.Context, n uint64) (any, error) { return int(n) * 2, nil },
		Cursor: func(context.Context) (uint64, error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			return f.cursor, nil
		},
		SetCursor: func(_ context.Context, n uint64) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.cursor = n
			return nil
		},
	}, out)
}

// shelf is a queue that may be open once at a time, as a store is.
type shelf struct {
	*tree
	open atomic.Bool
}

type shelfOptions struct {
	Order  string `toml:"order" doc:"makes it another one"`
	Refuse bool   `toml:"refuse" doc:"cannot be had in a reload"`
}

type openShelf struct {
	*shelf
	mine bool
}

func (s *shelf) length() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.ready)
}

func (s *openShelf) Open(context.Context) error {
	if !s.open.CompareAndSwap(false, true) {
		return errors.New("it is open already")
	}
	s.mine = true
	return nil
}

func (s *openShelf) Close() error {
	if s.mine {
		s.mine = false
		s.open.Store(false)
	}
	return nil
}

func (s *openShelf) Reconfigure(_ context.Context, options any) error {
	if options.(shelfOptions).Refuse {
		return errors.New("it does not want to")
	}
	return nil
}

// step passes numbers on.
type stepOptions struct {
	Tag  string `toml:"tag" doc:"makes it another one"`
	Fail string `toml:"fail" doc:"where it fails" enum:"never,make,open,panic"`
}

type step struct {
	stepOptions
	*world
	open bool
	n    atomic.Int64
}

func (s *step) Open(context.Context) error {
	switch s.Fail {
	case "open":
		return errors.New("it cannot be opened")
	case "panic":
		panic("open")
	}
	s.open = true
	s.opens.Add(1)
	return nil
}

func (s *step) Close() error {
	if s.open {
		s.open = false
		s.opens.Add(-1)
	}
	return nil
}

func (s *step) Process(ctx context.Context, it *Item, out Emitter) error {
	if s.n.Add(1)%7 == 0 {
		done := it.Hold() // as for an effect that becomes durable later
		time.AfterFunc(time.Duration(rand.IntN(300))*time.Microsecond, func() { done(nil) })
	}
	if s.n.Load()%5 == 0 && s.Tag != "main" {
		return errBroken
	}
	return out.Emit(ctx, it)
}

// together passes numbers on in groups, and waits long for them to be full.
type together struct{}

func (together) ProcessBatch(ctx context.Context, its []*Item, out Emitter) error {
	for _, it := range its {
		if err := out.Emit(ctx, it); err != nil {
			return err
		}
	}
	return nil
}

// sink counts numbers, and those of failures.
type sink struct{ *world }

func (s sink) Process(_ context.Context, it *Item, _ Emitter) error {
	value := it.Value
	if failure, ok := value.(*Failure); ok {
		value = failure.Value
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[value.(int)]++
	return nil
}

func (w *world) registry() *Registry {
	r, number := NewRegistry(), KindOf[int]()
	out := []Port{{Kind: number, Doc: "numbers"}}
	RegisterIn(r, Spec{Type: "port", Summary: "listens", Out: out}, portOptions{}, func(_ portOptions, e *Env) (any, error) {
		return &portStage{world: w, env: e}, nil
	})
	RegisterIn(r, Spec{Type: "feed", Summary: "follows", Out: out}, portOptions{}, func(_ portOptions, e *Env) (any, error) { return feed{w, e}, nil })
	RegisterIn(r, Spec{Type: "shelf", Summary: "keeps", In: Kinds(number), Out: out, Queue: true}, shelfOptions{}, func(shelfOptions, *Env) (any, error) {
		return &openShelf{shelf: w.queue}, nil
	})
	RegisterIn(r, Spec{Type: "step", Summary: "passes on", In: Kinds(number), Out: out}, stepOptions{Fail: "never"}, func(o stepOptions, _ *Env) (any, error) {
		if o.Fail == "make" {
			return nil, errors.New("it cannot be made")
		}
		return &step{stepOptions: o, world: w}, nil
	})
	RegisterIn(r, Spec{Type: "group", Summary: "passes on", In: Kinds(number), Out: out, Batch: Batch{Count: 8}}, struct{}{}, func(struct{}, *Env) (any, error) { return together{}, nil })
	RegisterIn(r, Spec{Type: "sink", Summary: "counts", In: Kinds(KindOf[any]())}, struct{}{}, func(struct{}, *Env) (any, error) { return sink{w}, nil })
	return r
}

var _ io.Closer = (*portStage)(nil)
