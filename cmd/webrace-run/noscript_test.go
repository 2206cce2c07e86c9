package main

import (
	"fmt"
	"net/http"
	"testing"
)

// forAllReaders is a page that shows and links more to readers who have no scripts, and draws a link.
const forAllReaders = `<!DOCTYPE html><title>Page</title><head><noscript><link rel=stylesheet href=/no.css></noscript></head>
<p>a page</p><noscript><p>the tea is listed <a href=/list>here</a></p></noscript>
<svg xmlns:xlink="http://www.w3.org/1999/xlink"><a xlink:href="/drawn"><text>x</text></a></svg>`

// TestNoScript: what is in noscript is there for a reader without scripts, and none were run; in a rendered page, they
// were. Links of XLink count in both.
func TestNoScript(t *testing.T) {
	t.Parallel()
	pages := func(t *testing.T) *world {
		w := newWorld(t)
		w.handle("/", func(out http.ResponseWriter, r *http.Request) { serveDocument(out, r, []byte(forAllReaders)) })
		w.page("/list", "of the house", "/article")
		w.page("/drawn", "something")
		w.page("/deeper", "something else")
		w.handle("/article", func(out http.ResponseWriter, r *http.Request) {
			out.Header().Set("Content-Type", "application/xml")
			fmt.Fprint(out, `<article xmlns:l="http://www.w3.org/1999/xlink"><section l:href="/deeper">of the garden</section></article>`)
		})
		return w
	}
	t.Run("without scripts", func(t *testing.T) {
		t.Parallel()
		w := pages(t)
		p := w.start(these(w.asks("ann", "/", depth(4), about("tea"))))
		p.mustExit(0)
		mustBe(t, "requests", w.requests(), "200 /", "200 /article", "200 /deeper", "200 /drawn", "200 /list")
		mustBe(t, "told", w.news(), "ann /")
	})
	t.Run("rendered", func(t *testing.T) {
		t.Parallel()
		flags := renderingConfig(t)
		w := pages(t)
		p := w.start(these(w.asks("ann", "/", depth(4), about("tea"))), append(flags, "--set", "render.empty_only=false")...)
		p.mustExit(0)
		mustBe(t, "requests", w.requests(), "200 /", "200 /drawn")
		mustBe(t, "told", w.news())
	})
}
