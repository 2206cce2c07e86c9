package fulltext

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	index "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"
)

// mustMakeAlike makes a segment of documents twice, by the library and by a segmentMaker: up to where the fields are
// listed they are to be the same to the byte, and then to list the same.
func mustMakeAlike(t *testing.T, given []Document) {
	t.Helper()
	var counter termCounter
	counter.begin()
	var documents []index.Document
	for i := range given {
		d := given[i].indexed(i%3 == 0, &counter)
		d.AddIDField()
		d.VisitFields(func(f index.Field) {
			if f.Options().IsIndexed() {
				f.Analyze()
			}
		})
		documents = append(documents, d)
	}
	if !new(segmentWriter).take(documents) {
		t.Fatal("the segment is left to the library")
	}
	want, _, err := new(zap.ZapPlugin).New(documents)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := new(segmentMaker).New(documents)
	if err != nil {
		t.Fatal(err)
	}
	gotBytes, gotFields := partsOf(t, got)
	wantBytes, wantFields := partsOf(t, want)
	if !bytes.Equal(gotBytes, wantBytes) {
		at := 0
		for at < min(len(gotBytes), len(wantBytes)) && gotBytes[at] == wantBytes[at] {
			at++
		}
		t.Errorf("%d bytes, want %d; they differ from byte %d on", len(gotBytes), len(wantBytes), at)
	}
	if gotFields != wantFields {
		t.Errorf("fields\n%swant\n%s", gotFields, wantFields)
	}
}

// partsOf returns what a segment has of its documents, and how it lists their fields.
func partsOf(t *testing.T, s segment.Segment) (content []byte, fields string) {
	t.Helper()
	var b bytes.Buffer
	if _, err := s.(io.WriterTo).WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	all := b.Bytes()
	sections := binary.BigEndian.Uint64(all[len(all)-20:])
	first, n := uint64(len(all)), int(all[sections]) // fewer than 128 fields
	for i := range n {
		at := binary.BigEndian.Uint64(all[sections+1+8*uint64(i):])
		first = min(first, at)
		field := bytes.NewBuffer(all[at:])
		number := func() int {
			n, err := binary.ReadUvarint(field)
			if err != nil {
				t.Fatal(err)
			}
			return int(n)
		}
		fields += fmt.Sprintf("%s %b", field.Next(number()), number())
		for range number() {
			kind, address := binary.BigEndian.Uint16(field.Next(2)), binary.BigEndian.Uint64(field.Next(8))
			if kind == zap.SectionInvertedTextIndex {
				fields += fmt.Sprintln(" at", address)
			}
		}
	}
	return all[:first], fields
}

// someDocuments makes documents with few and many words, in several languages, with and without values.
func someDocuments(r *rand.Rand, n int) (documents []Document) {
	words := strings.Fields("crawl crawling Crawls the and θάλασσα Θάλασσες maisons Häuser x _id 2026 漢字 naïve " + strings.Repeat("long", 50))
	text := func(most int) string {
		var b strings.Builder
		for range r.IntN(most + 1) {
			fmt.Fprintf(&b, "%s%s", words[r.IntN(len(words))], []string{" ", BlockEnd, fmt.Sprint(" w", r.IntN(300), " ")}[r.IntN(3)])
		}
		return b.String()
	}
	for i := range n {
		d := Document{URL: fmt.Sprintf("https://a%d.example.org/%d?%s", i%3, i/2, words[i%len(words)]), Version: 1 + i%2, Title: text(5), Headings: text(9), Body: text(40 + 4000/n), Navigation: text(30)}
		if r.IntN(3) > 0 {
			d.Language, d.Type, d.Date = []string{"en", "el", "fr-BE", "xx"}[r.IntN(4)], "text/html", day.Add(time.Duration(r.IntN(1e9))*time.Millisecond)
		}
		documents = append(documents, d)
	}
	return documents
}

func TestSegmentsAreMadeAsByTheLibrary(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 9, 100, mostDocuments} {
		mustMakeAlike(t, someDocuments(r, n))
	}
	long := Document{URL: "x", Version: 1, Body: strings.Repeat("one two\f", 20_000)}
	mustMakeAlike(t, []Document{{URL: "::", Version: 1}, long, {URL: "https:///", Version: 1, Body: strings.Repeat("\ufdfa", 300)}})
}

func FuzzSegmentsAreMadeAsByTheLibrary(f *testing.F) {
	f.Add("https://example.org/a", "A title", "crawling the crawls\fof crawlers", "en")
	f.Add("", "", "漢字かな naïve\u0301 \xff", "fr")
	f.Fuzz(func(t *testing.T, url, title, body, language string) {
		mustMakeAlike(t, []Document{{URL: url, Version: 1, Title: title, Body: body, Language: language}, {URL: url + "/", Version: 1, Body: title}})
	})
}

func TestMoreDocumentsThanAChunkHoldsAreIndexed(t *testing.T) {
	t.Parallel()
	documents := someDocuments(rand.New(rand.NewPCG(3, 4)), 1)
	for i := range mostDocuments + 100 {
		documents = append(documents, Document{URL: fmt.Sprint("https://example.org/", i), Version: 1, Body: "needle"})
	}
	s, err := Open(t.TempDir()+"/fulltext", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Index(t.Context(), documents); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Search(t.Context(), Query{Text: "needle"}); err != nil || r.Total != mostDocuments+100 {
		t.Errorf("found %d: %v", r.Total, err)
	}
}
