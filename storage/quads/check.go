package quads

import (
	"context"
	"fmt"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// The kinds of damage that Check finds.
const (
	damagedValue    = "damaged value"
	wrongTerm       = "wrong term"       // the two directions of the lexicon contradict each other
	unknownTerm     = "unknown term"     // a quad has an id that no term has, or a term where it cannot be
	missingQuads    = "missing quads"    // from one of the orders
	strayQuads      = "stray quads"      // which are in one of the orders, and not in CSPO
	wrongRecord     = "wrong record"     // of a context
	wrongProvenance = "wrong provenance" // it is not what the record states
	wrongWords      = "wrong words"      // of literals
	wrongTotals     = "wrong totals"     // what is counted
)

// Check verifies that the terms have one id each and ids one term, that all orders hold the same quads, that these have
// terms, that literals are found by their words, and that records, provenance and what is counted are true. Asked to,
// it repairs: the quads are those of the order CSPO whose terms are known, and all else is made of them again. Damage
// of a kind is told of once, with how much there is. Nothing else may use the store meanwhile.
func (s *Store) Check(ctx context.Context, repair bool, report fsck.Report) error {
	if !s.users.Enter() {
		return ErrClosed
	}
	defer s.users.Leave()
	s.changing.Lock()
	defer s.changing.Unlock()
	checked, err := s.db.Check(ctx, repair, report)
	if err != nil {
		return err
	}
	c := &check{Check: checked, store: s}
	if err := c.Run(c.lexicon, c.quads, c.contexts, c.words, c.totals); err != nil {
		return fmt.Errorf("check the quad store: %w", err)
	}
	return nil
}

type check struct {
	*pebbledb.Check
	store *Store

	known   kinds  // the terms that there are
	highest uint64 // the last of their numbers
}

// damage is damage of one kind.
type damage struct {
	kind, where string
	n           int
	first       string
	lost        bool // it cannot be repaired
}

func (d *damage) add(format string, args ...any) {
	if d.n++; d.n == 1 {
		d.first = fmt.Sprintf(format, args...)
	}
}

// tell reports what was found, if anything was.
func (c *check) tell(all ...*damage) {
	for _, d := range all {
		if d.n == 0 {
			continue
		}
		detail := d.first
		if d.n > 1 {
			detail = fmt.Sprintf("%s, and %d more", d.first, d.n-1)
		}
		c.Tell(d.kind, d.where, c.Repair && !d.lost, "%s", detail)
	}
}

// each goes through the keys that begin with a byte.
func (c *check) each(kind byte, step string, visit func(key, value []byte) error) error {
	return c.Each(step, []byte{kind}, []byte{kind + 1}, visit)
}

// kinds tells which numbers terms have, and of which kind these are, in two bits a number.
type kinds []byte

func (k *kinds) set(n id) {
	at := int(numberOf(n) / 4)
	if at >= len(*k) {
		*k = append(*k, make([]byte, at+1-len(*k))...)
	}
	(*k)[at] |= byte(kindOf(n)) << (numberOf(n) % 4 * 2)
}

// of returns the kind of the term of a number, 0 if there is none.
func (k kinds) of(number uint64) rdf.Kind {
	if at := number / 4; at < uint64(len(k)) {
		return rdf.Kind(k[at] >> (number % 4 * 2) & 3)
	}
	return 0
}

func (k kinds) has(n id) bool { return n != 0 && k.of(numberOf(n)) == kindOf(n) }

// digest adds up keys, so that two lists of the same keys are known to be the same in whatever order they are read.
type digest struct {
	n   int64
	sum uint64
}

// add takes a key, as two numbers or more.
func (d *digest) add(parts ...uint64) {
	h := uint64(0x9e3779b97f4a7c15)
	for _, p := range parts {
		h = (h ^ p) * 0xff51afd7ed558ccd
		h ^= h >> 32
		h *= 0xc4ceb9fe1a85ec53
		h ^= h >> 29
	}
	d.n++
	d.sum += h
}
