// Package entries marks the entries of lists in a text, for whoever compares it with other versions of it.
package entries

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"unicode"

	"github.com/cespare/xxhash/v2"

	"github.com/webrace/webrace"
)

// Mark makes an entry of the blocks of a text from one on, but for those that are of another already: these are
// entries that it has within it. It is known by the list that it is of and by what it calls itself there: an id, a
// key, an address. One without a name is known by its content alone.
func Mark(t *webrace.Text, from int, list, name string) {
	mark(t, from, webrace.Entry{Name: xxhash.Sum64String(list + "\x00" + name)}, name != "")
}

// MarkPublished is Mark of an entry of a feed, which may have a link besides its name.
func MarkPublished(t *webrace.Text, from int, name, link string) {
	e := webrace.Entry{Name: xxhash.Sum64String("\x00" + name)}
	if by := cmp.Or(link, name); by != "" {
		e.Link = xxhash.Sum64String("\x00" + by)
	}
	mark(t, from, e, name != "")
}

// TitleRank returns how well a block tells people which part of a page it is of: of those of one, the first of the
// highest rank is its title. A heading does, or else what has a letter.
func TitleRank(t *webrace.Text, b webrace.Block) int {
	switch {
	case b.Field == webrace.FieldHeading || b.Field == webrace.FieldTitle:
		return 2
	case bytes.ContainsFunc(t.Slice(b), unicode.IsLetter):
		return 1
	}
	return 0
}

func mark(t *webrace.Text, from int, e webrace.Entry, named bool) {
	if from >= len(t.Blocks) {
		return
	}
	own := int32(len(t.Entries) + 1)
	within := own // the first entry within it
	for i := from; i < len(t.Blocks); i++ {
		if b := &t.Blocks[i]; b.Entry == 0 {
			b.Entry = own
		} else {
			within = min(within, b.Entry)
		}
	}
	if named {
		for i := within; i < own; i++ {
			t.Entries[i-1].Name = combine(e.Name, t.Entries[i-1].Name)
		}
	}
	t.Entries = append(t.Entries, e)
}

func combine(a, b uint64) uint64 {
	var both [16]byte
	binary.LittleEndian.PutUint64(both[:8], a)
	binary.LittleEndian.PutUint64(both[8:], b)
	return xxhash.Sum64(both[:])
}
