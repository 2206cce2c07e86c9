package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// ownersURDs is how many URDs an owner has: what a query for one of them has to look at.
const ownersURDs = 50

// benchXPath measures queries over the base of URDs.
func benchXPath(b *bench) error {
	n, rounds := 1_000_000, 3
	if b.quick {
		n, rounds = 20_000, 2
	}
	dir, err := os.MkdirTemp("", "webrace-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	store, err := control.Open(filepath.Join(dir, "control.db"), control.Options{})
	if err != nil {
		return err
	}
	x := &xpathBench{store: store, n: n}
	return errors.Join(x.measure(b, rounds), store.Close())
}

type xpathBench struct {
	store *control.Store
	n     int
}

func (x *xpathBench) measure(b *bench, rounds int) error {
	began, cpu := time.Now(), ownCPU()
	if err := x.fill(); err != nil {
		return err
	}
	b.table.value("XPath: a URD stored, 1,000 at a time, CPU", float64((ownCPU()-cpu).Microseconds())/float64(x.n), "µs", nil)
	b.note("storage: %d URDs of %d owners stored in %v", x.n, x.n/ownersURDs, time.Since(began).Round(time.Second))
	const lookUps = 2000
	cpu = ownCPU()
	byID, err := x.median(lookUps, 1, func(i int) string { return fmt.Sprintf("/urd[@id='u%d']", i) })
	if err != nil {
		return err
	}
	b.table.value("XPath: by id, wall", micros(byID), "µs", atMost(10))
	b.table.value("XPath: by id, CPU", micros(ownCPU()-cpu)/lookUps, "µs", nil)
	byOwner, err := x.median(200, -1, func(i int) string {
		return fmt.Sprintf("/urd[@owner='o%d' and keywords/keyword[@weight > 3]]", i/ownersURDs)
	})
	if err != nil {
		return err
	}
	b.table.value(fmt.Sprintf("XPath: an owner's %d URDs and a predicate, wall", ownersURDs), micros(byOwner)/1000, "ms", atMost(0.5))
	return x.scans(b, rounds)
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// scans measures expressions that no index helps with.
func (x *xpathBench) scans(b *bench, rounds int) error {
	var slowest time.Duration
	heap := watchHeap()
	for _, scan := range []struct {
		expression string
		found      int
	}{
		{"//keyword[contains(@key, 'word-77')]", -1},
		{"/urd[number(urgency/@urgent) > 2 and count(keywords/keyword) = 3]", -1},
		{"/urd[starts-with(uri, 'http://nowhere')]", 0},
	} {
		best := time.Duration(1<<63 - 1)
		for range rounds {
			began := time.Now()
			found, err := x.count(scan.expression)
			if err != nil {
				return err
			}
			if scan.found >= 0 && found != scan.found || scan.found < 0 && found == 0 {
				return fmt.Errorf("%s selects %d URDs", scan.expression, found)
			}
			best = min(best, time.Since(began))
		}
		b.note("storage: %s over %d URDs: %v", scan.expression, x.n, best.Round(time.Millisecond))
		slowest = max(slowest, best)
	}
	peak := heap()
	b.table.value(fmt.Sprintf("XPath: any expression over %d URDs, wall", x.n), slowest.Seconds(), "s", atMost(3))
	b.table.value("XPath: heap meanwhile", float64(peak)/1e6, "MB", atMost(50))
	return nil
}

func (x *xpathBench) fill() error {
	const together = 1000
	for at := 0; at < x.n; at += together {
		urds := make([]*xmlschema.URD, 0, together)
		for i := at; i < min(at+together, x.n); i++ {
			urds = append(urds, benchURD(i))
		}
		if _, err := x.store.Put(context.Background(), urds); err != nil {
			return err
		}
	}
	return nil
}

func benchURD(i int) *xmlschema.URD {
	u := xmlschema.NewURD(fmt.Sprintf("o%d", i/ownersURDs), fmt.Sprintf("http://host%d.example.org/section-%d/", i%5000, i%7))
	u.ID, u.Depth, u.Urgency = fmt.Sprintf("u%d", i), i%5, 1+i%3
	var keywords []xmlschema.Keyword
	for k := range 1 + i%4 {
		keywords = append(keywords, xmlschema.Keyword{Key: fmt.Sprintf("word-%d", (i*7+k*13)%1000), Weight: 1 + (i+k)%5})
	}
	u.Keywords = xmlschema.NewKeywords(keywords...)
	return u
}

// median is the time that a query takes, over URDs spread over the base. Each must select so many; with -1,
// any but none.
func (x *xpathBench) median(queries, want int, expression func(i int) string) (time.Duration, error) {
	times := make([]time.Duration, queries)
	for q := range times {
		text := expression(q * 7919 % x.n)
		began := time.Now()
		found, err := x.count(text)
		times[q] = time.Since(began)
		if err != nil {
			return 0, err
		}
		if want >= 0 && found != want || found == 0 {
			return 0, fmt.Errorf("%s selects %d URDs", text, found)
		}
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

func (x *xpathBench) count(expression string) (n int, err error) {
	for _, err := range x.store.Query(context.Background(), expression) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// watchHeap looks at the size of the heap until the function that it returns is called, which returns what the
// most was.
func watchHeap() func() uint64 {
	var peak atomic.Uint64
	stop := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapInuse))
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	return func() uint64 {
		close(stop)
		watching.Wait()
		return peak.Load()
	}
}
