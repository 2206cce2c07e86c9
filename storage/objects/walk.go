package objects

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"

	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// known is all that the index has of the versions of one URL.
type known struct {
	url    string
	older  []entry  // the oldest first
	latest *entry   // nil when there is none, which is damage
	bad    [][]byte // keys of entries that cannot be decoded
}

// all returns the versions, the oldest first.
func (k *known) all() []entry {
	if k.latest == nil {
		return k.older
	}
	return append(k.older[:len(k.older):len(k.older)], *k.latest)
}

// inOrder reports whether the latest version of a URL is where it should be.
func (k *known) inOrder() bool {
	return k.latest != nil && (len(k.older) == 0 || k.older[len(k.older)-1].Number < k.latest.Number)
}

// walk calls visit with every URL, in their order, as the index is when it begins. Whatever is wrong with the index, it
// visits all that is there.
func (s *Store) walk(ctx context.Context, visit func(*known) error) error {
	snapshot := s.db.NewSnapshot()
	defer snapshot.Close()
	latest, err := over(snapshot, latestKey(""))
	if err != nil {
		return err
	}
	defer latest.Close()
	older, err := over(snapshot, []byte("v/"))
	if err != nil {
		return err
	}
	defer older.Close()
	latest.First()
	older.First()
	for latest.Valid() || older.Valid() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := visit(nextKnown(latest, older)); err != nil {
			return err
		}
	}
	return unreadable(errors.Join(latest.Error(), older.Error()))
}

// over iterates over the keys that begin with prefix.
func over(r pebbledb.Reader, prefix []byte) (*pebbledb.Iterator, error) {
	return r.NewIter(pebbledb.Under(prefix))
}

// under yields the keys that begin with prefix, with their values, both valid until the next. What has kept it from all
// of them is in failed at the end.
func under(r pebbledb.Reader, prefix []byte, failed *error) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		it, err := over(r, prefix)
		if err != nil {
			*failed = err
			return
		}
		defer it.Close()
		for more := it.First(); more; more = it.Next() {
			if !yield(it.Key(), it.Value()) {
				return
			}
		}
		*failed = unreadable(it.Error())
	}
}

// nextKnown takes the least URL that either iterator is at, with all its versions. Both are in the order
// of URLs, because no byte of a URL is less than the one that ends it in the key of an older version.
func nextKnown(latest, older *pebbledb.Iterator) *known {
	k := &known{}
	olderURL, _, ok := splitOlder(older)
	switch {
	case !latest.Valid():
		k.url = olderURL
	case !older.Valid() || !ok || string(latest.Key()[2:]) <= olderURL:
		k.url = string(latest.Key()[2:])
	default:
		k.url = olderURL
	}
	if older.Valid() && !ok { // no key of ours
		k.bad = append(k.bad, append([]byte(nil), older.Key()...))
		older.Next()
		return k
	}
	if latest.Valid() && string(latest.Key()[2:]) == k.url {
		if e, ok := k.decode(latest); ok {
			k.latest = &e
		}
		latest.Next()
	}
	for older.Valid() {
		url, number, ok := splitOlder(older)
		if !ok || url != k.url {
			break
		}
		if e, ok := k.decode(older); ok && e.Number == int(number) {
			k.older = append(k.older, e)
		} else if ok {
			k.bad = append(k.bad, append([]byte(nil), older.Key()...))
		}
		older.Next()
	}
	return k
}

func (k *known) decode(it *pebbledb.Iterator) (entry, bool) {
	e, err := decodeEntry(k.url, it.Value())
	if err != nil {
		k.bad = append(k.bad, append([]byte(nil), it.Key()...))
	}
	return e, err == nil
}

// splitOlder takes the key of an older version apart.
func splitOlder(it *pebbledb.Iterator) (url string, number uint32, ok bool) {
	if !it.Valid() {
		return "", 0, false
	}
	key := it.Key()[2:]
	end := len(key) - 5
	if end < 0 || key[end] != 0 {
		return "", 0, false
	}
	return string(key[:end]), binary.BigEndian.Uint32(key[end+1:]), true
}
