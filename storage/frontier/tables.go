package frontier

import (
	"strings"

	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// databaseOptions are for keys that come in no order at all, most of which are never looked up again. Most of the CPU
// time goes into merging tables: few and large ones cost less.
func databaseOptions(o Options) pebbledb.Options {
	return pebbledb.Options{
		Name: "frontier database", FS: o.FS, Logger: o.Logger, ReadOnly: o.ReadOnly, Fatal: o.Fatal,
		Cache: o.Cache, Shared: o.Shared,
		Memtable:   uint64(min(max(o.Cache/4, 4<<20), 16<<20)),
		FewTables:  true,
		Filter:     without("webrace.upper", kindItem),
		LastFilter: without("webrace.last", kindItem, kindSeen),
	}
}

// without is a filter without the kinds of keys that are never looked up in vain: items are read in their order, and
// a URL's record that is looked up lies in the last level if in no other, since the queue's own filter knows new ones.
func without(name string, kinds ...byte) *pebbledb.Filter {
	out := string(kinds)
	return &pebbledb.Filter{Name: name, Has: func(key []byte) bool {
		return len(key) <= len(keys{}) || strings.IndexByte(out, key[len(keys{})]) < 0
	}}
}
