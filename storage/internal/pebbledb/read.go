package pebbledb

import (
	"bytes"
	"errors"
)

// Get returns a copy of the value of key, or nil when there is none.
func Get(r Reader, key []byte) ([]byte, error) {
	value, closer, err := r.Get(key)
	if errors.Is(err, ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	value = append([]byte{}, value...)
	return value, closer.Close()
}

// After returns the least key greater than every key that begins with prefix; nil if there is none.
func After(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// Under are the options of an iterator over the keys that begin with prefix.
func Under(prefix []byte) IterOptions {
	return IterOptions{LowerBound: prefix, UpperBound: After(prefix)}
}

// Scan calls visit for each key from start on and before end, until it returns false. Key and value are valid during
// the call alone.
func Scan(r Reader, start, end []byte, visit func(key, value []byte) (more bool, err error)) error {
	it, err := r.NewIter(IterOptions{LowerBound: start, UpperBound: end})
	if err != nil {
		return err
	}
	more := true
	for ok := it.First(); ok && more && err == nil; ok = it.Next() {
		more, err = visit(it.Key(), it.Value())
	}
	return errors.Join(err, it.Close())
}
