package integration

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
)

func init() {
	request := pipeline.KindOf[webrace.Request]()
	pipeline.Register(pipeline.Spec{
		Type: "test-apart", Summary: "takes apart what a keeper has put together",
		In: pipeline.Kinds(pipeline.KindOf[any]()), Out: []pipeline.Port{{Kind: request}},
	}, struct{}{}, func(struct{}, *pipeline.Env) (any, error) { return apart{}, nil })
	pipeline.Register(pipeline.Spec{
		Type: "test-group", Summary: "makes a list of a group of the runtime's",
		In: pipeline.Kinds(request), Out: []pipeline.Port{{Kind: pipeline.KindOf[pipeline.List]()}},
		Batch: pipeline.Batch{Count: 4, Period: pipeline.Duration(20 * time.Millisecond)},
	}, struct{}{}, func(struct{}, *pipeline.Env) (any, error) { return group{}, nil })
	pipeline.Register(pipeline.Spec{
		Type: "test-values", Summary: "emits the requests of a list, without a word of whose they are",
		In: pipeline.Kinds(pipeline.KindOf[pipeline.List]()), Out: []pipeline.Port{{Kind: request}},
	}, struct{}{}, func(struct{}, *pipeline.Env) (any, error) { return values{}, nil })
}

// apart emits the requests that its item was made of, however many keepers put them together.
type apart struct{}

func (apart) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	members := pipeline.Members(it)
	if _, alone := it.Value.(webrace.Request); alone || len(members) == 0 {
		return out.Emit(ctx, it)
	}
	for _, member := range members {
		if err := (apart{}).Process(ctx, member, out); err != nil {
			return err
		}
	}
	return nil
}

type group struct{}

func (group) ProcessBatch(ctx context.Context, its []*pipeline.Item, out pipeline.Emitter) error {
	var list pipeline.List
	for _, it := range its {
		list = append(list, it.Value)
	}
	return out.Emit(ctx, &pipeline.Item{Value: list})
}

type values struct{}

func (values) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	for _, v := range it.Value.(pipeline.List) {
		if err := out.Emit(ctx, it.With(v)); err != nil {
			return err
		}
	}
	return nil
}

// pause is the delay of the tests: long enough to be seen, whatever the machine is busy with, because nothing but
// fetch's own delay makes requests lie so far apart.
const pause = 40 * time.Millisecond

// TestKeepersKeepLeases crawls two sites with a keeper between the frontier and fetch, and reads in the servers' logs
// that none was asked twice at a time, nor sooner than its delay allows, nor while it had asked to be left alone.
func TestKeepersKeepLeases(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ flow, options string }{
		"nothing":             {"frontier > fetch", ""},
		"throttle":            {"frontier > throttle > fetch", "throttle = { count = 1000 }"},
		"throttle by host":    {"frontier > throttle > fetch", `throttle = { count = 1000, key = "url", waiting = 3 }`},
		"slow throttle":       {"frontier > throttle > fetch", `throttle = { count = 20 }`},
		"two throttles":       {"frontier > throttle > second > fetch", `throttle = { count = 1000 }, second = { type = "throttle", count = 1000 }`},
		"batch":               {"frontier > batch > test-apart > fetch", `batch = { count = 4, period = "20ms" }`},
		"batch of one":        {"frontier > batch > test-apart > fetch", `batch = { count = 1 }`},
		"batch and throttle":  {"frontier > batch > throttle > test-apart > fetch", `batch = { count = 4, period = "20ms" }, throttle = { count = 1000 }`},
		"throttle and batch":  {"frontier > throttle > batch > test-apart > fetch", `batch = { count = 4, period = "20ms" }, throttle = { count = 1000 }`},
		"batch of batches":    {"frontier > batch > second > test-apart > fetch", `batch = { count = 2, period = "20ms" }, second = { type = "batch", count = 2, period = "20ms" }`},
		"window":              {"frontier > window > test-apart > fetch", `window = { count = 4, period = "20ms" }`},
		"window of time":      {"frontier > window > test-apart > fetch", `window = { size = "30ms" }`},
		"windows of a batch":  {"frontier > batch > window > test-apart > fetch", `batch = { count = 2, period = "20ms" }, window = { count = 2, period = "20ms" }`},
		"a group":             {"frontier > test-group > test-apart > fetch", ""},
		"a group of a keeper": {"frontier > throttle > test-group > test-apart > fetch", "throttle = { count = 1000 }"},
		"keeper of a group":   {"frontier > test-group > throttle > test-apart > fetch", "throttle = { count = 1000 }"},
		"keepers behind":      {"frontier > fetch > batch > window", `batch = { count = 4, period = "20ms" }, window = { count = 2, period = "20ms" }`},
		"go-streams: one":     {"frontier > test-throttle > fetch", ""},
		"go-streams: a list":  {"frontier > test-batch > test-apart > fetch", ""},
		"go-streams: windows": {"frontier > test-tumbling > test-apart > fetch", ""},
		"values of a batch":   {"frontier > batch > test-values > fetch", `batch = { count = 4, period = "20ms" }`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sites := []*site{newSite(t, 4), newSite(t, 5)}
			end := "fetch > normalize > drop"
			if name == "keepers behind" {
				end = `window > drop", "fetch > normalize > drop`
			}
			g := load(t, fmt.Sprintf(`
[pipeline.test]
flow = ["lines > %s", "%s", "normalize.links, fetch.redirects, fetch.sitemaps > frontier"]
stage = { lines = { urls = [%q, %q], depth = 2 }, fetch = { allow_networks = ["loopback"], delay = "%v", adaptive_delay = 0, delay_admitted = true }%s }
`, c.flow, end, sites[0].URL, sites[1].URL, pause, prefixed(c.options)), nil)
			report := toItsEnd(t, g, pipeline.RunOptions{Resources: resources(t)})
			if c := report.Stages["frontier"].Counters; c["dead"] > 0 || c["deferred"] > 0 {
				t.Errorf("the crawl is not whole: %v", c)
			}
			for i, s := range sites {
				s.mustHaveBeenLeftAlone(t, i)
				s.mustHaveBeenAsked(t, i, strings.Contains(c.flow, "test-values"))
			}
		})
	}
}

func prefixed(options string) string {
	if options == "" {
		return ""
	}
	return ", " + options
}

// mustHaveBeenLeftAlone reads the log of a site.
func (s *site) mustHaveBeenLeftAlone(t *testing.T, n int) {
	t.Helper()
	log := s.documents()
	if s.together > 1 {
		t.Errorf("site %d was asked %d times at once", n, s.together)
	}
	if s.early > 0 {
		t.Errorf("site %d was asked %d times while it wanted to be left alone", n, s.early)
	}
	for i, a := range log {
		if i > 0 && a.began.Sub(log[i-1].end) < pause {
			t.Errorf("site %d was asked for %s %v after it had answered %s", n, a.path, a.began.Sub(log[i-1].end), log[i-1].path)
		}
	}
}

// mustHaveBeenAsked reads there what was asked for: each page once, and the one that was put off again. Where values
// are emitted without a word of whose they are, those that shared its list share its outcome, and come again as well.
func (s *site) mustHaveBeenAsked(t *testing.T, n int, again bool) {
	t.Helper()
	paths := make(map[string]int)
	log := s.documents()
	for _, a := range log {
		paths[a.path]++
	}
	if len(paths) != s.pages+1 || paths["/1"] < 2 || len(log) != s.pages+2 && !again {
		t.Errorf("site %d was asked for %v, want each of %d pages once, and the first again", n, paths, s.pages+1)
	}
}
