package quads

import (
	"time"

	"github.com/webrace/webrace/storage/internal/groupcommit"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// databaseOptions are for keys that are many, small and without values, of which a step writes a few hundred.
func (s *Store) databaseOptions(o Options) pebbledb.Options {
	return pebbledb.Options{
		Name: "quad database", FS: o.FS, Logger: o.Logger, ReadOnly: o.ReadOnly, Fatal: o.Fatal,
		Cache: o.Cache, Shared: o.Shared,
		Memtable:    uint64(min(max(o.Cache/6, 4<<20), 8<<20)), // up to three of them are part of the cache
		TableSize:   4 << 20,                                   // the filter of a table is read, and takes its place in the cache, as a whole
		FewTables:   true,
		Filter:      &termFilter,
		SyncBetween: s.syncer.between,
	}
}

// termFilter has the terms alone: half of those of a page are new, and nothing else is looked up that may not be there.
var termFilter = pebbledb.Filter{Name: "webrace.terms", Has: func(key []byte) bool { return len(key) > 0 && key[0] == termKey }}

// between is how long a sync waits for more to share it: not when one caller writes one thing after the other.
func (y *syncer) between() time.Duration {
	if y.waiting.Load() > 1 {
		return groupcommit.Between
	}
	return 0
}
