package storage_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/frontier"
)

// TestARepairKnowsFromVisitsWhenADocumentWasLastValidated loses the index of the documents: records do not tell when a
// document was last known to be current, and a visit tells it of the version and the digest that it found alone.
func TestARepairKnowsFromVisitsWhenADocumentWasLastValidated(t *testing.T) {
	t.Parallel()
	later := filledAt.Add(48 * time.Hour)
	for name, c := range map[string]struct {
		learn     func(v *webrace.Visit)
		validated bool
	}{
		"the same document": {func(*webrace.Visit) {}, true},
		"another digest":    {func(v *webrace.Visit) { v.Digest[0] ^= 1 }, false},
		"another version":   {func(v *webrace.Visit) { v.Version++ }, false},
		"an earlier visit":  {func(v *webrace.Visit) { v.At = v.At.Add(-1000 * time.Hour) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			const url = "http://site.example/"
			var before time.Time
			in(t, dir, func(d *storage.Dir) error {
				f := filler{t, d}
				documents, err := d.Objects()
				f.ok(err)
				stored := f.put(documents, url, 1)
				before = stored.ValidatedAt
				r := f.run("webrace")
				r.start("site", url)
				r.end(frontier.Outcome{Learned: []webrace.Learned{func(v *webrace.Visit) {
					v.At, v.Status, v.Version, v.Digest = later, 304, stored.Number, stored.Digest
					c.learn(v)
				}}})
				return r.queue.Close()
			})
			if err := os.RemoveAll(filepath.Join(dir, "objects", "index")); err != nil {
				t.Fatal(err)
			}
			checked(t, dir, storage.Options{}, true)
			in(t, dir, func(d *storage.Dir) error {
				documents, err := d.Objects()
				if err != nil {
					return err
				}
				v, err := documents.Latest(url)
				want := before
				if c.validated {
					want = later
				}
				if err == nil && !v.ValidatedAt.Equal(want) {
					t.Errorf("validated at %v, want %v", v.ValidatedAt, want)
				}
				return err
			})
		})
	}
}
