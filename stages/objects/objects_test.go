package objects

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/objects"
)

type fixture struct {
	*testing.T
	resources *pipeline.Resources
	store     *objects.Store
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	dir, err := storage.Open(t.TempDir(), storage.Options{Objects: objects.Options{FS: vfs.NewMem(), Logger: quiet}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	store, err := dir.Objects()
	if err != nil {
		t.Fatal(err)
	}
	f := fixture{t, new(pipeline.Resources), store}
	pipeline.Provide(f.resources, dir)
	return f
}

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// put stores a body at example.org/name.
func (f fixture) put(name, body string) {
	f.Helper()
	durable := make(chan error, 1)
	_, err := f.store.Put(&webrace.Document{
		URL: "https://example.org/" + name, Outcome: webrace.Fetched, Status: 200, At: began, Header: http.Header{"Content-Type": {"text/plain"}},
		MediaType: "text/plain", Charset: "utf-8", Language: "el", Body: []byte(body), Truncated: name == "cut",
	}, func(err error) { durable <- err })
	if err == nil {
		err = <-durable
	}
	if err != nil {
		f.Fatal(err)
	}
}

func (f fixture) follow() []*webrace.Document {
	f.Helper()
	var docs []*webrace.Document
	for _, v := range stagetest.Try(f, stagetest.Case{Type: "objects", Resources: f.resources}).Out[""] {
		docs = append(docs, v.(*webrace.Document))
	}
	return docs
}

func TestConformance(t *testing.T) {
	f := newFixture(t)
	for i := range 300 {
		f.put(fmt.Sprint(i), "body")
	}
	stagetest.Run(t, stagetest.Case{Type: "objects", Resources: f.resources})
}

func TestADocumentComesAsItWasStored(t *testing.T) {
	f := newFixture(t)
	f.put("cut", "γειά")
	docs := f.follow()
	if len(docs) != 1 {
		t.Fatalf("%d documents", len(docs))
	}
	d := docs[0]
	if d.URL != "https://example.org/cut" || string(d.Body) != "γειά" || d.Digest != sha256.Sum256(d.Body) || d.Version != 1 || !d.Changed ||
		d.Outcome != webrace.Fetched || d.Status != 200 || !d.At.Equal(began) || !d.Truncated || d.Header.Get("Content-Type") != "text/plain" ||
		d.MediaType != "text/plain" || d.Charset != "utf-8" || d.Language != "el" {
		t.Errorf("%+v", d)
	}
}

func TestEveryVersionComesOnceInOrder(t *testing.T) {
	f := newFixture(t)
	var want []string
	for run, stored := range [][]string{{"a one", "b one", "a two"}, {}, {"a two", "c one", "a one"}} {
		for _, s := range stored {
			f.put(s[:1], s[2:])
		}
		switch run {
		case 0:
			want = []string{"a one 1", "b one 1", "a two 2"}
		case 1:
			want = nil
		case 2: // the second "a two" is no new version
			want = []string{"c one 1", "a one 3"}
		}
		var got []string
		for _, d := range f.follow() {
			got = append(got, fmt.Sprintf("%s %s %d", d.URL[len(d.URL)-1:], d.Body, d.Version))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("run %d: %q, want %q", run, got, want)
		}
	}
}

func TestItKnowsHowFarItIsBehind(t *testing.T) {
	f := newFixture(t)
	follower := &stage{env: pipeline.NewEnv("stagetest", "stage", f.resources), store: f.store}
	for _, name := range []string{"a", "b"} {
		f.put(name+"1", "body")
		f.put(name+"2", "body")
		for _, want := range []int64{2, 0} {
			if lag, err := follower.Lag(t.Context()); err != nil || lag != want {
				t.Errorf("the lag is %d, %v, want %d", lag, err, want)
			}
			f.follow()
		}
	}
}

func TestRemovedVersionsArePassedOver(t *testing.T) {
	f := newFixture(t)
	for _, name := range []string{"a", "b", "c"} {
		f.put(name, "body of "+name)
	}
	remove := func(names string) {
		_, err := f.store.Collect(t.Context(), objects.CollectOptions{
			Verdict: func(_ context.Context, versions []objects.Version) ([]objects.Verdict, error) {
				verdicts := make([]objects.Verdict, len(versions))
				for i, v := range versions {
					if strings.Contains(names, v.URL[len(v.URL)-1:]) {
						verdicts[i] = objects.Remove
					}
				}
				return verdicts, nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	remove("ac") // the last one of the log as well
	if docs := f.follow(); len(docs) != 1 || string(docs[0].Body) != "body of b" {
		t.Errorf("%d documents", len(docs))
	}
	f.put("d", "body of d")
	remove("d")
	if docs := f.follow(); len(docs) != 0 {
		t.Errorf("%d documents", len(docs))
	}
	s := &stage{store: f.store}
	if value, err := s.document(t.Context(), objects.Version{URL: "https://example.org/d", Number: 1}); value != nil || err != nil {
		t.Errorf("a version that is removed after it was found in the log: %v, %v", value, err)
	}
}

func TestEachPipelineHasACursorOfItsOwn(t *testing.T) {
	f := newFixture(t)
	f.put("a", "body")
	for _, name := range []string{"search", "search", "export"} {
		got := 0
		env := pipeline.NewEnv(name, "objects", f.resources)
		s, err := newStage(Options{}, env)
		if err != nil {
			t.Fatal(err)
		}
		g := pipeline.NewRegistry().NewGraph(name)
		g.AddStage("objects", pipeline.Spec{Type: "objects", Out: []pipeline.Port{{Kind: pipeline.KindOf[any]()}}}, func(*pipeline.Env) (any, error) { return s, nil })
		g.AddStage("end", pipeline.Spec{Type: "end", In: pipeline.Kinds(pipeline.KindOf[any]())}, func(*pipeline.Env) (any, error) {
			return pipeline.Map(func(_ context.Context, v any) (any, error) { got++; return v, nil }), nil
		})
		g.Connect("objects", "", "end")
		if _, err := g.Run(t.Context(), pipeline.RunOptions{Resources: f.resources}); err != nil {
			t.Fatal(err)
		}
		cursor, err := f.store.Cursor(name + "/objects")
		if err != nil || cursor != 1 {
			t.Errorf("%s: cursor at %d, %v", name, cursor, err)
		}
		if want := 1; name == "search" && cursor == 1 && got > want {
			t.Errorf("%s: %d documents", name, got)
		}
	}
}

// TestAfterAFailureEverythingSinceIsReadAgain fails one document in the middle; the cursor must stay before it.
func TestAfterAFailureEverythingSinceIsReadAgain(t *testing.T) {
	f := newFixture(t)
	for i := range 5 {
		f.put(fmt.Sprint(i), "body")
	}
	broken := errors.New("broken")
	run := func(fail string) (seen []string, err error) {
		g := pipeline.DefaultRegistry.NewGraph("search")
		g.AddType("objects", "objects", nil)
		g.AddStage("end", pipeline.Spec{Type: "end", In: pipeline.Kinds(pipeline.KindOf[*webrace.Document]())}, func(*pipeline.Env) (any, error) {
			return processor(func(it *pipeline.Item) error {
				name := it.Value.(*webrace.Document).URL[len("https://example.org/"):]
				seen = append(seen, name)
				if name == fail {
					return broken
				}
				return nil
			}), nil
		})
		g.Connect("objects", "", "end")
		_, err = g.Run(t.Context(), pipeline.RunOptions{Resources: f.resources})
		return seen, err
	}
	if _, err := run("2"); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	seen, err := run("")
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) < 3 || fmt.Sprint(seen[len(seen)-3:]) != "[2 3 4]" {
		t.Errorf("read again: %q", seen)
	}
	if seen, err = run(""); err != nil || len(seen) != 0 {
		t.Errorf("at the end: %q, %v", seen, err)
	}
}

type processor func(*pipeline.Item) error

func (f processor) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	return f(it)
}

func TestItStaysWhileACrawlRuns(t *testing.T) {
	f := newFixture(t)
	crawl := make(chan struct{})
	env := pipeline.NewEnv("search", "objects", f.resources)
	env.Upstream = crawl
	s, err := newStage(Options{}, env)
	if err != nil {
		t.Fatal(err)
	}
	out := make(emitted)
	ended := make(chan error, 1)
	go func() { ended <- s.(pipeline.Source).Run(t.Context(), out) }()
	for _, name := range []string{"a", "b"} {
		f.put(name, name)
		if d := (<-out).(*webrace.Document); string(d.Body) != name {
			t.Errorf("got %s", d.URL)
		}
	}
	f.put("c", "c")
	close(crawl)
	if d := (<-out).(*webrace.Document); string(d.Body) != "c" {
		t.Errorf("what was stored before the end of the crawl: got %s", d.URL)
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
