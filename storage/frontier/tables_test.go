package frontier

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

var allKinds = []byte{
	kindCrawl, kindSeen, kindVisit, kindItem, kindReady, kindHost, kindParked, kindDelayed, kindFailed, kindMeta, kindFamily,
	kindRules, kindHits,
}

// What has a filter is found through it, and what is looked up in vain is mostly not looked for.
func TestFiltersLeaveOutWhatIsNotLookedUpInVain(t *testing.T) {
	t.Parallel()
	k, there, absent := keys{0, 1}, urlIDs(1, 1000), urlIDs(2, 1000)
	p := pebbleOptions(Options{Logger: slog.New(slog.DiscardHandler)})
	for i, level := range []pebble.FilterPolicy{p.Levels[0].FilterPolicy, p.Levels[len(p.Levels)-1].FilterPolicy} {
		w := level.NewWriter(pebble.TableFilter)
		for _, id := range there {
			for _, kind := range allKinds {
				w.AddKey(k.url(kind, id))
			}
		}
		filter := w.Finish(nil)
		for _, kind := range allKinds {
			found := 0
			for j := range there {
				if !level.MayContain(pebble.TableFilter, filter, k.url(kind, there[j])) {
					t.Fatalf("filter %d hides a key of kind %c", i, kind)
				}
				if level.MayContain(pebble.TableFilter, filter, k.url(kind, absent[j])) {
					found++
				}
			}
			without := kind == kindItem || kind == kindSeen && i == 1
			if without != (found == len(absent)) || !without && found > len(absent)/20 {
				t.Errorf("filter %d may have %d of %d keys of kind %c that it has not", i, found, len(absent), kind)
			}
		}
	}
}

// Tables of an earlier release, which had one filter for all keys, are read, and it reads those of this one.
func TestTablesAreReadWithFiltersOfAnotherRelease(t *testing.T) {
	t.Parallel()
	now := func(fs vfs.FS) *pebble.Options {
		return pebbleOptions(Options{FS: fs, Cache: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	}
	earlier := func(fs vfs.FS) *pebble.Options {
		p := now(fs)
		p.Filters = nil
		for i := range p.Levels {
			p.Levels[i].FilterPolicy = bloomFilter
		}
		return p
	}
	ids, absent := urlIDs(1, 400), urlIDs(2, 100)
	for name, c := range map[string]struct{ wrote, reads func(vfs.FS) *pebble.Options }{
		"earlier and now": {earlier, now}, "now and earlier": {now, earlier}, "now": {now, now},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs, k := vfs.NewMem(), keys{0, 1}
			writeTables(t, c.wrote(fs), k, ids)
			db, err := pebble.Open("db", c.reads(fs))
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
					if _, _, err := db.Get(k.url(kind, id)); !errors.Is(err, pebble.ErrNotFound) {
						t.Fatalf("a key of kind %c that is not there: %v", kind, err)
					}
				}
			}
		})
	}
}

// writeTables leaves half of the keys in the last level, and half in the first.
func writeTables(t *testing.T, o *pebble.Options, k keys, ids []urlID) {
	t.Helper()
	db, err := pebble.Open("db", o)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		for _, kind := range allKinds {
			err = errors.Join(err, db.Set(k.url(kind, id), id[:], pebble.NoSync))
		}
		if i == len(ids)/2 {
			err = errors.Join(err, db.Compact(t.Context(), k.start(0), k.start(255), false))
		}
	}
	if err := errors.Join(err, db.Flush(), db.Close()); err != nil {
		t.Fatal(err)
	}
}
