package match

import (
	"cmp"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/webrace/webrace"
)

// Baseline remembers the blocks of the last five versions of a page, to tell which blocks of the next one
// are new. A nil baseline remembers nothing. It is never changed in place.
//
// It is an ascending list with one number for each distinct block: the upper 61 bits of the XXH64 hash of
// its text, with white space collapsed, and in the lower 3 bits how many versions ago the block was last
// seen, 0 to 4. It has at most 16,384 numbers. The blocks of a page after the 8,191st are remembered as if
// they were one.
type Baseline []uint64

// BaselineVersions is how many versions of a page a baseline remembers.
const BaselineVersions = 5

const (
	ageBits        = 3
	ageMask        = 1<<ageBits - 1
	mostBlocks     = 1 << 13
	mostRemembered = 2 * mostBlocks
)

// Update compares the text with the remembered versions. It returns for each block whether none of them
// had it, and the baseline that remembers this version too, and forgets the fifth before it. So a block
// that comes back after five versions without it is new again.
//
// A text with the same blocks as the latest version is that version, whatever their order: added is false
// throughout, and the baseline remains as it is. Nothing is learned until the caller keeps the result.
func (b Baseline) Update(text *webrace.Text) (next Baseline, added []bool) {
	known := b.sound()
	blocks := hashBlocks(text)
	added = make([]bool, len(text.Blocks))
	var now []uint64
	for i, hash := range blocks {
		if hash != 0 {
			_, old := find(known, hash)
			added[i] = !old
			now = append(now, hash)
		}
	}
	slices.Sort(now)
	now = slices.Compact(now)
	if slices.Equal(now, latest(known)) {
		return b, added
	}
	return age(known, now), added
}

// sound returns the baseline if it is in order, and otherwise none: what is not understood is forgotten.
func (b Baseline) sound() Baseline {
	for i, n := range b {
		if n&ageMask >= BaselineVersions || i > 0 && b[i-1]|ageMask >= n|ageMask {
			return nil
		}
	}
	return b
}

// hashBlocks returns a hash for each block, with the lower bits clear; 0 for blocks without text.
func hashBlocks(text *webrace.Text) []uint64 {
	hashes := make([]uint64, len(text.Blocks))
	var clean, tail []byte
	for i, block := range text.Blocks {
		if clean = appendCollapsed(clean[:0], text.Slice(block)); len(clean) == 0 {
			continue
		}
		if i >= mostBlocks-1 {
			tail = append(append(tail, clean...), '\n')
			hashes[i] = ageMask + 1 // a mark, for text that is hashed below
			continue
		}
		hashes[i] = hashBlock(clean)
	}
	rest := hashBlock(tail)
	for i := mostBlocks - 1; i < len(hashes); i++ {
		if hashes[i] != 0 {
			hashes[i] = rest
		}
	}
	return hashes
}

func hashBlock(clean []byte) uint64 { return max(xxhash.Sum64(clean)&^ageMask, ageMask+1) }

func find(known Baseline, hash uint64) (int, bool) {
	return slices.BinarySearchFunc(known, hash, func(n, hash uint64) int { return cmp.Compare(n&^ageMask, hash) })
}

// latest returns the blocks of the last version remembered.
func latest(known Baseline) (blocks []uint64) {
	for _, n := range known {
		if n&ageMask == 0 {
			blocks = append(blocks, n)
		}
	}
	return blocks
}

// age returns the baseline after a version with these blocks. Where there are too many to remember, it is
// the oldest that are forgotten.
func age(known Baseline, now []uint64) Baseline {
	var byAge [BaselineVersions][]uint64
	for _, n := range known {
		age := n&ageMask + 1
		if _, present := slices.BinarySearch(now, n&^ageMask); !present && age < BaselineVersions {
			byAge[age] = append(byAge[age], n+1)
		}
	}
	next := slices.Clone(now)
	for _, older := range byAge {
		next = append(next, older[:min(len(older), mostRemembered-len(next))]...)
	}
	slices.Sort(next)
	return next
}
