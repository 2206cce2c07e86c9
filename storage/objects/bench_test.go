package objects

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace"
)

// typicalPage has about 40 KB and 88 links, as pages on the web do.
func typicalPage(rng *rand.Rand, i int) *webrace.Document {
	var b strings.Builder
	for b.Len() < 40_000 {
		fmt.Fprintf(&b, "<p class=%d>some words of text %x and <b>more</b> of them</p>\n", rng.IntN(9), rng.Uint32())
	}
	d := page(fmt.Sprintf("https://host%d.example.org/section/article-%d-of-the-day.html", i%50, i), b.String())
	d.Links = nil
	for range 88 {
		d.Links = append(d.Links, fmt.Sprintf("https://host%d.example.org/section/article-%d-of-the-day.html", i%50, rng.IntN(1e6)))
	}
	return d
}

func BenchmarkPut(b *testing.B) {
	for name, c := range compressions {
		b.Run(name, func(b *testing.B) { benchmarkPut(b, c) })
	}
}

func benchmarkPut(b *testing.B, c Compression) {
	s, err := Open(b.TempDir(), Options{Logger: quiet(), Compression: c})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	docs := make([]*webrace.Document, 64)
	for i := range docs {
		docs[i] = typicalPage(rng, i)
	}
	b.SetBytes(int64(len(docs[0].Body)))
	b.ReportAllocs()
	var wait sync.WaitGroup
	for i := 0; b.Loop(); i++ {
		d := *docs[i%len(docs)]
		d.URL += fmt.Sprint("?", i)
		d.Body = append([]byte(fmt.Sprint(i)), d.Body...)
		wait.Add(1)
		if _, err := s.Put(&d, func(error) { wait.Done() }); err != nil {
			b.Fatal(err)
		}
	}
	wait.Wait()
}

// BenchmarkLinks compares the two places the links of a version are kept in.
func BenchmarkLinks(b *testing.B) {
	s, err := Open(b.TempDir(), Options{Logger: quiet()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	versions := make([]Version, 500)
	for i := range versions {
		versions[i] = put(b, s, typicalPage(rng, i))
	}
	if err := s.db.Flush(); err != nil {
		b.Fatal(err)
	}
	b.Run("index", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if links, err := s.Links(versions[i*7%len(versions)]); err != nil || len(links) != 88 {
				b.Fatal(len(links), err)
			}
		}
	})
	b.Run("metadata", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if m, err := s.Meta(versions[i*7%len(versions)]); err != nil || len(m.Links) != 88 {
				b.Fatal(len(m.Links), err)
			}
		}
	})
	b.Run("body", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, _, err := s.Body(versions[i*7%len(versions)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
