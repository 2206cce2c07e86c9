package frontier

import (
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// pebbleOptions are for keys that come in no order at all, most of which are never looked up again. Most of the CPU
// time goes into merging tables: few and large ones cost less.
func pebbleOptions(o Options) *pebble.Options {
	p := &pebble.Options{
		FS:                    o.FS,
		ReadOnly:              o.ReadOnly,
		CacheSize:             o.Cache,
		MemTableSize:          uint64(min(max(o.Cache/4, 4<<20), 16<<20)), // of which there are up to three
		L0CompactionThreshold: 8,
		LBaseMaxBytes:         128 << 20,
		FormatMajorVersion:    pebble.FormatNewest,
		Filters:               map[string]pebble.FilterPolicy{bloomFilter.Name(): bloomFilter}, // of earlier releases
	}
	pebbledb.Report(p, "frontier database", o.Logger, o.Fatal)
	last := len(p.Levels) - 1
	for i := range last {
		p.Levels[i].FilterPolicy = sparseFilter{bloomFilter, "webrace.upper", string(kindItem)}
	}
	p.Levels[last].FilterPolicy = sparseFilter{bloomFilter, "webrace.last", string([]byte{kindItem, kindSeen})}
	return p
}

var bloomFilter = bloom.FilterPolicy(10)

// sparseFilter leaves out kinds of keys that are never looked up in vain, and says of all those that they may be there:
// items are read in their order, and a URL's record that is looked up lies in the last level if in no other, since the
// queue's own filter knows the new ones. A program that does not know a filter's name does without it.
type sparseFilter struct {
	pebble.FilterPolicy
	name string
	out  string // the kinds
}

func (f sparseFilter) Name() string { return f.name }

func (f sparseFilter) MayContain(t pebble.FilterType, filter, key []byte) bool {
	return f.leavesOut(key) || f.FilterPolicy.MayContain(t, filter, key)
}

func (f sparseFilter) NewWriter(t pebble.FilterType) pebble.FilterWriter {
	return sparseWriter{f.FilterPolicy.NewWriter(t), f}
}

func (f sparseFilter) leavesOut(key []byte) bool {
	return len(key) > len(keys{}) && strings.IndexByte(f.out, key[len(keys{})]) >= 0
}

type sparseWriter struct {
	pebble.FilterWriter
	of sparseFilter
}

func (w sparseWriter) AddKey(key []byte) {
	if !w.of.leavesOut(key) {
		w.FilterWriter.AddKey(key)
	}
}
