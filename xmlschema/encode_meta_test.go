package xmlschema

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestMetaInformationIsEncodedAsItsCanonicalForm compares what is written straight with what is written from
// a tree.
func TestMetaInformationIsEncodedAsItsCanonicalForm(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	values := []string{"", "a", "text/html; charset=utf-8", `"x<y>&z"`, "W/\"1\"", "'", "]]>", "é 日本", "a  b", " a", "a ", "a\tb", "a\nb", "\x00", "\xff", "\u2028", "\ufffe", "a\u00a0b"}
	any := func() string { return values[r.IntN(len(values))] }
	plain := 0
	for range 5000 {
		m := &Meta{URL: "http://a.example/?a=1&b=<\">'" + any(), IP: "127.0.0.1", Status: r.IntN(3) * 100, Size: r.IntN(2) * 12345}
		if r.IntN(2) > 0 {
			m.Fetched = time.Unix(r.Int64N(1<<32), r.Int64N(1e9))
		}
		if r.IntN(3) == 0 {
			m.ETag, m.LastModified = any(), any()
		}
		for range r.IntN(3) {
			m.Header = append(m.Header, HeaderField{Name: "X-A", Value: any()})
		}
		for i := range r.IntN(4) {
			m.Links = append(m.Links, fmt.Sprintf("http://b.example/%d?x&y=%%3C'%s", i, any()))
		}
		if m.plain() {
			plain++
		}
		if got, want := m.Canonical(), document(m.element()); !bytes.Equal(got, want) {
			t.Fatalf("%+v:\n got %s\nwant %s", m, got, want)
		}
	}
	if plain < 200 || plain > 4800 {
		t.Errorf("%d of 5000 were plain", plain)
	}
}

func BenchmarkMeta(b *testing.B) {
	m := &Meta{URL: "http://a.example/a", IP: "127.0.0.1", Status: 200, Size: 12345, Fetched: time.Unix(1e9, 0)}
	for i := range 10 {
		m.Header = append(m.Header, HeaderField{Name: fmt.Sprint("Header-", i), Value: "some value of it"})
	}
	for i := range 26 {
		m.Links = append(m.Links, fmt.Sprintf("http://a.example/library/page-%d.html", i))
	}
	for _, way := range []struct {
		name   string
		encode func() []byte
	}{{"straight", m.encode}, {"from a tree", func() []byte { return document(m.element()) }}} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				way.encode()
			}
		})
	}
}
