package pipeline

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The world of the stages below: what outlives them.
type world struct {
	mu     sync.Mutex
	seen   map[int]int // how often each item came to the sink
	cursor uint64      // of the feed
	port   net.Addr
	queue  *shelf
	opens  atomic.Int64 // stages that are open
}

// port is a source that listens: a connection says a number, and is answered ok once all that was made of it
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
	p.listener, err = Listen(p.env, "tcp", "127.0.0.1:0")
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

// edit writes the next configuration: some of them are wrong, in one way or another. It says in what way.
func edit(random *rand.Rand) (text, wrong string) {
	var b strings.Builder
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	first, rest := "shelf > main", "main > sink"
	if random.IntN(2) == 0 {
		rest = "main > extra > sink"
	}
	if random.IntN(3) == 0 {
		rest = strings.Replace(rest, "main >", "main > group >", 1)
	}
	flows := []string{"port, feed > shelf", first, rest}
	if random.IntN(4) == 0 {
		flows[0] = "port > shelf"
	}
	if strings.Contains(rest, "extra") {
		flows = append(flows, "extra.errors > sink")
	}
	fail := "never"
	switch wrong = pick("", "", "", "", "open", "make", "panic", "refuse", "file"); wrong {
	case "open", "make", "panic":
		fail = wrong
	case "file":
		flows = append(flows, "main > nowhere")
	}
	fmt.Fprintf(&b, "version = 1\n[pipeline.p]\nflow = [%s]\n", "\""+strings.Join(flows, "\", \"")+"\"")
	fmt.Fprintf(&b, "[pipeline.p.stage.port]\ngreeting = %q\n", pick("a", "b", "c"))
	if strings.Contains(flows[0], "feed") {
		fmt.Fprintf(&b, "[pipeline.p.stage.feed]\ngreeting = %q\n", pick("a", "b"))
	}
	fmt.Fprintf(&b, "[pipeline.p.stage.shelf]\norder = %q\nworkers = %s\nrefuse = %v\n", pick("a", "b"), pick("1", "3"), wrong == "refuse")
	fmt.Fprintf(&b, "[pipeline.p.stage.main]\ntype = \"step\"\ntag = \"main\"\nbuffer = %s\nworkers = %s\nfail = %q\n", pick("1", "4", "40"), pick("1", "2"), fail)
	if strings.Contains(rest, "extra") {
		fmt.Fprintf(&b, "[pipeline.p.stage.extra]\ntype = \"step\"\ntag = %q\n", pick("x", "y"))
	}
	if strings.Contains(rest, "group") {
		fmt.Fprintf(&b, "[pipeline.p.stage.group]\nbatch = { count = 5, period = \"1h\" }\n")
	}
	return b.String(), wrong
}

const mainFlow = "version = 1\n[pipeline.p]\nflow = [\"port > shelf > main > sink\"]\n[pipeline.p.stage.main]\ntype = \"step\"\ntag = \"main\"\n"

func TestReloadsUnderLoadLoseAndRepeatNothing(t *testing.T) {
	reloads := 200
	if testing.Short() {
		reloads = 40
	}
	files := openFiles(t)
	w := &world{seen: make(map[int]int), queue: &shelf{tree: newTree()}}
	registry := w.registry()
	load := func(text string) (*Graph, error) {
		c, err := Parse("p.toml", []byte(text), LoadOptions{Registry: registry, Data: "d"})
		if err != nil {
			return nil, err
		}
		return c.Graph("p")
	}
	first, err := load(mainFlow)
	if err != nil {
		t.Fatal(err)
	}
	run, err := first.Start(t.Context(), RunOptions{Continuous: true})
	if err != nil {
		t.Fatal(err)
	}
	goroutines := runtime.NumGoroutine() + 1 // of the listener, once somebody accepts
	clients := startClients(t, w, 3)
	random, happened := rand.New(rand.NewPCG(1, 2)), make(map[string]int)
	for range reloads {
		text, wrong := edit(random)
		graph, err := load(text)
		if (err != nil) != (wrong == "file") {
			t.Fatalf("a file with the mistake %q gives %v\n%s", wrong, err, text)
		}
		if err != nil {
			happened["file"]++
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		change, err := run.Reload(ctx, graph)
		cancel()
		switch {
		case (err != nil) != (wrong != ""):
			t.Fatalf("a reload with the mistake %q gives %v\n%s", wrong, err, text)
		case err != nil:
			happened[wrong]++
		default:
			happened["reloaded"]++
			for kind, names := range map[string][]string{"added": change.Added, "removed": change.Removed, "replaced": change.Replaced, "reconfigured": change.Reconfigured, "rewired": change.Rewired} {
				happened[kind] += len(names)
			}
		}
		clients.progress()
	}
	if _, err := run.Reload(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	numbers := clients.stop()
	settle(func() bool { return w.queue.length() == 0 && run.flight.n.Load() == 1 }) // of the queue, which waits
	settle(func() bool { return runtime.NumGoroutine() <= goroutines })
	if n := runtime.NumGoroutine(); n > goroutines {
		t.Errorf("%d goroutines before, %d after %d reloads", goroutines, n, reloads)
	}
	if n := w.opens.Load(); n != 1 {
		t.Errorf("%d steps are open, want main alone", n)
	}
	report := run.Snapshot()
	run.Drain()
	if _, err := run.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"open", "make", "panic", "refuse", "file", "reloaded", "added", "removed", "replaced", "reconfigured", "rewired"} {
		if happened[kind] == 0 {
			t.Errorf("%q has not happened in %d reloads: %v", kind, reloads, happened)
		}
	}
	if failed := happened["open"] + happened["make"] + happened["panic"] + happened["refuse"]; report.FailedReloads != int64(failed) || report.Reloads != int64(happened["reloaded"]+1) {
		t.Errorf("the report counts %d reloads and %d that failed; there were %v", report.Reloads, report.FailedReloads, happened)
	}
	w.mustHaveSeenOnce(t, numbers)
	if left := openFiles(t); left > files {
		t.Errorf("%d files were open before, and %d are now", files, left)
	}
}

// mustHaveSeenOnce says that everything came to the sink once: what the clients sent, and what the feed gave
// as far as it has come.
func (w *world) mustHaveSeenOnce(t *testing.T, sent []int) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, n := range w.seen {
		if n != 1 {
			t.Errorf("item %d came %d times", i, n)
		}
	}
	for _, i := range sent {
		if w.seen[i] == 0 {
			t.Errorf("item %d was sent, and lost", i)
		}
	}
	for i := range w.cursor {
		if n := int(i+1) * 2; w.seen[n] == 0 {
			t.Errorf("item %d of the feed was lost", n)
		}
	}
	if len(sent) == 0 || w.cursor == 0 || len(w.seen) != len(sent)+int(w.cursor) {
		t.Errorf("%d items came; %d were sent, and the feed has come to %d", len(w.seen), len(sent), w.cursor)
	}
	w.queue.mu.Lock()
	defer w.queue.mu.Unlock()
	for i, n := range w.queue.served {
		if n != 1 {
			t.Errorf("the queue handed item %d out %d times", i, n)
		}
	}
}

// clients send odd numbers, all the time.
type clients struct {
	t       *testing.T
	w       *world
	next    atomic.Int64
	ok      atomic.Int64
	ended   atomic.Bool
	running sync.WaitGroup
}

func startClients(t *testing.T, w *world, n int) *clients {
	c := &clients{t: t, w: w}
	for range n {
		c.running.Go(func() {
			for !c.ended.Load() {
				c.send(int(c.next.Add(1))*2 - 1)
			}
		})
	}
	return c
}

// send dials until the number has been taken. A connection is never refused.
func (c *clients) send(i int) {
	for {
		c.w.mu.Lock()
		address := c.w.port.String()
		c.w.mu.Unlock()
		conn, err := net.Dial("tcp", address)
		if err != nil {
			c.t.Errorf("the port was lost: %v", err)
			return
		}
		fmt.Fprintln(conn, i)
		answer, err := bufio.NewReader(conn).ReadString('\n')
		conn.Close()
		switch {
		case answer == "ok\n":
			c.ok.Add(1)
			return
		case answer != "later\n":
			c.t.Errorf("item %d was answered %q, %v", i, answer, err)
			return
		}
	}
}

// progress waits until something more was taken, so that every reload happens under load.
func (c *clients) progress() {
	before := c.ok.Load()
	settle(func() bool { return c.ok.Load() > before || c.t.Failed() })
}

// stop returns the numbers that were sent.
func (c *clients) stop() (sent []int) {
	c.ended.Store(true)
	c.running.Wait()
	for i := range int(c.next.Load()) {
		sent = append(sent, i*2+1)
	}
	return sent
}

// settle waits until something is so, for at most ten seconds.
func settle(is func() bool) {
	for deadline := time.Now().Add(10 * time.Second); !is() && time.Now().Before(deadline); {
		time.Sleep(100 * time.Microsecond)
	}
}

// openFiles counts the descriptors of the process; 0 where that cannot be known.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

var _ io.Closer = (*portStage)(nil)
