package analyze

import "sync"

// The language of a text is told by the commonest words of each language: each of them that is met is a
// vote for all languages that have it. So related languages, which have many in common, lose nothing to
// each other by them.

// votes are the votes for each language, in a lane of their own.
type votes uint64

const (
	laneBits  = 7
	mostVotes = 1<<laneBits - 1 // that a lane holds

	priorVotes = 3 // of the language that a text is expected to be in

	// Where no language is expected, a text is in one only if two words are of its commonest, and each fifth is, and each
	// 24th is one more than the next language has. Prose of the nine has each third; a page in two of them, no more than
	// a small lead of one.
	fewVotes     = 2
	shareOfWords = 5
	leadOfWords  = 24
)

func voteFor(l Language) votes { return 1 << (laneBits * (int(l) - 1)) }

func (v votes) of(l Language) int {
	if l == Unknown {
		return 0
	}
	return int(v>>(laneBits*(int(l)-1))) & mostVotes
}

// moreThanPrior are the bits of which lanes with more than priorVotes votes have one.
const moreThanPrior = votes(mostVotes&^priorVotes) * (1<<0 | 1<<7 | 1<<14 | 1<<21 | 1<<28 | 1<<35 | 1<<42 | 1<<49 | 1<<56)

// in returns the language of a part of so many words, of a document in another language, or of none: that one, unless
// another is clearly ahead of it.
func (v votes) in(document Language, words int) Language {
	if v&moreThanPrior == 0 {
		return document
	}
	if document == Unknown {
		return clear(v.of, words)
	}
	best, most := document, v.of(document)+priorVotes
	for l := English; int(l) < languages; l++ {
		if n := v.of(l); n > most {
			best, most = l, n
		}
	}
	return best
}

// ballot counts votes, those of every second language together, since that leaves their lanes room.
type ballot struct {
	odd, even, last votes
	pending         int
	words           int // that voted or not
	counts          [languages]int
}

const (
	wideLanes   = votes(mostVotes) * (1<<0 | 1<<14 | 1<<28 | 1<<42)
	mostPending = 1 << laneBits // times that mostVotes fit in lanes of twice the width
)

// add adds the votes of so many words.
func (b *ballot) add(v votes, words int) {
	b.odd += v & wideLanes
	b.even += v >> laneBits & wideLanes
	b.last += v >> (8 * laneBits)
	b.words += words
	if b.pending++; b.pending == mostPending {
		b.count()
	}
}

func (b *ballot) count() {
	const width, mask = 2 * laneBits, 1<<(2*laneBits) - 1
	for i := range 4 {
		b.counts[1+2*i] += int(b.odd>>(width*i)) & mask
		b.counts[2+2*i] += int(b.even>>(width*i)) & mask
	}
	b.counts[Russian] += int(b.last)
	b.odd, b.even, b.last, b.pending = 0, 0, 0, 0
}

// winner returns the language with the most votes. The expected one is ahead by a few, and wins a tie; if
// it is Unknown, so is the winner where there are few votes, or nearly as many for another.
func (b *ballot) winner(expected Language) Language {
	b.count()
	if expected == Unknown {
		return clear(func(l Language) int { return b.counts[l] }, b.words)
	}
	best, most := expected, b.counts[expected]+priorVotes
	for l := English; int(l) < languages; l++ {
		if n := b.counts[l]; n > most {
			best, most = l, n
		}
	}
	return best
}

// clear returns the language that is clearly that of so many words, by the votes for each; Unknown if none is.
func clear(votes func(Language) int, words int) Language {
	best, most, next := Unknown, 0, 0
	for l := English; int(l) < languages; l++ {
		switch n := votes(l); {
		case n > most:
			best, most, next = l, n, most
		case n > next:
			next = n
		}
	}
	if most < fewVotes || shareOfWords*most < words || leadOfWords*(most-next) < words {
		return Unknown
	}
	return best
}

// electorate tells for the hash of a folded word which languages it votes for. It is a hash table with open
// addressing, sparse enough that most words are told in one step.
type electorate [electorateSize]elector

type elector struct {
	word  uint64
	votes votes
}

const (
	electorateBits = 12
	electorateSize = 1 << electorateBits
)

var voters = sync.OnceValue(func() *electorate {
	e := new(electorate)
	for l := English; int(l) < languages; l++ {
		Words([]byte(commonWords[l]), func(_, _ int, folded []byte) bool {
			voter := e.slot(Hash(folded))
			voter.word = Hash(folded)
			voter.votes |= voteFor(l)
			return true
		})
	}
	return e
})

func (e *electorate) slot(surface uint64) *elector {
	for i := surface >> (64 - electorateBits); ; i++ {
		if slot := &e[i%electorateSize]; slot.word == surface || slot.votes == 0 {
			return slot
		}
	}
}

func (e *electorate) of(surface uint64) votes { return e.slot(surface).votes }

// Detect returns the language of a text; Unknown if it is none of ours, or has too few of the commonest
// words to be told. If one is expected, since the text declares it, it is that one unless the words
// are clearly another's.
func Detect(text []byte, expected Language) Language {
	var b ballot
	electorate := voters()
	Words(text, func(_, _ int, folded []byte) bool {
		b.add(electorate.of(Hash(folded)), 1)
		return true
	})
	return b.winner(expected)
}
