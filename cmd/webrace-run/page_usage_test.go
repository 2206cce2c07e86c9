package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// What the owner of a page states that it may be used for is shown of a live page and of a stored one, with the line
// that it comes from, and goes with it into an archive and back.
func TestWhatAPageMayBeUsedForIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.handle("/robots.txt", func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(rw, "User-agent: *\nContent-Signal: search=yes, ai-train=no\nContent-Usage: /free train-ai=y\nDisallow: /never\n")
	})
	w.handle("/", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/html")
		rw.Header().Set("TDM-Reservation", "1")
		rw.Header().Set("TDM-Policy", "/policy.json")
		rw.Header().Set("Webrace-Usage", "robots.txt:9: Content-Usage: train-ai=y")
		fmt.Fprint(rw, `<title>A page</title><meta name="robots" content="noai"><p>tea <a href="/free">free</a>`)
	})
	w.page("/free", "tea for all")
	lines := map[string][]string{
		"/": {
			"its owner states train-ai=n, ai-input=n: <meta name=\"robots\" content=\"noai\"> (in the page)",
			"its owner states train-ai=n, search=y: Content-Signal: search=yes, ai-train=no (line 2 of " + w.URL + "/robots.txt)",
			"its owner states text-and-data-mining=n, train-ai=n, ai-input=n, terms " + w.URL + "/policy.json: tdm-reservation: 1 (in the header)",
		},
		"/free": {
			"its owner states train-ai=n, search=y: Content-Signal: search=yes, ai-train=no (line 2 of " + w.URL + "/robots.txt)",
			"its owner states train-ai=y: Content-Usage: /free train-ai=y (line 3 of " + w.URL + "/robots.txt)",
		},
	}
	mustShow := func(said, path string) {
		t.Helper()
		mustSay(t, said, lines[path]...)
		if n := strings.Count(said, "its owner states"); n != len(lines[path]) {
			t.Errorf("%d statements of %s are shown, want %d:\n%s", n, path, len(lines[path]), said)
		}
	}
	for path := range lines {
		out, said, err := webraceRun("try", "--set", "fetch.allow_networks=loopback", "--url", w.URL+path, "-k", "tea")
		if err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		mustShow(out, path)
	}

	w.run(these(w.asks("ann", "/", depth(2))))
	for path := range lines {
		why, _ := w.store("why", w.URL+path)
		mustShow(why, path)
	}
	text, _ := w.store("why", "--json", w.URL+"/free")
	var answer struct {
		Document struct {
			Usage []map[string]any `json:"usage"`
		} `json:"document"`
	}
	if err := json.Unmarshal([]byte(text), &answer); err != nil || len(answer.Document.Usage) != 3 || answer.Document.Usage[2]["line"] != 3.0 || answer.Document.Usage[2]["allowed"] != true {
		t.Errorf("%v\n%s", err, text)
	}

	archive := t.TempDir() + "/all.warc.gz"
	if said, status := w.store("cache", "export", "--warc", archive); status != 0 {
		t.Fatalf("%d\n%s", status, said)
	}
	other := newWorld(t)
	if said, status := other.store("cache", "import", archive); status != 0 {
		t.Fatalf("%d\n%s", status, said)
	}
	meta, _ := other.store("cache", "meta", w.URL+"/free")
	mustSay(t, meta, "robots.txt:3: Content-Usage: /free train-ai=y")
}
