package objects

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/webrace/webrace/storage/internal/pebbledb"
	"go.uber.org/goleak"

	"github.com/webrace/webrace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 11, 20, 12, 0, 0, 123, time.UTC)

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func open(t testing.TB, fs vfs.FS, o Options) *Store {
	t.Helper()
	o.FS, o.Logger = fs, quiet()
	s, err := Open("/data/objects", o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func opened(t testing.TB, o Options) *Store {
	s := open(t, vfs.NewMem(), o)
	t.Cleanup(func() { s.Close() })
	return s
}

// eachCompression runs a test over stores of each.
func eachCompression(t *testing.T, run func(*testing.T, Compression)) {
	for name, c := range compressions {
		if testing.Short() && c != Gzip {
			continue // which runs the same code but for the library
		}
		t.Run(name, func(t *testing.T) { run(t, c) })
	}
}

func page(url, body string) *webrace.Document {
	return &webrace.Document{
		URL: url, Outcome: webrace.Fetched, Status: 200, At: noon, MediaType: "text/html", Charset: "utf-8",
		Language: "en", Origin: netip.MustParseAddr("192.0.2.7"), Body: []byte(body),
		Header: http.Header{"Content-Type": {"text/html"}, "Content-Encoding": {"br"}, "Content-Length": {"7"},
			"Transfer-Encoding": {"chunked"}, "Etag": {`"x"`}, "Set-Cookie": {"a=1", "b=2"}},
		Links: []string{url + "?a", url + "?b", "https://example.org/"},
	}
}

// put stores a document and waits until it is durable.
func put(t testing.TB, s *Store, d *webrace.Document) Version {
	t.Helper()
	done := make(chan error, 1)
	v, err := s.Put(d, func(err error) { done <- err })
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return v
}

func touch(t testing.TB, s *Store, url string, at time.Time) Version {
	t.Helper()
	done := make(chan error, 1)
	v, err := s.Touch(url, at, func(err error) { done <- err })
	if err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return v
}

func wantBody(t testing.TB, s *Store, v Version, want string) http.Header {
	t.Helper()
	body, header, err := s.Body(v)
	if err != nil {
		t.Fatal(err)
	}
	if string(body) != want {
		t.Fatalf("body of version %d of %s is %.80q, want %.80q", v.Number, v.URL, body, want)
	}
	return header
}

const home = "http://example.org/"

func TestPutGivesBackWhatWasStored(t *testing.T) {
	s := opened(t, Options{})
	d := page(home, "<p>hello</p>")
	v := put(t, s, d)
	want := Version{URL: home, Number: 1, Seq: 1, Digest: v.Digest, Status: 200, MediaType: "text/html", Charset: "utf-8",
		Language: "en", Size: 12, FetchedAt: noon, ValidatedAt: noon, Changed: true}
	if v != want || v.Digest == (webrace.Digest{}) {
		t.Errorf("Put returned %+v, want %+v", v, want)
	}
	want.Changed = false
	if got, err := s.Latest(home); err != nil || got != want {
		t.Errorf("Latest is %+v, %v; want %+v", got, err, want)
	}
	header := wantBody(t, s, v, "<p>hello</p>")
	wantHeader := http.Header{"Content-Type": {"text/html"}, "Content-Length": {"12"}, "Etag": {`"x"`}, "Set-Cookie": {"a=1", "b=2"}}
	if fmt.Sprint(header) != fmt.Sprint(wantHeader) {
		t.Errorf("header is %v, want %v", header, wantHeader)
	}
	if links, err := s.Links(v); err != nil || !slices.Equal(links, d.Links) {
		t.Errorf("links are %q, %v; want %q", links, err, d.Links)
	}
	m, err := s.Meta(v)
	if err != nil {
		t.Fatal(err)
	}
	if m.URL != home || m.IP != "192.0.2.7" || m.Status != 200 || m.Size != 12 || m.ETag != `"x"` || !m.Fetched.Equal(noon) ||
		!slices.Equal(m.Links, d.Links) || len(m.Header) != 7 || m.Header[0].Name != "Content-Encoding" || m.Header[0].Value != "br" {
		t.Errorf("meta-info is %+v", m)
	}
}

// Servers send what they like; it must not cost the meta-info of the document.
func TestMetaInfoOfAnythingCanBeRead(t *testing.T) {
	s := opened(t, Options{})
	long := strings.Repeat("&", 3000)
	d := page(home+"?"+strings.Repeat("<", 5000), "x")
	d.Header = http.Header{"": {"a"}, "Bad Name": {"b"}, "Etag": {long}, "Last-Modified": {"\x00\xff\ufffe"},
		"X-" + strings.Repeat("n", 9000): {"c"}, "X-Control": {"a\x01b\r\nc"}, "X-Long": {long}}
	d.Links = []string{"http://a/", home + long, "", "http://b/\x7f\xff"}
	v := put(t, s, d)
	m, err := s.Meta(v)
	if err != nil {
		t.Fatal(err)
	}
	if m.URL != d.URL || m.ETag != "" || len(m.Header) != 4 || len(m.Links) != 2 || m.Links[0] != "http://a/" {
		t.Errorf("meta-info has %d header fields and links %q", len(m.Header), m.Links)
	}
	if links, err := s.Links(v); err != nil || !slices.Equal(links, d.Links) {
		t.Errorf("the index has %d links, %v", len(links), err)
	}
}

func TestOnlyANewDigestMakesAVersion(t *testing.T) {
	s := opened(t, Options{})
	later := noon.Add(time.Hour)
	steps := []struct {
		body    string
		at      time.Time
		number  int
		changed bool
	}{
		{"one", noon, 1, true},
		{"one", later, 1, false},
		{"two", later, 2, true},
		{"one", later.Add(1), 3, true}, // not equal to the latest
		{"one", noon, 3, false},
	}
	for i, step := range steps {
		d := page(home, step.body)
		d.At = step.at
		if v := put(t, s, d); v.Number != step.number || v.Changed != step.changed {
			t.Errorf("step %d: version %d, changed %v", i, v.Number, v.Changed)
		}
	}
	all, err := s.Versions(home)
	if err != nil || len(all) != 3 {
		t.Fatalf("%d versions, %v", len(all), err)
	}
	for i, want := range []struct {
		body               string
		fetched, validated time.Time
	}{{"one", noon, later}, {"two", later, later}, {"one", later.Add(1), later.Add(1)}} {
		v := all[i]
		if v.Number != i+1 || !v.FetchedAt.Equal(want.fetched) || !v.ValidatedAt.Equal(want.validated) {
			t.Errorf("version %d is %+v", i+1, v)
		}
		if got, err := s.Get(home, i+1); err != nil || got != v {
			t.Errorf("Get %d is %+v, %v", i+1, got, err)
		}
		wantBody(t, s, v, want.body)
	}
	st := s.Stats()
	if st.URLs != 1 || st.Versions != 3 || st.Payloads != 2 || st.PayloadBytes != 6 || st.Segments != 1 || st.Waiting != 0 {
		t.Errorf("stats are %+v", st)
	}
}

func TestVersionsAreRightBeforeTheyAreDurable(t *testing.T) {
	s := opened(t, Options{})
	var wait sync.WaitGroup
	done := func(err error) {
		if err != nil {
			t.Error(err)
		}
		wait.Done()
	}
	const rounds = 300
	for i := range rounds {
		wait.Add(3)
		a, err1 := s.Put(page(home, fmt.Sprint(i)), done)
		b, err2 := s.Put(page(home, fmt.Sprint(i)), done)
		c, err3 := s.Touch(home, noon.Add(time.Hour), done)
		if err := errors.Join(err1, err2, err3); err != nil {
			t.Fatal(err)
		}
		if a.Number != i+1 || !a.Changed || b.Number != i+1 || b.Changed || b.Seq != a.Seq || c.Number != i+1 || c.Changed {
			t.Fatalf("round %d: %+v, %+v, %+v", i, a, b, c)
		}
	}
	wait.Wait()
	all, err := s.Versions(home)
	if err != nil || len(all) != rounds {
		t.Fatalf("%d versions, %v", len(all), err)
	}
	for i, v := range all {
		if v.Number != i+1 || v.Seq != uint64(i+1) || !v.ValidatedAt.Equal(noon.Add(time.Hour)) {
			t.Fatalf("version %d is %+v", i+1, v)
		}
		wantBody(t, s, v, fmt.Sprint(i))
	}
}

func TestTouchMovesOnlyForward(t *testing.T) {
	s := opened(t, Options{})
	put(t, s, page(home, "one"))
	if v := touch(t, s, home, noon.Add(time.Hour)); v.Number != 1 || !v.ValidatedAt.Equal(noon.Add(time.Hour)) {
		t.Errorf("touched: %+v", v)
	}
	touch(t, s, home, noon)
	if v, err := s.Latest(home); err != nil || !v.ValidatedAt.Equal(noon.Add(time.Hour)) || !v.FetchedAt.Equal(noon) {
		t.Errorf("latest is %+v, %v", v, err)
	}
	if _, err := s.Touch("http://nowhere.example/", noon, nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("touching what is not stored: %v", err)
	}
	if s.Last() != 1 {
		t.Errorf("validations made log entries: %d", s.Last())
	}
}

func TestTheCallersBufferIsNotKept(t *testing.T) {
	s := opened(t, Options{})
	buffer := make([]byte, 0, 100)
	var wait sync.WaitGroup
	for i := range 50 {
		d := page(fmt.Sprintf("%s%d", home, i), "")
		d.Body = fmt.Appendf(buffer[:0], "body %d", i)
		wait.Add(1)
		if _, err := s.Put(d, func(error) { wait.Done() }); err != nil {
			t.Fatal(err)
		}
	}
	wait.Wait()
	for i := range 50 {
		v, err := s.Latest(fmt.Sprintf("%s%d", home, i))
		if err != nil {
			t.Fatal(err)
		}
		wantBody(t, s, v, fmt.Sprintf("body %d", i))
	}
}

func TestPutRefusesWhatIsNoFetchedDocument(t *testing.T) {
	s := opened(t, Options{})
	for name, change := range map[string]func(*webrace.Document){
		"not modified": func(d *webrace.Document) { d.Outcome = webrace.NotModified },
		"no status":    func(d *webrace.Document) { d.Status = 0 },
		"long URL":     func(d *webrace.Document) { d.URL = home + strings.Repeat("x", maxURL) },
		"no URL":       func(d *webrace.Document) { d.URL = "" },
		"line in URL":  func(d *webrace.Document) { d.URL = "http://a/\r\nWARC-Type: x" },
		"zero in URL":  func(d *webrace.Document) { d.URL = "http://a/\x00" },
		"four digits":  func(d *webrace.Document) { d.Status = 1000 },
	} {
		d := page(home, "x")
		change(d)
		if _, err := s.Put(d, func(error) { t.Errorf("%s: done was called", name) }); err == nil {
			t.Errorf("%s: stored", name)
		}
	}
}

func TestNotFound(t *testing.T) {
	s := opened(t, Options{})
	put(t, s, page(home+"longer", "x"))
	v := Version{URL: home, Number: 1, Seq: 99}
	_, err1 := s.Latest(home)
	_, err2 := s.Get(home+"longer", 2)
	_, err3 := s.Versions(home)
	_, _, err4 := s.Body(v)
	_, err5 := s.Meta(v)
	_, err6 := s.Links(v)
	_, err7 := s.Get(home+"longer", -1)
	for i, err := range []error{err1, err2, err3, err4, err5, err6, err7} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%d: %v", i+1, err)
		}
	}
}

func TestListIsOrderedAndKeepsToItsPrefix(t *testing.T) {
	s := opened(t, Options{})
	urls := []string{"http://a/", "http://a/b", "http://a/b/c", "http://a/\xff", "http://b/"}
	for _, u := range []int{3, 1, 4, 0, 2} {
		put(t, s, page(urls[u], "old"))
		put(t, s, page(urls[u], "new"))
	}
	for prefix, want := range map[string][]string{
		"": urls, "http://a/": urls[:4], "http://a/b": urls[1:3], "http://c": nil, "http://a/\xff": urls[3:4],
	} {
		var got []string
		for v, err := range s.List(t.Context(), prefix) {
			if err != nil || v.Number != 2 {
				t.Fatalf("%+v, %v", v, err)
			}
			got = append(got, v.URL)
		}
		if !slices.Equal(got, want) {
			t.Errorf("List %q is %q, want %q", prefix, got, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	for _, err := range s.List(ctx, "") {
		if seen++; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		cancel()
	}
	if seen != 2 {
		t.Errorf("a cancelled List yielded %d times, want one version and one error", seen)
	}
}

func TestReopenKeepsEverything(t *testing.T) {
	fs := vfs.NewMem()
	for i := range 5 {
		s := open(t, fs, Options{SegmentSize: 2000})
		for j := range 10 {
			put(t, s, page(fmt.Sprintf("%s%d", home, j), fmt.Sprintf("body %d of %d", i, j)))
		}
		if s.Last() != uint64(10*i+10) {
			t.Errorf("last is %d", s.Last())
		}
		if err := s.SetCursor("index", s.Last(), true); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := open(t, fs, Options{})
	defer s.Close()
	for j := range 10 {
		all, err := s.Versions(fmt.Sprintf("%s%d", home, j))
		if err != nil || len(all) != 5 {
			t.Fatalf("%d versions, %v", len(all), err)
		}
		for i, v := range all {
			wantBody(t, s, v, fmt.Sprintf("body %d of %d", i, j))
		}
	}
	if st := s.Stats(); st.URLs != 10 || st.Versions != 50 || st.Segments < 5 || st.SegmentBytes == 0 {
		t.Errorf("stats are %+v", st)
	}
	if seq, err := s.Cursor("index"); err != nil || seq != 50 {
		t.Errorf("cursor is %d, %v", seq, err)
	}
	if seq, err := s.Cursor("other"); err != nil || seq != 0 {
		t.Errorf("a new cursor is %d, %v", seq, err)
	}
}

func TestCloseEndsEverything(t *testing.T) {
	s := open(t, vfs.NewMem(), Options{})
	put(t, s, page(home, "x"))
	waiting := make(chan error)
	go func() {
		_, err := s.Next(context.Background(), 1, 10)
		waiting <- err
	}()
	answered := make(chan error, 1)
	if _, err := s.Put(page(home, "y"), func(err error) { answered <- err }); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Errorf("a Put before Close: %v", err)
	}
	if err := <-waiting; err != nil && !errors.Is(err, ErrClosed) {
		t.Errorf("a waiting follower got %v", err)
	}
	_, err1 := s.Put(page(home, "z"), nil)
	_, err2 := s.Latest(home)
	_, err3 := s.Next(context.Background(), 0, 1)
	_, err4 := s.Cursor("x")
	for i, err := range []error{err1, err2, err3, err4, s.Close()} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%d: %v", i+1, err)
		}
	}
}

func TestNewerFormatIsRefused(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, fs, Options{})
	if err := s.db.Set(formatKey, encodeNumber(format+1), pebbledb.Sync); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := Open("/data/objects", Options{FS: fs, Logger: quiet()}); !errors.Is(err, ErrFormat) {
		t.Errorf("opened: %v", err)
	}
}

func TestASecondOwnerIsRefused(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if second, err := Open(dir, Options{Logger: quiet()}); err == nil {
		second.Close()
		t.Error("two stores own one directory")
	}
}

func TestLevelOutOfRangeIsRefused(t *testing.T) {
	for _, level := range []int{-1, 10} {
		if _, err := Open("/x", Options{FS: vfs.NewMem(), Level: level}); err == nil || !strings.Contains(err.Error(), "gzip level") {
			t.Errorf("level %d: %v", level, err)
		}
	}
}

func TestEqualBodiesAreStoredOnce(t *testing.T) {
	s := opened(t, Options{})
	body := strings.Repeat(string(bytes.Repeat([]byte("0123456789abcdef"), 64)), 8)
	var wait sync.WaitGroup
	for i := range 40 {
		wait.Go(func() { put(t, s, page(fmt.Sprintf("%s%d", home, i), body)) })
	}
	wait.Wait()
	st := s.Stats()
	if st.Payloads != 1 || st.PayloadBytes != uint64(len(body)) || st.Versions != 40 {
		t.Errorf("stats are %+v", st)
	}
	for i := range 40 {
		v, err := s.Latest(fmt.Sprintf("%s%d", home, i))
		if err != nil {
			t.Fatal(err)
		}
		if h := wantBody(t, s, v, body); h.Get("Content-Length") != fmt.Sprint(len(body)) {
			t.Errorf("header is %v", h)
		}
	}
	p, ok, err := get(s, payloadKey(mustLatest(t, s, home+"0").Digest), decodePayload)
	if err != nil || !ok || p.refs != 40 {
		t.Errorf("payload is %+v, %v, %v", p, ok, err)
	}
}

func mustLatest(t testing.TB, s *Store, url string) Version {
	t.Helper()
	v, err := s.Latest(url)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
