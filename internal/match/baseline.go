package match

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/hashtable"
)

// Baseline remembers the blocks of the last versions of a page, to tell which blocks of the next one are new. A nil
// baseline remembers nothing. It is never changed in place.
//
// It is an ascending list with one number for each distinct block: bits 3 to 62 of the XXH64 hash of its text in
// normal form, with white space collapsed, and in the lower 3 bits how many versions ago the block was last seen, 0
// to 7. It has at most 16,384 numbers, or those of the latest version if these are more: an entry of a list, which
// is one block here as its blocks are, takes up to three, and a block of a part of a page two. Of a page with more
// than 8,191 blocks the others are remembered in [groups].
type Baseline []uint64

// BaselineVersions is how many versions of a page a baseline remembers unless it is told otherwise, and
// MostBaselineVersions how many it can.
const (
	BaselineVersions     = 5
	MostBaselineVersions = ageMask + 1
)

const (
	ageBits        = 3
	ageMask        = 1<<ageBits - 1
	mostBlocks     = 1 << 13
	mostRemembered = 2 * mostBlocks
)

// Versions returns how many versions of the page the baseline remembers.
func (b Baseline) Versions() int {
	n := 0
	for _, known := range b {
		n = max(n, int(known&ageMask)+1)
	}
	return n
}

// Comparison holds which blocks of a text some versions before it had.
type Comparison struct {
	Next Baseline // remembers the text's version too
	Same bool     // the text has the same blocks as the latest version: it is that version
	Went bool     // the latest version had a block that the text has not
	Grew bool     // it is the latest version and the blocks that this had not, one by one: nothing else came or went

	// Recast means that it is a table with other columns than those that are remembered: [Comparison.KnowRows] finds which
	// of its rows are known all the same.
	Recast bool

	ages []uint8 // of the blocks: how many versions ago each was last seen
	cut  uint8   // how many versions ago a text was cut
}

// IsState reports whether a text has anything that is compared. One that does not (an empty answer, a feed without
// entries) is no version that another could be compared with: what is not there is no state. That what is there has
// other values than were asked for is one.
func IsState(text *webrace.Text) bool {
	return text != nil && (text.Unmet || slices.ContainsFunc(text.Blocks, func(b webrace.Block) bool { return len(bytes.TrimSpace(text.Compared(b))) > 0 }))
}

// In the place of an age: a block has no text, or no version had it.
const (
	empty = 0xff
	never = 0xfe
)

// Compare compares the text with all versions that are remembered.
func (b Baseline) Compare(text *webrace.Text) Comparison {
	return b.compare(MostBaselineVersions, text)
}

// Added returns for each block whether none of so many versions had it.
//
// What stands in a text behind all blocks that a version had which was cut, may be what was left out of that: it is
// not new, unless nothing of that version is there any more.
func (c *Comparison) Added(versions int) []bool {
	added := make([]bool, len(c.ages))
	last := -1 // that was known
	for i, age := range c.ages {
		if added[i] = age != empty && int(age) >= versions; age != empty && !added[i] {
			last = i
		}
	}
	if int(c.cut) < versions && last >= 0 {
		clear(added[last:])
	}
	return added
}

// With returns a baseline that remembers what either does: of two pages that become one, what stood in the latest
// version of either stood in that of the one.
func (b Baseline) With(other Baseline) Baseline {
	if b.last(MostBaselineVersions) == nil || other.last(MostBaselineVersions) == nil {
		return b
	}
	both := slices.Concat(b, other)
	slices.Sort(both)
	return slices.CompactFunc(both, func(x, y uint64) bool { return x>>ageBits == y>>ageBits })
}

// AsOne returns a baseline for which the latest version had all that is remembered.
func (b Baseline) AsOne() Baseline {
	one := slices.Clone(b)
	for i := range one {
		one[i] &^= ageMask
	}
	return one
}

// Update is Remember of BaselineVersions.
func (b Baseline) Update(text *webrace.Text) (next Baseline, added []bool) {
	return b.Remember(BaselineVersions, text)
}

// Remember compares the text with so many versions before it, 1 to MostBaselineVersions. It returns for each block
// whether none of them had it, and the baseline that remembers this version too. So a block that comes back after so
// many versions without it is new again.
//
// A text with the same blocks as the latest version is that version, whatever their order, and one without any is
// none: added is false throughout, and the baseline remains as it is. Nothing is learned until the caller keeps the
// result.
//
// That a text was cut is remembered as if it were a block.
func (b Baseline) Remember(versions int, text *webrace.Text) (next Baseline, added []bool) {
	c := b.compare(versions, text)
	return c.Next, c.Added(versions)
}

func (b Baseline) compare(versions int, text *webrace.Text) Comparison {
	c := comparisons.Get().(*comparison)
	defer comparisons.Put(c)
	c.start(b.last(versions))
	found := Comparison{Next: b, ages: make([]uint8, len(text.Blocks)), cut: c.cut()}
	c.findColumns(text)
	hashes := c.hashBlocks(text)
	c.findEntries()
	c.findParts(text, hashes)
	for i, hash := range hashes {
		switch entry := text.Blocks[i].Entry; {
		case entry != 0 && c.entries[entry-1].met:
			found.ages[i] = c.entries[entry-1].age
		case hash == 0:
			found.ages[i] = empty
		default:
			found.ages[i] = c.ageOf(hash)
			if found.ages[i] == never && len(text.Columns) > 0 {
				found.ages[i] = c.ageInColumns(text.Compared(text.Blocks[i]))
			}
			if found.ages[i] > 0 && len(text.Columns) > 0 && len(c.known) > 0 && !found.Recast {
				found.Recast = c.columns.isNames(text.Compared(text.Blocks[i]))
			}
			if entry != 0 {
				found.ages[i] = c.ageInPart(i, entry, found.ages[i])
			}
		}
	}
	if !IsState(text) {
		found.Same = true
		return found
	}
	if text.Cut {
		c.age(cutMark)
	}
	if found.Went = c.went(); found.Went || c.differs {
		found.Next = c.remember(versions)
	} else {
		found.Same = true
	}
	found.Grew = !found.Went && len(c.known) > 0 && len(text.Entries)+len(text.Columns) == 0 && !c.groups.used()
	return found
}

// comparison is the room for comparing a text with what is known.
type comparison struct {
	known   Baseline
	again   []bool          // which of the known blocks the text has
	fresh   []uint64        // the blocks that it has beside them
	differs bool            // the text has a block that the latest version had not
	places  hashtable.Table // of the known blocks, and then of the fresh ones
	hashes  []uint64
	clean   []byte

	groups  groups // of the blocks, where they are too many
	columns columns
	entries []entrySum // of the text
	parts   parts
	links   hashtable.Table
}

var comparisons = sync.Pool{New: func() any { return new(comparison) }}

func (c *comparison) start(known Baseline) {
	c.known, c.fresh, c.differs = known, c.fresh[:0], false
	c.again = append(c.again[:0], make([]bool, len(known))...)
	c.places.Reset()
	for i, n := range known {
		c.places.GetOrSet(n>>ageBits, int32(i))
	}
}

// age takes note of a block, and returns how many versions ago it was last seen.
func (c *comparison) age(hash uint64) uint8 {
	place, met := c.places.GetOrSet(hash>>ageBits, int32(len(c.known)+len(c.fresh)))
	switch {
	case !met:
		c.fresh = append(c.fresh, hash)
		c.differs = c.differs || hash&inPart == 0
		return never
	case int(place) < len(c.known):
		c.again[place] = true
		age := uint8(c.known[place] & ageMask)
		c.differs = c.differs || age > 0 && hash&inPart == 0
		return age
	}
	return never
}

// ageOf is age of a block or an entry, which may be remembered in groups: it was there when it was by itself, or when
// one of its groups was.
func (c *comparison) ageOf(hash uint64) uint8 {
	if !c.groups.used() {
		return c.age(hash)
	}
	age := uint8(never)
	if hash&inGroups == 0 {
		age = c.age(hash)
	} else if place, met := c.places.Get(hash >> ageBits); met && int(place) < len(c.known) {
		age = uint8(c.known[place] & ageMask)
	}
	for _, group := range c.groups.of(hash) {
		age = min(age, c.age(group))
	}
	return age
}

// cutMark stands in a baseline for the place where a text was cut. No block is a NUL.
var cutMark = hashBlock([]byte{0})

// cut returns how many versions ago a text was cut.
func (c *comparison) cut() uint8 {
	for _, n := range c.known {
		if n&^ageMask == cutMark {
			return uint8(n & ageMask)
		}
	}
	return never
}

// went reports whether the latest version had a block that the text has not.
func (c *comparison) went() bool {
	for i, n := range c.known {
		if n&(ageMask|inPart) == 0 && !c.again[i] {
			return true
		}
	}
	return false
}

// remember returns the baseline after this version. Where there is too much to remember, it is the oldest
// that is forgotten.
func (c *comparison) remember(versions int) Baseline {
	var room [MostBaselineVersions]int // for blocks of each age
	left := mostRemembered
	count := func(age uint64) (n int) {
		for i, known := range c.known {
			if !c.again[i] && known&ageMask+1 == age || c.again[i] && age == 0 {
				n++
			}
		}
		return n
	}
	for age := range versions {
		room[age] = left
		if left -= count(uint64(age)); age == 0 {
			left -= len(c.fresh)
		}
		left = max(left, 0)
	}
	slices.Sort(c.fresh)
	next := make(Baseline, 0, min(len(c.known)+len(c.fresh), mostRemembered))
	fresh := c.fresh
	for i, n := range c.known {
		for len(fresh) > 0 && fresh[0] < n {
			next, fresh = append(next, fresh[0]), fresh[1:]
		}
		age := n&ageMask + 1
		if c.again[i] {
			age = 0
		}
		if age < uint64(versions) && room[age] > 0 {
			next = append(next, n&^ageMask|age)
			room[age]--
		}
	}
	return append(next, fresh...)
}

// last returns what the baseline holds of so many versions: nothing if it is not in order, since what is not
// understood is forgotten.
func (b Baseline) last(versions int) Baseline {
	older := false
	for i, n := range b {
		if i > 0 && b[i-1]|ageMask >= n|ageMask {
			return nil
		}
		older = older || n&ageMask >= uint64(versions)
	}
	if !older {
		return b
	}
	return slices.DeleteFunc(slices.Clone(b), func(n uint64) bool { return n&ageMask >= uint64(versions) })
}

// hashBlocks returns a hash for each block, with the lower bits clear but for inGroups; 0 for blocks without text,
// and for what is never new. All blocks of an entry have one hash.
func (c *comparison) hashBlocks(text *webrace.Text) []uint64 {
	hashes := c.hashes[:0]
	c.entries = append(c.entries[:0], make([]entrySum, len(text.Entries))...)
	c.groups.clear()
	units := 0 // blocks that are of no entry, and entries
	for _, block := range text.Blocks {
		written := compared(&c.clean, text.Compared(block))
		switch {
		case block.Entry != 0 && !text.Entries[block.Entry-1].IsPart():
			e := &c.entries[block.Entry-1]
			if !e.met {
				e.met, e.tail = true, units >= mostBlocks-1
				units++
			}
			if len(written) > 0 {
				e.add(xxhash.Sum64(written), block.Skip > 0)
			}
			hashes = append(hashes, 0)
			continue
		case len(written) == 0:
			hashes = append(hashes, 0)
		case units >= mostBlocks-1:
			hashes = append(hashes, hashBlock(written)|inGroups)
		case len(text.Columns) > 0:
			hashes = append(hashes, c.columns.hashRow(written, false))
		default:
			hashes = append(hashes, hashBlock(written))
		}
		units++
	}
	if len(c.entries) > 0 {
		c.hashEntries(text, hashes)
	}
	if units >= mostBlocks {
		c.groups.set(hashes)
	}
	c.hashes = hashes
	return hashes
}

// entrySum is what was found of an entry.
type entrySum struct {
	sum  uint64 // of the hashes of its blocks
	hash uint64 // of that and its name
	link uint64 // of that and its link, if no other entry has the same; 0 for none
	feed uint64 // of its link alone; 0 for none
	met  bool   // it has blocks
	tail bool
	age  uint8

	ordered uint64 // blocks that have no name, so far
}

// add adds the hash of a block. The order of those that have a name, in what is skipped of them, makes no difference.
func (e *entrySum) add(hash uint64, named bool) {
	if !named {
		e.ordered++
		hash *= 2*e.ordered + 1
	}
	e.sum += hash
}

// hashEntries sets the hashes of the blocks of entries.
func (c *comparison) hashEntries(text *webrace.Text, hashes []uint64) {
	for i := range c.entries {
		e := &c.entries[i]
		if e.hash = hashBlock(c.withSum(text.Entries[i].Name, e.sum)); e.tail {
			e.hash |= inGroups
		} else if link := text.Entries[i].Link; link != 0 && e.met {
			e.link = hashBlock(c.withSum(link, e.sum))
			e.feed = hashBlock(append(c.withSum(link, 0), "feed"...))
		}
	}
	for i, block := range text.Blocks {
		if block.Entry != 0 && c.entries[block.Entry-1].met {
			hashes[i] = c.entries[block.Entry-1].hash
		}
	}
}

func (c *comparison) withSum(name, sum uint64) []byte {
	c.clean = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(c.clean[:0], name), sum)
	return c.clean
}

// findEntries takes note of the entries, and finds how many versions ago each was last seen: by its name or, where
// that tells one from the others, by its link. An entry of a feed that was not there since, in whatever form, fell
// out of the feed and comes back, as at its end when another is withdrawn: it is taken for one that was there all
// the time.
func (c *comparison) findEntries() {
	c.links.Reset()
	for i := range c.entries {
		e := &c.entries[i]
		if e.link == 0 {
			continue
		}
		if first, had := c.links.GetOrSet(e.link, int32(i)); had {
			e.link, c.entries[first].link = 0, 0
		}
	}
	for i := range c.entries {
		e := &c.entries[i]
		if !e.met {
			continue
		}
		if e.age = c.ageOf(e.hash); e.link != 0 {
			e.age = min(e.age, c.age(e.link))
		}
		if e.feed != 0 && c.age(e.feed) == e.age && e.age < never {
			e.age = 0
		}
	}
}

func hashBlock(clean []byte) uint64 { return max(xxhash.Sum64(clean)&^(ageMask|inPart), 2*(ageMask+1)) }
