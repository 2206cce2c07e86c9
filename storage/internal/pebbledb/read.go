package pebbledb

import "errors"

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
