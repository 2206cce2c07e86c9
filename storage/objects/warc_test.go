package objects

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nlnwa/gowarc"

	"github.com/webrace/webrace"
)

// strictRecord is what an independent, strict reader found in a segment.
type strictRecord struct {
	kind, id, url, refersTo, concurrentTo, date, refersToDate, digest string
	block                                                             []byte
}

// readStrictly reads all segments of dir with another implementation, which fails at the first violation
// of the standard, wrong digests included.
func readStrictly(t *testing.T, dir string) []strictRecord {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "seg-*.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	var all []strictRecord
	for _, name := range names {
		r, err := gowarc.NewWarcFileReader(name, 0, gowarc.WithStrictValidation())
		if err != nil {
			t.Fatal(err)
		}
		for first := true; ; first = false {
			rec, at, validation, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil || !validation.Valid() {
				t.Fatalf("%s at %d: %v, %v", name, at, err, validation)
			}
			if rec.Version() != gowarc.V1_1 || first != (rec.Type() == gowarc.Warcinfo) {
				t.Fatalf("%s at %d: %v", name, at, rec)
			}
			h := rec.WarcHeader()
			one := strictRecord{kind: rec.Type().String(), id: rec.RecordId(), url: h.Get("WARC-Target-URI"), refersTo: h.GetId("WARC-Refers-To"), concurrentTo: h.GetId("WARC-Concurrent-To"),
				date: h.Get("WARC-Date"), refersToDate: h.Get("WARC-Refers-To-Date"), digest: h.Get("WARC-Payload-Digest")}
			raw, err := rec.Block().RawBytes()
			if err == nil {
				one.block, err = io.ReadAll(raw)
			}
			if err := errors.Join(err, rec.Close()); err != nil {
				t.Fatalf("%s at %d: %v", name, at, err)
			}
			all = append(all, one)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestEveryRecordIsStrictlyValidWARC(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, Options{SegmentSize: 1800, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	truncated := page(home+"big", "only the first")
	truncated.Truncated = true
	bare := &webrace.Document{URL: home + "bare", Status: 599, Outcome: webrace.Fetched}
	hostile := page(home+"hostile", "x")
	hostile.MediaType = "text/html\r\nWARC-Type: request"
	hostile.Header = http.Header{"X-A": {"a\r\nX-B: b\r\n\r\nbody"}, "Bad Name": {"x"}, "": {"y"}, "X-C": {"", "δοκιμή", "a\x00b"}}
	for _, d := range []*webrace.Document{
		page(home, "one"), page(home+"same", "one"), page(home, "two"), page(home, "one"), truncated, bare, hostile,
	} {
		put(t, s, d)
	}
	defer s.Close()

	kinds := map[string]int{}
	responses := map[string]strictRecord{}
	ids := map[string]bool{}
	for _, r := range readStrictly(t, dir) {
		kinds[r.kind]++
		if ids[r.id] {
			t.Errorf("record ID %s is used twice", r.id)
		}
		ids[r.id] = true
		switch r.kind {
		case typeResponse:
			responses[r.id] = r
			if _, header, body, err := splitResponse(r.block); err != nil || header.Get("Content-Encoding") != "" || header.Get("Transfer-Encoding") != "" {
				t.Errorf("%s: %q, %v, %v", r.url, body, header, err)
			}
		case typeRevisit:
			first, ok := responses[r.refersTo]
			if !ok || first.digest != r.digest || first.date != r.refersToDate {
				t.Errorf("revisit %+v refers to %+v", r, first)
			}
		case typeMetadata:
			if !ids[r.refersTo] {
				t.Errorf("metadata of %s refers to %q, which is not before it", r.url, r.refersTo)
			}
		}
	}
	want := map[string]int{typeInfo: int(s.Stats().Segments), typeResponse: 5, typeRevisit: 2, typeMetadata: 7}
	if !maps.Equal(kinds, want) || kinds[typeInfo] < 2 {
		t.Errorf("records are %v, want %v in several segments", kinds, want)
	}
	if v := mustLatest(t, s, home+"big"); !v.Truncated {
		t.Error("a truncated body is taken for complete")
	}
	header := wantBody(t, s, mustLatest(t, s, home+"hostile"), "x")
	if header.Get("X-B") != "" || len(header["X-C"]) != 3 || header["X-C"][1] != "δοκιμή" {
		t.Errorf("header is %v", header)
	}
	if v := mustLatest(t, s, home+"bare"); v.FetchedAt.IsZero() || v.Size != 0 {
		t.Errorf("bare version is %+v", v)
	}
}

func TestSegmentsKeepToTheirSizeUnlessARecordAloneIsLarger(t *testing.T) {
	dir := t.TempDir()
	const limit = 4000
	s, err := Open(dir, Options{SegmentSize: limit, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	large := make([]byte, 20000)
	for i := range large {
		large[i] = byte(i * i >> 3)
	}
	for i := range 30 {
		put(t, s, page(home, string(large[i:i+10*i])))
	}
	put(t, s, page(home, string(append(large, bytes.Repeat(large[:999], 3)...))))
	put(t, s, page(home, "small"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "seg-*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d segments, %v", len(files), err)
	}
	records := readStrictly(t, dir)
	if i := slices.IndexFunc(records, func(r strictRecord) bool { return r.kind == typeInfo }); i != 0 {
		t.Errorf("the first warcinfo is record %d", i)
	}
	oversized := 0
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > limit {
			oversized++
		}
	}
	if oversized > 1 {
		t.Errorf("%d segments are larger than the limit, for one large record", oversized)
	}
}

func FuzzParseRecord(f *testing.F) {
	s := opened(f, Options{})
	put(f, s, page(home, "<p>x</p>"))
	e, err := s.entry(home, 1)
	if err != nil {
		f.Fatal(err)
	}
	for _, l := range []location{e.record, e.meta()} {
		compressed, err := s.segments.read(l)
		if err != nil {
			f.Fatal(err)
		}
		raw, err := inflate(compressed, 0)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte("WARC/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n\r\n\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := parseRecord(raw)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("error is %v", err)
			}
			return
		}
		if !bytes.HasSuffix(raw, append(bytes.Clone(r.block), recordEnd...)) {
			t.Errorf("the block is not what stands at the end of the record")
		}
		status, header, body, err := splitResponse(r.block)
		if err != nil {
			return
		}
		if !bytes.HasSuffix(r.block, body) {
			t.Error("the body is not what stands at the end of the block")
		}
		if status < 100 || status > 999 {
			return
		}
		again, header2, _, err := splitResponse(responseHead(status, header, len(body)))
		if err != nil || again != status {
			t.Errorf("written again: status %d, %v", again, err)
		}
		for name, values := range header {
			if !transferFields[name] && len(header2[name]) > len(values) {
				t.Errorf("%s has %q, and written again %q", name, values, header2[name])
			}
		}
	})
}

// FuzzRecord writes whatever may come in, and must read the same back.
func FuzzRecord(f *testing.F) {
	f.Add("text/html", "X-A", "value", []byte("body"), 200)
	f.Add("", "Content-Length", "7", []byte{}, 404)
	f.Add("a\r\nb", "A b", "c\r\n\r\nd", []byte("\r\n\r\n"), 100)
	pool, err := compressors(Gzip, 1)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, media, name, value string, body []byte, status int) {
		if status < 100 || status > 999 {
			return
		}
		header := http.Header{name: {value}}
		var out bytes.Buffer
		c := pool.Get().(*compressor)
		defer pool.Put(c)
		c.append(&out, &record{kind: typeResponse, date: time.Unix(0, 0), content: contentHTTP,
			fields: [][2]string{{"WARC-Identified-Payload-Type", cleanValue(media)}},
			head:   responseHead(status, header, len(body)), body: body})
		raw, err := inflate(out.Bytes(), int64(len(body)))
		if err != nil {
			t.Fatal(err)
		}
		r, err := parseRecord(raw)
		if err != nil {
			t.Fatal(err)
		}
		gotStatus, _, gotBody, err := splitResponse(r.block)
		if err != nil || gotStatus != status || !bytes.Equal(gotBody, body) {
			t.Errorf("read back %d %q, %v", gotStatus, gotBody, err)
		}
		if r.fields["warc-type"] != typeResponse {
			t.Errorf("WARC-Type became %q", r.fields["warc-type"])
		}
	})
}

// filesSize is how much the segments of a directory take.
func filesSize(t testing.TB, dir string) (size int64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "seg-*.warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	return size
}
