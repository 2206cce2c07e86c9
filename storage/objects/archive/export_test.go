package archive

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nlnwa/gowarc"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/storage/objects"
)

// crawled stores documents as a crawl does: three versions of one, the last like the first, two of them with
// screenshots, a copy of it elsewhere, and one that is no page.
func crawled(t testing.TB) *objects.Store {
	s := openStore(t)
	first := `<title>Start</title><a href="next">n</a><p>one`
	shots := map[int]*webrace.Screenshot{0: {PNG: []byte("\x89PNG\r\n\x1a\n first")}, 2: {PNG: []byte("\x89PNG\r\n\x1a\n again"), Whole: true}}
	for i, d := range []struct{ url, mediaType, body string }{
		{home, "text/html", first}, {home, "text/html", "<title>Two</title>" + strings.Repeat("x", 5000)}, {home, "text/html", first},
		{home + "copy", "text/html", first}, {"http://b.example/data?b=1&a=2", "text/plain", "data"},
	} {
		header := map[string][]string{"Content-Type": {d.mediaType}, "Content-Encoding": {"gzip"}, "X-N": {strconv.Itoa(i)}}
		x, err := extract.Document([]byte(d.body), d.mediaType, d.url, extract.Options{})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		_, err = s.Put(&webrace.Document{URL: d.url, Outcome: webrace.Fetched, Status: 200, Header: header, MediaType: x.MediaType, Charset: x.Charset,
			Origin: netip.MustParseAddr("10.0.0.9"), Body: []byte(d.body), Links: x.Links, Screenshot: shots[i], At: time.Date(2026, 1, 1+i, 0, 0, 0, 123456789, time.UTC)}, func(err error) { done <- err })
		if err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// gowarcInUse keeps parallel tests from using gowarc at once: each of its readers and writers that is made
// switches the process's generator of UUIDs.
var gowarcInUse sync.Mutex

// strict reads a WARC file with another implementation, which fails at the first violation of the
// standard, and returns the types of its records in order.
func strict(t testing.TB, content []byte) (kinds []string) {
	t.Helper()
	gowarcInUse.Lock()
	defer gowarcInUse.Unlock()
	name := file(t, string(content))
	gz := name + ".gz"
	if err := os.Rename(name, gz); err != nil {
		t.Fatal(err)
	}
	r, err := gowarc.NewWarcFileReader(gz, 0, gowarc.WithStrictValidation())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		rec, at, validation, err := r.Next()
		if err == io.EOF {
			return kinds
		}
		if err != nil || !validation.Valid() {
			t.Fatalf("at %d: %v, %v", at, err, validation)
		}
		raw, err := rec.Block().RawBytes()
		if err == nil {
			_, err = io.Copy(io.Discard, raw)
		}
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, rec.Type().String())
		rec.Close()
	}
}

func TestWhatIsExportedIsImportedEqual(t *testing.T) {
	t.Parallel()
	s := crawled(t)
	var out bytes.Buffer
	n, err := WriteWARC(t.Context(), s, &out, "x.warc.gz", Selection{})
	if err != nil || n != 5 {
		t.Fatal(n, err)
	}
	want := []string{"warcinfo", "response", "resource", "metadata", "response", "metadata", "revisit", "resource", "metadata", "revisit", "metadata", "response", "metadata"}
	if kinds := strict(t, out.Bytes()); !slices.Equal(kinds, want) {
		t.Errorf("records %v", kinds)
	}
	back := openStore(t)
	if got, skipped := imported(t, back, file(t, out.String())); got.Versions != 5 || len(skipped) != 0 {
		t.Fatalf("%+v, %v", got, skipped)
	}
	for _, url := range []string{home, home + "copy", "http://b.example/data?b=1&a=2"} {
		a, b := describe(t, s, url), describe(t, back, url)
		if !slices.Equal(a, b) || len(a) == 0 {
			t.Errorf("%s was\n%q\nand is\n%q", url, a, b)
		}
	}
}

func describe(t testing.TB, s *objects.Store, url string) (all []string) {
	vs, err := s.Versions(url)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range vs {
		body, header, err := s.Body(v)
		if err != nil {
			t.Fatal(err)
		}
		links, err := s.Links(v)
		if err != nil {
			t.Fatal(err)
		}
		meta, err := s.Meta(v)
		if err != nil {
			t.Fatal(err)
		}
		shot, err := s.Screenshot(v)
		if err != nil && !errors.Is(err, objects.ErrNoScreenshot) {
			t.Fatal(err)
		}
		v.Seq, v.ValidatedAt = 0, time.Time{} // are of the store
		all = append(all, fmt.Sprintf("%+v %s %v %v %s %v", v, body, header, links, meta.IP, shot))
	}
	return all
}

func TestSelections(t *testing.T) {
	t.Parallel()
	s := crawled(t)
	for name, c := range map[string]struct {
		Selection
		n int
	}{
		"prefix": {Selection{Prefix: home}, 4}, "latest": {Selection{Latest: true}, 3}, "since": {Selection{Since: time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)}, 3},
		"nothing": {Selection{Prefix: "https://"}, 0},
	} {
		var out bytes.Buffer
		calls := 0
		c.Progress = func(int) { calls++ }
		if n, err := WriteWARC(t.Context(), s, &out, "x", c.Selection); err != nil || n != c.n || calls != n {
			t.Errorf("%s: %d, %v", name, n, err)
		}
		if got, skipped := imported(t, openStore(t), file(t, out.String())); got.Documents != c.n || len(skipped) > 0 { // it stands alone
			t.Errorf("%s: %+v, %v", name, got, skipped)
		}
	}
}

func TestAWACZDescribesWhatIsInIt(t *testing.T) {
	t.Parallel()
	s := crawled(t)
	var out bytes.Buffer
	if n, err := WriteWACZ(t.Context(), s, &out, filepath.Join(t.TempDir(), "scratch"), Selection{}); err != nil || n != 5 {
		t.Fatal(n, err)
	}
	z, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	content := map[string][]byte{}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if content[f.Name], err = io.ReadAll(in); err != nil {
			t.Fatal(f.Name, err)
		}
		if strings.HasPrefix(f.Name, "archive/") && f.Method != zip.Store {
			t.Errorf("%s is compressed again", f.Name)
		}
	}
	var description struct {
		Profile     string
		WaczVersion string `json:"wacz_version"`
		Resources   []waczResource
	}
	if err := json.Unmarshal(content["datapackage.json"], &description); err != nil {
		t.Fatal(err)
	}
	if description.Profile != "data-package" || description.WaczVersion != "1.1.1" || len(description.Resources) != 3 {
		t.Errorf("%s", content["datapackage.json"])
	}
	hashOf := func(b []byte) string { sum := sha256.Sum256(b); return "sha256:" + hex.EncodeToString(sum[:]) }
	for _, r := range description.Resources {
		if r.Hash != hashOf(content[r.Path]) || r.Bytes != int64(len(content[r.Path])) || !strings.HasSuffix(r.Path, r.Name) {
			t.Errorf("%+v", r)
		}
	}
	if want := `{"hash":"` + hashOf(content["datapackage.json"]) + `","path":"datapackage.json"}`; string(content["datapackage-digest.json"]) != want {
		t.Errorf("digest %s", content["datapackage-digest.json"])
	}
	checkIndex(t, content["indexes/index.cdxj"], content["archive/data.warc.gz"])
	pages := strings.Split(strings.TrimSpace(string(content["pages/pages.jsonl"])), "\n")
	if len(pages) != 5 || !strings.Contains(pages[1], `"url":"http://a.example/","ts":"2026-01-01T00:00:00Z","title":"Start"`) {
		t.Errorf("pages %q", pages)
	}
}

// checkIndex reads each record at the place that the index gives it.
func checkIndex(t *testing.T, index, records []byte) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(string(index)), "\n")
	if !slices.IsSorted(lines) || len(lines) != 7 || !strings.HasPrefix(lines[4], "example,b)/data?a=2&b=1 20260105000000 {") ||
		!strings.HasPrefix(lines[5], "urn:fullPage:http://a.example/ 20260103000000 {") || !strings.HasPrefix(lines[6], "urn:view:http://a.example/ 20260101000000 {") {
		t.Fatalf("index %q", lines)
	}
	for _, line := range lines {
		var entry struct{ URL, Mime, Status, Digest, Length, Offset, Filename string }
		if err := json.Unmarshal([]byte(line[strings.Index(line, "{"):]), &entry); err != nil {
			t.Fatal(err)
		}
		offset, _ := strconv.Atoi(entry.Offset)
		length, _ := strconv.Atoi(entry.Length)
		alone := records[offset : offset+length]
		kinds := strict(t, alone)
		want := "response"
		if entry.Mime == "warc/revisit" {
			want = "revisit"
		}
		if strings.HasPrefix(entry.URL, "urn:") {
			want = "resource"
		}
		if !slices.Equal(kinds, []string{want}) || entry.Status != "200" || entry.Filename != "data.warc.gz" || !strings.HasPrefix(entry.Digest, "sha256:") {
			t.Errorf("%s: %v", line, kinds)
		}
	}
}

func TestKeysOfURLs(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://www.Example.org/A/b?z=1&C=2": "org,example)/a/b?c=2&z=1", "http://example.org:8080/": "org,example:8080)/",
		"http://10.0.0.1/x": "10.0.0.1)/x", "http://a.b.example/": "example,b,a)/", "no url": "no url",
	} {
		if got := surt(in); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}

// What is not whole stays that by its cause, from file to store to file, and where a later record refers to it.
func TestTruncationKeepsItsCause(t *testing.T) {
	t.Parallel()
	const again = "2026-01-05T00:00:00Z"
	causes := map[string]string{"length": "length", "time": "time", "disconnect": "disconnect", "unspecified": "unspecified", "tired": "unspecified", "": ""}
	var in strings.Builder
	for said := range causes {
		url, fields := home+"cut-"+said, ""
		if said != "" {
			fields = "WARC-Truncated: " + said + "\r\n"
		}
		in.WriteString(record("response", url, "2026-01-04T00:00:00Z", fields, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nof "+said))
		in.WriteString(record("revisit", url+"-again", again, "WARC-Refers-To-Target-URI: "+url+"\r\nWARC-Refers-To-Date: 2026-01-04T00:00:00Z\r\n", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"))
	}
	s := openStore(t)
	if got, skipped := imported(t, s, file(t, in.String())); got.Versions != 2*len(causes) {
		t.Fatalf("%+v, skipped %v", got, skipped)
	}
	var out bytes.Buffer
	if _, err := WriteWARC(t.Context(), s, &out, "out.warc.gz", Selection{}); err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	for said, want := range causes {
		for _, url := range []string{home + "cut-" + said, home + "cut-" + said + "-again"} {
			_, rec, found := strings.Cut(string(text), "\r\nWARC-Target-URI: "+url+"\r\n")
			fields, _, _ := strings.Cut(rec, "\r\n\r\n")
			_, why, _ := strings.Cut(fields, "\r\nWARC-Truncated: ")
			why, _, _ = strings.Cut(why, "\r\n")
			if !found || why != want {
				t.Errorf("%s was truncated by %q, and is by %q", url, said, why)
			}
		}
	}
}

// TestWhatIsNotOfTheWebIsExportedAndImportedEqual does so with messages and articles, of which two have the same text.
func TestWhatIsNotOfTheWebIsExportedAndImportedEqual(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	urls := []string{"mid:1@a.example", home, "news:2@a.example", "mid:3%2F4@a.example"}
	for i, body := range []string{"Subject: one\r\n\r\none", "Subject: two\r\n\r\ntwo", "Subject: two\r\n\r\ntwo", "Subject: one\r\n\r\none"} {
		done := make(chan error, 1)
		d := &webrace.Document{URL: urls[i], Outcome: webrace.Fetched, MediaType: "message/rfc822", Charset: "utf-8",
			Header: map[string][]string{webrace.SourceField: {"imap://a.example/" + urls[i]}}, Body: []byte(body), At: time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)}
		if d.URL == home { // a server has it, too
			d.Status, d.Header = 200, map[string][]string{"Content-Type": {"message/rfc822"}, "X-N": {"1"}}
		}
		_, err := s.Put(d, func(err error) { done <- err })
		if err := cmp.Or(err, <-done); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if n, err := WriteWARC(t.Context(), s, &out, "x.warc.gz", Selection{}); err != nil || n != len(urls) {
		t.Fatal(n, err)
	}
	want := []string{"warcinfo", "response", "metadata", "resource", "metadata", "revisit", "metadata", "revisit", "metadata"}
	if kinds := strict(t, out.Bytes()); !slices.Equal(kinds, want) {
		t.Errorf("records %v", kinds)
	}
	back := openStore(t)
	if got, skipped := imported(t, back, file(t, out.String())); got.Versions != len(urls) || len(skipped) != 0 {
		t.Fatalf("%+v, %v", got, skipped)
	}
	for _, url := range urls {
		v, err := back.Latest(url)
		if err != nil {
			t.Fatal(err)
		}
		a, b := describe(t, s, url), describe(t, back, url)
		if !slices.Equal(a, b) || (v.Status == 0) != (url != home) || v.MediaType != "message/rfc822" {
			t.Errorf("%s was\n%q\nand is\n%q, %+v", url, a, b, v)
		}
	}
}
