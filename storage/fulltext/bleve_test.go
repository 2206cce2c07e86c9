package fulltext

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAnIndexIsAsBleveMakesOne holds what is written for a new index to what bleve's front, by which earlier releases
// open one, writes. The file has one that it made.
func TestAnIndexIsAsBleveMakesOne(t *testing.T) {
	t.Parallel()
	old := t.TempDir()
	if out, err := exec.Command("tar", "-C", old, "-xzf", filepath.Join("testdata", "bleve.tar.gz")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	old = filepath.Join(old, "fulltext")
	fresh := filepath.Join(t.TempDir(), "fulltext")
	have, want := kindOfIndex(t, fresh), kindOfIndex(t, old)
	if have != want {
		t.Errorf("a new index has\n%q\nand one of bleve\n%q", have, want)
	}
	s, err := Open(old, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if r, err := s.Search(t.Context(), Query{Text: "word", Facets: 9}); err != nil || r.Total != 1 || r.Hits[0].Title != "A title" {
		t.Errorf("%+v, %v", r, err)
	}
}

// kindOfIndex returns what an index declares itself to be.
func kindOfIndex(t *testing.T, dir string) [2]string {
	t.Helper()
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mapping, err := s.index.GetInternal(mappingKey)
	if err != nil {
		t.Fatal(err)
	}
	meta, err := os.ReadFile(filepath.Join(dir, metaFile))
	if err != nil {
		t.Fatal(err)
	}
	return [2]string{string(meta), string(mapping)}
}
