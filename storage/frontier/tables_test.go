package frontier

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

var allKinds = []byte{
	kindCrawl, kindSeen, kindVisit, kindItem, kindReady, kindHost, kindParked, kindDelayed, kindFailed, kindMeta, kindFamily,
	kindRules, kindHits,
}

// Filters have what may be looked up in vain.
func TestFiltersLeaveOutWhatIsNotLookedUpInVain(t *testing.T) {
	t.Parallel()
	o, id := databaseOptions(Options{}), urlIDs(1, 1)[0]
	for i, filter := range []*pebbledb.Filter{o.Filter, o.LastFilter} {
		for _, kind := range allKinds {
			without := kind == kindItem || kind == kindSeen && i == 1
			if filter.Has(keys{0, 1}.url(kind, id)) == without {
				t.Errorf("filter %d, keys of kind %c: left out is %t", i, kind, !without)
			}
		}
	}
}

// Tables of an earlier release, which had one filter for all keys, are read, and it reads those of this one.
func TestTablesAreReadWithFiltersOfAnotherRelease(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	now := func(fs vfs.FS) pebbledb.Options {
		return databaseOptions(Options{FS: fs, Cache: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	}
	earlier := func(fs vfs.FS) pebbledb.Options {
		o := now(fs)
		o.Filter, o.LastFilter = &pebbledb.Filter{}, nil
		return o
	}
	ids, absent := urlIDs(1, 400), urlIDs(2, 100)
	for name, c := range map[string]struct{ wrote, reads func(vfs.FS) pebbledb.Options }{
		"earlier and now": {earlier, now}, "now and earlier": {now, earlier}, "now": {now, now},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs, k := vfs.NewMem(), keys{0, 1}
			writeTables(t, c.wrote(fs), k, ids)
			db, err := pebbledb.Open("db", c.reads(fs))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for _, kind := range allKinds {
				for _, id := range ids {
					value, closer, err := db.Get(k.url(kind, id))
					if err != nil || string(value) != string(id[:]) {
						t.Fatalf("a key of kind %c: %q, %v", kind, value, err)
					}
					closer.Close()
				}
				for _, id := range absent {
					if _, _, err := db.Get(k.url(kind, id)); !errors.Is(err, pebbledb.ErrNotFound) {
						t.Fatalf("a key of kind %c that is not there: %v", kind, err)
					}
				}
			}
		})
	}
}

// writeTables leaves half of the keys in the last level, and half in the first.
func writeTables(t *testing.T, o pebbledb.Options, k keys, ids []urlID) {
	t.Helper()
	db, err := pebbledb.Open("db", o)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		for _, kind := range allKinds {
			err = errors.Join(err, db.Set(k.url(kind, id), id[:], pebbledb.NoSync))
		}
		if i == len(ids)/2 {
			err = errors.Join(err, db.Compact(t.Context(), k.start(0), k.start(255), false))
		}
	}
	if err := errors.Join(err, db.Flush(), db.Close()); err != nil {
		t.Fatal(err)
	}
}
