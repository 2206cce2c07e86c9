package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/fulltext"
)

// TestHostilePagesAreIndexedInLittleMemory indexes pages of 8 MB, of few words and of as many different ones as there
// is room for. What it takes follows from one of them, and not from how many there are.
func TestHostilePagesAreIndexedInLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("indexes 64 MB: not in short mode")
	}
	t.Parallel()
	const pages, size, most = 8, 7_900_000, 450 << 20
	data := filepath.Join(t.TempDir(), "data")
	fillWithLargePages(t, data, pages, size)
	p := startCommand(t, "search", "--data", data)
	peak := peakOf(p.Process)
	p.mustExit(0)
	if peak := <-peak; peak == 0 || peak > most {
		t.Errorf("%d MB of memory were in use at most, want at most %d", peak>>20, most>>20)
	}
	if !strings.Contains(p.said(), "too large to be indexed as a whole") {
		t.Errorf("nothing is said of pages that are not indexed as a whole:\n%s", p.said())
	}
	index, err := fulltext.Open(filepath.Join(data, "fulltext"), fulltext.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	for _, query := range []string{"beginning", "ending", `"the beginning of page"`} {
		if r, err := index.Search(t.Context(), fulltext.Query{Text: query}); err != nil || r.Total != pages {
			t.Errorf("%s finds %d pages, want %d: %v", query, r.Total, pages, err)
		}
	}
}

// peakOf returns, once the process has ended, how many bytes of memory it had at most. What the system reports of a
// process that was waited for begins with that of its parent.
func peakOf(p *os.Process) <-chan int {
	peak := make(chan int, 1)
	go func() {
		most := 0
		for {
			status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid))
			_, rest, ok := strings.Cut(string(status), "VmHWM:")
			if err != nil || !ok { // it has ended
				peak <- most
				return
			}
			var kilobytes int
			if _, err := fmt.Sscan(rest, &kilobytes); err == nil {
				most = max(most, kilobytes<<10)
			}
			time.Sleep(10 * time.Millisecond) // the peak itself is kept by the system
		}
	}()
	return peak
}

func fillWithLargePages(t *testing.T, data string, pages, size int) {
	t.Helper()
	dir, err := storage.Open(data, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	store, err := dir.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for i := range pages {
		var page strings.Builder
		fmt.Fprintf(&page, "<!doctype html><html lang=en><title>Page %d</title><p>the beginning of page %d, and its ending\n", i, i)
		for n := 0; page.Len() < size; n++ {
			if i == 0 { // every word is another
				fmt.Fprintf(&page, "w%x ", n)
			} else {
				fmt.Fprintf(&page, "word%d of the text stands here ", n*n%5000)
			}
			if n%20 == 0 {
				page.WriteString("<p>\n")
			}
		}
		page.WriteString("<p>ending")
		durable := make(chan error, 1)
		_, err := store.Put(&webrace.Document{
			URL: fmt.Sprintf("https://example.org/%d", i), Outcome: webrace.Fetched, Status: 200, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
			Header: http.Header{"Content-Type": {"text/html"}}, MediaType: "text/html", Body: []byte(page.String()),
		}, func(err error) { durable <- err })
		if err == nil {
			err = <-durable
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
