package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// evolving is a site that has another edition for each crawl.
type evolving struct {
	*world
	edition atomic.Int64 // from 1 on
	paths   []string
	left    atomic.Int64 // how many requests are left until the run is killed
}

const lastEdition = 6

// newEvolving returns a site of pages of which each changes in a way of its own.
func newEvolving(t *testing.T) *evolving {
	v := &evolving{world: newWorld(t)}
	v.edition.Store(1)
	v.shows("/steady", func(int) string { return treatise("steady", 12) })
	v.shows("/edited", func(n int) string { return treatise("edited", 12, fmt.Sprint(n)) })
	v.shows("/extended", func(n int) string { return treatise("extended", 3*n) })
	v.shows("/shortened", func(n int) string { return treatise("shortened", 3*(lastEdition+1-n)) })
	v.shows("/emptied", func(n int) string { return map[bool]string{true: treatise("emptied", 4)}[n != 3] })
	v.shows("/twin", func(int) string { return treatise("twin", 5) })
	v.shows("/other-twin", func(n int) string {
		return map[bool]string{true: treatise("twin", 5), false: treatise("other", 5)}[n != 2]
	})
	v.shows("/many", func(n int) string { return strings.Repeat("<h2>again</h2><p>"+ownWords("again", 60)+"</p>", n) })
	v.answers("/moved-to", func(n int) bool { return n == 1 }, withStatus(http.StatusNotFound))
	v.shows("/forbidden-in-page", func(n int) string {
		return map[bool]string{true: `<meta name="robots" content="noai">`}[n == 2 || n == 3] + treatise("inpage", 3)
	})
	v.shows("/unindexed", func(n int) string {
		return map[bool]string{true: `<meta name="robots" content="noindex">`}[n == 2 || n == 3] + treatise("unindexed", 3)
	})
	v.answers("/missing", func(n int) bool { return n == 2 || n == 3 }, withStatus(http.StatusNotFound))
	v.answers("/gone", func(n int) bool { return n >= 3 }, withStatus(http.StatusGone))
	v.answers("/failing", func(n int) bool { return n == 2 }, withStatus(http.StatusInternalServerError))
	v.answers("/moved", func(n int) bool { return n >= 2 }, http.RedirectHandler("/moved-to", http.StatusMovedPermanently).ServeHTTP)
	v.answers("/moved-back", func(n int) bool { return n == 3 }, http.RedirectHandler("/moved-to", http.StatusPermanentRedirect).ServeHTTP)
	v.answers("/elsewhere", func(n int) bool { return n == 2 || n == 4 }, http.RedirectHandler("/steady", http.StatusFound).ServeHTTP)
	v.answers("/unlinked", func(n int) bool { return n >= 2 }, withStatus(http.StatusNotFound))
	v.answers("/forgotten", func(n int) bool { return n == lastEdition }, withStatus(http.StatusNotFound))
	v.answers("/forbidden-in-header", func(n int) bool { return n > 1 }, func(w http.ResponseWriter, r *http.Request) {
		if v.edition.Load() < 4 {
			w.Header().Set("X-Robots-Tag", "noai")
		}
		r.Header.Del("If-None-Match") // it is sent again, as it was
		serveDocument(w, r, inPage(treatise("forbiddeninheader", 6)))
	})
	v.answers("/forbidden-confirmed", func(n int) bool { return n == 3 }, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Robots-Tag", "noai")
		serveDocument(w, r, inPage(treatise("forbiddenconfirmed", 6)))
	})
	for path, in := range map[string]func(n int) bool{
		"/disallowed": func(n int) bool { return n == 2 || n == 4 }, "/not-for-models": func(n int) bool { return n == 3 || n == 4 },
	} { // by robots.txt, which the store is told of
		v.answers(path, in, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Gone", "by robots.txt")
			serveDocument(w, r, inPage(treatise(strings.ReplaceAll(path[1:], "-", ""), 6)))
		})
	}
	v.handle("/robots.txt", func(w http.ResponseWriter, _ *http.Request) {
		n := v.edition.Load()
		fmt.Fprint(w, "User-agent: *\nAllow: /\n")
		if n == 2 || n == 4 {
			fmt.Fprint(w, "Disallow: /disallowed\n")
		}
		if n == 3 || n == 4 {
			fmt.Fprint(w, "Content-Usage: /not-for-models ai-use=n\n")
		}
	})
	v.shows("/", func(n int) string {
		var links strings.Builder
		for _, path := range v.paths {
			if path == "/unlinked" && n > 1 || path == "/moved-to" && n == 1 || path == "/forgotten" && n == lastEdition {
				continue
			}
			fmt.Fprintf(&links, "<li><a href=%q>%s</a></li>", path, path)
		}
		return "<nav><ul>" + links.String() + "</ul></nav><article><p>" + ownWords("index", 40) + "</p></article>"
	})
	return v
}

func (v *evolving) handle(path string, h http.HandlerFunc) {
	v.world.handle(path, func(w http.ResponseWriter, r *http.Request) {
		v.left.Add(-1)
		h(w, r)
	})
}

// shows puts a page at a path, by the number of its edition.
func (v *evolving) shows(path string, body func(n int) string) {
	v.paths = append(v.paths, path)
	v.handle(path, func(w http.ResponseWriter, r *http.Request) {
		serveDocument(w, r, inPage(body(int(v.edition.Load()))))
	})
}

// answers puts a page at a path that is the same in all editions, but for some.
func (v *evolving) answers(path string, in func(n int) bool, otherwise http.HandlerFunc) {
	v.paths = append(v.paths, path)
	v.handle(path, func(w http.ResponseWriter, r *http.Request) {
		if in(int(v.edition.Load())) {
			otherwise(w, r)
			return
		}
		serveDocument(w, r, inPage(treatise(strings.ReplaceAll(path[1:], "-", ""), 6)))
	})
}

func withStatus(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func inPage(body string) []byte {
	const begin, nav = "<!DOCTYPE html><html lang=en><title>A page</title>", "<nav><a href=/>all pages</a></nav>"
	switch meta, text, found := strings.Cut(body, "><h1>"); {
	case body == "", strings.HasPrefix(body, "<nav>"):
		return []byte(begin + body)
	case found && strings.HasPrefix(meta, "<meta"):
		return []byte(begin + meta + ">" + nav + "<article><h1>" + text + "</article><footer>imprint</footer>")
	}
	return []byte(begin + nav + "<article>" + body + "</article><footer>imprint</footer>")
}

// ownWords returns so many words that no other text has.
func ownWords(of string, words int) string {
	var b strings.Builder
	for i := range words {
		fmt.Fprintf(&b, "%sx%d", of, i)
		if i%9 == 8 {
			b.WriteString(".")
		}
		b.WriteString(" ")
	}
	return b.String() + "end" + of + "."
}

// treatise returns the text of a page: a heading, and sections of paragraphs with a list, code or a table. The
// paragraph in the middle has the words that are given besides.
func treatise(of string, paragraphs int, besides ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<h1>title%s</h1>", of)
	for i := range paragraphs {
		if i%4 == 0 {
			fmt.Fprintf(&b, "<h2>section%s%d</h2>", of, i)
		}
		fmt.Fprintf(&b, "<p>%s", ownWords(fmt.Sprintf("%sp%d", of, i), 25+i*11%40))
		if i == paragraphs/2 {
			for _, more := range besides {
				b.WriteString(" " + ownWords(fmt.Sprintf("%smore%s", of, more), 12))
			}
		}
		b.WriteString("</p>")
		switch i % 4 {
		case 1:
			fmt.Fprintf(&b, "<ul><li>%s</li><li>%s</li></ul>", ownWords(fmt.Sprintf("%sa%d", of, i), 8), ownWords(fmt.Sprintf("%sb%d", of, i), 8))
		case 2:
			fmt.Fprintf(&b, "<pre><code>%scode%d\n  %sline%d</code></pre>", of, i, of, i)
		}
	}
	return b.String()
}

// TestAVectorStoreHasWhatTheSiteHas crawls a site again and again while its pages change, go and come back. A program
// in another language, which shares no code with webrace, plays the vector store: it applies what chunk tells, and
// compares itself with the site after each crawl.
func TestAVectorStoreHasWhatTheSiteHas(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not installed")
	}
	for name, options := range map[string]string{"what changes": "", "what stays as well": "same", "killed": "again"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newEvolving(t).mustFill(options)
		})
	}
}

func (v *evolving) mustFill(options string) {
	dir, killed := v.t.TempDir(), 0
	lines, config := filepath.Join(dir, "pieces.jsonl"), filepath.Join(dir, "pipelines.toml")
	same := ""
	if strings.Contains(options, "same") {
		same = `"chunk.same > write-file",`
	}
	writeFile(v.t, config, fmt.Sprintf(`version = 1
[pipeline.vectors]
flow = [
  "lines > frontier > fetch > normalize > cache > chunk > write-file",
  "fetch.gone, normalize.gone, gc > chunk",
  "chunk.gone > write-file", %s
  "normalize.links, cache.links, fetch.redirects, fetch.sitemaps > frontier",
]
[pipeline.vectors.stage]
lines = { urls = [%q], depth = 0 }
frontier = { fresh = "0s" }
fetch = { delay = "0s", allow_networks = ["loopback"] }
chunk = { words = 120, overlap = 15 }
write-file = { path = %q }
`, same, v.URL+"/", lines))
	r := rand.New(rand.NewPCG(1, uint64(len(options))))
	for n := 1; n <= lastEdition; n++ {
		v.edition.Store(int64(n))
		if n == lastEdition { // nothing leads to what is forgotten: all that is stored goes, and what is there comes anew
			if out, err := exec.Command("webrace-store", "--data", v.data, "gc", "--retention-unmatched", "1ns").CombinedOutput(); err != nil {
				v.t.Fatalf("%v\n%s", err, out)
			}
		}
		for kills := 0; ; kills++ {
			p := startCommand(v.t, "vectors", "--config", config, "--data", v.data)
			if !strings.Contains(options, "again") || kills == 4 {
				p.mustExit(0)
				break
			}
			died := false
			if kills%2 == 0 {
				died = v.diesAsking(p, 1+r.Int64N(int64(len(v.paths))))
			} else {
				died = diesWriting(p, lines, 1+r.Int64N(10_000))
			}
			if !died {
				break
			}
			killed++
		}
		c := exec.Command("node", append([]string{"testdata/vectorstore.mjs", filepath.Join(dir, "store.json"), lines, v.URL, options}, v.paths...)...)
		var counts strings.Builder
		c.Stderr = &counts
		faults, err := c.Output()
		if err != nil || len(faults) > 0 {
			v.t.Errorf("edition %d: %v\n%s%s", n, err, faults, counts.String())
		}
		v.t.Logf("edition %d: %s", n, counts.String())
	}
	if strings.Contains(options, "again") && killed == 0 {
		v.t.Error("no run was killed")
	}
	v.t.Logf("%d runs were killed", killed)
}

// diesAsking kills a run when the site has been asked so often, and reports whether it was not done yet.
func (v *evolving) diesAsking(p *command, requests int64) bool {
	v.left.Store(requests)
	defer v.left.Store(0)
	return killedWhen(p, func() bool { return v.left.Load() <= 0 })
}

// diesWriting kills a run when it has added so many bytes to a file, and reports whether it was not done yet.
func diesWriting(p *command, file string, bytes int64) bool {
	size := func() int64 {
		if info, err := os.Stat(file); err == nil {
			return info.Size()
		}
		return 0
	}
	most := size() + bytes
	return killedWhen(p, func() bool { return size() >= most })
}

func killedWhen(p *command, is func() bool) bool {
	done := make(chan struct{})
	var killer sync.WaitGroup
	killer.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond): // looks again
			}
			if is() {
				_ = p.Process.Kill() // which may have ended meanwhile
				return
			}
		}
	})
	defer killer.Wait()
	defer close(done)
	return p.isKilled()
}
