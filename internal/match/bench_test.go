package match

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/htmltext"
)

// BenchmarkMatch matches a page of the Python documentation with profiles that are made up of the words of
// the whole.
func BenchmarkMatch(b *testing.B) {
	files, _ := filepath.Glob("/usr/share/doc/python3*/html/library/*.html")
	if len(files) == 0 {
		b.Skip("the Python documentation is not installed")
	}
	var page *webrace.Text
	frequency := map[string]int{}
	for _, file := range files {
		html, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		var s htmltext.Scanner
		s.Scan(html)
		for _, word := range foldedWords(string(s.Text.Bytes)) {
			frequency[word]++
		}
		if filepath.Base(file) == "mmap.html" {
			page = &s.Text
		}
	}
	words := make([]string, 0, len(frequency))
	for word := range frequency {
		words = append(words, word)
	}
	slices.SortFunc(words, func(x, y string) int { return frequency[y] - frequency[x] })
	for _, workload := range []string{"rare", "zipf"} {
		for _, n := range []int{1_000, 100_000, 1_000_000} {
			b.Run(fmt.Sprintf("%s/%d", workload, n), func(b *testing.B) { benchmarkMatch(b, page, words, workload == "zipf", n) })
		}
	}
}

func benchmarkMatch(b *testing.B, page *webrace.Text, words []string, zipf bool, n int) {
	l := newLanguage(rand.New(rand.NewPCG(1, 2)), words)
	before := heap()
	profiles := make([]*Compiled, n)
	for i := range profiles {
		var g Group
		if l.IntN(10) == 0 {
			g.Match = All
		}
		for range 3 + l.IntN(3) {
			word := func() string {
				if zipf {
					return l.word()
				}
				return fmt.Sprint(words[len(words)/8+l.IntN(len(words)*7/8)], l.IntN(n/100+1))
			}
			key := word()
			if l.IntN(5) == 0 {
				key += " " + word()
			}
			g.Keywords = append(g.Keywords, Keyword{Key: key, Weight: 1 + l.IntN(5)})
		}
		c, _, err := Compile(Profile{ID: idOf(i), Group: g})
		if err != nil {
			b.Fatal(err)
		}
		profiles[i] = c
	}
	var x Index
	x.Add(profiles...)
	perProfile := float64(heap()-before) / float64(n)
	recipients := Options{Recipients: []Recipient{{ID: idOf(1)}, {ID: idOf(2)}, {ID: idOf(3)}}}
	b.Run("three", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			x.View().Count(page, recipients)
		}
	})
	b.Run("everyone", func(b *testing.B) {
		b.ReportAllocs()
		alerts := 0
		for b.Loop() {
			alerts = x.View().Count(page, Options{Everyone: true})
		}
		b.ReportMetric(float64(alerts), "alerts")
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(max(alerts, 1)), "ns/alert")
		b.ReportMetric(perProfile, "bytes/profile")
	})
}

// BenchmarkUnconcerned matches pages that have no keyword of any profile, with one and with everyone of many.
func BenchmarkUnconcerned(b *testing.B) {
	words := inventWords(rand.New(rand.NewPCG(5, 6)), 6000)
	words = slices.DeleteFunc(words, func(word string) bool { return len([]rune(word)) < len(word) }) // as on most pages
	l := newLanguage(rand.New(rand.NewPCG(3, 4)), words)
	var texts []*webrace.Text
	for len(texts) < 40 {
		if text := l.page(); len(text.Bytes) > 3000 {
			texts = append(texts, text)
		}
	}
	invented := func() string { return fmt.Sprintf("q%dx", l.IntN(1<<30)) }
	for _, n := range []int{1, 1_000, 100_000} {
		profiles := make([]*Compiled, n)
		for i := range profiles {
			g := Group{Match: Mode(i % 10 / 9)}
			for range 4 {
				g.Keywords = append(g.Keywords, Keyword{Key: invented(), Weight: 1 + l.IntN(5)})
			}
			g.Keywords[0].Key += []string{"", "", "", "", " " + invented()}[i%5]
			c, _, err := Compile(Profile{ID: idOf(i), Group: g})
			if err != nil {
				b.Fatal(err)
			}
			profiles[i] = c
		}
		var x Index
		for from := 0; from < n; from += 1000 {
			x.Add(profiles[from:min(n, from+1000)]...)
		}
		x.Settle()
		v, o := x.View(), Options{Everyone: true}
		if n == 1 {
			o = Options{Recipients: []Recipient{{ID: idOf(0)}}}
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				if v.Count(texts[i%len(texts)], o) != 0 {
					b.Fatal("a page concerns somebody")
				}
			}
		})
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
