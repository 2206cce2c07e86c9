package fulltext

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"
)

// residents measures, as a merge goes on, how much of what it reads is in memory.
type residents struct {
	t          *testing.T
	dir        string
	all, least int
	written    uint64
}

func (r *residents) ReportBytesWritten(n uint64) {
	if r.written += n; r.written > releaseAfter {
		r.least = min(r.least, r.now())
	}
}

func (r *residents) now() (bytes int) {
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		r.t.Fatal(err)
	}
	ours := false
	for line := range strings.Lines(string(maps)) {
		if name, _, _ := strings.Cut(line, " "); !strings.HasSuffix(name, ":") { // the head of a mapping
			ours = strings.Contains(line, r.dir)
		}
		var kilobytes int
		if _, err := fmt.Sscanf(line, "Rss: %d kB", &kilobytes); err == nil && ours {
			bytes += kilobytes << 10
		}
	}
	return bytes
}

func TestAMergeLetsGoOfWhatItHasRead(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	dir := t.TempDir()
	store, err := Open(filepath.Join(dir, "index"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := store.Index(t.Context(), []Document{{URL: fmt.Sprintf("http://a.example/%d", i), Version: 1, Title: longText(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	r := &residents{t: t, dir: dir}
	all := openSegments(t, filepath.Join(dir, "index"), r)
	if r.now() == 0 {
		t.Fatal("nothing is mapped")
	}
	r.least = r.all
	merged := filepath.Join(dir, "merged")
	if _, _, err := new(segmentMaker).MergeUsing(all, make([]*roaring.Bitmap, len(all)), merged, make(chan struct{}), r, nil); err != nil {
		t.Fatal(err)
	}
	if r.least > r.all/8 {
		t.Errorf("%d KB of %d KB stay in memory", r.least>>10, r.all>>10)
	}
}

func openSegments(t *testing.T, index string, r *residents) (all []segment.Segment) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(index, "store", "*.zap"))
	for _, file := range files {
		s, err := new(segmentMaker).OpenUsing(file, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		all = append(all, s)
		r.all += len(s.(*zap.Segment).Data())
	}
	if r.all < 2*releaseAfter {
		t.Fatalf("%d bytes of segments prove nothing", r.all)
	}
	return all
}

// longText returns a text that has no words to be indexed, and cannot be compressed.
func longText(seed int) string {
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	text := make([]byte, 0, releaseAfter)
	for len(text) < releaseAfter {
		text = strconv.AppendUint(text, random.Uint64(), 36)
	}
	return string(text)
}
