package quads

import (
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/webrace/webrace/storage/internal/groupcommit"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// pebbleOptions are for keys that are many, small and without values, of which a step writes a few hundred.
func (s *Store) pebbleOptions(o Options) *pebble.Options {
	p := &pebble.Options{
		FS:                    o.FS,
		ReadOnly:              o.ReadOnly,
		CacheSize:             o.Cache,
		MemTableSize:          uint64(min(max(o.Cache/6, 4<<20), 8<<20)), // up to three of them are part of the cache
		L0CompactionThreshold: 8,
		LBaseMaxBytes:         128 << 20,
		FormatMajorVersion:    pebble.FormatNewest,
		WALMinSyncInterval:    s.syncer.between,
	}
	pebbledb.Report(p, "quad database", o.Logger, o.Fatal)
	for i := range p.Levels {
		p.TargetFileSizes[i] = 4 << 20 // the filter of a table is read, and takes its place in the cache, as a whole
		p.Levels[i].FilterPolicy = termFilter{bloom.FilterPolicy(10)}
	}
	return p
}

// termFilter has the terms alone: half of those of a page are new, and nothing else is looked up that may not be there.
type termFilter struct{ pebble.FilterPolicy }

func (f termFilter) Name() string { return "webrace.terms" }

func (f termFilter) MayContain(t pebble.FilterType, filter, key []byte) bool {
	return len(key) == 0 || key[0] != termKey || f.FilterPolicy.MayContain(t, filter, key)
}

func (f termFilter) NewWriter(t pebble.FilterType) pebble.FilterWriter {
	return termWriter{f.FilterPolicy.NewWriter(t)}
}

type termWriter struct{ pebble.FilterWriter }

func (w termWriter) AddKey(key []byte) {
	if len(key) > 0 && key[0] == termKey {
		w.FilterWriter.AddKey(key)
	}
}

// between is how long a sync waits for more to share it: not when one caller writes one thing after the other.
func (y *syncer) between() time.Duration {
	if y.waiting.Load() > 1 {
		return groupcommit.Between
	}
	return 0
}
