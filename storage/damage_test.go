package storage_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	_ "modernc.org/sqlite"

	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/xmlschema"
)

// quiet is a logger that logs nothing of what goes well.
type quiet struct{}

func (quiet) Infof(string, ...any)              {}
func (quiet) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (quiet) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// inPebble changes what a database holds, behind the back of its store.
func inPebble(t *testing.T, path string, change func(*pebble.DB) error) {
	t.Helper()
	db, err := pebble.Open(path, &pebble.Options{FormatMajorVersion: pebble.FormatNewest, Logger: quiet{}})
	if err == nil {
		err = change(db)
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func index(dir string) string { return filepath.Join(dir, "objects", "index") }

// setInIndex is the damage of a wrong value in the index of the object cache.
func setInIndex(key string, value []byte) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		inPebble(t, index(dir), func(db *pebble.DB) error { return db.Set([]byte(key), value, pebble.Sync) })
	}
}

// loseFromFrontier is the damage of missing keys of a kind, in every pipeline.
func loseFromFrontier(kind byte) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		inPebble(t, filepath.Join(dir, "frontier"), func(db *pebble.DB) error {
			it, err := db.NewIter(nil)
			if err != nil {
				return err
			}
			lost := 0
			for it.First(); it.Valid(); it.Next() {
				if k := it.Key(); k[2] == kind && (k[0] != 0 || k[1] != 0) {
					lost++
					if err := db.Delete(k, pebble.Sync); err != nil {
						return err
					}
				}
			}
			if lost == 0 {
				t.Fatalf("there is no key of kind %c", kind)
			}
			return it.Close()
		})
	}
}

// inControl is the damage that statements do to the control store.
func inControl(statements string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		db, err := sql.Open("sqlite", filepath.Join(dir, "control.db"))
		if err == nil {
			_, err = db.Exec(statements)
		}
		if err == nil {
			err = db.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// toSegment is a damage of the file of a segment: the first for 0, the last for -1.
func toSegment(which int, damage func(path string, content []byte) error) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		paths, err := filepath.Glob(filepath.Join(dir, "objects", "seg-*.warc.gz"))
		if err != nil || len(paths) < 3 {
			t.Fatalf("segments %v: %v", paths, err)
		}
		path := paths[(which+len(paths))%len(paths)]
		content, err := os.ReadFile(path)
		if err == nil {
			err = damage(path, content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// miscount makes the index hold that a body of two versions is one of seven.
func miscount(t *testing.T, dir string) {
	sum := sha256.Sum256([]byte(documentText(5)))
	key := append([]byte("d/"), sum[:]...)
	inPebble(t, index(dir), func(db *pebble.DB) error {
		value, closer, err := db.Get(key)
		if err != nil {
			return err
		}
		changed := bytes.Clone(value)
		closer.Close()
		at := 1
		for range 4 { // segment, offset, length, size
			_, width := binary.Uvarint(changed[at:])
			at += width
		}
		if changed[at] != 2 {
			return fmt.Errorf("%d versions have the body, want 2", changed[at])
		}
		changed[at] = 7
		return db.Set(key, changed, pebble.Sync)
	})
}

// damages are those that can come from outside of the stores, with what a check reports of each.
var damages = map[string]struct {
	damage func(t *testing.T, dir string)
	kind   string // empty: opening mends it, and there is nothing to report
	lossy  bool   // documents are lost, which nothing but a backup brings back
}{
	"garbage behind the last segment": {toSegment(-1, func(path string, content []byte) error {
		return os.WriteFile(path, append(content, "WARC/1.1\r\n torn"...), 0o600)
	}), "", false},
	"last segment cut": {toSegment(-1, func(path string, content []byte) error {
		return os.Truncate(path, int64(len(content))*2/3)
	}), "short segment", true},
	"segment missing": {toSegment(0, func(path string, _ []byte) error { return os.Remove(path) }), "missing segment", true},
	"log entry of a version that is gone": {
		setInIndex("l/\x00\x00\x00\x00\x00\x00\x00\x02", []byte("\x01\x01\x14http://old.example/0")), "log entry without version", false},
	"links of a version that is gone": {
		setInIndex("k/\x00\x00\x00\x00\x00\x00\x00\x02", []byte("\x01\x00")), "links without version", false},
	"reference count of a body": {miscount, "wrong reference count", false},
	"counters of the documents": {setInIndex("n", []byte{1, 19, 1, 2, 3, 4, 5, 6}), "wrong counters", false},
	"follower of the documents": {setInIndex("c/other/follower", []byte{1, 200, 1}), "follower beyond the end", false},

	"nothing leads to the hosts":  {loseFromFrontier('r'), "stranded host", false},
	"nothing lists a paused host": {loseFromFrontier('t'), "stranded host", false},
	"counters of the frontier":    {loseFromFrontier('m'), "wrong totals", false},

	"node table of a URD":       {inControl("UPDATE urd SET nodes = x'' WHERE id = 'u3'"), "URD other than its XML", false},
	"owner of a URD":            {inControl("UPDATE urd SET owner = 'zoe' WHERE id = 'u3'"), "URD other than its XML", false},
	"columns of all ACIs":       {inControl("UPDATE aci SET version = 99, nodes = x''"), "ACI other than its XML", false},
	"counter of the URDs":       {inControl("UPDATE counter SET value = 1 WHERE name = 'revision'"), "counter behind", false},
	"follower of the ACIs":      {inControl("INSERT INTO cursor VALUES ('mail/acis', 14)"), "follower beyond the end", false},
	"migration applied in part": {inControl("DROP INDEX urd_owner"), "half-applied migration", false},
	"sign of a migration that is over": {func(t *testing.T, dir string) {
		write(t, filepath.Join(dir, "migrating"), "2\n")
	}, "", false},
}

// TestEveryDamageIsRepairedAndTheDirectoryWorksOn injects damage, and wants it named, repaired for good, what
// was not lost kept as it was, and every store to take more.
func TestEveryDamageIsRepairedAndTheDirectoryWorksOn(t *testing.T) {
	t.Parallel()
	for name, c := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := unpackGolden(t, 2)
			c.damage(t, dir)
			for _, repair := range []bool{false, true} {
				found := findings(t, dir, repair)
				if c.kind == "" && len(found) > 0 {
					t.Errorf("found %v", found)
				}
				if c.kind != "" && !slices.ContainsFunc(found, func(f fsck.Finding) bool { return f.Kind == c.kind && f.Repaired == repair }) {
					t.Errorf("repair %v: found %v, want %q", repair, found, c.kind)
				}
			}
			mustBeSound(t, dir, c.lossy)
			d := open(t, dir)
			if c.lossy {
				filler{t, d}.mustHoldRequests()
				filler{t, d}.mustHoldAnnotations()
				filler{t, d}.mustHoldQueues()
				mustReadWhatIsLeft(t, d)
			} else {
				mustHoldWhatWasFilled(t, d)
			}
			mustGoOn(t, d)
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			mustBeSound(t, dir, c.lossy)
		})
	}
}

// mustBeSound wants a check to find nothing, or only what speaks of documents that are lost.
func mustBeSound(t *testing.T, dir string, lossy bool) {
	t.Helper()
	for _, f := range findings(t, dir, false) {
		if !lossy || f.Kind != "annotation of a lost version" {
			t.Errorf("after the repair: %v", f)
		}
	}
}

// mustReadWhatIsLeft wants some documents to be lost and the others to be whole, and takes the lost ones again.
func mustReadWhatIsLeft(t *testing.T, d *storage.Dir) {
	t.Helper()
	f := filler{t, d}
	store, err := d.Objects()
	f.ok(err)
	left := store.Stats().Versions
	if left == 0 || left == 13 {
		t.Errorf("%d versions of 13 are left", left)
	}
	read, err := store.Next(t.Context(), 0, 100)
	f.ok(err)
	if uint64(len(read)) != left {
		t.Errorf("%d versions of %d are in the log", len(read), left)
	}
	for _, v := range read {
		if _, _, err := store.Body(v); err != nil {
			t.Error(err)
		}
	}
	for n := range 6 {
		f.mustBe(store, f.put(store, page(n), 500+n), 500+n)
	}
}

// TestAStoreMovedHalfwayByAMigrationIsSoundAfterTheNextOpening leaves some stores as the new release has them,
// one as the old, and one that is gone.
func TestAStoreMovedHalfwayByAMigrationIsSoundAfterTheNextOpening(t *testing.T) {
	t.Parallel()
	dir := unpackGolden(t, 1)
	if err := storage.KeepState(dir, filepath.Join(dir, "before-format-2")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "migrating"), "2\n")
	moved, err := control.Open(filepath.Join(dir, "control.db"), control.Options{})
	if err == nil {
		err = moved.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	remove(t, filepath.Join(dir, "frontier"))
	if found := findings(t, dir, false); len(found) > 0 {
		t.Errorf("found %v", found)
	}
	mustHoldAndFindTheDemo(t, open(t, dir))
}

// TestATornLogOfTheControlStoreLosesNothingThatCameBefore cuts the log at many places. Whatever was acknowledged
// when the log was no longer than the cut is there, and the directory is sound.
func TestATornLogOfTheControlStoreLosesNothingThatCameBefore(t *testing.T) {
	t.Parallel()
	dir := unpackGolden(t, 2)
	d := open(t, dir)
	f := filler{t, d}
	store, err := d.Control()
	f.ok(err)
	log := filepath.Join(dir, "control.db-wal")
	var ends []int64 // of the log, when each URD was acknowledged
	for n := range 8 {
		u := xmlschema.NewURD("eleni", page(n))
		u.ID = fmt.Sprintf("late%d", n)
		_, err := store.Put(t.Context(), []*xmlschema.URD{u})
		f.ok(err)
		info, err := os.Stat(log)
		f.ok(err)
		ends = append(ends, info.Size())
	}
	database, err := os.ReadFile(filepath.Join(dir, "control.db"))
	f.ok(err)
	whole, err := os.ReadFile(log)
	f.ok(err)
	for part := range 12 {
		cut := int64(len(whole)) * int64(part) / 11
		torn := unpackGolden(t, 2)
		write(t, filepath.Join(torn, "control.db"), string(database))
		write(t, filepath.Join(torn, "control.db-wal"), string(whole[:cut]))
		if found := findings(t, torn, false); len(found) > 0 {
			t.Errorf("cut at %d: found %v", cut, found)
		}
		in(t, torn, func(d *storage.Dir) error {
			store, err := d.Control()
			if err != nil {
				return err
			}
			for n, end := range ends {
				if _, err := store.Get(t.Context(), fmt.Sprintf("late%d", n)); (err == nil) != (end <= cut) {
					t.Errorf("cut at %d: URD %d, acknowledged at %d: %v", cut, n, end, err)
				}
			}
			return store.CheckNow(t.Context(), "u1")
		})
	}
}
