package extract

import (
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/entries"
	"github.com/webrace/webrace/internal/formats"
)

// A record of XML is an element within the first that has no text of its own, and of whose elements no two that
// hold text have the same name: <station id="1"><name>Levanda</name><state>open</state></station>. Records within
// a record are entries of their own; in all else, as in prose, each element that holds text stands for itself.

// openElement is an element of XML that has begun.
type openElement struct {
	name   string
	from   int // the first block within it
	leaves []string
	prose  bool // it is no record
	within bool // it has elements
	id     string
	rank   int // of what it is known by, in formats.Names
}

// mostOpen is how many elements that lie within one another are looked at, and mostLeaves how many a record may have.
const (
	mostOpen   = 256
	mostLeaves = 256
)

// openRecord notes that an element begins; some text may stand in front of it.
func (d *xmlDocument) openRecord(text bool) {
	if n := len(d.open); n > 0 {
		d.open[n-1].within = true
		d.open[n-1].prose = d.open[n-1].prose || text || n == mostOpen
	}
	if len(d.open) == mostOpen {
		d.beyond++
		return
	}
	e := openElement{name: localName(d.element), from: len(d.extraction.text.Blocks), rank: len(formats.Names)}
	for name, value := range d.attrs {
		e.knownBy(strings.TrimPrefix(name, "xml:"), value)
	}
	d.open = append(d.open, e)
}

// knownBy takes note of what may tell which record it is.
func (e *openElement) knownBy(name, value string) {
	if rank := slices.Index(formats.Names[:e.rank], name); rank >= 0 && value != "" {
		e.id, e.rank = value, rank
	}
}

// closeRecord ends the innermost element, with the text behind its last tag, if it is of that name; or the next
// around it that is.
func (d *xmlDocument) closeRecord(name, text string) {
	if d.beyond > 0 {
		d.beyond--
		return
	}
	name = localName(name)
	last := len(d.open) - 1
	at := last
	for at >= 0 && d.open[at].name != name {
		at--
	}
	if at < 0 {
		return
	}
	e := d.open[at]
	e.prose = e.prose || at < last // others within it do not end
	d.open = d.open[:at]
	if at == 0 {
		return
	}
	around := &d.open[at-1]
	switch {
	case !e.within && text != "":
		around.leaf(name, text)
		d.asideIn(e, name, text)
	case !e.within:
	case e.prose || text != "":
		around.prose = true
	case at > 0 && d.hasOwn(e.from):
		entries.Mark(&d.extraction.text, e.from, name, e.id)
	}
}

// leaf takes note of an element within one, that holds text.
func (e *openElement) leaf(name, text string) {
	if slices.Contains(e.leaves, name) || len(e.leaves) == mostLeaves {
		e.prose = true
		return
	}
	e.leaves = append(e.leaves, name)
	e.knownBy(name, text)
}

// asideIn makes what moves alone such that it makes nothing new.
func (d *xmlDocument) asideIn(e openElement, name, text string) {
	if formats.MovesAlone(name, text) {
		d.aside(e.from)
	}
}

// hasOwn reports whether there is text from a block on that is of no entry within.
func (d *xmlDocument) hasOwn(from int) bool {
	for _, b := range d.extraction.text.Blocks[from:] {
		if b.Entry == 0 {
			return true
		}
	}
	return false
}

// hasRecords reports whether the document may have records: it is no feed, and neither a page nor a drawing.
func (d *xmlDocument) hasRecords() bool {
	return !d.isFeed() && d.root != "" && d.root != "svg" && !strings.HasSuffix(d.root, ":svg")
}
