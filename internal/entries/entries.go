// Package entries marks the entries of lists in a text, for whoever compares it with other versions of it.
package entries

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"strings"
	"unicode"

	"github.com/cespare/xxhash/v2"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/urlnorm"
)

// Mark makes an entry of the blocks of a text from one on, but for those that are of another already: these are
// entries that it has within it. It is known by the list that it is of and by what it calls itself there: an id, a
// key, an address. One without a name is known by its content alone.
func Mark(t *webrace.Text, from int, list, name string) {
	mark(t, from, webrace.Entry{Name: hashed(list, name)}, name != "")
}

// MarkPublished is Mark of an entry of a feed, which may have a link besides its name: under whatever name, one of the
// same link and content is the same. Links are the same that differ in the scheme, a leading "www.", a slash at the end
// or the mark of a campaign, as all of a site do once it is built in another way.
func MarkPublished(t *webrace.Text, from int, name, link string) {
	e := webrace.Entry{Name: hashed("", name)}
	if by := cmp.Or(link, name); by != "" {
		e.Link = hashed("", asUsuallySpelt(by))
	}
	mark(t, from, e, name != "")
}

// MarkRenamed is Mark of an entry that may have another name in the next version: it is known by its content, too.
func MarkRenamed(t *webrace.Text, from int, list, name string) {
	mark(t, from, webrace.Entry{Name: hashed(list, name), Link: hashed(list, "")}, name != "")
}

func hashed(list, name string) uint64 { return xxhash.Sum64String(list + "\x00" + name) }

var campaigns = urlnorm.Rules{Strip: urlnorm.TrackingParameters()}

// asUsuallySpelt returns a link without what is said of it in other ways, too.
func asUsuallySpelt(link string) string {
	if strings.IndexByte(link, '?') >= 0 {
		link = campaigns.Apply(link)
	}
	if _, rest, isURL := urlnorm.CutScheme(link); isURL {
		link = strings.TrimPrefix(rest, "www.")
	}
	return strings.TrimSuffix(link, "/")
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
