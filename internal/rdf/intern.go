package rdf

import (
	"hash/maphash"

	"github.com/webrace/webrace"
)

// interner gives terms of equal text the same memory, for most of those that a document repeats. It is a table in which
// each text has one place, which the last one that came keeps: it is bounded, and nothing has to be evicted.
type interner struct {
	slots  []webrace.Term
	misses int
}

const (
	minInterned  = 1 << 6
	maxInterned  = 1 << 14
	longInterned = 256 // bytes of a term from which on it is not kept: documents do not repeat such
)

var internSeed = maphash.MakeSeed()

// find returns the term of a text if it is known.
func (t *interner) find(text []byte) (webrace.Term, bool) {
	if len(t.slots) == 0 || len(text) > longInterned {
		return "", false
	}
	known := *t.slot(text)
	return known, string(known) == string(text)
}

// add makes the term of a text.
func (t *interner) add(text []byte) webrace.Term {
	made := webrace.Term(text)
	if len(text) > longInterned {
		return made
	}
	if t.misses >= 2*len(t.slots) && len(t.slots) < maxInterned {
		t.grow()
	}
	t.misses++
	*t.slot(text) = made
	return made
}

func (t *interner) slot(text []byte) *webrace.Term {
	return &t.slots[maphash.Bytes(internSeed, text)&uint64(len(t.slots)-1)]
}

func (t *interner) grow() {
	old := t.slots
	t.slots = make([]webrace.Term, max(minInterned, 4*len(old)))
	for _, known := range old {
		if known != "" {
			*t.slot([]byte(known)) = known
		}
	}
}
