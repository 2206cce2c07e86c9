package quads

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// Cursor looks for quads. It stands before the first one that fits the pattern: Next goes there. It must be closed.
func (s *Snapshot) Cursor(p sparql.Pattern) (sparql.Cursor, error) {
	c, err := s.cursor(p)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func (s *Snapshot) cursor(p sparql.Pattern) (*cursor, error) {
	want, union := bound(p)
	start, o := prefix(make([]byte, 0, quadSize), want)
	it, err := s.state.NewIter(pebbledb.IterOptions{LowerBound: o.start(), UpperBound: o.end()})
	if err != nil {
		return nil, err
	}
	return &cursor{it: it, order: o, union: union, prefix: start, state: beforeFirst}, nil
}

// cursor goes through quads.
type cursor struct {
	it     *pebbledb.Iterator
	order  *order
	union  bool
	prefix []byte // of the keys that fit
	key    []byte // where it is or was; behind it there is nothing that it would find before where the iterator is
	buffer []byte
	state  cursorState
	err    error
}

type cursorState byte

const (
	beforeFirst cursorState = iota
	atQuad
	behindLast
)

// Seek begins anew at the first quad of a pattern.
func (c *cursor) Seek(p sparql.Pattern) bool {
	want, union := bound(p)
	start, o := prefix(c.prefix[:0], want)
	if c.err == nil && (o != c.order || union != c.union) {
		c.err = fmt.Errorf("a cursor in the order %s was sought with a pattern that is found in another", c.order.name)
	}
	c.prefix = start
	return c.seek()
}

func (c *cursor) seek() bool {
	if c.err != nil {
		return c.end()
	}
	there := c.isNear() || c.it.SeekGE(c.prefix)
	c.key = append(c.key[:0], c.prefix...)
	return c.fits(there)
}

// near is how many keys are passed one by one before the cursor looks for what is behind them.
const near = 8

// isNear goes to where the pattern begins, if that is a few keys further and of the same subject: whoever asks for one
// property of a thing often asks for another next.
func (c *cursor) isNear() bool {
	if !c.it.Valid() || bytes.Compare(c.key, c.prefix) >= 0 {
		return false
	}
	end := c.order.subjectEnd()
	for range near {
		switch key := c.it.Key(); {
		case bytes.Compare(key, c.prefix) >= 0:
			return true
		case len(c.prefix) < end || !bytes.HasPrefix(key, c.prefix[:end]) || !c.it.Next():
			return false
		}
	}
	return false
}

// Next goes to the next quad.
func (c *cursor) Next() bool {
	switch {
	case c.err != nil || c.state == behindLast:
		return false
	case c.state == beforeFirst:
		return c.seek()
	case !c.union:
		return c.fits(c.it.Next())
	}
	return c.nextTriple()
}

// fits takes the key at which the iterator is, if it is one of those that are looked for. What only the provenance
// graph states is not part of the union.
func (c *cursor) fits(valid bool) bool {
	for ; valid; valid = c.it.Next() {
		key := c.it.Key()
		if !bytes.HasPrefix(key, c.prefix) {
			break
		}
		if c.err = checkKey(key, quadSize); c.err != nil {
			return c.end()
		}
		if c.union && idOf(key[quadSize-idSize:]) == provenanceID {
			continue
		}
		c.key, c.state = append(c.key[:0], key...), atQuad
		return true
	}
	return c.end()
}

func (c *cursor) end() bool {
	c.state = behindLast
	if err := c.it.Error(); c.err == nil && err != nil {
		c.err = err
	}
	return false
}

// nextTriple passes the other contexts of the triple, which follow.
func (c *cursor) nextTriple() bool {
	triple := c.key[:quadSize-idSize]
	if len(c.prefix) == len(triple) { // it is the one that is looked for
		return c.end()
	}
	for range near {
		if !c.it.Next() {
			return c.end()
		}
		if !bytes.HasPrefix(c.it.Key(), triple) {
			return c.fits(true)
		}
	}
	c.buffer = append(append(c.buffer[:0], triple...), 0xff)
	return c.fits(c.it.SeekGE(c.buffer))
}

// Quad returns where the cursor is; only if Seek or Next has returned true before.
func (c *cursor) Quad() sparql.Pattern {
	p := c.order.quad(c.key).pattern()
	if c.union {
		p.Graph = sparql.Union
	}
	return p
}

// Err returns why there is no quad, if not because none is left.
func (c *cursor) Err() error { return c.err }

// Close frees the cursor.
func (c *cursor) Close() error { return c.it.Close() }

// exact is up to how many quads are counted.
const exact = 256

// Estimate returns about how many quads fit a pattern: exactly up to 256, and beyond by the space that they take. What
// was written last, and is not in a table yet, is not seen then.
func (s *Snapshot) Estimate(p sparql.Pattern) (n int64, err error) {
	c, err := s.cursor(p)
	if err != nil {
		return 0, err
	}
	for n <= exact && c.Next() {
		n++
	}
	if err := errors.Join(c.Err(), c.Close()); err != nil || n <= exact {
		return n, err
	}
	all := s.counts.quads + s.counts.provenance
	if len(c.prefix) == 1 {
		return max(n, all), nil
	}
	size, err := s.store.db.EstimateDiskUsage(c.prefix, pebbledb.After(c.prefix))
	if err != nil {
		return 0, err
	}
	each, err := s.store.sizes.of(s.store.db, c.order, all)
	if err != nil || each == 0 {
		return n, err
	}
	return max(n, min(all, int64(float64(size)/each))), nil
}

// keySizes remembers how many bytes a key takes on the disk, by orders. The zero value is ready to use.
type keySizes struct {
	mu sync.Mutex
	at [len(orders)]struct {
		quads int64 // when it was computed
		each  float64
	}
}

// of computes it anew when the number of quads has changed by a quarter.
func (k *keySizes) of(db pebbledb.DB, o *order, quads int64) (float64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	at := &k.at[o.key-firstOrder]
	if quads == 0 || at.each > 0 && math.Abs(float64(quads-at.quads)) < float64(at.quads)/4 {
		return at.each, nil
	}
	size, err := db.EstimateDiskUsage(o.start(), o.end())
	if err != nil {
		return 0, err
	}
	at.quads, at.each = quads, float64(size)/float64(quads)
	return at.each, nil
}
