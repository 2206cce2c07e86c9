package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/reugn/go-streams"
	"github.com/reugn/go-streams/extension"
	"github.com/reugn/go-streams/flow"
	"github.com/webrace/webrace/pipeline"
)

// The cycle is that of a crawl, over a made-up web in which page p links to the pages after 4p and once
// back to p/2:
//
//	frontier > fetch (4 workers) > parse > dedupe > frontier
//
// All contestants share the frontier, an unbounded queue in memory, and end by themselves: when it is
// empty and no page is in the works.
const (
	cycleLinks   = 4
	cycleWorkers = 4
)

// fifo is the frontier of all three: it counts how often each page was handed out and finished.
type fifo struct {
	mu       sync.Mutex
	changed  sync.Cond
	pages    []int
	next     int
	leased   int
	finished []int8 // by page
}

func newFifo(pages int) *fifo {
	f := &fifo{finished: make([]int8, pages)}
	f.changed.L = &f.mu
	return f
}

func (f *fifo) put(page int) {
	f.mu.Lock()
	f.pages = append(f.pages, page)
	f.mu.Unlock()
	f.changed.Signal()
}

// take waits for a page. It returns false when there is none and none can come any more.
func (f *fifo) take() (page int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.next == len(f.pages) {
		if f.leased == 0 {
			return 0, false
		}
		f.changed.Wait()
	}
	page = f.pages[f.next]
	f.next++
	f.leased++
	return page, true
}

func (f *fifo) finish(page int) {
	f.mu.Lock()
	f.leased--
	f.finished[page]++
	over := f.leased == 0 && f.next == len(f.pages)
	f.mu.Unlock()
	if over {
		f.changed.Broadcast()
	}
}

// err reports whether every page was handed out and finished once.
func (f *fifo) err() error {
	if f.next != len(f.finished) {
		return fmt.Errorf("%d of %d pages were handed out", f.next, len(f.finished))
	}
	for page, n := range f.finished {
		if n != 1 {
			return fmt.Errorf("page %d was finished %d times", page, n)
		}
	}
	return nil
}

// linksOf is what fetching a page brings.
func linksOf(page, pages int) []int {
	links := make([]int, 0, cycleLinks+1)
	for k := 1; k <= cycleLinks; k++ {
		if to := page*cycleLinks + k; to < pages {
			links = append(links, to)
		}
	}
	return append(links, page/2)
}

// seen is, of each page, whether it was seen already: each is new once. The first page always was.
type seen []bool

func newSeen(pages int) seen {
	s := make(seen, pages)
	s[0] = true
	return s
}

func (s seen) first(page int) bool {
	if s[page] {
		return false
	}
	s[page] = true
	return true
}

// visit is a page in the works of the rivals, and each of its links on the way back; what a run needs to
// know when to end.
type visit struct {
	page  int
	links []int
	alive *alive
}

// alive counts what has come of a page and is not dealt with.
type alive struct {
	n    atomic.Int32
	page int
	fifo *fifo
}

func (a *alive) done() {
	if a.n.Add(-1) == 0 {
		a.fifo.finish(a.page)
	}
}

func (f *fifo) visit() (*visit, bool) {
	page, ok := f.take()
	if !ok {
		return nil, false
	}
	a := &alive{page: page, fifo: f}
	a.n.Store(1)
	return &visit{page: page, alive: a}, true
}

// parsed returns the links of a visit, which take its place.
func (v *visit) parsed() []*visit {
	links := make([]*visit, len(v.links))
	for i, page := range v.links {
		links[i] = &visit{page: page, alive: v.alive}
	}
	v.alive.n.Add(int32(len(links)))
	v.alive.done()
	return links
}

func cycleBare(pages int) error {
	f, s := newFifo(pages), newSeen(pages)
	f.put(0)
	var edges [4]chan *visit
	for i := range edges {
		edges[i] = make(chan *visit, chanBuffer)
	}
	due, fetched, links, fresh := edges[0], edges[1], edges[2], edges[3]
	go func() {
		defer close(due)
		for v, ok := f.visit(); ok; v, ok = f.visit() {
			due <- v
		}
	}()
	var fetchers sync.WaitGroup
	for range cycleWorkers {
		fetchers.Go(func() {
			for v := range due {
				v.links = linksOf(v.page, pages)
				fetched <- v
			}
		})
	}
	go func() {
		fetchers.Wait()
		close(fetched)
	}()
	go func() {
		defer close(links)
		for v := range fetched {
			for _, link := range v.parsed() {
				links <- link
			}
		}
	}()
	go func() {
		defer close(fresh)
		for v := range links {
			if s.first(v.page) {
				fresh <- v
			} else {
				v.alive.done()
			}
		}
	}()
	for v := range fresh {
		f.put(v.page)
		v.alive.done()
	}
	return f.err()
}

func cycleGoStreams(pages int) error {
	f, s := newFifo(pages), newSeen(pages)
	f.put(0)
	due := make(chan any)
	go func() {
		defer close(due)
		for v, ok := f.visit(); ok; v, ok = f.visit() {
			due <- v
		}
	}()
	fetch := func(v *visit) *visit {
		v.links = linksOf(v.page, pages)
		return v
	}
	fresh := func(v *visit) bool {
		if s.first(v.page) {
			return true
		}
		v.alive.done() // a filter drops without a word: the ack has to be in its condition
		return false
	}
	var last streams.Flow = extension.NewChanSource(due).
		Via(flow.NewMap(fetch, cycleWorkers)).
		Via(flow.NewFlatMap((*visit).parsed, 1)).
		Via(flow.NewFilter(fresh, 1))
	for e := range last.Out() {
		v := e.(*visit)
		f.put(v.page)
		v.alive.done()
	}
	return f.err()
}

// fifoQueue makes a stage of the frontier.
type fifoQueue struct{ *fifo }

func (q fifoQueue) Put(_ context.Context, it *pipeline.Item) error {
	q.put(it.Value.(int))
	return nil
}

func (q fifoQueue) Take(context.Context) (pipeline.Lease, error) {
	page, ok := q.take()
	if !ok {
		return nil, io.EOF
	}
	return fifoLease{q.fifo, page}, nil
}

// Seal has nothing to do: the only page from outside is there before the first is taken.
func (q fifoQueue) Seal() {}

type fifoLease struct {
	fifo *fifo
	page int
}

func (l fifoLease) Item() *pipeline.Item    { return &pipeline.Item{Value: l.page} }
func (l fifoLease) Done(o pipeline.Outcome) { l.fifo.finish(l.page) }

func cycleWebrace(pages int) error {
	f, s := newFifo(pages), newSeen(pages)
	f.put(0)
	g := pipeline.NewGraph("cycle")
	page, links := pipeline.KindOf[int](), pipeline.KindOf[[]int]()
	one := func(impl any) func(*pipeline.Env) (any, error) {
		return func(*pipeline.Env) (any, error) { return impl, nil }
	}
	fetch := pipeline.Map(func(_ context.Context, page int) ([]int, error) { return linksOf(page, pages), nil })
	parse := processor(func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
		for _, link := range it.Value.([]int) {
			if err := out.Emit(ctx, it.With(link)); err != nil {
				return err
			}
		}
		return nil
	})
	dedupe := processor(func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
		if !s.first(it.Value.(int)) {
			return nil
		}
		return out.Emit(ctx, it)
	})
	addStage(g, "frontier", page, fifoQueue{f})
	g.AddStage("fetch", stageSpec("fetch", page, links), one(fetch)).Common.Workers = cycleWorkers
	g.AddStage("parse", stageSpec("parse", links, page), one(parse))
	addStage(g, "dedupe", page, dedupe)
	g.Wire("frontier > fetch > parse > dedupe > frontier")
	if err := runGraph(g); err != nil {
		return err
	}
	return f.err()
}

func stageSpec(name string, in, out pipeline.Kind) pipeline.Spec {
	return pipeline.Spec{Type: name, Summary: name, In: pipeline.Kinds(in), Out: []pipeline.Port{{Kind: out}}}
}
