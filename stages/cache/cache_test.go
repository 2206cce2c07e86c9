package cache

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
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

const here = "https://example.org/page"

var (
	quiet = slog.New(slog.NewTextHandler(io.Discard, nil))
	began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

// fixture is a data directory whose object cache is in memory.
type fixture struct {
	t         *testing.T
	resources *pipeline.Resources
	objects   *objects.Store
}

func newFixture(t *testing.T, fs vfs.FS) *fixture {
	t.Helper()
	dir, err := storage.Open(t.TempDir(), storage.Options{Objects: objects.Options{FS: fs, Logger: quiet}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	store, err := dir.Objects()
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, resources: new(pipeline.Resources), objects: store}
	pipeline.Provide(f.resources, dir)
	return f
}

// result is what the stage makes of one document, and what the next visit knows then.
type result struct {
	*stagetest.Result
	document *webrace.Document
	links    *webrace.Links
	visit    webrace.Visit
}

// pass sends a document through the stage, as the request of its visit.
func (f *fixture) pass(d *webrace.Document) result {
	f.t.Helper()
	r := result{Result: stagetest.Try(f.t, stagetest.Case{Type: "cache", Inputs: []any{d}, Resources: f.resources})}
	if len(r.Failures) > 0 {
		f.t.Fatal(r.Failures[0])
	}
	for _, v := range r.Out[""] {
		r.document = v.(*webrace.Document)
	}
	for _, v := range r.Out["links"] {
		r.links = v.(*webrace.Links)
	}
	if d.Visit != nil {
		r.visit = *d.Visit
	}
	for _, what := range r.Outcomes[0].Learned {
		what.(webrace.Learned)(&r.visit)
	}
	return r
}

func fetched(body string, visit *webrace.Visit, links ...string) *webrace.Document {
	return &webrace.Document{
		URL: here, Reach: []webrace.Reach{{Crawl: "c1", Distance: 1}}, Visit: visit, Outcome: webrace.Fetched, Status: 200, At: began,
		Header: http.Header{"Content-Type": {"text/html"}}, MediaType: "text/html", Body: []byte(body), Links: links,
	}
}

// recallOf is the document that fetch makes when nothing had to be sent.
func recallOf(outcome webrace.Outcome, v webrace.Visit) *webrace.Document {
	return &webrace.Document{
		URL: here, Reach: []webrace.Reach{{Crawl: "c2", Distance: 0}}, Visit: &v, Outcome: outcome, At: began.Add(time.Hour),
		Digest: v.Digest, Version: v.Version,
	}
}

func TestConformance(t *testing.T) {
	f := newFixture(t, vfs.NewMem())
	stored := f.pass(fetched("stored", nil, "https://example.org/a"))
	stagetest.Run(t, stagetest.Case{Type: "cache", Resources: f.resources, Inputs: []any{
		fetched("new", nil, "https://example.org/b"), fetched("newer", nil),
		recallOf(webrace.NotModified, stored.visit), recallOf(webrace.Fresh, stored.visit),
	}})
}

func TestEveryVersionIsKept(t *testing.T) {
	f := newFixture(t, vfs.NewMem())
	var visit *webrace.Visit
	for i, c := range []struct {
		body    string
		version int
		changed bool
	}{{"one", 1, true}, {"two", 2, true}, {"two", 2, false}, {"one", 3, true}} {
		in := fetched(c.body, visit, "https://example.org/a")
		got := f.pass(in)
		digest := webrace.Digest(sha256.Sum256([]byte(c.body)))
		if d := got.document; d.Version != c.version || d.Changed != c.changed || d.Digest != digest || string(d.Body) != c.body || d.Visit != visit {
			t.Errorf("%d: document %+v", i, d)
		}
		if got.links != nil {
			t.Errorf("%d: links of a document that was fetched go out: %+v", i, got.links)
		}
		if got.visit.Version != c.version || got.visit.Digest != digest {
			t.Errorf("%d: the next visit knows %+v", i, got.visit)
		}
		if n := got.Counters["versions"]; (n == 1) != c.changed {
			t.Errorf("%d: %d new versions counted", i, n)
		}
		if in.Version != 0 || in.Digest != (webrace.Digest{}) {
			t.Errorf("%d: the input was changed", i)
		}
		visit = &got.visit
	}
	versions, err := f.objects.Versions(here)
	if err != nil || len(versions) != 3 {
		t.Errorf("%d versions, %v", len(versions), err)
	}
}

func TestLinksOfTheStoredVersionGoOutInsteadOfAPage(t *testing.T) {
	links := []string{"https://example.org/a", "https://example.com/b"}
	for _, outcome := range []webrace.Outcome{webrace.NotModified, webrace.Fresh} {
		t.Run(string(outcome), func(t *testing.T) {
			f := newFixture(t, vfs.NewMem())
			stored := f.pass(fetched("text", nil, links...))
			stored.visit.ETag, stored.visit.LastModified = `"e"`, "yesterday"
			got := f.pass(recallOf(outcome, stored.visit))
			want := &webrace.Links{From: here, Reach: []webrace.Reach{{Crawl: "c2", Distance: 0}}, Via: webrace.ViaLink, URLs: links}
			if !reflect.DeepEqual(got.links, want) {
				t.Errorf("links %+v, want %+v", got.links, want)
			}
			if d := got.document; d.Version != 1 || d.Changed || d.Digest != stored.visit.Digest || d.Outcome != outcome || string(d.Text.Bytes) != "text" || string(d.Body) != "text" || !slices.Equal(d.Links, links) {
				t.Errorf("document %+v", d)
			}
			if !reflect.DeepEqual(got.visit, stored.visit) {
				t.Errorf("the next visit knows %+v, want %+v", got.visit, stored.visit)
			}
			validated := began
			if outcome == webrace.NotModified {
				validated = began.Add(time.Hour)
			}
			if v, err := f.objects.Latest(here); err != nil || !v.ValidatedAt.Equal(validated) {
				t.Errorf("validated at %v, want %v; %v", v.ValidatedAt, validated, err)
			}
		})
	}
}

// TestNothingIsReadThatNoStageMakesUseOf has a stage behind the cache that needs some parts of a document.
func TestNothingIsReadThatNoStageMakesUseOf(t *testing.T) {
	f := newFixture(t, vfs.NewMem())
	stored := f.pass(fetched("<title>T</title>text", nil, "https://example.org/a"))
	for _, c := range []struct {
		needs      []pipeline.Part
		body, text bool
	}{
		{pipeline.NoParts, false, false},
		{[]pipeline.Part{webrace.PartLinks, webrace.PartVersion}, false, false},
		{[]pipeline.Part{webrace.PartBody}, true, false},
		{[]pipeline.Part{webrace.PartText}, true, true},
		{[]pipeline.Part{pipeline.AllParts}, true, true},
		{nil, true, true},
	} {
		var got *webrace.Document
		g := pipeline.DefaultRegistry.NewGraph("p")
		g.AddStage("one", pipeline.Spec{Type: "one", Out: []pipeline.Port{{Kind: pipeline.KindOf[*webrace.Document]()}}}, func(*pipeline.Env) (any, error) {
			return sourceFunc(func(ctx context.Context, out pipeline.Emitter) error {
				return out.Emit(ctx, pipeline.NewItem(recallOf(webrace.NotModified, stored.visit), func(pipeline.Outcome) {}))
			}), nil
		})
		g.AddType("cache", "cache", nil)
		end := pipeline.Spec{Type: "end", In: pipeline.Kinds(pipeline.KindOf[*webrace.Document]()), Needs: c.needs}
		g.AddStage("end", end, func(*pipeline.Env) (any, error) {
			return pipeline.Map(func(_ context.Context, d *webrace.Document) (any, error) { got = d; return d, nil }), nil
		})
		g.Wire("one > cache > end")
		report, err := g.Run(t.Context(), pipeline.RunOptions{Resources: f.resources})
		if err != nil {
			t.Fatal(err)
		}
		if (got.Body != nil) != c.body || (got.Text != nil) != c.text || (got.Title == "T") != c.text || !slices.Equal(got.Links, []string{"https://example.org/a"}) {
			t.Errorf("for %q it gives %+v", c.needs, got)
		}
		if n := report.Stages["cache"].Counters["recalled"]; (n == 1) != c.body {
			t.Errorf("for %q it reads %d bodies", c.needs, n)
		}
	}
}

// cut is a document of which a limit left only this.
func cut(body string, visit *webrace.Visit, links ...string) *webrace.Document {
	d := fetched(body, visit, links...)
	d.At, d.Truncated, d.Text = began.Add(time.Hour), true, &webrace.Text{Bytes: []byte(body)}
	return d
}

func TestWhatIsCutIsNeverTakenForComplete(t *testing.T) {
	for _, body := range []string{"who", "whole"} { // the limit may also be where the last version ended
		f := newFixture(t, vfs.NewMem())
		whole := f.pass(fetched("whole", nil, "https://example.org/a", "https://example.org/b"))
		whole.visit.ETag, whole.visit.LastModified = `"e"`, "yesterday"
		got := f.pass(cut(body, &whole.visit, "https://example.org/a"))
		if d := got.document; d.Version != 1 || d.Changed || d.Digest != whole.visit.Digest || d.Outcome != webrace.Fresh || d.Truncated ||
			string(d.Body) != "whole" || string(d.Text.Bytes) != "whole" || len(d.Links) != 2 || d.Visit == nil {
			t.Errorf("%q: the document that goes on is %+v", body, d)
		}
		if got.links == nil || !slices.Equal(got.links.URLs, []string{"https://example.org/a", "https://example.org/b"}) {
			t.Errorf("%q: what was cut off leads nowhere: %+v", body, got.links)
		}
		if got.Counters["truncated_ignored"] != 1 || got.Counters["versions"] != 0 {
			t.Errorf("%q: counted %v", body, got.Counters)
		}
		if v := got.visit; v.Version != 1 || v.Digest != whole.visit.Digest || v.ETag != "" || v.LastModified != "" {
			t.Errorf("%q: the next visit knows %+v", body, v)
		}
		if v, err := f.objects.Latest(here); err != nil || v.Number != 1 || v.Truncated || !v.ValidatedAt.Equal(began) {
			t.Errorf("%q: stored is %+v, %v", body, v, err)
		}
	}
}

func TestWhatIsCutIsKeptUntilThereIsBetter(t *testing.T) {
	f := newFixture(t, vfs.NewMem())
	visit := &webrace.Visit{ETag: `"e"`, LastModified: "yesterday"} // of what a browser made of the page, which was cut
	for i, d := range []*webrace.Document{cut("one", visit), cut("two", visit), fetched("whole", visit)} {
		got := f.pass(d)
		if got.document.Version != i+1 || !got.document.Changed || got.Counters["versions"] != 1 || got.Counters["truncated_ignored"] != 0 {
			t.Errorf("%d: %+v, %v", i, got.document, got.Counters)
		}
		if d.Truncated != (got.visit.ETag == "") {
			t.Errorf("%d: the next visit knows %+v", i, got.visit)
		}
		if v, err := f.objects.Latest(here); err != nil || v.Truncated != d.Truncated {
			t.Errorf("%d: stored is %+v, %v", i, v, err)
		}
	}
}

func TestADocumentWithoutLinksSendsNone(t *testing.T) {
	f := newFixture(t, vfs.NewMem())
	stored := f.pass(fetched("text", nil))
	if got := f.pass(recallOf(webrace.NotModified, stored.visit)); got.links != nil || got.document == nil {
		t.Errorf("%+v", got)
	}
}

func TestTheRequestOfAMissingVersionGoesBack(t *testing.T) {
	for _, outcome := range []webrace.Outcome{webrace.NotModified, webrace.Fresh} {
		f := newFixture(t, vfs.NewMem())
		env := pipeline.NewEnv("p", "cache", f.resources)
		s, err := newStage(Options{Archive: "gzip"}, env)
		if err != nil {
			t.Fatal(err)
		}
		d := recallOf(outcome, webrace.Visit{ETag: `"e"`, Digest: webrace.Digest{1}, Version: 3, Status: 304})
		err = s.(pipeline.Processor).Process(t.Context(), &pipeline.Item{Value: d}, nil)
		if !errors.Is(err, webrace.ErrNotStored) || env.Counters()["missing"] != 1 {
			t.Errorf("%s: %v, %v", outcome, err, env.Counters())
		}
	}
}

// A request that died between storing version 2 and being done leaves a visit that knows version 1.
func TestWhatAnEarlierRequestStoredIsLearnedAfterItsDeath(t *testing.T) {
	for _, outcome := range []webrace.Outcome{webrace.NotModified, webrace.Fresh} {
		f := newFixture(t, vfs.NewMem())
		first := f.pass(fetched("one", nil, "https://example.org/a"))
		first.visit.ETag, first.visit.LastModified = `"one"`, "yesterday"
		f.pass(fetched("two", &first.visit, "https://example.org/b")) // and then the process dies
		got := f.pass(recallOf(outcome, first.visit))
		if d := got.document; d.Version != 2 || d.Digest == first.visit.Digest || !slices.Equal(got.links.URLs, []string{"https://example.org/b"}) {
			t.Errorf("%s: document %+v with links %+v", outcome, d, got.links)
		}
		if got.visit.Version != 2 || got.visit.Digest != got.document.Digest {
			t.Errorf("%s: the next visit knows version %d", outcome, got.visit.Version)
		}
		if got.visit.ETag != "" || got.visit.LastModified != "" {
			t.Errorf("%s: the validators of version 1 would confirm version 2", outcome)
		}
	}
}

func TestADataDirectoryIsNeeded(t *testing.T) {
	if _, err := newStage(Options{Archive: "gzip"}, pipeline.NewEnv("p", "cache", nil)); err == nil || !strings.Contains(err.Error(), "storage.Dir") {
		t.Errorf("got %v", err)
	}
}

// Documents of either compression are found side by side, and read back.
func TestArchiveSaysHowRecordsAreCompressed(t *testing.T) {
	disk := vfs.NewMem()
	f := newFixture(t, disk)
	want := map[string]string{}
	for i, archive := range []string{"gzip", "zstd", "gzip"} {
		d := fetched("the body "+archive, nil)
		d.URL += strings.Repeat("x", i)
		want[d.URL] = string(d.Body)
		stagetest.Try(t, stagetest.Case{Type: "cache", Options: Options{Archive: archive}, Inputs: []any{d}, Resources: f.resources})
	}
	for url, body := range want {
		v, err := f.objects.Latest(url)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := f.objects.Body(v); err != nil || string(got) != body {
			t.Errorf("%s is %q, %v", url, got, err)
		}
	}
	if n := f.objects.Stats().Segments; n != 3 {
		t.Errorf("%d segments, want one for each change", n)
	}
}
