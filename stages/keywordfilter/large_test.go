package keywordfilter

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/pipeline"
	_ "github.com/webrace/webrace/stages/aciemit"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// ownersVariable sets how many owners a large page concerns in the tests: as many as it holds, or some.
const ownersVariable = "WEBRACE_TEST_OWNERS"

func owners(t testing.TB, otherwise int) int {
	n, err := strconv.Atoi(os.Getenv(ownersVariable))
	switch {
	case err == nil:
		return n
	}
	return otherwise
}

// crowdOf is a store in which so many owners ask for ibm and one for mainframes, each of whatever is fetched.
func crowdOf(t testing.TB, owners int) (*pipeline.Resources, *control.Store) {
	t.Helper()
	dir, err := storage.Open(t.TempDir(), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	store, err := dir.Control()
	if err != nil {
		t.Fatal(err)
	}
	var urds []*xmlschema.URD
	for n := range owners + 1 {
		u := xmlschema.NewURD(fmt.Sprintf("owner%d", n), "http://elsewhere.example/")
		u.ID = fmt.Sprintf("u%d", n)
		u.Keywords = xmlschema.NewKeywords(xmlschema.Keyword{Key: "ibm", Weight: 5})
		if n == owners {
			u.Owner, u.Keywords = "eleni", xmlschema.NewKeywords(xmlschema.Keyword{Key: "mainframe", Weight: 5})
		}
		urds = append(urds, u)
	}
	for group := range slices.Chunk(urds, 5000) {
		if _, err := store.Put(context.Background(), group); err != nil {
			t.Fatal(err)
		}
	}
	r := new(pipeline.Resources)
	pipeline.Provide(r, dir)
	return r, store
}

func documentAt(t testing.TB, url, body string) *webrace.Document {
	t.Helper()
	r, err := extract.Document([]byte(body), "text/html", url, extract.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &webrace.Document{
		URL: url, Outcome: webrace.Fetched, Status: 200, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Body: []byte(body), Digest: sha256.Sum256([]byte(body)),
		MediaType: "text/html", Title: r.Title, Text: r.Text, Version: 1, Changed: true,
	}
}

const large, small = "https://large.example/", "https://small.example/"

// pages are large ones with small ones behind.
func pages(t testing.TB, larges, smalls int) (all []*webrace.Document) {
	t.Helper()
	for n := range larges {
		all = append(all, documentAt(t, large+fmt.Sprint(n), html(fmt.Sprint("ibm again, number ", n))))
	}
	for n := range smalls {
		all = append(all, documentAt(t, small+fmt.Sprint(n), html(fmt.Sprint("a mainframe, number ", n))))
	}
	return all
}

// few is how many annotations of a page these tests make at once, so that few owners make it large.
const few = 60

// scene is a pipeline from documents to the annotations that are made of them.
type scene struct {
	documents []*webrace.Document
	workers   int
	atOnce    int                             // annotations of a page that do not go through the queue; 0: as many as usual
	filter    func(*stage) pipeline.Processor // what stands for the keyword filter; nil: itself
	taker     func(*xmlschema.ACI) error      // nil: aci-emit

	mu       sync.Mutex
	outcomes map[string][]pipeline.Outcome // by URL
}

type sourceFunc func(context.Context, pipeline.Emitter) error

func (f sourceFunc) Run(ctx context.Context, out pipeline.Emitter) error { return f(ctx, out) }

type processFunc func(context.Context, *pipeline.Item, pipeline.Emitter) error

func (f processFunc) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	return f(ctx, it, out)
}

// filtering is a keyword filter that is processed by another.
type filtering struct {
	*stage
	processor pipeline.Processor
}

func (f filtering) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	return f.processor.Process(ctx, it, out)
}

func (s *scene) run(ctx context.Context, t testing.TB, r *pipeline.Resources) (*pipeline.Report, error) {
	t.Helper()
	s.outcomes = make(map[string][]pipeline.Outcome)
	g := pipeline.NewGraph("scene")
	documents := pipeline.Spec{Type: "documents", Out: []pipeline.Port{{Kind: pipeline.KindOf[*webrace.Document]()}}}
	g.AddStage("documents", documents, func(*pipeline.Env) (any, error) { return sourceFunc(s.feed), nil })
	filter := g.Add("keyword-filter", Options{Audience: "everyone", Summary: 300, Remember: 5})
	filter.Common.Workers = s.workers
	make := filter.Make
	filter.Make = func(env *pipeline.Env) (any, error) {
		made, err := make(env)
		if err != nil {
			return nil, err
		}
		inner := made.(*stage)
		if s.atOnce > 0 {
			inner.large.atOnce = s.atOnce
		}
		if s.filter == nil {
			return inner, nil
		}
		return filtering{inner, s.filter(inner)}, nil
	}
	g.Connect("documents", "", "keyword-filter")
	if s.taker == nil {
		g.Add("aci-emit", nil)
		g.Connect("keyword-filter", "", "aci-emit")
	} else {
		g.AddStage("taker", pipeline.Spec{Type: "taker", In: pipeline.Kinds(pipeline.KindOf[*xmlschema.ACI]())}, func(*pipeline.Env) (any, error) {
			return processFunc(func(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
				return s.taker(it.Value.(*xmlschema.ACI))
			}), nil
		})
		g.Connect("keyword-filter", "", "taker")
	}
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	return g.Run(ctx, pipeline.RunOptions{Resources: r})
}

func (s *scene) feed(ctx context.Context, out pipeline.Emitter) error {
	for _, d := range s.documents {
		it := pipeline.NewItem(d, func(o pipeline.Outcome) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.outcomes[d.URL] = append(s.outcomes[d.URL], o)
		})
		if err := out.Emit(ctx, it); err != nil {
			return err
		}
	}
	return nil
}

// mustEndWell fails unless the lease of each document ended once and without error, and something was learned.
func (s *scene) mustEndWell(t *testing.T) {
	t.Helper()
	for _, d := range s.documents {
		if o := s.outcomes[d.URL]; len(o) != 1 || o[0].Err != nil || len(o[0].Learned) != 1 {
			t.Errorf("%s ended with %+v", d.URL, o)
		}
	}
}

// holdUp lets a large page's annotations beyond those that are made at once pass only when it is open.
type holdUp struct {
	pipeline.Emitter
	made map[string]int // by URL, of the pages in work
	mu   *sync.Mutex
	open <-chan struct{}
}

func (h holdUp) Emit(ctx context.Context, it *pipeline.Item) error {
	url := it.Value.(*xmlschema.ACI).URI
	h.mu.Lock()
	h.made[url]++
	n := h.made[url]
	h.mu.Unlock()
	if n > few {
		select {
		case <-h.open:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return h.Emitter.Emit(ctx, it)
}

// TestNoNumberOfLargePagesKeepsTheOthersWaiting has no stage take the annotations of large pages, of which there
// are more than workers, until everything else was told.
func TestNoNumberOfLargePagesKeepsTheOthersWaiting(t *testing.T) {
	t.Parallel()
	const crowded, larges, smalls = few + 50, 5, 20
	r, _ := crowdOf(t, crowded)
	open := make(chan struct{})
	var mu sync.Mutex
	told := map[string]map[string]bool{}
	s := &scene{documents: pages(t, larges, smalls), workers: 2, atOnce: few}
	made := map[string]int{}
	s.filter = func(inner *stage) pipeline.Processor {
		return processFunc(func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
			return inner.Process(ctx, it, holdUp{out, made, &mu, open})
		})
	}
	left := smalls
	s.taker = func(a *xmlschema.ACI) error {
		if told[a.URI] == nil {
			told[a.URI] = map[string]bool{}
		}
		if told[a.URI][a.ID] {
			return fmt.Errorf("%s is told twice to %s", a.URI, a.Owner)
		}
		told[a.URI][a.ID] = true
		if strings.HasPrefix(a.URI, small) {
			if left--; left == 0 {
				close(open)
			}
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	report, err := s.run(ctx, t, r)
	if err != nil {
		t.Fatalf("%d small pages were not told of: %v", left, err)
	}
	s.mustEndWell(t)
	for _, d := range s.documents {
		if want := map[bool]int{true: crowded, false: 1}[strings.HasPrefix(d.URL, large)]; len(told[d.URL]) != want {
			t.Errorf("%d were told of %s, want %d", len(told[d.URL]), d.URL, want)
		}
	}
	if c := report.Stages["keyword-filter"].Counters; c["large"] != larges || c["alerts"] != larges*crowded+smalls {
		t.Errorf("counters %v", c)
	}
}

// interrupt runs the scene until so many annotations are stored. The filter makes no more, so that the run does
// not end before.
func (s *scene) interrupt(t *testing.T, r *pipeline.Resources, store *control.Store, after int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var made atomic.Int64
	s.filter = func(inner *stage) pipeline.Processor {
		return processFunc(func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
			return inner.Process(ctx, it, quota{out, &made, after})
		})
	}
	go func() {
		defer cancel()
		for last := int64(0); last < after; {
			acis, err := store.NextACIs(ctx, last, 500)
			if err != nil {
				return
			}
			last = acis[len(acis)-1].Seq
		}
	}()
	if _, err := s.run(ctx, t, r); !errors.Is(err, context.Canceled) {
		t.Fatalf("the run was not interrupted: %v", err)
	}
	s.filter = nil
}

// quota lets so many annotations pass and holds the rest until the run ends.
type quota struct {
	pipeline.Emitter
	made *atomic.Int64
	most int64
}

func (q quota) Emit(ctx context.Context, it *pipeline.Item) error {
	if q.made.Add(1) > q.most {
		<-ctx.Done()
		return ctx.Err()
	}
	return q.Emitter.Emit(ctx, it)
}

// TestALargePageThatIsInterruptedIsToldOfOnce cancels the run in the middle, twice, and then lets it end.
func TestALargePageThatIsInterruptedIsToldOfOnce(t *testing.T) {
	t.Parallel()
	crowded := owners(t, few+40)
	r, store := crowdOf(t, crowded)
	s := &scene{documents: pages(t, 2, 10), workers: 2, atOnce: few}
	for _, after := range []int64{few / 2, 2 * few} {
		s.interrupt(t, r, store, after)
	}
	before, err := store.LastACI(t.Context())
	if err != nil || before < 2*few || before >= int64(2*crowded) {
		t.Fatalf("%d annotations when the run was interrupted, %v", before, err)
	}
	if _, err := s.run(t.Context(), t, r); err != nil {
		t.Fatal(err)
	}
	s.mustEndWell(t)
	type told struct{ owner, url string }
	got := map[told]int{}
	for a, err := range store.ACIs(t.Context(), control.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		got[told{a.Owner, a.URI}]++
	}
	if want := 2*crowded + 10; len(got) != want {
		t.Errorf("%d were told, want %d", len(got), want)
	}
	for who, n := range got {
		if n != 1 {
			t.Errorf("%+v was told %d times", who, n)
		}
	}
}

// BenchmarkLargePage measures a page that concerns everyone, with others behind it, from text to disk. It reports
// where in the order of what was stored the last annotation of the other pages is, and how much memory was
// alive at most.
func BenchmarkLargePage(b *testing.B) {
	crowded, runs := owners(b, 20_000), 0
	for b.Loop() {
		b.StopTimer()
		runs++
		r, store := crowdOf(b, crowded)
		s := &scene{documents: pages(b, 1, 100), workers: 2}
		before, stop := peak()
		b.StartTimer()
		if _, err := s.run(context.Background(), b, r); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		most, last := stop(), int64(0)
		for a, err := range store.ACIs(context.Background(), control.Filter{Owner: "eleni"}) {
			if err != nil {
				b.Fatal(err)
			}
			last = a.Seq
		}
		b.ReportMetric(float64(crowded)*float64(runs)/b.Elapsed().Seconds(), "annotations/s")
		b.ReportMetric(100*float64(last)/float64(crowded), "%-when-others-told")
		b.ReportMetric((float64(most)-float64(before))/1e6, "MB-peak-growth")
		b.StartTimer() // which Loop wants
	}
}

// peak watches the memory that is in use, and returns how much that is, and what ends the watch and returns the most.
func peak() (before uint64, stop func() uint64) {
	alive := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	runtime.GC()
	before = alive()
	end, result := make(chan struct{}), make(chan uint64)
	go func() {
		most := before
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-tick.C:
				most = max(most, alive())
			case <-end:
				tick.Stop()
				result <- most
				return
			}
		}
	}()
	return before, func() uint64 { close(end); return <-result }
}
