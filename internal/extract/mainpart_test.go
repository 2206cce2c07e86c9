package extract

import (
	"net/http"
	"strings"
	"testing"

	"github.com/webrace/webrace"
)

const sidebar = `<html><head><title>Storms</title></head><body><div class="sidebar"><p>Buy our tea today</p></div>
<div class="content"><h1>Storms are coming</h1>
<p>A storm with winds of more than a hundred kilometres an hour is expected to reach the western islands on Friday evening, the weather service announced.</p>
<p>Ferries &amp; boats will stay in their <b>harbours</b> until Sunday, and people who live near the coast are asked to bring in whatever the wind could carry away.</p>
<ul class="share-buttons"><li>Share this</li></ul>
<p>It would be the third storm of this year, and the first of them that comes from the north, where the sea is deeper and the waves therefore longer and higher.</p></div>
<div class="related"><p>Other news of today</p></div></body></html>`

func fieldsOf(t *testing.T, header http.Header, mediaType, body string) map[string]webrace.Field {
	t.Helper()
	r, err := Text([]byte(body), header, mediaType, "http://a.example/storms")
	if err != nil {
		t.Fatal(err)
	}
	fields := make(map[string]webrace.Field)
	for _, b := range r.Text.Blocks {
		fields[strings.Join(strings.Fields(string(r.Text.Slice(b))), " ")] = b.Field
	}
	return fields
}

func TestWhatStandsBesideTheMainPartCountsAsNavigation(t *testing.T) {
	t.Parallel()
	plain := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	noted := plain.Clone()
	noted[webrace.MainField] = []string{"1"}
	without, with := fieldsOf(t, plain, "", sidebar), fieldsOf(t, noted, "", sidebar)
	beside := map[string]bool{"Buy our tea today": true, "Other news of today": true, "Share this": true}
	if len(with) != len(without) || len(with) < 7 {
		t.Fatalf("%d blocks, and %d", len(with), len(without))
	}
	for block, field := range with {
		want := without[block]
		if beside[block] {
			want = webrace.FieldNavigation
		}
		if field != want {
			t.Errorf("%q: field %v, want %v", block, field, want)
		}
	}
	if got := fieldsOf(t, http.Header{webrace.MainField: {"1"}}, "text/html", sidebar); got["Buy our tea today"] != webrace.FieldNavigation {
		t.Error("the note is lost where no type was sent")
	}

	// A page without a main part, and what is no page, have none that is beside it.
	for mediaType, body := range map[string]string{
		"text/html": "<ul><li><a href=/a>One</a><li><a href=/b>Two</a></ul>", "text/plain": "One\n\nTwo", "text/csv": "a,b\n1,2\n",
	} {
		for block, field := range fieldsOf(t, http.Header{"Content-Type": {mediaType}, webrace.MainField: {"1"}}, "", body) {
			if field == webrace.FieldNavigation {
				t.Errorf("%s: %q is navigation", mediaType, block)
			}
		}
	}
}
