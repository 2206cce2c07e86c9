package pebbledb

import "github.com/cockroachdb/pebble/v2"

// Iterator goes through keys in their order. It must be closed.
type Iterator struct {
	of    iterator
	key   []byte // where it is, so that a compiler inlines what is called for every key
	valid bool
}

// iterator is one of Pebble's. Whatever moves it returns where it is then.
type iterator interface {
	first() (key []byte, valid bool)
	last() (key []byte, valid bool)
	next() (key []byte, valid bool)
	prev() (key []byte, valid bool)
	seek(key []byte) (found []byte, valid bool)
	seekPrefix(key []byte) (found []byte, valid bool)
	Value() []byte
	ValueAndErr() ([]byte, error)
	Error() error
	Close() error
}

// First goes to the first key, and reports whether there is one, as do the following.
func (i *Iterator) First() bool { i.key, i.valid = i.of.first(); return i.valid }

// Last goes to the last key.
func (i *Iterator) Last() bool { i.key, i.valid = i.of.last(); return i.valid }

// Next goes to the next key.
func (i *Iterator) Next() bool { i.key, i.valid = i.of.next(); return i.valid }

// Prev goes to the key before.
func (i *Iterator) Prev() bool { i.key, i.valid = i.of.prev(); return i.valid }

// SeekGE goes to the first key of at least key.
func (i *Iterator) SeekGE(key []byte) bool { i.key, i.valid = i.of.seek(key); return i.valid }

// SeekPrefixGE is SeekGE, and may find nothing if the key itself is not there: it asks the filters.
func (i *Iterator) SeekPrefixGE(key []byte) bool {
	i.key, i.valid = i.of.seekPrefix(key)
	return i.valid
}

// Valid reports whether it is at a key.
func (i *Iterator) Valid() bool { return i.valid }

// Key returns the key, which is valid until the iterator moves, as is the value.
func (i *Iterator) Key() []byte { return i.key }

// Value returns the value, nil where it cannot be read: Error tells why.
func (i *Iterator) Value() []byte { return i.of.Value() }

// ValueAndErr returns the value.
func (i *Iterator) ValueAndErr() ([]byte, error) { return i.of.ValueAndErr() }

// Error tells why there is no key, if not because none is left.
func (i *Iterator) Error() error { return i.of.Error() }

// Close frees the iterator.
func (i *Iterator) Close() error { return i.of.Close() }

// reader is the part of Pebble's own that differs from a [Reader].
type reader interface {
	NewIter(*pebble.IterOptions) (*pebble.Iterator, error)
}

func newIter(r reader, o IterOptions) (*Iterator, error) {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: o.LowerBound, UpperBound: o.UpperBound, UseL6Filters: o.UseL6Filters})
	if err != nil {
		return nil, err
	}
	return &Iterator{of: pebbleIterator{it}}, nil
}

type pebbleIterator struct{ *pebble.Iterator }

func (i pebbleIterator) first() ([]byte, bool)                { return i.at(i.First()) }
func (i pebbleIterator) last() ([]byte, bool)                 { return i.at(i.Last()) }
func (i pebbleIterator) next() ([]byte, bool)                 { return i.at(i.Next()) }
func (i pebbleIterator) prev() ([]byte, bool)                 { return i.at(i.Prev()) }
func (i pebbleIterator) seek(key []byte) ([]byte, bool)       { return i.at(i.SeekGE(key)) }
func (i pebbleIterator) seekPrefix(key []byte) ([]byte, bool) { return i.at(i.SeekPrefixGE(key)) }

func (i pebbleIterator) at(valid bool) ([]byte, bool) {
	if !valid {
		return nil, false
	}
	return i.Key(), true
}
