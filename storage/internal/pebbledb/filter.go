package pebbledb

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

// Filter tells of keys that are looked up in vain that a table has not got them, mostly without reading it. It has only
// some of the keys, and answers of all others that they may be there.
type Filter struct {
	Name string                // a program that does not know it does without the filter
	Has  func(key []byte) bool // nil: all keys; the name is Pebble's own then
}

var bloomFilter = bloom.FilterPolicy(10)

// setFilters has tables get filters. Those of all keys, which tables of earlier releases may have, are used as well.
func setFilters(o Options, p *pebble.Options) {
	if o.Filter == nil {
		return
	}
	p.Filters = map[string]pebble.FilterPolicy{bloomFilter.Name(): bloomFilter}
	for i := range p.Levels {
		p.Levels[i].FilterPolicy = policyOf(o.Filter)
	}
	if o.LastFilter != nil {
		p.Levels[len(p.Levels)-1].FilterPolicy = policyOf(o.LastFilter)
	}
}

func policyOf(f *Filter) pebble.FilterPolicy {
	if f.Has == nil {
		return bloomFilter
	}
	return sparseFilter{bloomFilter, *f}
}

type sparseFilter struct {
	pebble.FilterPolicy
	of Filter
}

func (f sparseFilter) Name() string { return f.of.Name }

func (f sparseFilter) MayContain(t pebble.FilterType, filter, key []byte) bool {
	return !f.of.Has(key) || f.FilterPolicy.MayContain(t, filter, key)
}

func (f sparseFilter) NewWriter(t pebble.FilterType) pebble.FilterWriter {
	return sparseWriter{f.FilterPolicy.NewWriter(t), f.of}
}

type sparseWriter struct {
	pebble.FilterWriter
	of Filter
}

func (w sparseWriter) AddKey(key []byte) {
	if w.of.Has(key) {
		w.FilterWriter.AddKey(key)
	}
}
