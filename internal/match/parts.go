package match

import (
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/entries"
	"github.com/webrace/webrace/internal/hashtable"
)

// The blocks of a part of a page are compared one by one: a line under an offer that reads "2 hours ago" makes no
// word of its title new. Beside what other blocks are remembered by, they are remembered by their part's link. Where
// that had the part's title in the latest version, it is the same part, and a block of it is known if it stood
// there: so two offers may change their prices into each other's. Else it is another, or has another link, as all
// have at each request on some sites: a block of it is known if it stood anywhere; unless more parts than before read
// the same, and one of these is known.

// inPart marks what blocks of parts are remembered by beside their text. That it comes or goes is no change by
// itself.
const inPart = 1 << 63

// hasParts reports whether a text has parts of a page.
func hasParts(text *webrace.Text) bool {
	return slices.ContainsFunc(text.Entries, webrace.Entry.IsPart)
}

// parts are those of a text.
type parts struct {
	all      []part          // by the numbers of entries; those that are no parts have no title
	linked   []uint64        // the hashes of their blocks with their links, by the numbers of blocks
	contents hashtable.Table // the numbers of contents
	alike    []alike         // by these
}

// part is what was found of a part of a page.
type part struct {
	title   uint64 // the hash, with the link, of the block that tells which it is
	rank    int    // of that
	sum     uint64 // of the hashes of its blocks
	content int32
	known   bool
}

// alike are the parts of one content.
type alike struct {
	count uint64
	known bool // one of them is
	more  bool // they are more than in any version that is remembered
}

// findParts takes note of the parts of a text, whose blocks have these hashes.
func (c *comparison) findParts(text *webrace.Text, hashes []uint64) {
	p := &c.parts
	p.all, p.linked, p.alike = p.all[:0], p.linked[:0], p.alike[:0]
	if !hasParts(text) {
		return
	}
	p.all, p.linked = append(p.all, make([]part, len(text.Entries))...), append(p.linked, make([]uint64, len(hashes))...)
	for i, b := range text.Blocks {
		if b.Entry == 0 || !text.Entries[b.Entry-1].IsPart() || hashes[i] == 0 || hashes[i]&inGroups != 0 {
			continue
		}
		e := &p.all[b.Entry-1]
		p.linked[i] = hashBlock(c.withSum(text.Entries[b.Entry-1].Link, hashes[i])) | inPart
		e.sum = e.sum*0x9E3779B97F4A7C15 + hashes[i]
		if rank := entries.TitleRank(text, b); e.title == 0 || rank > e.rank {
			e.title, e.rank = p.linked[i], rank
		}
	}
	c.countAlike()
}

// countAlike finds which parts the latest version had, and of which contents there are more now.
func (c *comparison) countAlike() {
	p := &c.parts
	p.contents.Reset()
	for i := range p.all {
		e := &p.all[i]
		if e.title == 0 {
			continue
		}
		place, met := c.places.Get(e.title >> ageBits)
		e.known = met && int(place) < len(c.known) && c.known[place]&ageMask == 0
		var had bool
		if e.content, had = p.contents.GetOrSet(e.sum, int32(len(p.alike))); !had {
			p.alike = append(p.alike, alike{})
		}
		a := &p.alike[e.content]
		if a.count++; a.count > 1 {
			number := hashBlock(c.withSum(e.sum, a.count)) | inPart
			a.more = c.age(number) == never
		}
		a.known = a.known || e.known
	}
}

// ageInPart returns how many versions ago a block of a part was last seen, which was seen anywhere so many ago.
func (c *comparison) ageInPart(block int, entry int32, anywhere uint8) uint8 {
	e := &c.parts.all[entry-1]
	if e.title == 0 || c.parts.linked[block] == 0 {
		return anywhere
	}
	age := c.age(c.parts.linked[block])
	if a := c.parts.alike[e.content]; !e.known && a.known && a.more {
		age = never
	} else if !e.known {
		return anywhere
	}
	c.differs = c.differs || age > 0
	return age
}
