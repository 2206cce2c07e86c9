// Package markdown writes pages and other documents as Markdown: CommonMark with the tables and the strikethrough of
// GitHub. It guarantees, of any page, whatever that does to prevent it:
//
//   - who renders it reads the words of the page that a reader sees, in their order, and finds its links,
//     absolute, and no others. What of the text looks like markup is escaped; it is so by the rules of GitHub, so
//     that an address in the text becomes no link;
//   - it holds no HTML, but for <br> in the cells of tables; no link to a script or to data in an address; no
//     control character, and none that changes the direction of what follows, or that no reader sees though a
//     program reads it;
//   - it takes time and memory in proportion to the page, and is no longer than [MaxOutput].
//
// What is left out: what the page does not show, by the rules of package htmltext; links in blocks of code, and
// those of a heading, or of a term that is defined, to itself, which have no words but a sign ("¶", "#").
package markdown

import (
	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/urlnorm"
)

const (
	// MaxOutput is about how long the Markdown of a document may be, in bytes: what would stand behind is left out.
	MaxOutput = 64 << 20
	// maxContainers is how many lists and quotations are within one another at most, as each line names all of them.
	// What is deeper stands in the innermost of these.
	maxContainers = 10
	// maxDepth is how deep elements are looked for. The trees of package htmltree are no deeper.
	maxDepth = 600
)

// Options tell what of a page is written.
type Options struct {
	Base    string                // the absolute URL against which links are made absolute; without, relative ones are left out
	Without func(*html.Node) bool // reports whether an element is to be left out; nil for none
}

// Append appends the Markdown of parts of a page to dst, or that of all of it, if it is given the root of its tree.
// What it appends is empty, or ends with a line feed.
func Append(dst []byte, nodes []*html.Node, o Options) []byte {
	w := &writer{dst: dst, start: len(dst), without: o.Without}
	if base, err := urlnorm.NewBase(o.Base); err == nil {
		w.links.base = base
	}
	for _, n := range nodes {
		w.node(n)
		w.flush()
	}
	return w.dst
}

// writer writes the blocks of a page one after the other. The running text of a block is collected first, as runs:
// what can be marked depends on what is around it.
type writer struct {
	dst       []byte
	start     int // where in dst the document begins
	lineStart int // where in dst the content of the line begins
	without   func(*html.Node) bool
	links     resolver
	depth     int

	containers []container
	tight      bool // no blank line is written before the next block
	paragraph  bool // the last block is a paragraph
	lastList   listEnd

	context context
	term    bool // what is written is part of a term that is defined
	inline
}

// context is where running text stands.
type context uint8

const (
	inFlow    context = iota // blocks are written as they end
	inHeading                // all is one line
	inCell                   // all is one line, with breaks in it
)

// container is a quotation, or an item of a list.
type container struct {
	first, rest string // what its first line begins with, and the others
	used        bool   // its first line is written
	blank       bool   // a blank line is written within
	blocks      int    // how many blocks are written directly within
}

// full reports whether no more is to be written.
func (w *writer) full() bool { return len(w.dst)-w.start >= MaxOutput }

// begin begins a block: with a blank line, unless it follows another tightly, and what its containers begin lines
// with.
func (w *writer) begin() {
	if !w.tight && len(w.dst) > w.start {
		w.linePrefix(true)
		w.dst = append(w.dst, '\n')
	}
	w.tight, w.paragraph = false, false
	for i := range w.containers {
		c := &w.containers[i]
		if c.used {
			w.dst = append(w.dst, c.rest...)
		} else {
			w.dst = append(w.dst, c.first...)
			c.used = true
		}
	}
	if n := len(w.containers); n > 0 {
		w.containers[n-1].blocks++
	}
	w.lineStart = len(w.dst)
}

// linePrefix writes what a further line of the containers begins with, without the blanks at its end if that is all of
// the line.
func (w *writer) linePrefix(blank bool) {
	from := len(w.dst)
	for i := range w.containers {
		if c := &w.containers[i]; c.used {
			w.dst = append(w.dst, c.rest...)
			c.blank = c.blank || blank
		}
	}
	for blank && len(w.dst) > from && w.dst[len(w.dst)-1] == ' ' {
		w.dst = w.dst[:len(w.dst)-1]
	}
	w.lineStart = len(w.dst)
}

// within writes what f writes in a container, if there may be one more, and returns the container as it is then.
func (w *writer) within(c container, f func()) container {
	if len(w.containers) >= maxContainers {
		f()
		return c
	}
	w.containers = append(w.containers, c)
	f()
	last := len(w.containers) - 1
	c = w.containers[last]
	w.containers = w.containers[:last]
	return c
}
