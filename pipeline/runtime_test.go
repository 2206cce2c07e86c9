package pipeline

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// graphOf builds a graph of stages that are already made, without checks.
type graphOf struct{ g *Graph }

func build() graphOf { return graphOf{&Graph{Name: "test"}} }

func (b graphOf) add(name string, impl any, common ...Common) graphOf {
	stage := &Stage{Name: name, Spec: Spec{Type: name, In: Kinds(KindOf[int]()), Out: []Port{{}, {Name: "links"}}},
		Make: func(*Env) (any, error) { return impl, nil }}
	if len(common) > 0 {
		stage.Common = common[0]
	}
	b.g.Stages = append(b.g.Stages, stage)
	return b
}

func (b graphOf) edge(from, port, to string) graphOf {
	b.g.Edges = append(b.g.Edges, Edge{From: from, Port: port, To: to})
	return b
}

func (b graphOf) chain(names ...string) graphOf {
	for i := 1; i < len(names); i++ {
		b.edge(names[i-1], "", names[i])
	}
	return b
}

// count emits the numbers below it, each with a lease of its own whose outcomes go to ends.
type count struct {
	n    int
	ends func(i int, o Outcome)
}

func (s count) Run(ctx context.Context, out Emitter) error {
	for i := range s.n {
		it := &Item{Value: i}
		if s.ends != nil {
			it = NewItem(i, func(o Outcome) { s.ends(i, o) })
		}
		if err := out.Emit(ctx, it); err != nil {
			return err
		}
	}
	return nil
}

// process is a processor from a function.
type process func(ctx context.Context, it *Item, out Emitter) error

func (f process) Process(ctx context.Context, it *Item, out Emitter) error { return f(ctx, it, out) }

// collected gathers values.
type collected struct {
	mu     sync.Mutex
	values []any
}

func (c *collected) Process(_ context.Context, it *Item, _ Emitter) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values = append(c.values, it.Value)
	return nil
}

// outcomes gathers the outcomes of leases.
type outcomes struct {
	mu  sync.Mutex
	all map[int][]Outcome
}

func newOutcomes() *outcomes { return &outcomes{all: make(map[int][]Outcome)} }

func (o *outcomes) add(i int, outcome Outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.all[i] = append(o.all[i], outcome)
}

func (o *outcomes) mustEndOnce(t *testing.T, n int) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range n {
		if len(o.all[i]) != 1 {
			t.Fatalf("lease %d ended %d times, want once", i, len(o.all[i]))
		}
	}
}

// tree is a queue in memory whose items are numbers; each is handed out once.
type tree struct {
	mu     sync.Mutex
	wake   *sync.Cond
	ready  []int
	seen   map[int]bool
	served map[int]int
	out    int
	sealed bool
	onDone func(i int, o Outcome)
}

func newTree() *tree {
	q := &tree{seen: make(map[int]bool), served: make(map[int]int)}
	q.wake = sync.NewCond(&q.mu)
	return q
}

func (q *tree) Put(_ context.Context, it *Item) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := it.Value.(int); !q.seen[i] {
		q.seen[i] = true
		q.ready = append(q.ready, i)
		q.wake.Broadcast()
	}
	return nil
}

func (q *tree) Take(ctx context.Context) (Lease, error) {
	stop := context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.wake.Broadcast()
	})
	defer stop()
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case len(q.ready) > 0:
			i := q.ready[0]
			q.ready = q.ready[1:]
			q.out++
			q.served[i]++
			return &treeLease{q, i}, nil
		case q.sealed && q.out == 0:
			return nil, io.EOF
		}
		q.wake.Wait()
	}
}

func (q *tree) Seal() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sealed = true
	q.wake.Broadcast()
}

type treeLease struct {
	q *tree
	i int
}

func (l *treeLease) Item() *Item { return &Item{Value: l.i} }

func (l *treeLease) Done(o Outcome) {
	l.q.mu.Lock()
	defer l.q.mu.Unlock()
	l.q.out--
	if !o.RetryAt.IsZero() {
		l.q.ready = append(l.q.ready, l.i)
	}
	if l.q.onDone != nil {
		l.q.onDone(l.i, o)
	}
	l.q.wake.Broadcast()
}

var errBroken = errors.New("broken")

func mustRun(t *testing.T, b graphOf, o RunOptions) *Report {
	t.Helper()
	report, err := b.g.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestItemsFlowThroughAChainInOrder(t *testing.T) {
	var sink collected
	double := Map(func(_ context.Context, i int) (int, error) { return 2 * i, nil })
	report := mustRun(t, build().add("numbers", count{n: 1000}).add("double", double).add("sink", &sink).
		chain("numbers", "double", "sink"), RunOptions{})
	for i, v := range sink.values {
		if v != 2*i {
			t.Fatalf("item %d is %v, want %d", i, v, 2*i)
		}
	}
	if got := report.Stages["double"]; len(sink.values) != 1000 || got.In != 1000 || got.Out != 1000 {
		t.Errorf("sink has %d values, double reports %+v", len(sink.values), got)
	}
}

// crawl is the loop of a crawler: every number leads to others below limit, many of them repeats.
func crawl(limit int) process {
	return func(ctx context.Context, it *Item, out Emitter) error {
		i := it.Value.(int)
		for _, next := range []int{3*i + 1, 3*i + 2, 3*i + 3, i / 2, i} {
			if next < limit {
				if err := out.EmitTo(ctx, "links", it.With(next)); err != nil {
					return err
				}
			}
		}
		return out.Emit(ctx, it)
	}
}

func TestCycleVisitsEverythingOnceAndEnds(t *testing.T) {
	const limit = 20_000
	queue, sink, ends := newTree(), &collected{}, newOutcomes()
	queue.onDone = ends.add
	mustRun(t, build().add("seed", count{n: 1}).add("queue", queue, Common{Buffer: 1, Workers: 3}).
		add("crawl", crawl(limit), Common{Workers: 8, Buffer: 1}).add("sink", sink, Common{Buffer: 1}).
		chain("seed", "queue", "crawl", "sink").edge("crawl", "links", "queue"), RunOptions{})
	if len(sink.values) != limit {
		t.Errorf("%d items came out, want %d", len(sink.values), limit)
	}
	for i, n := range queue.served {
		if n != 1 {
			t.Errorf("%d was handed out %d times", i, n)
		}
	}
	ends.mustEndOnce(t, limit)
}

// slowPut is a queue that takes its time to put, to see whether it is sealed under way.
type slowPut struct {
	*tree
	under     atomic.Int32
	sealedMid atomic.Bool
}

func (q *slowPut) Put(ctx context.Context, it *Item) error {
	q.under.Add(1)
	defer q.under.Add(-1)
	for range 1000 {
		if q.under.Load() > 1 {
			break
		}
		time.Sleep(time.Microsecond) // gives another Put time to come, which none may
	}
	return q.tree.Put(ctx, it)
}

func (q *slowPut) Seal() {
	q.sealedMid.Store(q.under.Load() > 0)
	q.tree.Seal()
}

func TestQueueIsSealedAfterTheLastPutFromOutside(t *testing.T) {
	for range 50 {
		queue, sink := &slowPut{tree: newTree()}, &collected{}
		mustRun(t, build().add("seed", count{n: 20}).add("queue", queue, Common{Workers: 4}).add("sink", sink).
			chain("seed", "queue", "sink"), RunOptions{})
		if queue.sealedMid.Load() || len(sink.values) != 20 {
			t.Fatalf("sealed while putting: %v, came out: %d of 20", queue.sealedMid.Load(), len(sink.values))
		}
	}
}

func TestRetryGoesBackToTheQueue(t *testing.T) {
	queue, sink := newTree(), &collected{}
	var retries []time.Time
	queue.onDone = func(_ int, o Outcome) {
		if o.Err != nil {
			retries = append(retries, o.RetryAt)
		}
	}
	at, failures := time.Now().Add(time.Hour), 0
	flaky := process(func(ctx context.Context, it *Item, out Emitter) error {
		if it.Value == 3 && failures < 2 {
			failures++
			return Retry(errBroken, at)
		}
		return out.Emit(ctx, it)
	})
	report := mustRun(t, build().add("seed", count{n: 5}).add("queue", queue).add("flaky", flaky).add("sink", sink).
		chain("seed", "queue", "flaky", "sink"), RunOptions{})
	if len(retries) != 2 || !retries[0].Equal(at) || len(sink.values) != 5 {
		t.Errorf("retries %v, %d items out of 5", retries, len(sink.values))
	}
	if got := report.Stages["flaky"]; got.Errors != 0 || got.Retried != 2 {
		t.Errorf("report %+v", got)
	}
}

func TestLeaseEndsWhenAllBranchesAndHoldsHave(t *testing.T) {
	ends := newOutcomes()
	letGo := make(chan func(error), 1)
	holder := process(func(_ context.Context, it *Item, _ Emitter) error {
		letGo <- it.Hold()
		return nil
	})
	learn := process(func(_ context.Context, it *Item, _ Emitter) error {
		it.Learn("seen")
		return nil
	})
	cleaned := atomic.Bool{}
	cleanup := process(func(ctx context.Context, it *Item, out Emitter) error {
		it.OnEnd(func() { cleaned.Store(true) })
		return out.Emit(ctx, it)
	})
	run, err := build().add("one", count{1, ends.add}).add("cleanup", cleanup).add("holder", holder).add("learn", learn).
		chain("one", "cleanup", "holder").edge("cleanup", "", "learn").g.Start(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	release := <-letGo
	_ = run.routines.wait(context.Background()) // every stage has done its part; only the hold is left
	if ends.mu.Lock(); len(ends.all) != 0 || cleaned.Load() {
		t.Error("the lease ended before the hold did")
	}
	ends.mu.Unlock()
	release(nil)
	release(errBroken) // the second call must not count
	if _, err := run.Wait(); err != nil {
		t.Fatal(err)
	}
	ends.mustEndOnce(t, 1)
	if o := ends.all[0][0]; o.Err != nil || len(o.Learned) != 1 || !cleaned.Load() {
		t.Errorf("outcome %+v, cleaned %v", o, cleaned.Load())
	}
}

func TestFirstFailureOfABranchDecides(t *testing.T) {
	ends := newOutcomes()
	hold := func(err error) process {
		return func(_ context.Context, it *Item, _ Emitter) error {
			it.Hold()(err)
			return nil
		}
	}
	_, err := build().add("numbers", count{1, ends.add}).add("good", hold(nil)).add("bad", hold(errBroken)).
		chain("numbers", "good").chain("numbers", "bad").g.Run(t.Context(), RunOptions{})
	ends.mustEndOnce(t, 1)
	if !errors.Is(ends.all[0][0].Err, errBroken) {
		t.Errorf("the lease ended with %v", ends.all[0][0].Err)
	}
	if !errors.Is(err, errBroken) {
		t.Errorf("an effect failed, and the run ended with %v", err)
	}
}

func TestHeldItemGoesBackToItsQueue(t *testing.T) {
	queue, failed, sink := newTree(), atomic.Bool{}, &collected{}
	once := process(func(ctx context.Context, it *Item, out Emitter) error {
		if it.Value == 3 && failed.CompareAndSwap(false, true) {
			it.Hold()(Retry(errBroken, time.Now()))
			return nil
		}
		return out.Emit(ctx, it)
	})
	mustRun(t, build().add("seed", count{n: 5}).add("queue", queue).add("once", once).add("sink", sink).
		chain("seed", "queue", "once", "sink"), RunOptions{})
	if len(sink.values) != 5 || queue.served[3] != 2 {
		t.Errorf("%d items came out of 5; 3 was handed out %d times, want twice", len(sink.values), queue.served[3])
	}
}

func TestCancelGivesEverythingBack(t *testing.T) {
	const n = 1000
	ends := newOutcomes()
	reached := make(chan struct{}, n)
	stuck := process(func(ctx context.Context, _ *Item, _ Emitter) error {
		reached <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	})
	run, err := build().add("numbers", count{n, ends.add}).add("stuck", stuck, Common{Workers: 2}).
		chain("numbers", "stuck").g.Start(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	<-reached
	run.Cancel()
	if _, err := run.Wait(); !errors.Is(err, context.Canceled) {
		t.Errorf("run ended with %v", err)
	}
	for i, all := range ends.all {
		if len(all) != 1 || !errors.Is(all[0].Err, context.Canceled) {
			t.Errorf("lease %d ended with %+v, want canceled once", i, all)
		}
	}
	if len(ends.all) == 0 {
		t.Error("no lease ended")
	}
}

func TestDrainFinishesWhatIsInFlight(t *testing.T) {
	endless := newOutcomes()
	arrived, goOn := make(chan struct{}, 1), make(chan struct{})
	slow := process(func(_ context.Context, _ *Item, _ Emitter) error {
		select {
		case arrived <- struct{}{}:
		default:
		}
		<-goOn
		return nil
	})
	run, err := build().add("numbers", count{1 << 30, endless.add}).add("slow", slow).chain("numbers", "slow").
		g.Start(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	<-arrived
	if holding := run.Holding(); len(holding) == 0 || holding[len(holding)-1] != "slow" {
		t.Errorf("holding %v, want slow among them", holding)
	}
	run.Drain()
	close(goOn)
	report, err := run.Wait()
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	for _, all := range endless.all {
		if all[0].Err == nil {
			done++
		}
	}
	if int64(done) != report.Stages["slow"].In {
		t.Errorf("%d leases done, %d items processed", done, report.Stages["slow"].In)
	}
}

func TestBackPressureBoundsWhatIsInFlight(t *testing.T) {
	var inFlight, most atomic.Int64
	ends := func(int, Outcome) { inFlight.Add(-1) }
	pass := process(func(ctx context.Context, it *Item, out Emitter) error {
		now := inFlight.Add(1)
		for {
			m := most.Load()
			if now <= m || most.CompareAndSwap(m, now) {
				break
			}
		}
		return out.Emit(ctx, it)
	})
	slow := process(func(context.Context, *Item, Emitter) error {
		time.Sleep(20 * time.Microsecond) // slower than what comes, so that what waits is as much as may
		return nil
	})
	mustRun(t, build().add("numbers", count{2000, ends}).add("pass", pass, Common{Buffer: 2}).
		add("slow", slow, Common{Buffer: 2}).chain("numbers", "pass", "slow"), RunOptions{})
	if most.Load() > 6 {
		t.Errorf("%d items between pass and slow at once, want at most 6", most.Load())
	}
}

func TestHistogramQuantilesAreWithinAnEighth(t *testing.T) {
	for _, d := range []time.Duration{0, 1, 3, 4, 7, 1000, 999_999, time.Second, time.Hour, 1<<63 - 1} {
		var h histogram
		h.add(d)
		if got := h.read().Quantile(0.99); float64(got) < float64(d)*0.87 || float64(got) > float64(d)*1.13 {
			t.Errorf("quantile of %d alone is %d", d, got)
		}
	}
	var h histogram
	if h.read().Quantile(0.5) != 0 {
		t.Error("empty histogram has a quantile")
	}
	for i := range 1000 {
		h.add(time.Duration(i+1) * time.Millisecond)
	}
	if p50 := h.read().Quantile(0.5).Milliseconds(); p50 < 430 || p50 > 570 {
		t.Errorf("p50 of 1..1000 ms is %d ms", p50)
	}
}
