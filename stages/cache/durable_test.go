package cache

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/objects"
)

// leases runs the stage on one document, and calls end when the request would be told.
func leases(t *testing.T, f *fixture, d *webrace.Document, end func(pipeline.Outcome)) {
	t.Helper()
	if err := f.run(d, end, func() {}); err != nil && !errors.Is(err, pipeline.ErrEffect) {
		t.Fatal(err)
	}
}

// during runs the stage on one document, and does something while the request is under way.
func (f *fixture) during(d *webrace.Document, do func()) {
	f.t.Helper()
	if err := f.run(d, func(pipeline.Outcome) {}, do); err != nil {
		f.t.Fatal(err)
	}
}

// run runs the stage on one document: meanwhile is called as it has passed the stage, end when its request would be
// told.
func (f *fixture) run(d *webrace.Document, end func(pipeline.Outcome), meanwhile func()) error {
	g := pipeline.DefaultRegistry.NewGraph("p")
	documents := []pipeline.Port{{Kind: pipeline.KindOf[*webrace.Document]()}}
	g.AddStage("one", pipeline.Spec{Type: "one", Out: documents}, func(*pipeline.Env) (any, error) {
		return sourceFunc(func(ctx context.Context, out pipeline.Emitter) error { return out.Emit(ctx, pipeline.NewItem(d, end)) }), nil
	})
	g.AddType("cache", "cache", nil)
	g.AddStage("end", pipeline.Spec{Type: "end", In: pipeline.Kinds(pipeline.KindOf[any]())}, func(*pipeline.Env) (any, error) {
		return pipeline.Map(func(_ context.Context, v any) (any, error) {
			if _, ok := v.(*webrace.Document); ok {
				meanwhile()
			}
			return v, nil
		}), nil
	})
	g.Connect("one", "", "cache")
	g.Connect("cache", "", "end")
	g.Connect("cache", "links", "end")
	_, err := g.Run(f.t.Context(), pipeline.RunOptions{Resources: f.resources})
	return err
}

type sourceFunc func(context.Context, pipeline.Emitter) error

func (f sourceFunc) Run(ctx context.Context, out pipeline.Emitter) error { return f(ctx, out) }

func TestADocumentIsDurableBeforeItsRequestIsDone(t *testing.T) {
	disk := vfs.NewCrashableMem()
	f := newFixture(t, disk)
	for i, d := range []*webrace.Document{
		fetched("one", nil), fetched("two", nil), recallOf(webrace.NotModified, webrace.Visit{Version: 2}),
	} {
		ended := 0
		var crashed *vfs.MemFS
		leases(t, f, d, func(o pipeline.Outcome) {
			ended++
			if o.Err != nil {
				t.Error(o.Err)
			}
			crashed = disk.CrashClone(vfs.CrashCloneCfg{}) // the power goes at this moment
		})
		if ended != 1 {
			t.Fatalf("%d: the request was told %d times", i, ended)
		}
		after := newFixtureAt(t, f, crashed)
		version, err := after.Latest(here)
		if err != nil || version.Number != min(i+1, 2) || !version.ValidatedAt.Equal(d.At) {
			t.Errorf("%d: after the power cut there is %+v, %v", i, version, err)
		}
	}
}

func TestAVersionStaysUntilItsRequestIsDone(t *testing.T) {
	f := newFixture(t, vfs.NewMem())
	collect := func() objects.Collected {
		c, err := f.objects.Collect(t.Context(), objects.CollectOptions{
			Verdict: func(_ context.Context, versions []objects.Version) ([]objects.Verdict, error) {
				verdicts := make([]objects.Verdict, len(versions))
				for i := range verdicts {
					verdicts[i] = objects.Remove
				}
				return verdicts, nil
			},
		})
		if err != nil {
			t.Error(err)
		}
		return c
	}
	f.pass(fetched("one", nil))
	visit := webrace.Visit{Version: 1}
	for _, d := range []*webrace.Document{fetched("one", nil), recallOf(webrace.Fresh, visit), recallOf(webrace.NotModified, visit)} {
		passed := 0
		f.during(d, func() {
			passed++
			if c := collect(); c.Versions != 0 || c.Kept != 1 {
				t.Errorf("while the request of a document %s is under way: %+v", d.Outcome, c)
			}
		})
		if passed != 1 {
			t.Fatalf("%d documents went on", passed)
		}
	}
	if c := collect(); c.Versions != 1 {
		t.Errorf("when all is done: %+v", c)
	}
}

// newFixtureAt opens the object cache that a power cut left behind.
func newFixtureAt(t *testing.T, f *fixture, disk *vfs.MemFS) *objects.Store {
	t.Helper()
	dir, err := pipeline.Resource[*storage.Dir](pipeline.NewEnv("p", "s", f.resources))
	if err != nil {
		t.Fatal(err)
	}
	store, err := objects.Open(dir.Path("objects"), objects.Options{FS: disk, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func TestARequestWhoseDocumentIsLostFails(t *testing.T) {
	broken := errors.New("the disk is full")
	failing := false
	disk := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if failing && op.Kind.ReadOrWrite() == errorfs.OpIsWrite && strings.Contains(op.Path, ".warc") {
			return broken
		}
		return nil
	}))
	f := newFixture(t, disk)
	leases(t, f, fetched("one", nil), func(o pipeline.Outcome) {
		if o.Err != nil {
			t.Error(o.Err)
		}
	})
	failing = true
	ended := 0
	leases(t, f, fetched("two", nil), func(o pipeline.Outcome) {
		ended++
		if !errors.Is(o.Err, broken) {
			t.Errorf("the request is told %v", o.Err)
		}
	})
	if ended != 1 {
		t.Errorf("the request was told %d times", ended)
	}
	got := stagetest.Try(t, stagetest.Case{Type: "cache", Inputs: []any{fetched("three", nil)}, Resources: f.resources})
	if len(got.Failures) != 1 || got.Outcomes[0].Err != nil {
		t.Errorf("a store that refuses to write: %+v", got)
	}
}

// emitted is what a stage emits, by port.
type emitted map[string]any

func (e emitted) Emit(ctx context.Context, it *pipeline.Item) error { return e.EmitTo(ctx, "", it) }
func (e emitted) EmitTo(_ context.Context, port string, it *pipeline.Item) error {
	e[port] = it.Value
	return nil
}

// Two pipelines share the cache, and come to one page at the same time.
func TestAVersionOnItsWayToTheDiskDoesNotHinderTheOneBefore(t *testing.T) {
	gate, slow := make(chan struct{}), atomic.Bool{}
	disk := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if slow.Load() && op.Kind == errorfs.OpFileSyncData { // of a segment, which comes before the index
			<-gate
		}
		return nil
	}))
	f := newFixture(t, disk)
	first := f.pass(fetched("one", nil, "https://example.org/a"))
	slow.Store(true)
	durable := make(chan error, 1)
	if v, err := f.objects.Put(fetched("two", nil, "https://example.org/b"), func(err error) { durable <- err }); err != nil || v.Number != 2 {
		t.Fatal(v, err)
	}
	s, err := newStage(Options{Archive: "gzip"}, pipeline.NewEnv("p", "cache", f.resources))
	if err != nil {
		t.Fatal(err)
	}
	out := make(emitted)
	err = s.(pipeline.Processor).Process(t.Context(), &pipeline.Item{Value: recallOf(webrace.NotModified, first.visit)}, out)
	close(gate)
	if err != nil {
		t.Fatal(err)
	}
	if d := out[""].(*webrace.Document); d.Version != 1 || !slices.Equal(out["links"].(*webrace.Links).URLs, []string{"https://example.org/a"}) {
		t.Errorf("document %+v, links %+v", d, out["links"])
	}
	if err := <-durable; err != nil {
		t.Error(err)
	}
}
