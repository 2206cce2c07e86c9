package archive

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/nlnwa/gowarc"
	"go.uber.org/goleak"

	"github.com/webrace/webrace/storage/objects"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openStore(t testing.TB) *objects.Store {
	t.Helper()
	s, err := objects.Open(t.TempDir(), objects.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// records of a file: each is a header beyond the usual one, and a block.
func record(kind, url, date, fields, block string) string {
	return fmt.Sprintf("WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nWARC-Date: %s\r\n%sContent-Length: %d\r\n\r\n%s\r\n\r\n", kind, url, date, fields, len(block), block)
}

func page(url, date, body string) string {
	return record("response", url, date, "", "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"+body)
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

func file(t testing.TB, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "test.warc")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// imported imports files, and returns what was skipped.
func imported(t testing.TB, s *objects.Store, files ...string) (Imported, []string) {
	t.Helper()
	var skipped []string
	got, err := Import(t.Context(), s, files, Options{Skipped: func(s Skipped) { skipped = append(skipped, s.Reason) }})
	if err != nil {
		t.Fatal(err)
	}
	return got, skipped
}

// versions returns dates and bodies of all versions of a URL.
func versions(t testing.TB, s *objects.Store, url string) (all []string) {
	t.Helper()
	vs, err := s.Versions(url)
	if err != nil && !errors.Is(err, objects.ErrNotFound) {
		t.Fatal(err)
	}
	for _, v := range vs {
		body, _, err := s.Body(v)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v.FetchedAt.Format("02")+" "+string(body))
	}
	return all
}

const home = "http://a.example/"

func TestVersionsComeInOrderOfTheirDates(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	late, early := file(t, zipped(page(home, "2026-01-03T00:00:00Z", "three")+page(home, "2026-01-01T00:00:00Z", "one"))), file(t, page(home, "2026-01-02T00:00:00Z", "two")+page(home, "2026-01-04T00:00:00Z", "three"))
	got, skipped := imported(t, s, late, early)
	if got.Versions != 3 || got.Known != 1 || len(skipped) != 0 {
		t.Errorf("imported %+v, %v", got, skipped)
	}
	want := []string{"01 one", "02 two", "03 three"}
	if all := versions(t, s, home); !slices.Equal(all, want) {
		t.Errorf("versions %q", all)
	}
	for range 2 { // again, in whatever order
		late, early = early, late
		if got, skipped := imported(t, s, late, early); got.Versions != 0 || got.Known != 4 || len(skipped) != 0 {
			t.Errorf("again %+v, %v", got, skipped)
		}
	}
	older := file(t, page(home, "2025-12-31T00:00:00Z", "zero")+page("http://b.example/", "2025-12-31T00:00:00Z", "b"))
	got, skipped = imported(t, s, older)
	if got.Versions != 1 || len(skipped) != 1 || !strings.Contains(skipped[0], "older than version 3") || !slices.Equal(versions(t, s, home), want) {
		t.Errorf("older: %+v, %v, %q", got, skipped, versions(t, s, home))
	}
}

func encoded(t *testing.T, coding, text string) string {
	var b bytes.Buffer
	var w io.WriteCloser = gzip.NewWriter(&b)
	switch coding {
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, _ = zstd.NewWriter(&b)
	}
	w.Write([]byte(text))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestBodiesAreDecoded(t *testing.T) {
	t.Parallel()
	text := "<title>T</title><a href=next>" + strings.Repeat("body ", 100)
	chunked := fmt.Sprintf("5\r\n%s\r\n%x;x=y\r\n%s\r\n0\r\nTrailer: x\r\n\r\n", text[:5], len(text)-5, text[5:])
	for name, block := range map[string]string{
		"plain":             "HTTP/1.0 200\r\nContent-Type: text/html\r\nnonsense\r\n\r\n" + text,
		"gzip":              "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + encoded(t, "gzip", text),
		"br":                "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\n" + encoded(t, "br", text),
		"zstd":              "HTTP/2 200\r\nContent-Encoding: zstd\r\n\r\n" + encoded(t, "zstd", text),
		"chunked":           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked,
		"decoded already":   "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n" + text,
		"lines end with LF": "HTTP/1.1 200 OK\nContent-Type: text/html\n\n" + text,
	} {
		s := openStore(t)
		got, skipped := imported(t, s, file(t, record("response", home, "2026-01-01T00:00:00Z", "WARC-IP-Address: 10.0.0.1\r\n", block)))
		if all := versions(t, s, home); len(all) != 1 || all[0] != "01 "+text {
			t.Errorf("%s: %q; %+v, %v", name, all, got, skipped)
			continue
		}
		v, _ := s.Latest(home)
		links, err := s.Links(v)
		if err != nil || !slices.Equal(links, []string{home + "next"}) || v.MediaType != "text/html" {
			t.Errorf("%s: links %q, %v, %+v", name, links, err, v)
		}
		if m, err := s.Meta(v); err != nil || m.IP != "10.0.0.1" {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

func TestWhatIsNoDocumentIsLeftOutAndWhatIsDamagedReported(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	const day = "2026-01-01T00:00:00Z"
	answer := func(path, head, body string) string {
		return record("response", home+path, day, "", head+"\r\n\r\n"+body)
	}
	got, skipped := imported(t, s, file(t, ""+
		record("warcinfo", "", day, "", "x: y")+record("request", home, day, "", "GET / HTTP/1.1\r\n\r\n")+record("metadata", home, day, "", "x: y")+
		record("response", "dns:a.example", day, "", "x")+
		answer("gone", "HTTP/1.1 404 Not Found", "gone")+answer("moved", "HTTP/1.1 301 Moved\r\nLocation: /", "")+
		answer("hidden", "HTTP/1.1 200 OK\r\nX-Robots-Tag: noindex", "hidden")+
		answer("quiet", "HTTP/1.1 200 OK\r\nContent-Type: text/html", `<meta name=robots content=nofollow><a href=x>`)+
		record("resource", "<"+home+"resource>", day, "Content-Type: text/plain\r\n", "a text")+
		answer("none", "nothing like HTTP", "")+
		record("response", home+"half", day, "", "HTTP/1.1 200 OK\r\nContent-")+
		answer("coding", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip", encoded(t, "gzip", "some text")[:20])+
		answer("unknown", "HTTP/1.1 200 OK\r\nContent-Encoding: rot13", "grkg")+
		answer("chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", "5\r\nabc")+
		record("response", home+"date", "tomorrow", "", "HTTP/1.1 200 OK\r\n\r\nx")+
		record("response", "http://[/", day, "", "HTTP/1.1 200 OK\r\n\r\nx")+
		record("response", home+"cut", day, "WARC-Truncated: length\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc")+
		"garbage\r\n"+page(home, day, "good")+page(home+"torn", day, "torn")[:150]))
	if got.Documents != 4 || got.Versions != 4 || got.Skipped != 9 || len(skipped) != 9 {
		t.Errorf("imported %+v; skipped %q", got, skipped)
	}
	left := map[string]int{"warcinfo records": 1, "request records": 1, "metadata records": 1, "records of other schemes than http, https, mid and ni": 1,
		"answers of status 404": 1, "answers of status 301": 1, "pages that ask not to be indexed": 1}
	for what, n := range left {
		if got.Left[what] != n {
			t.Errorf("left out %v, want %v", got.Left, left)
		}
	}
	for path, want := range map[string]string{"": "good", "resource": "a text", "cut": "abc"} {
		if all := versions(t, s, home+path); len(all) != 1 || all[0] != "01 "+want {
			t.Errorf("%s is %q", path, all)
		}
	}
	if v, err := s.Latest(home + "cut"); err != nil || !v.Truncated {
		t.Errorf("cut: %+v, %v", v, err)
	}
	v, err := s.Latest(home + "quiet")
	if err != nil {
		t.Fatal(err)
	}
	if links, err := s.Links(v); err != nil || len(links) != 0 {
		t.Errorf("links that ask not to be followed: %q, %v", links, err)
	}
	big := Options{MaxBody: 10}
	if got, err := Import(t.Context(), s, []string{file(t, page(home+"big", day, strings.Repeat("x", 50)))}, big); err != nil || got.Versions != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	again, skipped := imported(t, s, file(t, record("response", home, "2026-02-01T00:00:00Z", "WARC-Truncated: length\r\n", "HTTP/1.1 200 OK\r\n\r\ngo")))
	if again.Versions != 0 || len(skipped) != 1 || !strings.Contains(fmt.Sprint(skipped), "version 1 is complete") {
		t.Errorf("cut, over a complete version: %+v, skipped %v", again, skipped)
	}
	if v, err := s.Latest(home + "big"); err != nil || v.Size != 10 || !v.Truncated {
		t.Errorf("big: %+v, %v", v, err)
	}
}

func TestRevisitsGetTheBodyThatTheyReferTo(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	const digest = "WARC-Payload-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n"
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-N: %d\r\n\r\n"
	revisit := func(path, date, fields string, n int) string {
		return record("revisit", home+path, date, "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest\r\n"+fields, fmt.Sprintf(head, n))
	}
	name := file(t, revisit("a", "2026-01-02T00:00:00Z", digest, 2)+
		record("response", home+"o", "2026-01-01T00:00:00Z", "WARC-Record-ID: <urn:o>\r\n"+digest, fmt.Sprintf(head, 1)+"body")+
		revisit("b", "2026-01-02T00:00:00Z", "WARC-Refers-To: <urn:o>\r\n", 3)+
		revisit("lost", "2026-01-02T00:00:00Z", "WARC-Payload-Digest: sha1:B\r\n", 4)+
		record("revisit", home+"o", "2026-01-05T00:00:00Z", "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n"))
	got, skipped := imported(t, s, name)
	if got.Versions != 3 || got.Known != 1 || len(skipped) != 1 || !strings.Contains(skipped[0], "refers to") {
		t.Errorf("%+v, %v", got, skipped)
	}
	for path, want := range map[string]string{"a": "02 body", "b": "02 body", "o": "01 body"} {
		if all := versions(t, s, home+path); len(all) != 1 || all[0] != want {
			t.Errorf("%s is %q", path, all)
		}
	}
	if v, err := s.Latest(home + "o"); err != nil || v.ValidatedAt.Day() != 5 {
		t.Errorf("validated %+v, %v", v, err)
	}
	v, _ := s.Latest(home + "b")
	if _, header, err := s.Body(v); err != nil || header.Get("X-N") != "3" {
		t.Errorf("header %v, %v", header, err)
	}
	// one whose original was imported before
	later := file(t, revisit("c", "2026-01-06T00:00:00Z", "WARC-Refers-To-Target-URI: "+home+"o\r\nWARC-Refers-To-Date: 2026-01-01T00:00:00Z\r\n", 5))
	if got, skipped := imported(t, s, later); got.Versions != 1 || len(skipped) != 0 {
		t.Errorf("%+v, %v", got, skipped)
	}
}

func TestWhatIsNoWARCIsRefusedAndTheRestImported(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	good, page2 := file(t, page(home, "2026-01-01T00:00:00Z", "x")), file(t, page(home+"2", "2026-01-01T00:00:00Z", "y"))
	none, missing, dir := file(t, "<html>\n</html>\n"), good+".missing", t.TempDir()
	zipped := file(t, "\x28\xb5\x2f\xfd and then nothing of the kind")
	got, skipped := imported(t, s, good, none, missing, dir, zipped, page2)
	if got.Documents != 2 || got.Versions != 2 || got.Skipped != 0 || len(skipped) != 0 {
		t.Errorf("%+v, skipped %v", got, skipped)
	}
	reasons := map[string]string{}
	for _, r := range got.Refused {
		reasons[r.File] = r.Reason
	}
	for file, reason := range map[string]string{none: "this is no WARC file", missing: "no such file", dir: "no regular file", zipped: ""} {
		if r, refused := reasons[file]; !refused || !strings.Contains(r, reason) || strings.Contains(r, file) {
			t.Errorf("%s is refused %v: %q, want %q", file, refused, r, reason)
		}
	}
	if len(reasons) != 4 {
		t.Errorf("refused %v", reasons)
	}
}

func TestAnImportThatIsBrokenOffIsNone(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Import(ctx, s, []string{file(t, page(home, "2026-01-01T00:00:00Z", "x"))}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if all := versions(t, s, home); len(all) != 0 {
		t.Errorf("stored %q", all)
	}
}

// What wget writes: requests, responses chunked and not, redirects, errors, and its own log.
func TestFilesOfWgetAreImported(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("wget"); err != nil {
		t.Skip("wget is not installed")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<a href="/chunked">1</a><a href="/missing">2</a><a href="/moved">3</a><a href="/copy">4</a>`)
		case "/chunked", "/copy":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<p>in pieces ")
			w.(http.Flusher).Flush()
			fmt.Fprint(w, "<p>and more")
		case "/moved":
			http.Redirect(w, r, "/", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	for _, flags := range [][]string{nil, {"--no-warc-compression"}} {
		dir := t.TempDir()
		wget := exec.Command("wget", append(flags, "-q", "-r", "-e", "robots=off", "--no-proxy", "--warc-file=site", server.URL+"/")...)
		wget.Dir = dir
		if out, err := wget.CombinedOutput(); err != nil && wget.ProcessState.ExitCode() != 8 { // an answer was an error
			t.Fatalf("%v: %s", err, out)
		}
		files, _ := filepath.Glob(filepath.Join(dir, "site.warc*"))
		s := openStore(t)
		got, skipped := imported(t, s, files...)
		if len(files) != 1 || got.Versions != 3 || len(skipped) != 0 || got.Left["answers of status 404"] == 0 {
			t.Errorf("%v: %+v, %v", files, got, skipped)
		}
		for _, path := range []string{"/chunked", "/copy"} {
			if all := versions(t, s, server.URL+path); len(all) != 1 || !strings.HasSuffix(all[0], " <p>in pieces <p>and more") {
				t.Errorf("%s is %q", path, all)
			}
		}
		v, err := s.Latest(server.URL + "/")
		if err != nil {
			t.Fatal(err)
		}
		if links, err := s.Links(v); err != nil || len(links) != 4 {
			t.Errorf("links %q, %v", links, err)
		}
	}
}

// writtenByGowarc returns the files that another library makes of twenty responses.
func writtenByGowarc(t *testing.T, compress bool) []string {
	t.Helper()
	gowarcInUse.Lock()
	defer gowarcInUse.Unlock()
	dir := t.TempDir()
	w := gowarc.NewWarcFileWriter(gowarc.WithFileNameGenerator(&gowarc.PatternNameGenerator{Directory: dir}), gowarc.WithCompression(compress))
	for i := range 20 {
		b := gowarc.NewRecordBuilder(gowarc.Response)
		b.AddWarcHeader("WARC-Target-URI", fmt.Sprintf("%s%d", home, i))
		b.AddWarcHeader("WARC-Date", time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC).Format(time.RFC3339))
		b.AddWarcHeader("Content-Type", "application/http;msgtype=response")
		b.WriteString(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nbody%02d", i))
		rec, _, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		if r := w.Write(rec); r[0].Err != nil {
			t.Fatal(r[0].Err)
		}
		rec.Close()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestFilesOfAnotherLibraryAreImported(t *testing.T) {
	t.Parallel()
	for _, compress := range []bool{false, true} {
		files := writtenByGowarc(t, compress)
		s := openStore(t)
		got, skipped := imported(t, s, files...)
		if got.Versions != 20 || len(skipped) != 0 {
			t.Errorf("%v: %+v, %v", files, got, skipped)
		}
		if all := versions(t, s, home+"7"); len(all) != 1 || all[0] != "01 body07" {
			t.Errorf("7 is %q", all)
		}
	}
}
