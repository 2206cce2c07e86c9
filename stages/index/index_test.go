package index

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/fulltext"
)

type fixture struct {
	*testing.T
	resources *pipeline.Resources
	fulltext  *fulltext.Store
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	dir, err := storage.Open(t.TempDir(), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	store, err := dir.Fulltext()
	if err == nil {
		_, err = dir.Objects() // or it would be opened by the stage
	}
	if err != nil {
		t.Fatal(err)
	}
	f := fixture{t, new(pipeline.Resources), store}
	pipeline.Provide(f.resources, dir)
	return f
}

func document(name string, version int, contentType, body string) *webrace.Document {
	return &webrace.Document{
		URL: "https://example.org/" + name, Outcome: webrace.Fetched, Header: http.Header{"Content-Type": {contentType}},
		At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Version: version, Body: []byte(body),
	}
}

func (f fixture) index(docs ...any) *stagetest.Result {
	f.Helper()
	got := stagetest.Try(f, stagetest.Case{Type: "index", Inputs: docs, Resources: f.resources})
	for _, failure := range got.Failures {
		f.Error(failure)
	}
	return got
}

// mustFind fails unless a query finds exactly these documents, as name@version.
func (f fixture) mustFind(query string, want ...string) {
	f.Helper()
	results, err := f.fulltext.Search(f.Context(), fulltext.Query{Text: query})
	if err != nil {
		f.Fatal(err)
	}
	var got []string
	for _, hit := range results.Hits {
		got = append(got, fmt.Sprintf("%s@%d", strings.TrimPrefix(hit.URL, "https://example.org/"), hit.Version))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		f.Errorf("%s finds %v, want %v", query, got, want)
	}
}

func TestConformance(t *testing.T) {
	f := newFixture(t)
	stagetest.Run(t, stagetest.Case{Type: "index", Resources: f.resources, Inputs: []any{
		document("a", 1, "text/html", "<title>A</title><p>text"), document("b", 1, "image/png", "\x89PNG"), document("c", 1, "text/plain", ""),
	}})
}

func TestEveryPartOfAPageIsFound(t *testing.T) {
	f := newFixture(t)
	got := f.index(
		document("page", 1, "text/html", `<html lang="en"><title>Timely</title><h1>Heading</h1><p>Paragraph<nav>Navigation</nav>`),
		document("notes", 1, "text/plain; charset=iso-8859-7", "\xe3\xe5\xe9\xdc"),
		document("image", 1, "image/png", "paragraph"),
	)
	for query, want := range map[string]string{
		"timely": "page@1", "title:timely": "page@1", "heading": "page@1", "headings:heading": "page@1",
		"paragraph": "page@1", "body:paragraph": "page@1", "navigation": "page@1", "language:en": "page@1", "type:html": "page@1", "γεια": "notes@1",
		"date:2026-01-02 host:example.org title:timely": "page@1",
	} {
		f.mustFind(query, want)
	}
	f.mustFind("body:timely")
	f.mustFind("headings:paragraph")
	if got.Counters["indexed"] != 2 || got.Counters["without_text"] != 1 {
		t.Errorf("counters %v", got.Counters)
	}
}

func TestTheNewestVersionIsTheOneFound(t *testing.T) {
	first, second := document("a", 1, "text/plain", "early"), document("a", 2, "text/plain", "late")
	for name, docs := range map[string][]any{
		"in order": {first, second}, "not in order": {second, first}, "twice": {first, second, first, second},
	} {
		f := newFixture(t)
		f.index(docs...)
		f.mustFind("late", "a@2")
		f.mustFind("early")
		r, err := f.fulltext.Search(t.Context(), fulltext.Query{Text: "early", History: true})
		if err != nil || len(r.Hits) != 1 || r.Hits[0].Version != 1 || !r.Hits[0].Superseded {
			t.Errorf("%s: the first version is found as %+v, %v", name, r.Hits, err)
		}
	}
}

func TestAVersionWithoutTextTakesThePlaceOfOneWithText(t *testing.T) {
	f := newFixture(t)
	f.index(document("a", 1, "text/plain", "early"))
	f.index(document("a", 2, "image/png", "\x89PNG"))
	f.mustFind("early")
	f.index(document("a", 1, "text/plain", "early"))
	f.mustFind("early")
}

func TestADocumentAtNoURLFailsItsGroup(t *testing.T) {
	f := newFixture(t)
	bad := document("a", 1, "text/plain", "text")
	bad.URL = "no url"
	got := stagetest.Try(t, stagetest.Case{Type: "index", Inputs: []any{bad}, Resources: f.resources})
	if len(got.Failures) != 1 || got.Counters["indexed"] != 0 {
		t.Errorf("%+v", got)
	}
}
