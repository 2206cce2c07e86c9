package quads

import (
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/transform"
)

// TestSchemaOrg asks for what pages state in the terms of schema.org, wherever they and the query have them.
func TestSchemaOrg(t *testing.T) {
	t.Parallel()
	s := open(t, vfs.NewMem())
	pages := map[string]string{
		"http://a.example/": `<script type=application/ld+json>{"@context":"https://schema.org","@type":"Event","name":"A"}</script>`,
		"http://b.example/": `<p itemscope itemtype=https://schema.org/Event><b itemprop=name>B</b>`,
		"http://c.example/": `<p vocab=https://schema.org/ typeof=Event><b property=name>C</b>`,
		"http://d.example/": `<script type=application/ld+json>{"@context":{"@vocab":"https://www.schema.org/"},"@type":"Event","name":"D"}</script>`,
		"http://e.example/": `<p itemscope itemtype=http://schema.org/Event><b itemprop=name>E</b>`,
	}
	index := func(o transform.Options) {
		for url, page := range pages {
			g, err := transform.Document(t.Context(), []byte(page), "text/html", url, o)
			must(t, err)
			durably(t, s, Context{URL: url, Version: 1}, g)
		}
	}
	named := func(prefix string) []webrace.Term {
		t.Helper()
		return column(t, s, `PREFIX schema: <`+prefix+`> SELECT ?name { ?e a ?type ; schema:name ?name FILTER(?type = schema:Event) }`)
	}
	all := []webrace.Term{`"A"`, `"B"`, `"C"`, `"D"`, `"E"`}

	index(transform.Options{TwoSchemaOrgs: true}) // as it was stored before
	if got := named("http://schema.org/"); !slices.Equal(got, []webrace.Term{`"A"`, `"E"`}) {
		t.Errorf("as it is written, at http: %v", got)
	}
	if got := named("https://schema.org/"); !slices.Equal(got, []webrace.Term{`"B"`, `"C"`}) {
		t.Errorf("as it is written, at https: %v", got)
	}
	index(transform.Options{}) // the same versions again
	for _, prefix := range []string{"http://schema.org/", "https://schema.org/", "http://www.schema.org/"} {
		if got := named(prefix); !slices.Equal(got, all) {
			t.Errorf("%s: %v, want %v", prefix, got, all)
		}
	}
	if got := column(t, s, `SELECT ?x { VALUES ?x { <https://schema.org/docs/about.html> <https://schema.org/> <https://schema.org.example/name> } }`); len(got) != 3 || !slices.Contains(got, "<https://schema.org/>") {
		t.Errorf("what is no term is %v", got)
	}
}
