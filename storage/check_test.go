package storage_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/fulltext"
	"github.com/webrace/webrace/xmlschema"
)

// findings checks a data directory, closed before and after.
func findings(t *testing.T, dir string, repair bool) (all []fsck.Finding) {
	t.Helper()
	d, err := storage.Open(dir, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Check(t.Context(), repair, func(f fsck.Finding) { all = append(all, f) }); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTheDemoIsClean(t *testing.T) {
	t.Parallel()
	dir := unpackGolden(t, 1)
	if found := findings(t, dir, false); len(found) > 0 {
		t.Errorf("found %v", found)
	}
}

// in opens a directory for a change.
func in(t *testing.T, dir string, change func(*storage.Dir) error) {
	t.Helper()
	d, err := storage.Open(dir, storage.Options{})
	if err == nil {
		err = change(d)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDamageIsFoundAndRepaired injects damage, and wants it named, repaired for good, and the rest kept.
func TestDamageIsFoundAndRepaired(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(t *testing.T, dir string)
		kind   string
	}{
		"leftover of a crash": {func(t *testing.T, dir string) { write(t, filepath.Join(dir, "control.db.partial"), "x") }, "leftover file"},
		"full-text index unreadable": {func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "fulltext", "index_meta.json"), "{")
		}, "does not open"},
		"document indexed that is not stored": {func(t *testing.T, dir string) {
			index, err := fulltext.Open(filepath.Join(dir, "fulltext"), fulltext.Options{})
			if err == nil {
				err = index.Index(t.Context(), []fulltext.Document{{URL: "http://never.example/", Version: 1, Body: "x"}})
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := index.Close(); err != nil {
				t.Fatal(err)
			}
		}, "orphan document"},
		"document stored that is not indexed": {func(t *testing.T, dir string) {
			in(t, dir, func(d *storage.Dir) error {
				index, err := d.Fulltext()
				if err != nil {
					return err
				}
				for doc, err := range index.Each(t.Context()) {
					if err != nil {
						return err
					}
					return index.Delete(t.Context(), []string{doc.URL})
				}
				return nil
			})
		}, "not indexed"},
		"control store missing": {func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "control.db")) }, "missing store"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := unpackGolden(t, 1)
			in(t, dir, func(d *storage.Dir) error { return d.RebuildFulltext(t.Context(), nil) })
			c.damage(t, dir)
			for _, repair := range []bool{false, true} {
				found := findings(t, dir, repair)
				if !slices.ContainsFunc(found, func(f fsck.Finding) bool { return f.Kind == c.kind && f.Repaired == repair }) {
					t.Errorf("repair %v: found %v, want %q", repair, found, c.kind)
				}
			}
			if found := findings(t, dir, false); len(found) > 0 {
				t.Errorf("after the repair: %v", found)
			}
			mustHoldDocuments(t, open(t, dir))
		})
	}
}

func TestACheckOfADirectoryWithoutStoresFindsNothingAndMakesNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if found := findings(t, dir, true); len(found) > 0 {
		t.Errorf("found %v", found)
	}
	if entries, err := os.ReadDir(dir); len(entries) != 2 || err != nil {
		t.Errorf("it holds %v: %v", entries, err)
	}
}

// TestAnAnnotationOfAnotherDocumentThanItsVersionIsFound has annotations speak of a version by number and digest: one
// of the document that is stored, one of another, and one without a digest.
func TestAnAnnotationOfAnotherDocumentThanItsVersionIsFound(t *testing.T) {
	t.Parallel()
	dir := filled(t)
	in(t, dir, func(d *storage.Dir) error {
		documents, err := d.Objects()
		if err != nil {
			return err
		}
		v, err := documents.Get(page(1), 2)
		if err != nil {
			return err
		}
		requests, err := d.Control()
		if err != nil {
			return err
		}
		var all []*xmlschema.ACI
		for id, digest := range map[string]string{"same": v.Digest.String(), "other": webrace.Digest{1}.String(), "none": ""} {
			all = append(all, &xmlschema.ACI{ID: id, URD: "u1", Owner: "eleni", URI: page(1), Format: xmlschema.FormatHTML, Urgency: 1,
				UpdateTime: filledAt, Docbase: xmlschema.Docbase{Version: 2, Digest: digest}})
		}
		_, err = requests.PutACIs(t.Context(), all)
		return err
	})
	for _, repair := range []bool{false, true} {
		found := findings(t, dir, repair)
		if len(found) != 1 || found[0].Kind != "annotation of another document" || found[0].Where != "other" || found[0].Repaired != repair {
			t.Errorf("found %v", found)
		}
	}
	if found := findings(t, dir, false); len(found) > 0 {
		t.Errorf("after the repair: %v", found)
	}
}
