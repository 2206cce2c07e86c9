package simhash

import (
	"math/bits"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/analyze"
	"github.com/webrace/webrace/internal/hashtable"
)

// leastWords is how many words a page must have to have a fingerprint.
const leastWords = 20

// Fingerprinter makes the fingerprints of pages. It is used by one goroutine at a time, and allocates nothing
// once it has seen a page of that size. The zero value is ready to use.
type Fingerprinter struct {
	splitter analyze.Splitter
	words    []uint64
	pairs    hashtable.Table
}

// Page returns the fingerprint of a page: of the pairs of words in its body and its headings, across the borders of
// blocks, each pair once: in a list, what every entry repeats would outvote what tells it from other lists. What
// stands on every page of a site, its navigation, does not count, and neither does the title. A page of fewer than
// 20 words has none: 0.
func (f *Fingerprinter) Page(text *webrace.Text) uint64 {
	words := f.words[:0]
	for _, b := range text.Blocks {
		if b.Field == webrace.FieldBody || b.Field == webrace.FieldHeading {
			words = f.splitter.Append(words, text.Bytes, int(b.Start), int(b.End))
		}
	}
	if cap(words) <= largestKept {
		f.words = words
	}
	if len(words) < leastWords {
		return 0
	}
	var votes Votes
	f.pairs.Reset()
	for i, second := range words[1:] {
		hash := pair(words[i], second)
		if _, again := f.pairs.GetOrSet(hash, 0); !again {
			votes.Add(hash)
		}
	}
	return votes.Fingerprint()
}

// largestKept is the number of words above which the room for them is not kept for the next page.
const largestKept = 1 << 18

// pair returns the hash of two words that follow one another.
func pair(first, second uint64) uint64 {
	high, low := bits.Mul64(first^0x9FB21C651E98DF25, bits.RotateLeft64(second, 32)|1)
	return high ^ low
}
