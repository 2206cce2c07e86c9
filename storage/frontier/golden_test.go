package frontier

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unpackGolden lays out the frontier of a data directory that an earlier release wrote.
func unpackGolden(t *testing.T, archive string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	file, err := os.Open(filepath.Join("../testdata/golden", archive))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for files := tar.NewReader(unzipped); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		name, ok := strings.CutPrefix(h.Name, "./frontier/")
		if !ok || name == "" {
			continue
		}
		content, err := io.ReadAll(files)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestAFrontierOfTheFirstReleaseIsRead(t *testing.T) {
	t.Parallel()
	s, err := Open(unpackGolden(t, "format-1.tar.gz"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	names, err := s.Pipelines()
	if err != nil || len(names) == 0 {
		t.Fatalf("pipelines: %v, %v", names, err)
	}
	visits := 0
	for _, name := range names {
		q, err := s.Queue(name, QueueOptions{})
		if err != nil {
			t.Fatal(err)
		}
		statuses, err := s.CrawlStatuses(name)
		if err != nil || len(statuses) == 0 || statuses[0].Round == 0 {
			t.Errorf("statuses: %+v, %v", statuses, err)
		}
		err = s.db.Scan(q.keys.start(kindVisit), q.keys.end(kindVisit), func(_, value []byte) (bool, error) {
			v, err := decodeVisit(value)
			if err != nil || v.At.IsZero() && v.Error == "" || v.Interval != 0 {
				t.Errorf("visit: %+v, %v", v, err)
			}
			visits++
			return true, nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if visits == 0 {
		t.Error("no visits were read")
	}
}
