package extract

import (
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/entries"
	"github.com/webrace/webrace/internal/pdftext"
)

// feedList is what a feed lists: its blocks are those of entries, or of the feed itself.
type feedList struct {
	isList bool // the document lists entries, of which there may be none
	open   bool // an entry is being read
	from   int  // its first block
	name   string
	rank   rank // of the name
	link   string
	source bool // what is said is that of the feed which the entry was taken from
}

// rank is how well something names an entry, the best first.
type rank uint8

const (
	byID rank = iota
	byAbout
	byLink
	unnamed
)

// begin begins an entry, and ends one that was left open.
func (x *extraction) begin() {
	x.end()
	x.list.isList, x.list.open = true, true
	x.list.from, x.list.name, x.list.rank, x.list.link = len(x.text.Blocks), "", unnamed, ""
}

// named takes note of what the entry at hand calls itself. Of two names of a kind, the first counts.
func (x *extraction) named(by rank, name string) {
	l := &x.list
	name = strings.TrimSpace(name)
	if !l.open || l.source || name == "" {
		return
	}
	if by == byLink && l.link == "" {
		l.link = name
	}
	if by < l.rank {
		l.name, l.rank = name, by
	}
}

// end ends the entry that is open, if there is one.
func (x *extraction) end() {
	if x.list.open {
		entries.MarkPublished(&x.text, x.list.from, x.list.name, x.list.link)
	}
	x.list.open, x.list.source = false, false
}

// cutOff ends a feed that has no end. Of an entry that it breaks off in it has only a part, which is left out unless
// nothing else is said; and behind that may have been more.
func (x *extraction) cutOff() {
	l := &x.list
	if before := x.text.Blocks[:min(l.from, len(x.text.Blocks))]; l.open && slices.ContainsFunc(before, func(b webrace.Block) bool { return b.Entry != 0 }) {
		x.text.Blocks, l.open = before, false
	}
	x.text.Cut = true
	x.Unread = pdftext.Unread{Cause: pdftext.Broken, Reason: "the feed has no end"}
}

// endList ends a document. What a feed tells of itself, beside its entries, is nobody's news.
func (x *extraction) endList() {
	x.end()
	if !x.list.isList {
		return
	}
	x.text.Feed = true
	for i := range x.text.Blocks {
		if b := &x.text.Blocks[i]; b.Entry == 0 {
			b.Aside = true
		}
	}
}

// aside makes the blocks from one on such that they make nothing new.
func (x *extraction) aside(from int) {
	for i := from; i < len(x.text.Blocks); i++ {
		x.text.Blocks[i].Aside = true
	}
}

// isAside reports whether an element of a feed tells when something was written or how often it was answered, which
// moves while the entry stays as it is.
func isAside(element string) bool {
	prefix, name, prefixed := strings.Cut(element, ":")
	if !prefixed {
		prefix, name = "", element
	}
	switch name {
	case "pubdate", "lastbuilddate", "updated", "published", "modified", "issued", "created": // RSS 2.0, Atom 1.0 and 0.3, Dublin Core
		return true
	case "date":
		return prefix == "dc" || prefix == "dcterms"
	case "comments", "commentrss", "hit_parade", "total": // slash, wfw, thr
		return name != "total" || prefix == "thr"
	}
	return false
}

// localName returns a name without its prefix.
func localName(name string) string { return name[strings.IndexByte(name, ':')+1:] }

// isEntry reports whether an element of a feed is an entry.
func isEntry(element string) bool {
	switch element {
	case "item", "entry", "rss:item", "atom:entry":
		return true
	}
	return false
}

// nsAtom and nsAtomOld are the namespaces of Atom.
const (
	nsAtom    = "http://www.w3.org/2005/Atom"
	nsAtomOld = "http://purl.org/atom/ns#"
)
