package main

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

// TestQueriesAreAskedAsLinked: what an empty query or parameter means is the server's affair. Only what names a visitor
// is taken out.
func TestQueriesAreAskedAsLinked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asLinked := []string{"/k", "/k?", "/k?&", "/k?a=1&&b=2", "/k?a=1&", "/k?&a=1", "/k?a=", "/k?a", "/k?=", "/k??"}
	w.page("/", append(slices.Clone(asLinked), "/k?utm_source=x", "/k?a=1&&utm_source=x&b=2", "/k?utm_source=x&&c=3")...)
	w.page("/k", "tea")
	p := w.start(these(w.asks("ann", "/", depth(2))))
	p.mustExit(0)
	want := []string{"200 /", "200 /k?&c=3"}
	for _, path := range asLinked {
		want = append(want, "200 "+path)
	}
	slices.Sort(want)
	mustBe(t, "requests", w.requests(), want...)
}

// TestATypeThatIsNoneIsAsAbsent: a Content-Type that names no media type tells no more than none.
func TestATypeThatIsNoneIsAsAbsent(t *testing.T) {
	t.Parallel()
	for number, sent := range []string{"", "html", "text", "/", "*/*", "text/html, text/html", "utf-8; charset=koi8-r"} {
		t.Run(fmt.Sprint(number), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.handle("/", func(rw http.ResponseWriter, _ *http.Request) {
				rw.Header()["Content-Type"] = []string{sent}
				if sent == "" {
					rw.Header()["Content-Type"] = nil
				}
				rw.Write(document("tea and cake in Świdnica", "/next"))
			})
			w.page("/next", "tea")
			p := w.start(these(w.asks("ann", "/", depth(2), about("świdnica"))))
			p.mustExit(0)
			mustBe(t, "requests", w.requests(), "200 /", "200 /next")
			mustBe(t, "told", w.news(), "ann /")
			if v := w.versions("/")[0]; v.MediaType != "text/html" || v.Charset != "utf-8" {
				t.Errorf("stored as %s in %s", v.MediaType, v.Charset)
			}
		})
	}
}
