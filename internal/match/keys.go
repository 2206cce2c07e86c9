package match

import (
	"encoding/binary"
	"math/bits"

	"github.com/webrace/webrace/internal/analyze"
)

// lookup is what an atom of a page is found by. A key is a hash of it; the kinds of keys are kept apart.
type lookup uint64

const (
	byStem   lookup = iota
	byWord          // its folded form
	byPair          // the stems of two tokens, one after the other
	byPrefix        // the first bytes of a word, at most prefixBytes
	byGram          // any gramBytes in a row of a word
)

const (
	prefixBytes = 16
	gramBytes   = 3
	mostPairs   = 64 // more ways than this to spell a pair of words are not enumerated
)

// keyOf returns the key of a hash.
func keyOf(by lookup, hash uint64) uint64 { return hash ^ uint64(by)*0xA24BAED4963EE407 }

func keyOfPart(by lookup, part []byte) uint64 { return keyOf(by, analyze.Hash(part)) }

func keyOfPair(first, second uint64) uint64 {
	high, low := bits.Mul64(first^0x9FB21C651E98DF25, bits.RotateLeft64(second, 32)|1)
	return keyOf(byPair, high^low)
}

// keyOfOverlap is keyOfPair for two tokens that share a character.
func keyOfOverlap(first, second uint64) uint64 { return ^keyOfPair(first, second) }

// uses holds which keys the atoms of a segment are found by, to pass over what none of them needs.
type uses struct {
	words, pairs, grams bool
	prefixes            uint32 // a bit for each length in bytes
	shortParts          bool   // of what is looked for within words, something is too short to have a key
}

// union returns what is in one of both.
func (u uses) union(other uses) uses {
	return uses{
		u.words || other.words, u.pairs || other.pairs, u.grams || other.grams, u.prefixes | other.prefixes, u.shortParts || other.shortParts,
	}
}

// eachPart calls visit with the keys of the beginnings of a word, and of what is within it, until it returns false.
func (u *uses) eachPart(word []byte, visit func(key uint64) bool) {
	for n := 1; n <= min(len(word), prefixBytes); n++ {
		if u.prefixes>>n&1 != 0 && !visit(keyOfPart(byPrefix, word[:n])) {
			return
		}
	}
	for n := 0; u.grams && n+gramBytes <= len(word); n++ {
		if !visit(keyOfPart(byGram, word[n:n+gramBytes])) {
			return
		}
	}
}

// keys calls add with the keys of an atom: a page on which it occurs has at least one of them. It returns
// whether a page that has one has the atom, as often as the key itself.
func (a *atom) keys(u *uses, add func(key uint64)) (certain bool) {
	switch {
	case a.phrase == nil && a.exact:
		u.words = true
		add(keyOf(byWord, a.hashes[0]))
		return true
	case a.phrase == nil:
		for _, hash := range a.hashes {
			add(keyOf(byStem, hash))
		}
		return true
	}
	if first, ok := a.phrase.pair(); ok {
		u.pairs = true
		key := keyOfPair
		if a.phrase.terms[first].follows == shared {
			key = keyOfOverlap
		}
		for _, x := range a.phrase.terms[first].stems {
			for _, y := range a.phrase.terms[first+1].stems {
				add(key(x, y))
			}
		}
		return a.phrase.isPair()
	}
	a.phrase.terms[a.phrase.lead].keys(u, add)
	return false
}

// pair returns the first of two words of the phrase that stand side by side on every page that has it.
// The longest pair is likely to be on the fewest pages.
func (p *phrase) pair() (first int, ok bool) {
	if p.near > 0 {
		return 0, false
	}
	longest := 0
	for i := 1; i < len(p.terms); i++ {
		x, y := &p.terms[i-1], &p.terms[i]
		if x.kind <= exact && y.kind <= exact && len(x.stems)*len(y.stems) <= mostPairs && len(x.text)+len(y.text) > longest {
			first, ok, longest = i-1, true, len(x.text)+len(y.text)
		}
	}
	return first, ok
}

// isPair reports whether two words of these stems, one after the other, are all there is to the phrase.
func (p *phrase) isPair() bool {
	for i := range p.terms {
		if t := &p.terms[i]; t.kind != inflected || t.before != "" || t.after != "" || t.follows == attached {
			return false
		}
	}
	return p.near == 0 && len(p.terms) == 2
}

func (t *term) keys(u *uses, add func(key uint64)) {
	switch t.kind {
	case prefix:
		n := wholeRunes(t.text, prefixBytes)
		u.prefixes |= 1 << n
		add(keyOfPart(byPrefix, []byte(t.text[:n])))
	case inside:
		u.grams = true
		add(keyOfPart(byGram, []byte(t.text[:gramBytes])))
	default:
		for _, hash := range t.stems {
			add(keyOf(byStem, hash))
		}
	}
}

// identityHash is equal for atoms that are found in the same places.
func (a *atom) identityHash() uint64 {
	if a.phrase != nil {
		return analyze.Hash([]byte(a.identity()))
	}
	var b [8]byte
	h := uint64(a.within) << 1
	if a.exact {
		h |= 1
	}
	for _, hash := range a.hashes {
		binary.LittleEndian.PutUint64(b[:], hash^bits.RotateLeft64(h, 23))
		h = analyze.Hash(b[:])
	}
	return h
}
