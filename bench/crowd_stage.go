package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// crowdStage is a stage keyword-filter that has taken in its URDs, between documents and who counts the annotations.
type crowdStage struct {
	bench  *crowdBench
	asks   *workload
	urds   map[string]int // by kind: how many
	bytes  int64          // of the heap, for all of them
	crawls map[string]string
	pages  *objects.Store
	out    pipeline.Emitter
	sets   int // of documents that were made

	mu   sync.Mutex
	told map[string]map[string]int // by URL and version: the relevance for each URD; only while it is not nil
	acis int
}

// sizeOf is how many URDs of a kind there are beside so many that look at whole pages.
func sizeOf(kind string, n int) int {
	if kind == crowdKinds[0] {
		return n
	}
	return max(n/10, 2)
}

// stage runs a pipeline of the stage with so many URDs, and lets work feed it.
func (c *crowdBench) stage(asks *workload, n int, work func(*crowdStage) error) error {
	path, err := os.MkdirTemp("", "webrace-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(path)
	dir, err := storage.Open(path, storage.Options{})
	if err != nil {
		return err
	}
	s := &crowdStage{bench: c, asks: asks, urds: map[string]int{}, crawls: map[string]string{}}
	for _, kind := range crowdKinds {
		s.urds[kind] = sizeOf(kind, n)
	}
	return errors.Join(s.run(dir, work), dir.Close())
}

func (s *crowdStage) run(dir *storage.Dir, work func(*crowdStage) error) error {
	store, err := dir.Control()
	if err != nil {
		return err
	}
	if s.pages, err = dir.Objects(); err != nil {
		return err
	}
	if err := s.fill(store); err != nil {
		return err
	}
	before := heapInUse()
	g := pipeline.NewGraph("crowd")
	documents := pipeline.Spec{Type: "documents", Out: []pipeline.Port{{Kind: pipeline.KindOf[*webrace.Document]()}}}
	g.AddStage("documents", documents, func(*pipeline.Env) (any, error) {
		return sourceFunc(func(_ context.Context, out pipeline.Emitter) error {
			s.bytes, s.out = heapInUse()-before, out
			return work(s)
		}), nil
	})
	g.Add("keyword-filter", nil)
	taker := pipeline.Spec{Type: "taker", In: pipeline.Kinds(pipeline.KindOf[*xmlschema.ACI]())}
	g.AddStage("taker", taker, func(*pipeline.Env) (any, error) { return processor(s.take), nil })
	g.Wire("documents > keyword-filter > taker")
	if err := g.Check(); err != nil {
		return err
	}
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, dir)
	_, err = g.Run(context.Background(), pipeline.RunOptions{Resources: resources})
	return err
}

type sourceFunc func(context.Context, pipeline.Emitter) error

func (f sourceFunc) Run(ctx context.Context, out pipeline.Emitter) error { return f(ctx, out) }

// fill stores the URDs, and finds out the crawl of each kind.
func (s *crowdStage) fill(store *control.Store) error {
	for _, kind := range crowdKinds {
		if err := putAll(store, s.bench.urds(s.asks, kind, s.urds[kind])); err != nil {
			return err
		}
		first, err := store.Get(context.Background(), kind[:1]+"0")
		if err != nil {
			return err
		}
		s.crawls[kind] = first.Crawl.ID
	}
	return nil
}

// putAll stores URDs, many at a time.
func putAll(store *control.Store, all iter.Seq[*xmlschema.URD]) error {
	const together = 1000
	var group []*xmlschema.URD
	put := func() error {
		_, err := store.Put(context.Background(), group)
		group = group[:0]
		return err
	}
	for u := range all {
		if group = append(group, u); len(group) < together {
			continue
		}
		if err := put(); err != nil {
			return err
		}
	}
	return put()
}

func (s *crowdStage) take(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	a := it.Value.(*xmlschema.ACI)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acis++
	if s.told != nil {
		of := versionOf(a.URI, a.Docbase.Version)
		if s.told[of] == nil {
			s.told[of] = map[string]int{}
		}
		s.told[of][a.URD] = a.Relevance
	}
	return nil
}

func versionOf(url string, version int) string { return fmt.Sprint(url, " ", version) }

// feed gives the stage documents, waits until all is done, and returns the visits that they leave behind.
func (s *crowdStage) feed(all []*webrace.Document) ([]*webrace.Visit, error) {
	visits := make([]*webrace.Visit, len(all))
	errs := make(chan error, len(all))
	for i, d := range all {
		it := pipeline.NewItem(d, func(o pipeline.Outcome) {
			v := &webrace.Visit{Digest: d.Digest, Version: d.Version}
			for _, what := range o.Learned {
				what.(webrace.Learned)(v)
			}
			for _, r := range d.Reach {
				v.Shown = append(v.Shown, webrace.Shown{Crawl: r.Crawl, Distance: r.Distance, Version: v.Version, Revision: v.Revision})
			}
			visits[i] = v
			errs <- o.Err
		})
		if err := s.out.Emit(context.Background(), it); err != nil {
			return nil, err
		}
	}
	var err error
	for range all {
		err = errors.Join(err, <-errs)
	}
	return visits, err
}

// crowdState is in which way documents of a kind of URDs come.
type crowdState struct{ kind, state string }

// crowdStates are those of a page that comes for the first time, that has a paragraph more, and that has not changed.
var crowdStates = []string{"at first", "changed", "unchanged"}

// documents makes so many documents for a kind of URDs, in each state.
func (s *crowdStage) documents(kind string, n int) (map[crowdState][]*webrace.Document, error) {
	s.sets++
	first, err := s.fetched(kind, n, 1, nil)
	if err != nil {
		return nil, err
	}
	visits, err := s.feed(first)
	if err != nil {
		return nil, err
	}
	changed, err := s.fetched(kind, n, 2, visits)
	if err != nil {
		return nil, err
	}
	var again []*webrace.Document
	for i, d := range first {
		again = append(again, &webrace.Document{
			URL: d.URL, Reach: d.Reach, Visit: visits[i], Outcome: webrace.NotModified, Status: http.StatusNotModified, Digest: d.Digest, Version: d.Version,
		})
	}
	return map[crowdState][]*webrace.Document{
		{kind, crowdStates[0]}: first, {kind, crowdStates[1]}: changed, {kind, crowdStates[2]}: again,
	}, nil
}

func (s *crowdStage) fetched(kind string, n, version int, visits []*webrace.Visit) (all []*webrace.Document, err error) {
	for i := range n {
		body := crowdPage(s.bench.corpus.pages[i], version)
		d := &webrace.Document{
			URL: fmt.Sprintf("%sset%d/page%d", startOf(kind), s.sets, i), Outcome: webrace.Fetched, Status: http.StatusOK, At: time.Unix(1e9, 0),
			Header: http.Header{"Content-Type": {"text/html"}}, Body: body, Digest: sha256.Sum256(body),
		}
		if crawl := s.crawls[kind]; crawl != "" {
			d.Reach = []webrace.Reach{{Crawl: crawl, Distance: i % 5}}
		}
		if visits != nil {
			d.Visit = visits[i]
		}
		r, err := extract.Document(body, "text/html", d.URL, extract.Options{})
		if err != nil {
			return nil, err
		}
		d.MediaType, d.Charset, d.Title, d.Text = r.MediaType, r.Charset, r.Title, r.Text
		durable := make(chan error, 1)
		stored, err := s.pages.Put(d, func(err error) { durable <- err })
		if err == nil {
			err = <-durable
		}
		if err != nil {
			return nil, err
		}
		if d.Version = stored.Number; stored.Number != version {
			return nil, fmt.Errorf("%s has version %d, want %d", d.URL, stored.Number, version)
		}
		all = append(all, d)
	}
	return all, nil
}

// crowdTimes are what a page costs, and how many alerts it gives rise to.
type crowdTimes map[crowdState]struct {
	taken
	alerts float64
}

// longestState is when a state has been measured enough, if it was once.
const longestState = 3 * time.Second

// measure feeds so many pages in each state, again and again.
func (s *crowdStage) measure(n int) (crowdTimes, error) {
	times := crowdTimes{}
	for _, kind := range crowdKinds {
		states, err := s.documents(kind, n)
		if err != nil {
			return nil, err
		}
		for at, documents := range states {
			it := times[at]
			began := time.Now()
			for block := 0; block < 3 && (block == 0 || time.Since(began) < longestState); block++ {
				t, alerts, err := s.block(documents)
				if err != nil {
					return nil, err
				}
				if it.alerts = alerts; block == 0 || t.CPU < it.CPU {
					it.taken = t
				}
			}
			times[at] = it
		}
	}
	return times, nil
}

// block feeds the documents for a while, and returns what one of them takes.
func (s *crowdStage) block(documents []*webrace.Document) (one taken, alerts float64, err error) {
	runtime.GC() // what the one before left behind
	s.acis = 0
	pages, cpu, began := 0, ownCPU(), time.Now()
	for pages == 0 || time.Since(began) < s.bench.scale.round {
		if _, err := s.feed(documents); err != nil {
			return one, 0, err
		}
		pages += len(documents)
	}
	return taken{CPU: ownCPU() - cpu, Wall: time.Since(began)}.dividedBy(pages), float64(s.acis) / float64(pages), nil
}
