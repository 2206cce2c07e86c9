// Package htmltext reads an HTML page once, front to back, and gives what a reader sees as text, cut
// into blocks and fields, together with what a crawler follows: links, base, canonical address, robots
// directives, language.
//
// It tokenizes as the HTML standard does (section 13.2.5): quoted attributes, raw text, comments,
// character references and CDATA are recognised by the standard's rules, so its sequence of words and
// links is that of a full tokenizer. It builds no tree. What depends on the tree (is this text inside
// a footer, has this heading ended) is decided by counting tags, which agrees with the tree on pages
// whose tags are balanced and stays sensible on those whose are not.
//
// Input of any bytes is accepted, in time linear in its length, without recursion; memory grows with
// the text and the links found, and is reused by the next Scan.
package htmltext

import (
	"bytes"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/plaintext"
)

// maxInput is how much of a page is read: offsets of blocks are 32 bits wide, and character references
// can expand a little.
const maxInput = 1 << 30

// Options chooses what is gathered beyond links, areas, frames and alternates.
type Options struct {
	Images   bool // also the addresses of images
	Forms    bool // also the addresses that forms are sent to
	XHTML    bool // the page is XML: any element may close itself, CDATA sections stand anywhere
	Anchors  bool // also the texts of anchors
	Parts    bool // also the parts that the page repeats, as entries of its text
	Scripts  bool // the reader's scripts run: what is in noscript is not shown
	MaxLinks int  // the most links gathered; the rest is counted in Skipped; 0 is no limit

	MaxBlocks int // the most blocks of text; behind them, links alone are gathered; 0 is no limit

	RobotsName string // in lower case: whose meta elements count beside those for all robots; empty for none
}

// Kind is the kind of reference that a link is.
type Kind uint8

const (
	Anchor    Kind = iota // a, area
	Alternate             // link rel=alternate: a translation, a feed
	Frame                 // iframe, frame
	Image                 // img
	Form                  // form
	Refresh               // meta http-equiv=refresh: one that dwells, or is not the first
)

// Link is one reference to another document.
type Link struct {
	URL      []byte // as the page writes it, character references decoded; neither trimmed nor resolved
	Kind     Kind
	NoFollow bool // rel=nofollow

	anchor int32 // its number among the scanner's anchors, plus 1; 0 for none, and unless Anchors are wanted
}

// A Scanner reads pages one after the other, reusing its memory: everything it exposes is valid until
// the next Scan, and while the scanned page itself is unchanged. The zero value is ready. It must not
// be used by two goroutines at once.
type Scanner struct {
	Options

	// Text is the visible text. Blocks neither begin nor end with white space, are never empty, and are
	// separated by white space that belongs to none of them; white space within is as on the page, but that a
	// line feed is a blank where the page does not show it as the end of a line. Where it does, the text is cut as
	// plain text is.
	Text  webrace.Text
	Links []Link // in document order, duplicates included

	Title     []byte // of the first title element, white space collapsed
	Language  []byte // the lang of the html element, as written; nil when absent
	Base      []byte // the href of the first base element that has one; nil when absent
	Canonical []byte // the href of the first link rel=canonical; nil when absent
	Refresh   []byte // where the first meta refresh that does not dwell leads; nil when absent, and then no link
	NoIndex   bool   // by a meta robots element
	NoFollow  bool   // by a meta robots element

	Unavailable []byte // what the first meta robots element with unavailable_after holds, from there on; nil when absent

	Skipped int // links beyond MaxLinks

	src         []byte
	pos         int
	dirty       bool // src has NUL or CR bytes, which must be replaced
	titled      bool
	block       int // where in Text.Bytes the open block starts
	field       webrace.Field
	heading     bool
	inside      [3]int // how many nav, footer and aside elements are open
	template    int    // how many template elements are open
	noScript    int    // how many noscript elements are open, whose content is shown
	outside     outside
	pre         int // how many elements are open whose lines are lines
	concealed   concealed
	beside      beside
	besideFrom  int    // where in Text.Bytes its text begins
	besideLinks int    // how many links were found before it
	readings    []byte // of the block
	foreign     []id   // the open elements that decide whether foreign content is being read
	entered     bool   // the last of these holds HTML, and has none yet: it is foreign itself
	parts       parts
	tag         int  // where in src the name of the last start tag ends
	anchorOpen  bool // never, unless Anchors or Parts are wanted
	begun       int  // where in Text.Bytes its text begins
	attrs       attributes
	scratch     []byte
	lines       plaintext.Cutter
	entities    map[string]string // the named references met so far
}

// Scan reads one page, in UTF-8, and leaves what it found in the scanner's fields.
func (s *Scanner) Scan(src []byte) {
	s.reset(src[:min(len(src), maxInput)])
	s.read()
	for s.leaveNoScript() {
		s.read()
	}
	s.endAnchor()
	s.endBlock()
	if n := len(s.Text.Bytes); n > 0 {
		s.Text.Bytes = s.Text.Bytes[:n-1] // the separator after the last block
	}
	s.endParts()
	s.src = nil
}

// read reads src to its end.
func (s *Scanner) read() {
	for s.pos < len(s.src) {
		if s.src[s.pos] == '<' {
			s.markup()
		} else {
			s.run()
		}
	}
}

func (s *Scanner) reset(src []byte) {
	*s = Scanner{
		Options:   s.Options,
		Text:      webrace.Text{Bytes: s.Text.Bytes[:0], Blocks: s.Text.Blocks[:0], Entries: s.Text.Entries[:0]},
		Links:     s.Links[:0],
		lines:     s.lines,
		src:       src,
		dirty:     bytes.IndexByte(src, 0) >= 0 || bytes.IndexByte(src, '\r') >= 0,
		foreign:   s.foreign[:0],
		concealed: concealed{open: s.concealed.open[:0]},
		readings:  s.readings[:0],
		parts:     s.parts.reset(),
		scratch:   s.scratch[:0],
		entities:  s.entities,
	}
}

// markup consumes what begins with the '<' at pos, be it a tag, a comment or a mere character.
func (s *Scanner) markup() {
	i := s.pos + 1
	closing := i < len(s.src) && s.src[i] == '/'
	if closing {
		i++
	}
	if i >= len(s.src) || !isLetter(s.src[i]) {
		s.noTag(s.src[s.pos+1:])
		return
	}
	el, i := s.tagName(i)
	if el.plain && len(s.foreign) == 0 && len(s.concealed.open) == 0 {
		next, _, tell := skipAttributes(s.src, i)
		if next < 0 {
			next = len(s.src)
		}
		if !tell || closing {
			s.pos = next
			return
		}
	}
	if closing {
		s.endTag(el, i)
	} else {
		s.startTag(el, i)
	}
}

// noTag consumes '<' and what follows it, of which there is no tag.
func (s *Scanner) noTag(rest []byte) {
	switch {
	case len(rest) == 0, len(rest) == 1 && rest[0] == '/':
		s.text(s.src[s.pos:])
		s.pos = len(s.src)
	case rest[0] == '!':
		s.declaration(rest[1:])
	case rest[0] == '?', rest[0] == '/': // a bogus comment, or "</>", which is nothing at all
		s.pos = after(s.src, s.pos, '>')
	default:
		s.text(s.src[s.pos : s.pos+1])
		s.pos++
	}
}

// declaration consumes "<!" and what follows it.
func (s *Scanner) declaration(rest []byte) {
	switch {
	case bytes.HasPrefix(rest, []byte("--")):
		s.pos = commentEnd(s.src, s.pos+len("<!--"))
	case (s.inForeign() || s.entered || s.XHTML) && bytes.HasPrefix(rest, []byte(cdataOpen)):
		start := s.pos + len("<!") + len(cdataOpen)
		end, next := cdataEnd(s.src, start)
		s.literal(s.src[start:end])
		s.pos = next
	default: // a doctype or a bogus comment
		s.pos = after(s.src, s.pos, '>')
	}
}

// startTag consumes the start tag at pos, whose name ends at i, and, for elements of raw text, their content.
func (s *Scanner) startTag(el *element, i int) {
	name, tag := i, s.src[s.pos+1:i]
	var selfClosing, tell bool
	if el.attrs {
		i, selfClosing = s.attrs.read(s.src, i)
		tell = s.attrs.tell
	} else {
		i, selfClosing, tell = skipAttributes(s.src, i)
	}
	s.pos = i
	if i < 0 { // the page ends within the tag: it is no tag
		s.pos = len(s.src)
		return
	}
	conceals := (tell || el.id == elemDialog || len(s.concealed.open) > 0) && s.conceals(el, tag, s.src[name:i], selfClosing)
	if s.inForeign() && s.foreignStart(el, s.src[name:i], selfClosing) {
		s.separate(el.flow)
		if el.id == elemA {
			if s.attrs.href == nil { // as SVG 2 has it
				s.attrs.href = s.attrs.xlink
			}
			s.element(el)
		}
		if conceals {
			s.conceal(el, tag)
		}
		return
	}
	s.entered = false
	s.separate(el.flow)
	s.tag = name
	if el.attrs {
		s.element(el)
	}
	if selfClosing && (s.XHTML || el.id == elemSVG || el.id == elemMath) {
		return
	}
	s.open(el, s.src[name:i])
	if s.Parts && el.frame != noFrame && el.frame != frameLink {
		s.openPart(el, name)
	}
	if conceals {
		s.conceal(el, tag)
	}
	if el.raw != notRaw && (el.id != elemNoScript || s.Scripts) {
		s.rawText(el)
	}
}

// open takes note of an element whose content is something special. Of its tag it is given what follows the name.
func (s *Scanner) open(el *element, attributes []byte) {
	switch el.id {
	case elemTemplate:
		if s.template > 0 || !isShadowRoot(attributes) {
			s.template++
		}
	case elemNoScript:
		s.enterNoScript()
	case elemSVG, elemMath:
		s.enter(el.id)
	case elemPre:
		s.pre++
		s.enterField(el)
	case elemRuby, elemRB, elemRP, elemRT, elemSup:
		s.startBeside(el)
	default:
		s.enterField(el)
	}
}

// isShadowRoot reports whether the content of a template is that of its parent, and shown in its place.
func isShadowRoot(attributes []byte) bool {
	mode := attribute(attributes, "shadowrootmode")
	return equalFold(mode, "open") || equalFold(mode, "closed")
}

// endTag consumes the end tag at pos, whose name ends at i.
func (s *Scanner) endTag(el *element, i int) {
	name := s.src[s.pos+len("</") : i]
	if s.pos, _, _ = skipAttributes(s.src, i); s.pos < 0 {
		s.pos = len(s.src)
		return
	}
	if len(s.concealed.open) > 0 {
		s.endConcealed(el, name)
	}
	if len(s.foreign) > 0 {
		s.foreignEnd(el)
	}
	s.separate(el.flow)
	if s.Parts && el.frame != noFrame && el.frame != frameLink {
		s.closePart(el)
	}
	switch el.id {
	case elemTemplate:
		s.template = max(0, s.template-1)
	case elemNoScript:
		s.noScript = max(0, s.noScript-1)
	case elemA:
		s.endAnchor()
		s.partLinks()
	case elemPre:
		s.pre = max(0, s.pre-1)
		s.leaveField(el)
	case elemRuby, elemRB, elemRP, elemRT, elemSup:
		s.endTagBeside(el)
	default:
		s.leaveField(el)
	}
}
