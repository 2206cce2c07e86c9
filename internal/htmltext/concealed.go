package htmltext

import (
	"bytes"
	"strings"
)

// What a page does not show is no text of it: elements with the attribute hidden, with the style display:none, or
// popover, and dialogs that are not open. What a reader may open or find counts: details, and hidden="until-found".
// Links are followed all the same. A page that hides all of itself, until its scripts have run, hides nothing. Nor do
// the parts that a server sends late, each in an element of its own, out of which a script puts it in its place.
//
// As there is no tree, the scanner keeps the elements that are open from the concealed one on. It ends with its end
// tag, or with that of one around it, and with the tags that end an element whose end tag may be left out.

// maxConcealed is how many elements are kept; those within are counted.
const maxConcealed = 64

// concealed are the elements that are open within one that is not shown, which is the first.
type concealed struct {
	open   []name
	beyond int  // how many more are open
	inline bool // the first is part of the running text
}

// name is a hash of an element's name, in lower case: few elements of a page are looked at here, but of those all, and
// there are more of them than the scanner knows.
type name uint64

func nameOf[T string | []byte](written T) (n name) {
	for i := range len(written) {
		n = (n ^ name(lower[written[i]])) * 0x9E3779B97F4A7C15
		n ^= n >> 32
	}
	return n
}

// tells reports whether an attribute may tell that its element is not shown.
func tells(name []byte) bool { return mayTell[name[0]] && isTelling(name) }

var mayTell = class("shpSHP")

func isTelling(name []byte) bool {
	switch len(name) {
	case len("style"):
		return equalFold(name, "style")
	case len("hidden"):
		return equalFold(name, "hidden")
	case len("popover"):
		return equalFold(name, "popover")
	}
	return false
}

// conceals takes note of a start tag that may say so, or stands within what is not shown, and reports whether what it
// begins is not shown, within what is.
func (s *Scanner) conceals(el *element, written, attributes []byte, selfClosing bool) bool {
	empty := selfClosing && (s.XHTML || len(s.foreign) > 0)
	if open := s.concealed.open; len(open) == 1 && isStreamed(attributes) { // rows, within a table that is not shown
		s.concealed.open = open[:0]
	} else if len(open) > 0 {
		s.startConcealed(nameOf(written), empty)
	}
	return len(s.concealed.open) == 0 && !empty && s.isConcealed(el, attributes) && !void[nameOf(written)]
}

// isConcealed reports whether an element is not shown. It is given its attributes, as written.
func (s *Scanner) isConcealed(el *element, attributes []byte) bool {
	if el.name == "html" || el.name == "body" || isStreamed(attributes) {
		return false
	}
	if hidden := attribute(attributes, "hidden"); hidden != nil && !equalFold(s.value(hidden), "until-found") {
		return true
	}
	if style := attribute(attributes, "style"); style != nil && NotDisplayed(s.value(style)) {
		return true
	}
	return attribute(attributes, "popover") != nil || el.id == elemDialog && attribute(attributes, "open") == nil
}

// isStreamed reports whether an element has a part of a page that came late: by React, whose servers name them S: and a
// number.
func isStreamed(attributes []byte) bool {
	id := attribute(attributes, "id")
	n := bytes.LastIndex(id, []byte("S:"))
	return n >= 0 && n+2 < len(id) && len(bytes.Trim(id[n+2:], "0123456789abcdef")) == 0
}

// NotDisplayed reports whether the value of an attribute style has display:none. What is declared later counts,
// unless what was before is important.
func NotDisplayed(style []byte) (not bool) {
	important := false
	for declaration := range bytes.SplitSeq(style, []byte{';'}) {
		property, value, _ := bytes.Cut(declaration, []byte{':'})
		if !equalFold(bytes.TrimSpace(property), "display") {
			continue
		}
		value, rest, marked := bytes.Cut(value, []byte{'!'})
		if marked = marked && equalFold(bytes.TrimSpace(rest), "important"); important && !marked {
			continue
		}
		not, important = equalFold(bytes.TrimSpace(value), "none"), marked
	}
	return not
}

// conceal takes note that an element which is not shown has begun.
func (s *Scanner) conceal(el *element, written []byte) {
	s.concealed.open = append(s.concealed.open[:0], nameOf(written))
	s.concealed.beyond, s.concealed.inline = 0, el.flow != breaks
}

// void are the elements that have no content.
var void = names("area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr")

func names(list string) map[name]bool {
	set := make(map[name]bool)
	for written := range strings.FieldsSeq(list) {
		set[nameOf(written)] = true
	}
	return set
}

// optional are the elements whose end tag may be left out, and what begins behind them.
var optional = endedBy(map[string]string{
	"p": "address article aside blockquote details dialog dir div dl dt dd fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 " +
		"header hgroup hr li main menu nav ol p pre search section table ul",
	"li": "li", "dt": "dt dd", "dd": "dt dd",
	"option": "option optgroup", "optgroup": "optgroup",
	"td": "td th tr tbody thead tfoot", "th": "td th tr tbody thead tfoot", "tr": "tr tbody thead tfoot",
	"tbody": "tbody thead tfoot", "thead": "tbody thead tfoot", "tfoot": "tbody thead tfoot", "caption": "colgroup tr tbody thead tfoot",
})

func endedBy(lists map[string]string) map[name]map[name]bool {
	ends := make(map[name]map[name]bool)
	for written, list := range lists {
		ends[nameOf(written)] = names(list)
	}
	return ends
}

// encloses are the elements that end no further than at them.
var encloses = names("ul ol menu dl table select button template")

// made are the elements that their end tag makes where none is open.
var made = names("p br")

// startConcealed takes note of a start tag within what is not shown. What may end by it, ends.
func (s *Scanner) startConcealed(begins name, selfClosing bool) {
	c := &s.concealed
	for i := len(c.open) - 1; i >= 0 && c.beyond == 0; i-- {
		if optional[c.open[i]][begins] {
			c.open = c.open[:i]
		} else if encloses[c.open[i]] {
			break
		}
	}
	switch {
	case len(c.open) == 0 || selfClosing || void[begins]:
	case len(c.open) >= maxConcealed:
		c.beyond++
	default:
		c.open = append(c.open, begins)
	}
}

// endConcealed takes note of an end tag within what is not shown. One that ends nothing there is that of an element
// around, unless no end tag of the running text can end the elements that are not shown.
func (s *Scanner) endConcealed(el *element, written []byte) {
	c := &s.concealed
	if c.beyond > 0 {
		c.beyond--
		return
	}
	ends := nameOf(written)
	for i := len(c.open) - 1; i >= 0; i-- {
		if c.open[i] == ends {
			c.open = c.open[:i]
			return
		}
	}
	if !made[ends] && (el.flow == breaks || c.inline) {
		c.open = c.open[:0]
	}
}
