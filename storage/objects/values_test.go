package objects

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestValuesReadBackAsWritten(t *testing.T) {
	when := time.Date(1969, 7, 20, 20, 17, 40, 999, time.UTC)
	e := entry{record: location{7, 1 << 40, 12}, shotLength: 1 << 33, metaLength: 34}
	e.Version = Version{URL: "u", Number: 3, Seq: 1 << 60, Status: 404, MediaType: "a/b", Charset: "c", Language: "el",
		Size: 5, FetchedAt: when, Truncated: true, Screenshot: true}
	e.Digest[31] = 9
	gotEntry, err1 := decodeEntry("u", encodeEntry(&e))
	p := payload{location{1, 2, 3}, 4, 5, newRecordID(), when, "http://x"}
	gotPayload, err2 := decodePayload(encodePayload(&p))
	s := segmentState{Gzip, 1, 2, 3}
	gotSegment, err3 := decodeSegment(encodeSegment(&s))
	c := counters{1, 2, 3, 4, 5, 6, 7, 0}
	gotCounters, err4 := decodeCounters(encodeCounters(&c))
	links := []string{"http://a/b", "http://a/c", "", "http://a/c", "x", strings.Repeat("y", 9999)}
	gotLinks, err5 := decodeLinks(encodeLinks(links))
	none, err6 := decodeLinks(encodeLinks(nil))
	if err := errors.Join(err1, err2, err3, err4, err5, err6); err != nil {
		t.Fatal(err)
	}
	for i, pair := range [][2]any{{gotEntry, e}, {gotPayload, p}, {gotSegment, s}, {gotCounters, c}, {gotLinks, links}, {len(none), 0}} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			t.Errorf("%d: read %+v, wrote %+v", i, pair[0], pair[1])
		}
	}
	if !gotEntry.ValidatedAt.IsZero() {
		t.Errorf("the zero time became %v", gotEntry.ValidatedAt)
	}
}

// FuzzValues: what any decoder accepts, it reads as the same again after it was encoded.
func FuzzValues(f *testing.F) {
	e := entry{Version: Version{Number: 1, Seq: 2, MediaType: "text/html", FetchedAt: noon}}
	f.Add(encodeEntry(&e))
	e.shotLength = 5
	f.Add(encodeEntry(&e))
	f.Add(encodePayload(&payload{date: noon, url: "http://x"}))
	f.Add(encodeSegment(&segmentState{1, 2, 3, 4}))
	f.Add(encodeCounters(&counters{seq: 300}))
	f.Add(encodeLog("http://x", 3))
	f.Add(encodeLinks([]string{"http://a/b", "http://a/c"}))
	f.Add([]byte{schema, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, value []byte) {
		same(t, value, func(b []byte) (entry, error) { return decodeEntry("u", b) }, func(e entry) []byte { return encodeEntry(&e) })
		same(t, value, decodePayload, func(p payload) []byte { return encodePayload(&p) })
		same(t, value, decodeSegment, func(s segmentState) []byte { return encodeSegment(&s) })
		same(t, value, decodeCounters, func(c counters) []byte { return encodeCounters(&c) })
		same(t, value, decodeNumber, encodeNumber)
		if links, err := decodeLinks(value); err == nil {
			again, err := decodeLinks(encodeLinks(links))
			if err != nil || !slices.Equal(links, again) {
				t.Errorf("links %q read again are %q, %v", links, again, err)
			}
		}
		if url, n, err := decodeLog(value); err == nil {
			if url2, n2, err := decodeLog(encodeLog(url, n)); url != url2 || n != n2 || err != nil {
				t.Errorf("log %q %d read again is %q %d, %v", url, n, url2, n2, err)
			}
		}
	})
}

func same[T any](t *testing.T, value []byte, decode func([]byte) (T, error), encode func(T) []byte) {
	t.Helper()
	v, err := decode(value)
	if err != nil {
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("error is %v", err)
		}
		return
	}
	again, err := decode(encode(v))
	if err != nil || !reflect.DeepEqual(v, again) {
		t.Errorf("%+v read again is %+v, %v", v, again, err)
	}
}

func FuzzInflate(f *testing.F) {
	pool, err := compressors(Gzip, 1)
	if err != nil {
		f.Fatal(err)
	}
	var out bytes.Buffer
	pool.Get().(*compressor).append(&out, infoRecord("seg-00000001.warc.gz", noon))
	f.Add(out.Bytes(), int64(10))
	f.Add(append(out.Bytes(), out.Bytes()...), int64(1)<<40)
	f.Fuzz(func(t *testing.T, compressed []byte, expected int64) {
		raw, err := inflate(compressed, max(expected, 0))
		if err == nil && len(raw) > 1032*len(compressed) {
			t.Errorf("%d bytes out of %d", len(raw), len(compressed))
		}
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Errorf("error is %v", err)
		}
	})
}
