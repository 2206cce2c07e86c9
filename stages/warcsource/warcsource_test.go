package warcsource

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
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
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/nlnwa/gowarc"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/objects"
)

const home = "http://a.example/"

func dataDir(t testing.TB) *pipeline.Resources {
	t.Helper()
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	dir, err := storage.Open(t.TempDir(), storage.Options{Objects: objects.Options{FS: vfs.NewMem(), Logger: quiet}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	r := new(pipeline.Resources)
	pipeline.Provide(r, dir)
	return r
}

// record is one of a file: its header beyond the usual one, and its block.
func record(kind, url, date, fields, block string) string {
	return fmt.Sprintf("WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nWARC-Date: %s\r\n%sContent-Length: %d\r\n\r\n%s\r\n\r\n", kind, url, date, fields, len(block), block)
}

func page(path, date, body string) string {
	return record("response", home+path, date, "", "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"+body)
}

const day = "2026-01-02T03:04:05Z"

// pages are n of them.
func pages(n int) (all []string) {
	for i := range n {
		all = append(all, page(fmt.Sprint(i), day, fmt.Sprint("page ", i)))
	}
	return all
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

func file(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func with(change func(*Options), paths ...string) Options {
	o := defaults
	if o.Paths = paths; change != nil {
		change(&o)
	}
	return o
}

// result is what the stage emits.
type result struct {
	*stagetest.Result
	documents []*webrace.Document
}

func read(t *testing.T, r *pipeline.Resources, o Options) result {
	t.Helper()
	got := result{Result: stagetest.Try(t, stagetest.Case{Type: "warc-source", Options: o, Resources: r})}
	for _, v := range got.Out[""] {
		got.documents = append(got.documents, v.(*webrace.Document))
	}
	return got
}

// said is path and body of each document.
func (r result) said() (all []string) {
	for _, d := range r.documents {
		all = append(all, strings.TrimPrefix(d.URL, home)+" "+string(d.Body))
	}
	return all
}

func TestConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{Type: "warc-source", Options: with(nil, file(t, "a.warc", strings.Join(pages(50), ""))), Resources: dataDir(t)})
}

func TestDocumentsAreAsIfTheyHadJustBeenFetched(t *testing.T) {
	t.Parallel()
	body := "<title>T</title>some text"
	block := "HTTP/1.1 203 OK\r\nContent-Type: Text/HTML; charset=utf-8\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\nETag: x\r\n\r\n"
	compressed := zipped(body)
	block += fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(compressed), compressed)
	got := read(t, dataDir(t), with(nil, file(t, "a.warc", record("response", "<HTTP://A.example:80/x/../?q>", day, "WARC-IP-Address: 10.0.0.1\r\nWARC-Truncated: time\r\n", block))))
	if len(got.documents) != 1 {
		t.Fatalf("counters %v", got.Counters)
	}
	d := got.documents[0]
	if d.URL != home+"?q" || d.Outcome != webrace.Fetched || d.Status != 203 || d.Header.Get("ETag") != "x" || d.Origin.String() != "10.0.0.1" ||
		!d.At.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)) || d.MediaType != "text/html" || string(d.Body) != body || !d.Truncated ||
		d.Digest != sha256.Sum256([]byte(body)) || len(d.Reach) > 0 || d.Visit != nil || d.Version != 0 || d.Text != nil {
		t.Errorf("got %+v", d)
	}
}

func TestWhatIsNoDocumentIsPassedOverAndWhatIsBrokenReported(t *testing.T) {
	t.Parallel()
	good := page("good", day, "good")
	torn := page("torn", day, "torn")
	content := record("warcinfo", "", day, "", "x: y") + record("request", home, day, "", "GET / HTTP/1.1\r\n\r\n") + record("response", "dns:a.example", day, "", "x") +
		record("response", home+"gone", day, "", "HTTP/1.1 404 Not Found\r\n\r\ngone") + record("response", home+"none", day, "", "nothing like HTTP") +
		record("response", home+"date", "tomorrow", "", "HTTP/1.1 200 OK\r\n\r\nx") + record("response", "http://[/", day, "", "HTTP/1.1 200 OK\r\n\r\nx") +
		record("resource", home+"resource", day, "Content-Type: text/plain\r\n", "a text") +
		record("resource", "MID:x@a.example", day, "Content-Type: message/rfc822\r\n", "Subject: x\r\n\r\n") + record("resource", "urn:view:"+home, day, "Content-Type: image/png\r\n", "x") +
		record("response", home+"digest", day, "WARC-Block-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n", "HTTP/1.1 200 OK\r\n\r\nx") +
		"garbage behind it\r\n" + good + torn[:len(torn)-20]
	got := read(t, dataDir(t), with(nil, file(t, "a.warc", content)))
	if want := []string{"resource a text", "mid:x@a.example Subject: x\r\n\r\n", "good good"}; !slices.Equal(got.said(), want) {
		t.Errorf("got %q, want %q", got.said(), want)
	}
	if len(got.Failures) != 5 {
		t.Errorf("%d are rejected, want 5: %v", len(got.Failures), got.Failures)
	}
	for counter, want := range map[string]int64{"documents": 3, "status_404": 1, "undecodable": 3, "broken": 2} {
		if got.Counters[counter] != want {
			t.Errorf("%s is %d, want %d", counter, got.Counters[counter], want)
		}
	}
}

func TestOnlyWhatIsAskedForIsTaken(t *testing.T) {
	t.Parallel()
	name := file(t, "a.warc", page("old", "2025-12-31T23:59:59Z", "")+page("a", "2026-01-01T00:00:00Z", "")+page("private/b", "2026-01-01T00:00:00Z", "")+page("new", "2026-02-01T00:00:00Z", ""))
	got := read(t, dataDir(t), with(func(o *Options) { o.Since, o.Until, o.Rules = "2026-01-01", "2026-02", []string{"deny path /private"} }, name))
	if !slices.Equal(got.said(), []string{"a "}) || got.Counters["filtered"] != 3 {
		t.Errorf("got %q, counters %v", got.said(), got.Counters)
	}
	got = read(t, dataDir(t), with(func(o *Options) { o.MaxBody = 3 }, file(t, "b.warc", page("long", day, "longer"))))
	if !slices.Equal(got.said(), []string{"long lon"}) || !got.documents[0].Truncated || got.Counters["truncated"] != 1 {
		t.Errorf("got %q, counters %v", got.said(), got.Counters)
	}
}

func TestRevisitsHaveTheBodyThatTheyReferTo(t *testing.T) {
	t.Parallel()
	const digest = "WARC-Payload-Digest: sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\r\n"
	const head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-N: 2\r\n\r\n"
	dir := t.TempDir()
	for name, content := range map[string]string{
		"1.warc": record("revisit", home+"digest", day, digest, head) + record("revisit", home+"id", day, "WARC-Refers-To: <urn:o>\r\n", head) +
			record("revisit", home+"lost", day, "WARC-Payload-Digest: sha1:B\r\n", head) +
			record("revisit", home+"304", day, "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n"),
		"2.warc.gz": zipped(record("response", home+"o", day, "WARC-Record-ID: <urn:o>\r\n"+digest, strings.Replace(head, "2\r\n", "1\r\n", 1)+"body")),
		"notes.txt": "no archive",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := read(t, dataDir(t), with(nil, dir))
	if want := []string{"digest body", "id body", "o body"}; !slices.Equal(got.said(), want) {
		t.Fatalf("got %q, want %q", got.said(), want)
	}
	if n := got.documents[0].Header.Get("X-N"); n != "2" {
		t.Errorf("the header is that of answer %s", n)
	}
	if c := got.Counters; c["revisits"] != 2 || c["unresolved"] != 1 || c["not_modified"] != 1 {
		t.Errorf("counters %v", c)
	}
}

// packings are the ways in which archives are packed.
var packings = map[string]func([]string) string{
	"plain":           func(records []string) string { return strings.Join(records, "") },
	"each compressed": func(records []string) string { return strings.Join(apply(records, zipped), "") },
	"as a whole":      func(records []string) string { return zipped(strings.Join(records, "")) },
	"in pairs": func(records []string) (all string) {
		for pair := range slices.Chunk(records, 2) {
			all += zipped(strings.Join(pair, ""))
		}
		return all
	},
}

func apply(list []string, f func(string) string) (all []string) {
	for _, s := range list {
		all = append(all, f(s))
	}
	return all
}

func TestEachFileIsReadOnce(t *testing.T) {
	t.Parallel()
	for packing, pack := range packings {
		resources, all := dataDir(t), pages(9)
		name := file(t, "a.warc", pack(all[:4]))
		if got := read(t, resources, with(nil, name)); len(got.documents) != 4 {
			t.Errorf("%s: first %q", packing, got.said())
		}
		if got := read(t, resources, with(nil, name)); len(got.documents) != 0 {
			t.Errorf("%s: again %q", packing, got.said())
		}
		if packing != "as a whole" { // others can grow
			if err := os.WriteFile(name, []byte(pack(all[:4])+pack(all[4:])), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := read(t, resources, with(nil, name)); len(got.documents) != 5 || got.documents[0].URL != home+"4" {
				t.Errorf("%s: what was added: %q", packing, got.said())
			}
		}
		if got := read(t, resources, with(func(o *Options) { o.Restart = true }, name)); len(got.documents) < 4 {
			t.Errorf("%s: from the beginning: %q", packing, got.said())
		}
		if err := os.WriteFile(name, []byte(pack(all[:1])), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := read(t, resources, with(nil, name)); packing == "plain" && len(got.documents) != 1 {
			t.Errorf("%s: a smaller file of that name: %q", packing, got.said())
		}
	}
}

// collector takes documents, and stops the run at one of them.
type collector struct {
	mu   sync.Mutex
	seen []string
	stop string
	run  *pipeline.Run
	wait chan struct{} // closed when run is set
}

func (c *collector) Process(ctx context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	<-c.wait
	c.mu.Lock()
	defer c.mu.Unlock()
	url := it.Value.(*webrace.Document).URL
	if url == c.stop {
		c.run.Cancel()
		return context.Canceled
	}
	c.seen = append(c.seen, url)
	return nil
}

// collect runs the stage until it ends, or is cancelled in the midst of the document at stop.
func collect(t *testing.T, r *pipeline.Resources, o Options, stop string) []string {
	t.Helper()
	c := &collector{stop: stop, wait: make(chan struct{})}
	g := pipeline.DefaultRegistry.NewGraph("archive")
	g.AddType("warc-source", "warc-source", o)
	g.AddStage("taker", pipeline.Spec{Type: "taker", In: pipeline.Kinds(pipeline.KindOf[*webrace.Document]())}, func(*pipeline.Env) (any, error) { return c, nil })
	g.Connect("warc-source", "", "taker")
	run, err := g.Start(t.Context(), pipeline.RunOptions{Resources: r})
	if err != nil {
		t.Fatal(err)
	}
	c.run = run
	close(c.wait)
	if _, err := run.Wait(); (err != nil) != (stop != "") {
		t.Fatal(err)
	}
	return c.seen
}

// A run is cancelled in the midst of each document in turn: the next one begins with that document.
func TestARunThatWasCutOffIsResumedAtTheDocumentThatWasInWork(t *testing.T) {
	t.Parallel()
	const n = 7
	for packing, pack := range packings {
		for at := range n {
			resources, o := dataDir(t), with(nil, file(t, "a.warc", pack(pages(n))))
			first := collect(t, resources, o, home+fmt.Sprint(at))
			rest := collect(t, resources, o, "")
			if len(first) != at || len(rest) != n-at || rest[0] != home+fmt.Sprint(at) {
				t.Errorf("%s, cut off at %d: %q, then %q", packing, at, first, rest)
			}
		}
	}
}

func TestPositionsGrow(t *testing.T) {
	t.Parallel()
	last := position(0)
	for _, p := range []position{positionOf(0, 1), positionOf(0, 2), positionOf(0, perMember-1), positionOf(1, 1), positionOf(1<<39, 1)} {
		if p <= last {
			t.Errorf("%d does not follow %d", p, last)
		}
		if before := p - 1; before.offset() != p.offset() || before.records() != p.records()-1 {
			t.Errorf("before %d/%d is %d/%d", p.offset(), p.records(), before.offset(), before.records())
		}
		last = p
	}
	if positionOf(5, perMember+7) != positionOf(5, perMember-1) {
		t.Error("a position beyond the last of a member is another member's")
	}
}

func TestFilesThatAreNotThereAreAnError(t *testing.T) {
	t.Parallel()
	for _, path := range []string{filepath.Join(t.TempDir(), "*.warc"), t.TempDir(), filepath.Join(t.TempDir(), "missing.warc")} {
		if _, err := find([]string{path}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	a, b := file(t, "a.warc", ""), file(t, "b.warc", "")
	if files, err := find([]string{b, a, filepath.Join(filepath.Dir(a), "*")}); err != nil || !slices.Equal(files, []string{b, a}) {
		t.Errorf("found %q, %v", files, err)
	}
}

func TestFilesOfWgetAreRead(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("wget"); err != nil {
		t.Skip("wget is not installed")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<a href="/chunked">1</a><a href="/missing">2</a>`)
		case "/chunked":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<p>in pieces ")
			w.(http.Flusher).Flush()
			fmt.Fprint(w, "<p>and more")
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
		got := read(t, dataDir(t), with(nil, dir))
		if len(got.documents) != 2 || string(got.documents[1].Body) != "<p>in pieces <p>and more" || got.Counters["status_404"] == 0 || got.Counters["broken"] != 0 {
			t.Errorf("%v: %q, counters %v", flags, got.said(), got.Counters)
		}
	}
}

func TestFilesOfAnotherLibraryAreRead(t *testing.T) {
	for _, compress := range []bool{false, true} {
		dir := t.TempDir()
		w := gowarc.NewWarcFileWriter(gowarc.WithFileNameGenerator(&gowarc.PatternNameGenerator{Directory: dir}), gowarc.WithCompression(compress))
		for i := range 20 {
			b := gowarc.NewRecordBuilder(gowarc.Response)
			b.AddWarcHeader("WARC-Target-URI", fmt.Sprint(home, i))
			b.AddWarcHeader("WARC-Date", day)
			b.AddWarcHeader("Content-Type", "application/http;msgtype=response")
			fmt.Fprintf(b, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nbody%02d", i)
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
		got := read(t, dataDir(t), with(nil, dir))
		if len(got.documents) != 20 || string(got.documents[7].Body) != "body07" {
			t.Errorf("compressed %t: %q, counters %v", compress, got.said(), got.Counters)
		}
	}
}

func TestOptionsAreValidated(t *testing.T) {
	t.Parallel()
	if err := with(func(o *Options) { o.Since, o.Rules = "2026-01", []string{"deny path /x"} }, "a").Validate(); err != nil {
		t.Error(err)
	}
	for _, o := range []Options{
		defaults, with(nil, ""), with(nil, "["), with(func(o *Options) { o.Since = "yesterday" }, "a"), with(func(o *Options) { o.Until = "x" }, "a"),
		with(func(o *Options) { o.MaxBody = 0 }, "a"), with(func(o *Options) { o.Rules = []string{"x"} }, "a"),
	} {
		if o.Validate() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
