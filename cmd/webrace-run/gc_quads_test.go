package main

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What documents said goes with their last version, what came from a file stays, and what a site has still comes back
// with the next crawl, though nothing of it has changed.
func TestGarbageOfQuads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const odd = "/b?of={a}|b" // a URL that is no IRI
	for _, path := range []string{"/a", "/b"} {
		w.site.handle(path, func(rw http.ResponseWriter, r *http.Request) {
			page := fmt.Sprintf(`<script type="application/ld+json">{"@context": "https://schema.org/", "@type": "Place", "name": "place %s"}</script>`, path)
			serveDocument(rw, r, document(page))
		})
	}
	start, imported := filepath.Join(t.TempDir(), "start"), filepath.Join(t.TempDir(), "quads.nq")
	writeFile(t, start, w.URL+"/a\n"+w.URL+odd+"\n")
	writeFile(t, imported, "<http://s.example/> <http://p.example/> <http://o.example/> <http://file.example/> .\n")
	crawl := func() {
		t.Helper()
		mustSucceed(t, exec.Command("webrace-run", "multicrawler", "--data", w.data, "--config", "../../pipelines.toml", "--set", "fetch.allow_networks=loopback",
			"--set", "lines.path="+start, "--set", "frontier.fresh=0s"))
	}
	mustHave := func(when string, want ...string) {
		t.Helper()
		out, err := exec.Command("webrace-store", "quads", "contexts", "--data", w.data).Output()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(string(out)) {
			url, _, _ := strings.Cut(line, "\t")
			got = append(got, strings.TrimPrefix(url, w.URL))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q say something, want %q", when, got, want)
		}
	}
	collect := func(retention, says string) {
		t.Helper()
		gc := w.atRest("gc --retention-unmatched " + retention)
		gc.mustExit(0)
		mustSay(t, gc.said(), says)
	}
	crawl()
	mustSucceed(t, exec.Command("webrace-store", "quads", "import", imported, "--data", w.data))
	mustHave("after a crawl", "/a", odd, "http://file.example/")
	collect("1h", "0 versions removed")
	mustHave("while their versions are kept", "/a", odd, "http://file.example/")
	collect("1ms", "4 quads of 2 contexts removed")
	mustHave("when their versions are gone", "http://file.example/")
	crawl()
	mustHave("after the next crawl", "/a", odd, "http://file.example/")
	w.atRest("fsck").mustExit(0)
}
