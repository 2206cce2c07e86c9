package frontier

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/frontier"
)

const start = "https://example.org/"

func dataDir(t *testing.T) *pipeline.Resources {
	t.Helper()
	return opened(t, t.TempDir(), storage.Options{Frontier: frontier.Options{FS: vfs.NewMem()}})
}

func opened(t *testing.T, path string, o storage.Options) *pipeline.Resources {
	t.Helper()
	dir, err := storage.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	r := new(pipeline.Resources)
	pipeline.Provide(r, dir)
	return r
}

func seed(url string, levels int) webrace.Request {
	return webrace.Request{URL: url, Crawl: &webrace.Crawl{ID: "c-" + url, Start: url, Scope: webrace.ScopeHost, Levels: levels, Urgency: 1}}
}

func with(change func(*Options)) Options {
	o := defaults
	change(&o)
	return o
}

// site stands for all that works on requests: it knows the links of each page, and what becomes of it.
type site struct {
	links   map[string][]string
	process func(ctx context.Context, it *pipeline.Item, req webrace.Request) error // nil: nothing goes wrong

	mu    sync.Mutex
	asked []webrace.Request
}

func (s *site) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	req, err := pipeline.ValueOf[webrace.Request](it)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.asked = append(s.asked, req)
	s.mu.Unlock()
	if s.process != nil {
		if err := s.process(ctx, it, req); err != nil {
			return err
		}
	}
	if links := s.links[req.URL]; len(links) > 0 {
		return out.EmitTo(ctx, "links", it.With(&webrace.Links{From: req.URL, Reach: req.Reach, Via: webrace.ViaLink, URLs: links}))
	}
	return nil
}

// urls are the pages asked for, in order, and forgets them.
func (s *site) urls() (urls []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, req := range s.asked {
		urls = append(urls, strings.TrimPrefix(req.URL, start))
	}
	s.asked = nil
	return urls
}

// begin starts a crawl: seeds > frontier > site, and the links back.
func (s *site) begin(t *testing.T, r *pipeline.Resources, o Options, seeds ...any) *pipeline.Run {
	t.Helper()
	run, err := s.graph(t, o, seeds...).Start(t.Context(), pipeline.RunOptions{Resources: r})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func (s *site) graph(t *testing.T, o Options, seeds ...any) *pipeline.Graph {
	t.Helper()
	g := pipeline.DefaultRegistry.NewGraph("crawl")
	g.AddStage("seeds", pipeline.Spec{Type: "seeds", Out: []pipeline.Port{{Kind: pipeline.KindOf[webrace.Request]()}}}, func(*pipeline.Env) (any, error) {
		return sourceFunc(func(ctx context.Context, out pipeline.Emitter) error {
			for _, v := range seeds {
				if err := out.Emit(ctx, &pipeline.Item{Value: v}); err != nil {
					return err
				}
			}
			return nil
		}), nil
	})
	g.AddType("frontier", "frontier", o)
	spec := pipeline.Spec{
		Type: "site", In: pipeline.Kinds(pipeline.KindOf[webrace.Request]()), Workers: 2,
		Out: []pipeline.Port{{Name: "links", Kind: pipeline.KindOf[*webrace.Links](), Doc: "links"}},
	}
	g.AddStage("site", spec, func(*pipeline.Env) (any, error) { return s, nil })
	g.Connect("seeds", "", "frontier")
	g.Connect("frontier", "", "site")
	g.Connect("site", "links", "frontier")
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	return g
}

// crawl runs a crawl to its end, and returns what the stage counted.
func (s *site) crawl(t *testing.T, r *pipeline.Resources, o Options, seeds ...any) map[string]int64 {
	t.Helper()
	run := s.begin(t, r, o, seeds...)
	select {
	case <-run.Done():
	case <-time.After(20 * time.Second):
		t.Fatalf("the crawl does not end; holding items: %v", run.Holding())
	}
	report, err := run.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return report.Stages["frontier"].Counters
}

type sourceFunc func(context.Context, pipeline.Emitter) error

func (f sourceFunc) Run(ctx context.Context, out pipeline.Emitter) error { return f(ctx, out) }

func TestConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{Type: "frontier", Resources: dataDir(t), Inputs: []any{
		seed(start, 1), seed("https://example.com/", 2),
		&webrace.Links{From: start, Reach: []webrace.Reach{{Crawl: "c-" + start}}, Via: webrace.ViaLink, URLs: []string{start + "deep"}},
	}})
}

func TestACrawlVisitsEachPageWithinItsBoundsOnce(t *testing.T) {
	s := &site{links: map[string][]string{
		start:       {start + "a", start + "b", "https://example.com/", start + "pdf.pdf"},
		start + "a": {start, start + "b", start + "c"},
		start + "c": {start + "too-deep"},
	}}
	counters := s.crawl(t, dataDir(t), with(func(o *Options) { o.Rules = []string{"deny extension pdf"} }), seed(start, 3))
	got := s.asked
	urls := s.urls()
	slices.Sort(urls)
	if want := []string{"", "a", "b", "c"}; !slices.Equal(urls, want) {
		t.Errorf("asked for %q, want %q", urls, want)
	}
	for i, distance := range []int{0, 1, 1, 2} {
		if r := got[i].Reach; len(r) != 1 || r[0] != (webrace.Reach{Crawl: "c-" + start, Distance: distance}) || got[i].Visit != nil || got[i].Crawl != nil {
			t.Errorf("request %+v, want one of distance %d", got[i], distance)
		}
	}
	for name, want := range map[string]int64{
		"rounds": 1, "rounds_resumed": 0, "offered": 8, "accepted": 3, "queued": 0, "deferred": 0, "dead": 0, "failures": 0,
		"refused_" + frontier.Scope.String(): 1, "refused_" + frontier.Rule.String(): 1,
		"refused_" + frontier.Depth.String(): 1, "refused_" + frontier.Repeat.String(): 2,
	} {
		if counters[name] != want {
			t.Errorf("%s is %d, want %d", name, counters[name], want)
		}
	}
}

func TestRedirectsAreFollowedAsFarAsTheOptionSays(t *testing.T) {
	s := &site{}
	resources, options := dataDir(t), with(func(o *Options) { o.Redirects = 2 })
	hop := func(n int) any {
		return &webrace.Links{
			From: start, Reach: []webrace.Reach{{Crawl: "c-" + start}}, Via: webrace.ViaRedirect, Redirects: n, URLs: []string{fmt.Sprint(start, n)},
		}
	}
	counters := s.crawl(t, resources, options, seed(start, 1), hop(2), hop(3))
	if urls := s.urls(); !slices.Equal(urls, []string{"", "2"}) || counters["refused_"+frontier.Redirects.String()] != 1 {
		t.Errorf("asked for %q, counters %v", urls, counters)
	}
}

func TestWhatWasLearnedComesWithTheNextRequest(t *testing.T) {
	resources := dataDir(t)
	at := time.Now()
	s := &site{process: func(_ context.Context, it *pipeline.Item, _ webrace.Request) error {
		it.Learn(webrace.Learned(func(v *webrace.Visit) { v.ETag, v.At = `"first"`, at }))
		it.Learn("something for another stage")
		it.Learn(webrace.Learned(func(v *webrace.Visit) { v.ETag, v.Revision = v.ETag+"!", v.Revision+1 }))
		return nil
	}}
	never := with(func(o *Options) { o.Fresh = 0 })
	s.crawl(t, resources, never, seed(start, 1))
	s.crawl(t, resources, never, seed(start, 1))
	s.crawl(t, resources, defaults, seed(start, 1))
	for i, req := range s.asked {
		if i == 0 {
			if req.Visit != nil || req.Stored {
				t.Errorf("the first request knows %+v", req.Visit)
			}
			continue
		}
		if v := req.Visit; v == nil || v.ETag != `"first"!` || v.Revision != int64(i) || !v.At.Equal(at) || len(v.Shown) != 1 {
			t.Errorf("request %d knows %+v", i, v)
		}
		if req.Stored != (i == 2) {
			t.Errorf("request %d: stored is %t", i, req.Stored)
		}
	}
	if len(s.asked) != 3 {
		t.Errorf("%d requests, want one a run", len(s.asked))
	}
}

func TestAFailureOfTheMomentIsTriedAgain(t *testing.T) {
	failure := errors.New("no answer")
	s := &site{process: func(_ context.Context, _ *pipeline.Item, req webrace.Request) error {
		if req.URL == start+"bad" || req.URL == start+"once" && req.Visit == nil {
			return pipeline.Retry(failure, time.Now())
		}
		return nil
	}, links: map[string][]string{start: {start + "bad", start + "once"}}}
	counters := s.crawl(t, dataDir(t), with(func(o *Options) { o.Attempts = 3 }), seed(start, 2))
	for _, req := range s.asked[1:] {
		if v := req.Visit; v != nil && (v.Attempts == 0 || v.Error != failure.Error()) {
			t.Errorf("%s: the next attempt knows %+v", req.URL, v)
		}
	}
	urls := s.urls()
	slices.Sort(urls)
	if want := []string{"", "bad", "bad", "bad", "once", "once"}; !slices.Equal(urls, want) {
		t.Errorf("asked for %q, want %q", urls, want)
	}
	if counters["dead"] != 1 {
		t.Errorf("counters %v", counters)
	}
}

func TestWhatIsDelayedForLongIsLeftForTheNextRun(t *testing.T) {
	resources := dataDir(t)
	s := &site{process: func(_ context.Context, _ *pipeline.Item, req webrace.Request) error {
		return pipeline.Retry(errors.New("come back later"), time.Now().Add(time.Hour))
	}}
	if counters := s.crawl(t, resources, with(func(o *Options) { o.Wait = 0 }), seed(start, 1)); counters["deferred"] != 1 {
		t.Errorf("counters %v", counters)
	}
	counters := s.crawl(t, resources, with(func(o *Options) { o.Wait = 0 }), seed(start, 1))
	if counters["rounds_resumed"] != 1 || counters["rounds"] != 0 || len(s.asked) != 1 {
		t.Errorf("the next run: %v, asked %d times", counters, len(s.asked))
	}
}

func TestAHostIsFreeAsSoonAsItIsReleased(t *testing.T) {
	second := make(chan struct{})
	s := &site{links: map[string][]string{start: {start + "a", start + "b"}}}
	s.process = func(ctx context.Context, it *pipeline.Item, req webrace.Request) error {
		switch req.URL {
		case start + "b":
			close(second)
		case start + "a": // its lease is out until the other page of the host is asked for
			it.Release(webrace.HostReport{})
			select {
			case <-second:
			case <-ctx.Done():
			}
		}
		return nil
	}
	s.crawl(t, dataDir(t), defaults, seed(start, 2))
	if urls := s.urls(); !slices.Equal(urls, []string{"", "a", "b"}) {
		t.Errorf("asked for %q", urls)
	}
}

func TestAReportOfTheHostIsObeyed(t *testing.T) {
	s := &site{links: map[string][]string{start: {start + "a"}}}
	s.process = func(_ context.Context, it *pipeline.Item, _ webrace.Request) error {
		it.Release(webrace.HostReport{NotBefore: time.Now().Add(time.Hour)})
		return nil
	}
	counters := s.crawl(t, dataDir(t), with(func(o *Options) { o.Wait = 0 }), seed(start, 2))
	if urls := s.urls(); !slices.Equal(urls, []string{""}) || counters["deferred"] != 1 {
		t.Errorf("asked for %q, counters %v", urls, counters)
	}
}

// TestARoundThatWasCutOffIsResumed ends a run while page a is in work, closes the data directory, and goes
// on from there.
func TestARoundThatWasCutOffIsResumed(t *testing.T) {
	stop := errors.New("stop here")
	for name, c := range map[string]struct {
		cut func(ctx context.Context, run *pipeline.Run) error // in the middle of page a
		err error
	}{
		"cancelled": {func(ctx context.Context, run *pipeline.Run) error { run.Cancel(); <-ctx.Done(); return ctx.Err() }, context.Canceled},
		"stopped":   {func(context.Context, *pipeline.Run) error { return stop }, stop}, // by the failure: no stage takes dead letters
	} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir()
			dir, err := storage.Open(path, storage.Options{})
			if err != nil {
				t.Fatal(err)
			}
			resources := new(pipeline.Resources)
			pipeline.Provide(resources, dir)
			s := &site{links: map[string][]string{start: {start + "a", start + "b"}}}
			running := make(chan *pipeline.Run, 1)
			s.process = func(ctx context.Context, it *pipeline.Item, req webrace.Request) error {
				it.Learn(webrace.Learned(func(v *webrace.Visit) { v.ETag = "learned" }))
				if req.URL != start+"a" {
					return nil
				}
				return c.cut(ctx, <-running)
			}
			run := s.begin(t, resources, with(func(o *Options) { o.Leases = 1 }), seed(start, 2))
			running <- run
			if _, err := run.Wait(); !errors.Is(err, c.err) {
				t.Fatalf("it ends with %v", err)
			}
			if err := dir.Close(); err != nil {
				t.Fatal(err)
			}
			s.urls()
			s.process = nil
			counters := s.crawl(t, opened(t, path, storage.Options{}), defaults, seed(start, 2))
			for _, req := range s.asked {
				if req.Visit != nil {
					t.Errorf("%s knows of a visit that was not finished: %+v", req.URL, req.Visit)
				}
			}
			if urls := s.urls(); !slices.Equal(urls, []string{"a", "b"}) || counters["rounds_resumed"] != 1 || counters["rounds"] != 0 {
				t.Errorf("asked for %q, counters %v", urls, counters)
			}
		})
	}
}

// TestARequestEndsWhenItsLinksAreDurable looks, while the disk is writing the links of a page, whether the
// request for the page has ended.
func TestARequestEndsWhenItsLinksAreDurable(t *testing.T) {
	ended, writing := make(chan struct{}), atomic.Bool{}
	disk := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if (op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData) && writing.CompareAndSwap(true, false) {
			select {
			case <-ended:
				t.Error("the request has ended, and its links may still be lost")
			case <-time.After(50 * time.Millisecond): // time for a mistake
			}
		}
		return nil
	}))
	s := &site{links: map[string][]string{start: {start + "a"}}}
	s.process = func(_ context.Context, it *pipeline.Item, req webrace.Request) error {
		if req.URL == start {
			writing.Store(true)
			it.OnEnd(func() { close(ended) })
		}
		return nil
	}
	s.crawl(t, opened(t, t.TempDir(), storage.Options{Frontier: frontier.Options{FS: disk}}), defaults, seed(start, 2))
	if writing.Load() {
		t.Error("nothing was written")
	}
}

func TestARequestThatAStoreFailedIsRepeatedByTheNextRun(t *testing.T) {
	full := errors.New("the disk is full")
	s := &site{process: func(_ context.Context, it *pipeline.Item, _ webrace.Request) error {
		it.Learn(webrace.Learned(func(v *webrace.Visit) { v.ETag = `"lost"` }))
		it.Hold()(full)
		return nil
	}}
	resources := dataDir(t)
	if _, err := s.begin(t, resources, defaults, seed(start, 1)).Wait(); !errors.Is(err, full) {
		t.Errorf("the run ended with %v", err)
	}
	s.process = nil
	s.crawl(t, resources, defaults, seed(start, 1))
	if len(s.asked) != 2 || s.asked[1].Visit != nil {
		t.Errorf("asked %+v", s.asked)
	}
}

func TestAQueueIsOpenOnce(t *testing.T) {
	resources := dataDir(t)
	var stages []*stage
	for _, name := range []string{"crawl", "crawl", "other"} {
		s, err := newStage(defaults, pipeline.NewEnv(name, "frontier", resources))
		if err != nil {
			t.Fatal(err)
		}
		stages = append(stages, s.(*stage))
	}
	for i, ok := range []bool{true, false, true} {
		if err := stages[i].Open(t.Context()); (err == nil) != ok {
			t.Errorf("open %d: %v", i, err)
		}
	}
	for range 2 {
		if err := stages[0].Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := stages[1].Open(t.Context()); err != nil {
		t.Errorf("once the first is closed: %v", err)
	}
	for _, s := range stages {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatIsNoSeedIsAFailure(t *testing.T) {
	got := stagetest.Try(t, stagetest.Case{Type: "frontier", Resources: dataDir(t), Inputs: []any{
		webrace.Request{URL: start}, seed("no url", 1), seed(start, 1),
	}})
	if len(got.Failures) != 2 || !strings.Contains(got.Failures[0].Error(), "no seed") || len(got.Out[""]) != 1 {
		t.Errorf("failures %v, out %v", got.Failures, got.Out)
	}
}

func TestOptionsAreValidated(t *testing.T) {
	if err := defaults.Validate(); err != nil {
		t.Error(err)
	}
	for option, o := range map[string]Options{
		"attempts":  with(func(o *Options) { o.Attempts = 0 }),
		"leases":    with(func(o *Options) { o.Leases = -1 }),
		"redirects": with(func(o *Options) { o.Redirects = 0 }),
		"rules":     with(func(o *Options) { o.Rules = []string{"allow host a.org", "deny everything"} }),
	} {
		var fault *pipeline.OptionError
		if err := o.Validate(); !errors.As(err, &fault) || fault.Option != option {
			t.Errorf("%s: got %v", option, err)
		}
	}
}

func TestRulesInTheDocAreRules(t *testing.T) {
	for _, option := range config.Options(nil, "frontier") {
		if option.Name != "rules" {
			continue
		}
		examples := regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(option.Doc, -1)
		if len(examples) == 0 {
			t.Error("no examples")
		}
		for _, example := range examples {
			if _, err := scope.ParseRules(example[1:]); err != nil {
				t.Error(err)
			}
		}
		return
	}
	t.Error("no option rules")
}

func TestADocumentThatIsNotStoredAnswersNobody(t *testing.T) {
	resources := dataDir(t)
	for _, digest := range []webrace.Digest{{}, {1}} { // of no document, and of one that was not kept
		s := &site{process: func(_ context.Context, it *pipeline.Item, _ webrace.Request) error {
			it.Learn(webrace.Learned(func(v *webrace.Visit) { v.At, v.Digest = time.Now(), digest }))
			return nil
		}}
		url := fmt.Sprint(start, digest[0])
		s.crawl(t, resources, defaults, seed(url, 1))
		s.crawl(t, resources, defaults, seed(url, 1))
		if stored := s.asked[1].Stored; stored != (digest == webrace.Digest{}) {
			t.Errorf("digest %v: the second request is stored: %t", digest[0], stored)
		}
	}
}
