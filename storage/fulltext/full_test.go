package fulltext

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// bulky returns documents whose index takes some hundred kilobytes.
func bulky(from, n int) []Document {
	r := rand.New(rand.NewPCG(1, uint64(from)))
	documents := make([]Document, n)
	for i := range documents {
		var body strings.Builder
		for range 3000 {
			fmt.Fprintf(&body, "w%d ", r.IntN(1_000_000))
		}
		documents[i] = Document{URL: fmt.Sprintf("http://x/%d", from+i), Version: 1, Title: "bulky", Body: body.String()}
	}
	return documents
}

func TestAChangeThatFindsTheDiskFullIsMadeWhenThereIsRoom(t *testing.T) {
	if testing.Short() {
		t.Skip("fills a disk again and again: not in short mode")
	}
	t.Parallel()
	const megabytes = 6
	disk := testutil.NewDisk(t, megabytes)
	path := filepath.Join(disk.Path, "fulltext")
	failures := 0
	retry := func(_ context.Context, change func() error) error {
		for {
			err := change()
			if !errors.Is(err, syscall.ENOSPC) {
				return err
			}
			failures++
			disk.Resize(megabytes + 4*failures)
		}
	}
	s, err := Open(path, Options{Retry: retry})
	if err != nil {
		t.Fatal(err)
	}
	const n, group = 120, 10
	for i := 0; i < n; i += group {
		if err := s.Index(t.Context(), bulky(i, group)); err != nil {
			t.Fatal(err)
		}
		if r, err := s.Search(t.Context(), Query{Text: "bulky"}); err != nil || r.Total != uint64(i+group) {
			t.Fatalf("%d documents are found, want %d: %v", r.Total, i+group, err)
		}
	}
	if failures == 0 {
		t.Error("the disk was never full")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(path, Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if count, err := s.Count(); count != n || err != nil {
		t.Errorf("%d documents, want %d: %v", count, n, err)
	}
}

func TestAFullDiskIsToldAndWhatWasIndexedIsStillFound(t *testing.T) {
	t.Parallel()
	disk := testutil.NewDisk(t, 4)
	s, err := Open(filepath.Join(disk.Path, "fulltext"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	indexed := 0
	for err == nil && indexed < 1000 {
		if err = s.Index(t.Context(), bulky(indexed, 10)); err == nil {
			indexed += 10
		}
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("after %d documents: %v", indexed, err)
	}
	if r, err := s.Search(t.Context(), Query{Text: "bulky"}); err != nil || r.Total != uint64(indexed) {
		t.Errorf("%d documents are found, want %d: %v", r.Total, indexed, err)
	}
}
