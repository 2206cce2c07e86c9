package match

import (
	"encoding/binary"

	"github.com/webrace/webrace/internal/hashtable"
)

// groups are how a page is remembered that has too many blocks to remember all by themselves. Each block is in four
// groups, which its hash chooses, and a group is remembered by the sum of its blocks. What comes, goes or changes
// changes all four, so a block with a group that is as it was is not new: it is a Bloom filter of changes. Of 250,000
// blocks of which ten change, none is taken for new that is not; of which a hundred change, three hundred are.
type groups struct {
	met  hashtable.Table // the blocks: one that is there twice counts once
	sums [groupings][groupsEach]uint64
}

const (
	groupings  = 4
	groupsEach = 1 << 10
)

// inGroups marks the hash of a block that is remembered in groups alone.
const inGroups = 1

func (g *groups) used() bool { return g.met.Len() > 0 }

func (g *groups) clear() {
	if g.used() {
		g.met.Reset()
		g.sums = [groupings][groupsEach]uint64{}
	}
}

// set makes groups of blocks; 0 is none.
func (g *groups) set(hashes []uint64) {
	for _, hash := range hashes {
		if hash == 0 {
			continue
		}
		if _, met := g.met.GetOrSet(hash>>ageBits, 0); !met {
			for i := range groupings {
				g.sums[i][place(hash, i)] += hash >> ageBits
			}
		}
	}
}

// place returns which group of a grouping a block is in: by ten bits of its hash.
func place(hash uint64, grouping int) uint64 { return hash >> (ageBits + 10*grouping) % groupsEach }

// of returns the hashes of a block's groups.
func (g *groups) of(hash uint64) (hashes [groupings]uint64) {
	for i := range groupings {
		var what [16]byte
		group := place(hash, i)
		binary.LittleEndian.PutUint64(what[:], uint64(i)<<32|group)
		binary.LittleEndian.PutUint64(what[8:], g.sums[i][group])
		hashes[i] = hashBlock(what[:])
	}
	return hashes
}
