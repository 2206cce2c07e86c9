package queue

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage"
)

var with = stagetest.Changed(defaults)

// resources opens a data directory.
func resources(t *testing.T, o storage.Options) *pipeline.Resources {
	t.Helper()
	dir, err := storage.Open(t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return lending(dir)
}

func lending(dir *storage.Dir) *pipeline.Resources {
	r := new(pipeline.Resources)
	pipeline.Provide(r, dir)
	return r
}

func texts(n int) []any {
	all := make([]any, n)
	for i := range all {
		all[i] = fmt.Sprint("text ", i)
	}
	return all
}

func TestConformance(t *testing.T) {
	for name, o := range map[string]Options{
		"as it is":    defaults,
		"no limit":    with(func(o *Options) { o.MaxBytes = 0 }),
		"one lease":   with(func(o *Options) { o.Leases = 1 }),
		"drop-oldest": with(func(o *Options) { o.Full = "drop-oldest" }),
		"fail":        with(func(o *Options) { o.Full = "fail" }),
	} {
		t.Run(name, func(t *testing.T) {
			stagetest.Run(t, stagetest.Case{Type: "queue", Options: o, Resources: resources(t, storage.Options{}), Inputs: texts(20)})
		})
	}
}

// Every kind that has a codec comes out as it went in, in its order, with the parts that it has and its meta data.
func TestWhatGoesInComesOut(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 23, 5, 0, 0, 0, time.UTC)
	in := []any{
		"a text", []byte("bytes"), pipeline.Record{"a": "b", "n": 1.5}, pipeline.List{"x", pipeline.Record{"y": true}},
		webrace.Request{URL: "http://a.org/", Reach: []webrace.Reach{{Crawl: "c", Distance: 2}}},
		&webrace.Document{URL: "http://a.org/", Outcome: webrace.Fetched, Status: 200, At: at, MediaType: "text/html", Body: []byte("<p>hello"), Text: &webrace.Text{Bytes: []byte("hello")}},
		&webrace.Document{URL: "http://a.org/", Outcome: webrace.NotModified, At: at},
		&pipeline.Failure{Stage: "s", Value: "v", Err: errors.New("broken"), Attempts: 2},
	}
	got := stagetest.Try(t, stagetest.Case{Type: "queue", Options: defaults, Resources: resources(t, storage.Options{}), Inputs: in})
	if !reflect.DeepEqual(got.Out[""], in) {
		t.Errorf("got %v\nwant %v", got.Out[""], in)
	}
	if c := got.Counters; c["queued"] != 0 || c["bytes"] != 0 || c["dropped"] != 0 {
		t.Errorf("counters of an empty queue: %v", c)
	}
}

func TestWhatHasNoCodecIsRefused(t *testing.T) {
	t.Parallel()
	got := stagetest.Try(t, stagetest.Case{Type: "queue", Options: defaults, Resources: resources(t, storage.Options{}), Inputs: []any{1, pipeline.List{"a", 2}, "b"}})
	if len(got.Failures) != 2 || !reflect.DeepEqual(got.Out[""], []any{"b"}) {
		t.Errorf("got %v, failures %v", got.Out, got.Failures)
	}
}

func TestOptionsAreValidated(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`max_bytes = -1`: "max_bytes", `leases = 0`: "leases", `wait = "-1s"`: "wait", `full = "drop"`: "drop-oldest",
		`max_bytes = 0, full = "fail"`: "set max_bytes", `max_byte = 1`: "max_bytes",
	} {
		_, err := config.Parse("p.toml", []byte("version = 1\n[pipeline.p]\nflow = [\"x > queue > y\"]\n[pipeline.p.stage]\nqueue = { "+text+" }\n"),
			config.LoadOptions{Registry: pipeline.DefaultRegistry})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func gives(values []any, ended func(i int, o pipeline.Outcome)) func(context.Context, pipeline.Emitter) error {
	return func(ctx context.Context, out pipeline.Emitter) error {
		for i, v := range values {
			it := pipeline.NewItem(v, func(o pipeline.Outcome) { ended(i, o) })
			if err := out.Emit(ctx, it); err != nil {
				return err
			}
		}
		return nil
	}
}

// A run that ends with items in the queue leaves them for the next: acknowledged, in their order, each once. In the
// first run nothing behind the queue is done, and the second ends in the middle.
func TestItemsOutliveTheRun(t *testing.T) {
	t.Parallel()
	r := resources(t, storage.Options{})
	acked := 0
	var mu sync.Mutex
	ack := func(_ int, o pipeline.Outcome) {
		mu.Lock()
		defer mu.Unlock()
		if o.Err == nil {
			acked++
		}
	}
	broken := errors.New("broken")
	run := func(values []any, most int) (came []any) {
		g, _ := stagetest.Between("queue", defaults, gives(values, ack), func(it *pipeline.Item) error {
			if len(came) == most {
				it.Hold()(broken) // which ends the run
				return nil
			}
			came = append(came, it.Value)
			return nil
		})
		if _, err := g.Run(t.Context(), pipeline.RunOptions{Resources: r}); err != nil && !errors.Is(err, broken) {
			t.Fatal(err)
		}
		return came
	}
	all := texts(40)
	first := run(all, 0)
	if acked == 0 || len(first) != 0 {
		t.Fatalf("%d were acknowledged, %d came", acked, len(first))
	}
	all = all[:acked]
	second := run(nil, 7)
	third := run(nil, -1)
	if got := append(second, third...); !reflect.DeepEqual(got, all) && !reflect.DeepEqual(third, all[7:]) {
		t.Errorf("got %v and %v, want %v", second, third, all)
	}
}

// An item that the stages behind put off comes again; those behind it go on meanwhile.
func TestAnItemThatIsPutOffComesAgain(t *testing.T) {
	t.Parallel()
	var came []any
	g, _ := stagetest.Between("queue", defaults, gives(texts(3), func(int, pipeline.Outcome) {}), func(it *pipeline.Item) error {
		came = append(came, it.Value)
		if it.Value == "text 0" && len(came) == 1 {
			return pipeline.Retry(errors.New("not now"), time.Now().Add(200*time.Millisecond))
		}
		return nil
	})
	if _, err := g.Run(t.Context(), pipeline.RunOptions{Resources: resources(t, storage.Options{})}); err != nil {
		t.Fatal(err)
	}
	if want := []any{"text 0", "text 1", "text 2", "text 0"}; !reflect.DeepEqual(came, want) {
		t.Errorf("got %v, want %v", came, want)
	}
}

// What never goes well does not keep a run from its end, and is there in the next.
func TestARunEndsThoughAnItemIsPutOffForEver(t *testing.T) {
	t.Parallel()
	r := resources(t, storage.Options{})
	o := with(func(o *Options) { o.Wait = pipeline.Duration(50 * time.Millisecond) })
	for i := range 2 {
		came := 0
		values := texts(1 - i)
		g, _ := stagetest.Between("queue", o, gives(values, func(int, pipeline.Outcome) {}), func(*pipeline.Item) error {
			came++
			return pipeline.Retry(errors.New("never"), time.Time{}.Add(1))
		})
		report, err := g.Run(t.Context(), pipeline.RunOptions{Resources: r})
		if err != nil || came == 0 || report.Stages["queue"].Counters["queued"] != 1 {
			t.Errorf("run %d: it came %d times; %v, %v", i, came, report.Stages["queue"].Counters, err)
		}
	}
}

// A full queue waits, drops the oldest, or fails, and never holds more than it may.
func TestAFullQueue(t *testing.T) {
	t.Parallel()
	const size, n = 2000, 50
	large := func(i int) any { return fmt.Sprintf("%03d", i) + strings.Repeat("x", 100) }
	var values []any
	for i := range n {
		values = append(values, large(i))
	}
	for full, check := range map[string]func(t *testing.T, came []any, c map[string]int64, failed int64){
		"wait": func(t *testing.T, came []any, c map[string]int64, failed int64) {
			if !reflect.DeepEqual(came, values) || c["dropped"] != 0 || failed != 0 {
				t.Errorf("%d came; %v", len(came), c)
			}
		},
		"drop-oldest": func(t *testing.T, came []any, c map[string]int64, failed int64) {
			if c["dropped"] == 0 || len(came)+int(c["dropped"]) != n || failed != 0 {
				t.Errorf("%d came of %d, and %d were dropped", len(came), n, c["dropped"])
			}
			if came[len(came)-1] != values[n-1] {
				t.Errorf("the last that came is %v", came[len(came)-1])
			}
		},
		"fail": func(t *testing.T, came []any, c map[string]int64, failed int64) {
			if failed == 0 || len(came)+int(failed) != n || c["dropped"] != 0 {
				t.Errorf("%d came of %d, and %d failed", len(came), n, failed)
			}
		},
	} {
		t.Run(full, func(t *testing.T) {
			t.Parallel()
			r := resources(t, storage.Options{})
			o := with(func(o *Options) { o.MaxBytes, o.Full, o.Leases = size, full, 2 })
			var came []any
			through := make(chan struct{}) // the queue has taken, or refused, all that there is
			var ended atomic.Int64
			g, stage := stagetest.Between("queue", o, gives(values, func(int, pipeline.Outcome) {
				if ended.Add(1) == n {
					close(through)
				}
			}), func(it *pipeline.Item) error {
				if full != "wait" {
					<-through
				}
				came = append(came, it.Value)
				return nil
			})
			stage.Common.OnError = pipeline.Skip
			stage.Common.Buffer = n
			report, err := g.Run(t.Context(), pipeline.RunOptions{Resources: r})
			if err != nil {
				t.Fatal(err)
			}
			check(t, came, report.Stages["queue"].Counters, report.Stages["queue"].Errors)
		})
	}
}

// A run that drains while items wait for room gives these back: the source is told that they were not taken.
func TestADrainGivesBackWhatThereIsNoRoomFor(t *testing.T) {
	t.Parallel()
	r := resources(t, storage.Options{})
	o := with(func(o *Options) { o.MaxBytes, o.Leases = 500, 1 })
	var mu sync.Mutex
	outcomes := map[bool]int{}
	out := make(chan struct{})
	g, _ := stagetest.Between("queue", o, gives(texts(30), func(_ int, o pipeline.Outcome) {
		mu.Lock()
		defer mu.Unlock()
		outcomes[o.Err == nil]++
	}), func(*pipeline.Item) error { <-out; return nil })
	run, err := g.Start(t.Context(), pipeline.RunOptions{Resources: r})
	if err != nil {
		t.Fatal(err)
	}
	testutil.Await(t, "ten items are queued", func() bool { return run.Snapshot().Stages["source"].Out >= 10 })
	run.Drain()
	close(out)
	report, err := run.Wait()
	c := report.Stages["queue"].Counters
	if err != nil || c["given_back"] == 0 || outcomes[true] == 0 || int64(outcomes[false]) < c["given_back"] {
		t.Errorf("outcomes %v, counters %v: %v", outcomes, c, err)
	}
	if left := outcomes[true] - int(report.Stages["sink"].In); int64(left) != c["queued"] {
		t.Errorf("%d were taken and did not come, and %d are queued", left, c["queued"])
	}
}

// Limits change in a reload, and the queue goes on: it takes more than it would have before.
func TestLimitsChangeInAReload(t *testing.T) {
	t.Parallel()
	r := resources(t, storage.Options{})
	const first, all = 5, 35
	var came, acknowledged atomic.Int64
	reloaded, block := make(chan struct{}), make(chan struct{})
	give := func(ctx context.Context, out pipeline.Emitter) error {
		for i := range all {
			if i == first {
				<-reloaded
			}
			it := pipeline.NewItem(fmt.Sprint("text ", i), func(pipeline.Outcome) { acknowledged.Add(1) })
			if err := out.Emit(ctx, it); err != nil {
				return err
			}
		}
		return nil
	}
	take := func(*pipeline.Item) error {
		if came.Add(1) > first {
			<-block
		}
		return nil
	}
	graph := func(o Options) *pipeline.Graph {
		g, _ := stagetest.Between("queue", o, give, take)
		return g
	}
	await := func(n *atomic.Int64, least int64, what string) {
		t.Helper()
		testutil.Await(t, fmt.Sprintf("%d items %s", least, what), func() bool { return n.Load() >= least })
	}
	run, err := graph(with(func(o *Options) { o.MaxBytes = 500 })).Start(t.Context(), pipeline.RunOptions{Resources: r})
	if err != nil {
		t.Fatal(err)
	}
	await(&came, first, "came")
	change, err := run.Reload(t.Context(), graph(defaults))
	if err != nil || !reflect.DeepEqual(change.Reconfigured, []string{"queue"}) {
		t.Fatalf("the reload has changed %v: %v", change, err)
	}
	close(reloaded)
	await(&acknowledged, all, "were taken")
	close(block)
	if _, err := run.Wait(); err != nil || came.Load() != all {
		t.Errorf("%d came: %v", came.Load(), err)
	}
}

// A queue that waits when it is full breaks no cycle; one that does not, does. Lint knows.
func TestCycles(t *testing.T) {
	t.Parallel()
	r := pipeline.NewRegistry()
	pipeline.RegisterIn(r, pipeline.Spec{Type: "texts", Summary: "texts", Out: []pipeline.Port{{Kind: pipeline.KindOf[string]()}}}, struct{}{}, nil)
	pipeline.RegisterIn(r, pipeline.Spec{Type: "shout", Summary: "more", In: pipeline.Kinds(pipeline.KindOf[string]()), Out: []pipeline.Port{{Kind: pipeline.KindOf[string]()}}}, struct{}{}, nil)
	spec, _ := pipeline.DefaultRegistry.Lookup("queue")
	pipeline.RegisterIn(r, spec, defaults, newStage)
	for full, want := range map[string]string{
		"":     `cycle through a queue that waits when it is full, and would stop then: choose another queue.full: queue > shout > queue`,
		"fail": "", "drop-oldest": "",
	} {
		text := "version = 1\n[pipeline.p]\nflow = [\"texts > queue > shout > queue\"]\n[pipeline.p.stage]\n"
		if full != "" {
			text += fmt.Sprintf("queue.full = %q\n", full)
		}
		_, err := config.Parse("p.toml", []byte(text), config.LoadOptions{Registry: r})
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.Contains(got, want) {
			t.Errorf("full = %q: %v", full, err)
		}
	}
}
