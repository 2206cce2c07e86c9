package control_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// benchVariable sets how many URDs the store of the benchmarks has, and benchStore where it is kept from
// one run to the next.
const (
	benchVariable = "WEBRACE_BENCH_URDS"
	benchStore    = "WEBRACE_BENCH_STORE"
)

// benchURD makes the nth of many URDs: 50 to an owner, with three keywords of a thousand.
func benchURD(n int) *xmlschema.URD {
	u := xmlschema.NewURD(fmt.Sprintf("owner%05d", n/50), fmt.Sprintf("http://host%d.example/dir/page%d.html", n%9973, n))
	u.ID = fmt.Sprintf("u%07d", n)
	u.Timing, u.Depth, u.Urgency = time.Hour, 1+n%4, 1+n%3
	for k := range 3 {
		u.Keywords.Keywords = append(u.Keywords.Keywords, xmlschema.Keyword{Key: fmt.Sprintf("word%d", (n*7+k*131)%1000), Weight: 1 + (n+k)%5, Match: xmlschema.MatchWord})
	}
	u.Keywords.Match, u.Keywords.Threshold = xmlschema.MatchAny, 20
	return u
}

// largeStore opens the store of the benchmarks, filling it when it is new.
func largeStore(b *testing.B) (*control.Store, int) {
	b.Helper()
	count, err := strconv.Atoi(os.Getenv(benchVariable))
	if err != nil {
		count = 10_000
	}
	dir := os.Getenv(benchStore)
	if dir == "" {
		dir = b.TempDir()
	}
	s, err := control.Open(filepath.Join(dir, fmt.Sprintf("urds-%d.db", count)), control.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	if revision, err := s.Revision(b.Context()); err != nil || revision >= int64(count) {
		return s, count
	}
	began := time.Now()
	for n := 0; n < count; n += 10_000 {
		batch := make([]*xmlschema.URD, min(10_000, count-n))
		for i := range batch {
			batch[i] = benchURD(n + i)
		}
		if _, err := s.Put(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("put %d URDs in %v: %.0f/s", count, time.Since(began), float64(count)/time.Since(began).Seconds())
	return s, count
}

func BenchmarkQuery(b *testing.B) {
	s, count := largeStore(b)
	for name, expression := range map[string]func(n int) string{
		"id": func(n int) string { return fmt.Sprintf("/urd[@id='u%07d']", n*7919%count) },
		"owner-predicate": func(n int) string {
			return fmt.Sprintf("/urd[@owner='owner%05d' and depth/@level > 3]", n*7919%(count/50))
		},
		"scan-none":      func(int) string { return "/urd[keywords/keyword/@weight > 7]" },
		"scan-some":      func(int) string { return "/urd[keywords/keyword[starts-with(@key, 'word99') and @weight = 5]]" },
		"scan-text":      func(int) string { return "//uri[contains(., 'page99999')]" },
		"scan-functions": func(int) string { return "/urd[count(keywords/keyword[@weight > 3]) = 3 and string-length(uri) > 46]" },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			hits, n := 0, 0
			for b.Loop() {
				for _, err := range s.Query(b.Context(), expression(n)) {
					if err != nil {
						b.Fatal(err)
					}
					hits++
				}
				n++
			}
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(hits)/float64(n), "hits/op")
			b.ReportMetric(float64(m.HeapAlloc)/1e6, "MB-heap")
		})
	}
	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			if _, err := s.Get(b.Context(), fmt.Sprintf("u%07d", n*7919%count)); err != nil {
				b.Fatal(err)
			}
			n++
		}
	})
}
