package main

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/proto"

	"github.com/webrace/webrace/internal/testutil/chromium"
	"github.com/webrace/webrace/internal/testutil/npm"
)

// archived is a site whose answers are as awkward as those of real ones, and what a reader of it has seen at each path.
type archived struct {
	*world
	bodies   map[string]string // of the documents
	statuses map[string]int    // of what is none
	leads    map[string]string // from redirects, to the path where they end
	cut      map[string]string // the causes
}

func newArchived(t *testing.T) *archived {
	w := &archived{newWorld(t), map[string]string{}, map[string]int{}, map[string]string{}, map[string]string{}}
	bytes := "\x89PNG\r\n\x1a\n\x00\x01\x02\xff\xfe"
	long := strings.Repeat("<p>a page that is too long\n", 1000)
	w.answers("/latin", "text/html; charset=iso-8859-1", "<title>caf\xe9</title><p>caf\xe9 au lait")
	w.answers("/bytes", "text/plain", bytes)
	w.answers("/copy", "text/plain", bytes)
	w.answers("/copy-of-a-page", "text/html; charset=iso-8859-1", "<title>caf\xe9</title><p>caf\xe9 au lait")
	w.answers("/empty", "text/plain", "")
	w.answers("/lines", "text/plain", "a\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\n\r\n\r\n\r\n")
	w.answers("/none", "", "<html><title>x</title><meta charset=windows-1253>\xe1\xe2\xe3")
	w.answers("/Upper/Case", "text/plain", "upper")
	w.answers("/query", "text/plain", "asked")
	w.answers("/long", "text/html", long)
	w.handle("/packed", func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Content-Encoding", "gzip")
		out.Header().Set("Content-Type", "text/html; charset=utf-8")
		z := gzip.NewWriter(out)
		fmt.Fprint(z, "<title>packed</title><p>was packed")
		z.Close()
	})
	w.bodies["/packed"] = "<title>packed</title><p>was packed"
	w.handle("/fields", func(out http.ResponseWriter, r *http.Request) {
		h := out.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h["Set-Cookie"] = []string{"a=1; Path=/", "b=2"}
		h.Set("Content-Security-Policy", "default-src 'none'")
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Latin", "caf\xe9")
		h.Set("Link", `</style.css>; rel=preload`)
		fmt.Fprint(out, "<p>many fields")
	})
	w.bodies["/fields"] = "<p>many fields"
	w.handle("/broken", func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Content-Type", "text/html; charset=utf-8")
		out.Header().Set("Content-Length", "1000")
		fmt.Fprint(out, "<p>half of it")
		_ = http.NewResponseController(out).Flush()
		panic(http.ErrAbortHandler)
	})
	w.bodies["/broken"], w.cut["/broken"], w.cut["/long"] = "<p>half of it", "disconnect", "length"
	w.redirect("/moved", "/moved-again?x=1")
	w.handle("/moved-again", http.RedirectHandler("latin", http.StatusMovedPermanently).ServeHTTP)
	w.leads["/moved"], w.leads["/moved-again?x=1"] = "/latin", "/latin"
	w.status("/gone", http.StatusGone)
	w.statuses["/gone"], w.statuses["/missing"] = http.StatusGone, http.StatusNotFound
	links := []string{"the start", "/latin", "/bytes", "/copy", "/copy-of-a-page", "/empty", "/lines", "/none", "/Upper/Case", "/query?b=2&a=1",
		"/query?q=%C3%A9+%26", "/long", "/packed", "/fields", "/broken", "/moved", "/gone", "/missing"}
	w.page("/", links...)
	w.bodies["/"] = string(document(links...))
	w.bodies["/query?b=2&a=1"], w.bodies["/query?q=%C3%A9+%26"] = "asked", "asked"
	delete(w.bodies, "/query")
	w.bodies["/long"] = long[:4000]
	return w
}

// answers puts a document at a path.
func (w *archived) answers(path, mediaType, body string) {
	w.bodies[path] = body
	w.handle(path, func(out http.ResponseWriter, r *http.Request) {
		out.Header()["Content-Type"] = nil
		if mediaType != "" {
			out.Header().Set("Content-Type", mediaType)
		}
		fmt.Fprint(out, body)
	})
}

// crawled writes what there is into an archive, once by the crawl and once from the cache.
func (w *archived) crawled() map[string]string {
	w.t.Helper()
	dir := w.t.TempDir()
	archives := map[string]string{"of a crawl": filepath.Join(dir, "crawl.wacz"), "of the cache": filepath.Join(dir, "cache.wacz")}
	for _, command := range [][]string{
		append([]string{"webrace-run"}, w.crawls("--set", "fetch.max_body=4000", "--set", "fetch.incomplete=keep", "--set", "fetch.delay=0s", "--depth", "4", "--all", "--output", archives["of a crawl"])...),
		{"webrace-store", "--data", w.data, "cache", "export", "--all", "--wacz", archives["of the cache"]},
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			w.t.Fatalf("%v: %v\n%s", command, err, out)
		}
	}
	w.Close() // what is shown now is not of the site
	return archives
}

// TestArchiveIsReadByOthers has warcio, which others made for archives, read those that are written: each record's
// length and digests are those that it computes, and its line of the index is the one that it writes.
func TestArchiveIsReadByOthers(t *testing.T) {
	t.Parallel()
	warcio := npm.Package(t, "warcio@2.4.11")
	w := newArchived(t)
	for name, path := range w.crawled() {
		records := filepath.Join(t.TempDir(), "data.warc.gz")
		writeFile(t, records, string(unzipped(t, path, "archive/data.warc.gz")))
		out, err := outputOf(t, "node", "testdata/players/records.mjs", filepath.Join(warcio, "dist", "index.all.js"), records)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		index, found := indexed(t, path), map[string]bool{}
		for line := range strings.Lines(out) {
			var rec readRecord
			if err := json.Unmarshal([]byte(line), &rec); err != nil {
				t.Fatal(err)
			}
			rec.mustBeRight(t)
			if rec.Kind == "response" || rec.Kind == "revisit" || rec.Kind == "resource" {
				offset := int(rec.Index["offset"].(float64))
				mustBeIndexed(t, rec, index[offset])
				path := strings.TrimPrefix(rec.URL, w.URL)
				if found[path] = true; rec.Cut != w.cut[path] {
					t.Errorf("%s: %s is truncated by %q, want %q", name, path, rec.Cut, w.cut[path])
				}
				delete(index, offset)
			}
		}
		if len(index) > 0 {
			t.Errorf("%s: lines of the index lead to no record: %v", name, index)
		}
		for path := range w.bodies {
			if !found[path] {
				t.Errorf("%s: there is no record of %s", name, path)
			}
		}
	}
}

// readRecord is a record as another reader has read it.
type readRecord struct {
	Kind, URL, Key, Cut string
	Said, Is            struct {
		Block, Payload string
		Size           int
	}
	Index map[string]any
}

func (rec readRecord) mustBeRight(t *testing.T) {
	t.Helper()
	if s, is := rec.Said, rec.Is; s.Size != is.Size || s.Block != "" && s.Block != is.Block || s.Payload != "" && s.Payload != is.Payload {
		t.Errorf("%s of %s says %+v, and is %+v", rec.Kind, rec.URL, s, is)
	}
}

// mustBeIndexed compares a line of the index with that of another writer of indexes.
func mustBeIndexed(t *testing.T, rec readRecord, line map[string]any) {
	t.Helper()
	want := rec.Index
	if digest, said := want["digest"].(string); said {
		want["digest"] = "sha256:" + digest
	}
	if want["mime"] == nil { // that of no header
		want["mime"] = map[bool]string{true: "text/html", false: "unk"}[rec.Index["status"] == 200.0]
	}
	for _, field := range []string{"timestamp", "url", "mime", "status", "digest", "length", "filename"} {
		if is := fmt.Sprint(line[field]); is != fmt.Sprint(want[field]) {
			t.Errorf("the index has %s %q for the %s of %s, want %v", field, is, rec.Kind, rec.URL, want[field])
		}
	}
}

// indexed returns the lines of an index, by offset.
func indexed(t *testing.T, path string) map[int]map[string]any {
	t.Helper()
	lines, last := map[int]map[string]any{}, ""
	for text := range strings.Lines(string(unzipped(t, path, "indexes/index.cdxj"))) {
		if text < last {
			t.Errorf("the index is not sorted: %q is behind %q", text, last)
		}
		last = text
		key, fields, _ := strings.Cut(text, " {")
		line := map[string]any{"timestamp": strings.Fields(key)[1]}
		if err := json.Unmarshal([]byte("{"+fields), &line); err != nil {
			t.Fatal(err)
		}
		offset, err := strconv.Atoi(line["offset"].(string))
		if err != nil || lines[offset] != nil {
			t.Fatalf("%v, or twice: %s", err, text)
		}
		lines[offset] = line
	}
	return lines
}

// TestArchiveInAPlayer shows archives to a reader by the player of replayweb.page, in a browser: documents come byte
// for byte, redirects lead on, what was missing is missing, and the digests of the file are those that the player
// computes.
func TestArchiveInAPlayer(t *testing.T) {
	t.Parallel()
	replayer := npm.Package(t, "replaywebpage@2.5.3")
	browser := chromium.Open(t)
	w := newArchived(t)
	archives := w.crawled()
	archives["of the cache, as WARC"] = filepath.Join(t.TempDir(), "cache.warc.gz")
	if said, status := w.store("cache", "export", "--all", "--warc", archives["of the cache, as WARC"]); status != 0 {
		t.Fatal(said)
	}
	for name, path := range archives {
		p := playing(t, browser, replayer, path)
		var opened struct {
			Pages  []struct{ URL, Title string }
			Verify struct{ NumValid, NumInvalid int }
		}
		p.call(&opened, fmt.Sprintf("open_archive(%q)", filepath.Base(path)))
		if v := opened.Verify; strings.HasSuffix(path, ".wacz") && (v.NumInvalid > 0 || v.NumValid == 0 || len(opened.Pages) == 0) {
			t.Errorf("%s: the player opens it as %+v", name, opened)
		}
		for path, body := range w.bodies {
			if status, got := p.answer(w.URL + path); status != 200 || got != body {
				t.Errorf("%s: %s is %d, %d bytes of %d: %.60q", name, path, status, len(got), len(body), got)
			}
		}
		for path, want := range w.statuses {
			if status, got := p.answer(w.URL + path); status != want {
				t.Errorf("%s: %s is %d, want %d: %.60q", name, path, status, want, got)
			}
		}
		for path, to := range w.leads {
			at, text := p.read(w.URL + path)
			if !strings.HasSuffix(at, w.URL+to) || !strings.Contains(text, "café au lait") {
				t.Errorf("%s: %s leads to %s: %q", name, path, at, text)
			}
		}
		for path, want := range map[string]string{"/fields": "many fields", "/none": "αβγ", "/latin": "café au lait", "/copy-of-a-page": "café au lait"} {
			if _, text := p.read(w.URL + path); !strings.Contains(text, want) {
				t.Errorf("%s: %s is shown as %q", name, path, text)
			}
		}
	}
}

// player is one that has an archive.
type player struct {
	*rod.Page
	t *testing.T
}

// playing opens the page of testdata/players for an archive, at an origin of its own.
func playing(t *testing.T, browser *rod.Browser, replayer, path string) player {
	t.Helper()
	files := http.NewServeMux()
	for name, file := range map[string]string{"/": "testdata/players/player.html", "/sw.js": filepath.Join(replayer, "sw.js"), "/" + filepath.Base(path): path} {
		content := []byte(readFile(t, file))
		files.HandleFunc(name, func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, filepath.Base(file), time.Time{}, bytes.NewReader(content))
		})
	}
	server := httptest.NewServer(files)
	t.Cleanup(server.Close)
	page, err := browser.Page(proto.TargetCreateTarget{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { page.Close() })
	if err := page.WaitLoad(); err != nil {
		t.Fatal(err)
	}
	return player{page.Timeout(time.Minute), t}
}

// call has the page compute something.
func (p player) call(result any, expression string) {
	p.t.Helper()
	got, err := p.Eval("() => " + expression)
	if err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
	if err := got.Value.Unmarshal(result); err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
}

// answer returns what the player has for a URL.
func (p player) answer(url string) (status int, body string) {
	p.t.Helper()
	var got struct {
		Status int
		Body   string
	}
	p.call(&got, fmt.Sprintf("answer(%q)", url))
	bytes, err := hex.DecodeString(got.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return got.Status, string(bytes)
}

// read returns where a reader of a URL is led to, and what stands there.
func (p player) read(url string) (at, text string) {
	p.t.Helper()
	var got struct{ At, Text string }
	p.call(&got, fmt.Sprintf("read(%q)", url))
	return got.At, got.Text
}
