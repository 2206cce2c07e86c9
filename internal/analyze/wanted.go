package analyze

import "strings"

// Beginning is how all words begin that a keyword can find: their first bytes, folded, as far as they are known.
// That of the zero value is known of no word.
type Beginning struct {
	bytes [beginningBytes]byte
	known uint8 // bytes
}

const (
	beginningBytes = 3
	startBits      = 5 // of each of these bytes
)

// BeginningOf returns that of all words that begin so.
func BeginningOf(prefix string) (b Beginning) {
	b.known = uint8(copy(b.bytes[:], prefix))
	return b
}

// BeginningOfWord returns that of the word itself.
func BeginningOfWord(folded string) Beginning {
	b := BeginningOf(folded)
	b.known = beginningBytes
	return b
}

// Shared returns what both have in common.
func (b Beginning) Shared(other Beginning) (shared Beginning) {
	for shared.known < min(b.known, other.known) && b.bytes[shared.known] == other.bytes[shared.known] {
		shared.bytes[shared.known] = b.bytes[shared.known]
		shared.known++
	}
	return shared
}

// beginningOfStem returns that of all words which have the stem, in whatever language.
func beginningOfStem(stem string) Beginning {
	stem = strings.TrimSuffix(stem, foreign)
	kept := keptLetters(stem)
	for i := range stem {
		if kept == 0 {
			return BeginningOf(stem[:i])
		}
		kept--
	}
	return BeginningOf(stem)
}

// keptLetters returns how many letters a word has in common with its stem, beginningBytes at most. Rules change the end
// of a word: the last letter of what they leave of it may be another (cry, cri), and both of ie and ao (dying, limões).
func keptLetters(stem string) int {
	if strings.HasSuffix(stem, "ie") || strings.HasSuffix(stem, "ao") {
		return min(letters(stem)-2, beginningBytes)
	}
	return min(max(letters(stem)-1, 1), beginningBytes)
}

// Wanted is a set of words: those with certain beginnings, or all but some, or both. The others of a text's words need
// no stems, and no language. The zero value is empty.
type Wanted struct {
	starts    [1 << (2 * startBits)]uint32 // by a few bits of the first two bytes of a word, one bit for each third
	begin     bool                         // there are some
	dismissed *Dismissals                  // nil if words are wanted by their beginnings alone
	number    uint64                       // under which they were
	blocks    []bool                       // of a text, those whose words are wanted; nil for all
}

// Reset empties the set.
func (w *Wanted) Reset() { *w = Wanted{} }

// Within confines the set to the words of some blocks of the text that is analyzed next.
func (w *Wanted) Within(blocks []bool) { w.blocks = blocks }

// in reports whether words of a block are wanted.
func (w *Wanted) in(block int32) bool { return w.blocks == nil || w.blocks[block] }

// Add adds a beginning.
func (w *Wanted) Add(b Beginning) {
	w.begin = true
	const low = 1<<startBits - 1
	second, third := uint32(b.bytes[1]&low), uint32(b.bytes[2]&low)
	first := uint32(b.bytes[0]&low) << startBits
	switch b.known {
	case 3:
		w.starts[first|second] |= 1 << third
	case 2:
		w.starts[first|second] = ^uint32(0)
	case 1:
		w.fill(first, first+low)
	default:
		w.fill(0, uint32(len(w.starts))-1)
	}
}

func (w *Wanted) fill(first, last uint32) {
	for i := first; i <= last; i++ {
		w.starts[i] = ^uint32(0)
	}
}

// has reports whether a word may be wanted that begins with these bytes, the first one the lowest; 0 stands after its
// end.
func (w *Wanted) has(begins uint64) bool {
	const low = 1<<startBits - 1
	pair := begins&low<<startBits | begins>>8&low
	return w.starts[pair]>>(begins>>16&low)&1 != 0
}
