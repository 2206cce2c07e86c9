package acis

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

type fixture struct {
	*testing.T
	resources *pipeline.Resources
	store     *control.Store
}

func newFixture(t *testing.T) fixture {
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
	f := fixture{t, new(pipeline.Resources), store}
	pipeline.Provide(f.resources, dir)
	return f
}

func (f fixture) put(ids ...string) {
	f.Helper()
	var acis []*xmlschema.ACI
	for _, id := range ids {
		acis = append(acis, &xmlschema.ACI{
			ID: id, URD: "u1", Owner: "eleni", URI: "https://a.org/", Title: "Title of " + id, Format: xmlschema.FormatHTML, Urgency: 1,
			UpdateTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		})
	}
	if _, err := f.store.PutACIs(context.Background(), acis); err != nil {
		f.Fatal(err)
	}
}

func (f fixture) follow() string {
	f.Helper()
	ids := []string{}
	for _, v := range stagetest.Try(f, stagetest.Case{Type: "acis", Resources: f.resources}).Out[""] {
		aci := v.(*xmlschema.ACI)
		if aci.Title != "Title of "+aci.ID {
			f.Errorf("%+v", aci)
		}
		ids = append(ids, aci.ID)
	}
	return fmt.Sprint(ids)
}

func TestConformance(t *testing.T) {
	f := newFixture(t)
	var ids []string
	for i := range 300 {
		ids = append(ids, fmt.Sprint(i))
	}
	f.put(ids...)
	stagetest.Run(t, stagetest.Case{Type: "acis", Resources: f.resources})
}

func TestItKnowsHowFarItIsBehind(t *testing.T) {
	f := newFixture(t)
	follower := &stage{env: pipeline.NewEnv("stagetest", "stage", f.resources), store: f.store}
	for _, name := range []string{"a", "b"} {
		f.put(name+"1", name+"2")
		for _, want := range []int64{2, 0} {
			if lag, err := follower.Lag(t.Context()); err != nil || lag != want {
				t.Errorf("the lag is %d, %v, want %d", lag, err, want)
			}
			f.follow()
		}
	}
}

func TestEveryAnnotationComesOnceInOrder(t *testing.T) {
	f := newFixture(t)
	for i, c := range []struct {
		put  []string
		want string
	}{{nil, "[]"}, {[]string{"b", "a"}, "[b a]"}, {nil, "[]"}, {[]string{"a", "c", "b"}, "[c]"}} {
		f.put(c.put...)
		if got := f.follow(); got != c.want {
			t.Errorf("%d: %s, want %s", i, got, c.want)
		}
	}
}

func TestWhatItsOwnerTookStillComes(t *testing.T) {
	f := newFixture(t)
	f.put("a")
	if _, err := f.store.Take(t.Context(), "eleni"); err != nil {
		t.Fatal(err)
	}
	if got := f.follow(); got != "[a]" {
		t.Error(got)
	}
}

// TestAfterAFailureEverythingSinceIsReadAgain fails one annotation in the middle; the cursor must stay
// before it.
func TestAfterAFailureEverythingSinceIsReadAgain(t *testing.T) {
	f := newFixture(t)
	f.put("a", "b", "c", "d")
	broken := errors.New("broken")
	run := func(name, fail string) (seen []string, err error) {
		g := pipeline.DefaultRegistry.NewGraph(name)
		g.AddType("acis", "acis", nil)
		g.AddStage("end", pipeline.Spec{Type: "end", In: pipeline.Kinds(pipeline.KindOf[*xmlschema.ACI]())}, func(*pipeline.Env) (any, error) {
			return processor(func(it *pipeline.Item) error {
				id := it.Value.(*xmlschema.ACI).ID
				seen = append(seen, id)
				if id == fail {
					return broken
				}
				return nil
			}), nil
		})
		g.Connect("acis", "", "end")
		_, err = g.Run(t.Context(), pipeline.RunOptions{Resources: f.resources})
		return seen, err
	}
	if _, err := run("export", "b"); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	seen, err := run("export", "")
	if err != nil || len(seen) < 3 || fmt.Sprint(seen[len(seen)-3:]) != "[b c d]" {
		t.Errorf("read again: %q, %v", seen, err)
	}
	if seen, err = run("export", ""); err != nil || len(seen) != 0 {
		t.Errorf("at the end: %q, %v", seen, err)
	}
	if seen, err = run("another", ""); err != nil || fmt.Sprint(seen) != "[a b c d]" {
		t.Errorf("another pipeline: %q, %v", seen, err)
	}
}

type processor func(*pipeline.Item) error

func (f processor) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	return f(it)
}

func TestItStaysWhileACrawlRuns(t *testing.T) {
	f := newFixture(t)
	crawl := make(chan struct{})
	env := pipeline.NewEnv("export", "acis", f.resources)
	env.Upstream = crawl
	s, err := newStage(struct{}{}, env)
	if err != nil {
		t.Fatal(err)
	}
	out := make(emitted)
	ended := make(chan error, 1)
	go func() { ended <- s.(pipeline.Source).Run(t.Context(), out) }()
	for _, id := range []string{"a", "b"} {
		f.put(id)
		if aci := (<-out).(*xmlschema.ACI); aci.ID != id {
			t.Errorf("got %s, want %s", aci.ID, id)
		}
	}
	f.put("c")
	close(crawl)
	if aci := (<-out).(*xmlschema.ACI); aci.ID != "c" {
		t.Errorf("what was stored before the end of the crawl: got %s", aci.ID)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

type emitted chan any

func (e emitted) Emit(_ context.Context, it *pipeline.Item) error { e <- it.Value; return nil }
func (e emitted) EmitTo(ctx context.Context, _ string, it *pipeline.Item) error {
	return e.Emit(ctx, it)
}
