package htmltext

import (
	"bytes"

	"github.com/cespare/xxhash/v2"
)

// anchor is an element a with an address.
type anchor struct {
	href, hrefEnd      int32 // where in the page the address is
	start, end         int32 // where its text lies
	heading            bool  // it stands in one
	touches, isTouched bool  // without a blank, an element in front of it, or one behind it
}

// mostAnchors is how many anchors of a page are looked at.
const mostAnchors = 1 << 17

// beginAnchor takes note that an anchor begins. Its link, if it is among the links, has this number.
func (s *Scanner) beginAnchor(el *element, link int) {
	p := &s.parts
	if len(p.anchors) == mostAnchors {
		return
	}
	s.begun = len(s.Text.Bytes)
	a := anchor{start: int32(s.begun), end: int32(s.begun), heading: s.heading}
	if link < len(s.Links) {
		s.Links[link].anchor = int32(len(p.anchors) + 1)
	}
	if s.Parts {
		a.href = int32(cap(s.src) - cap(s.attrs.href)) // it is a slice of the page
		a.hrefEnd = a.href + int32(len(s.attrs.href))
		switch {
		case s.begun > s.block:
			a.touches = !isSpace(s.Text.Bytes[s.begun-1]) && s.behindElement()
			p.link.el = nil
		case s.hidden():
			p.link.el = nil
		default:
			p.link, p.depth = s.begin(el, s.tag), len(p.open)
		}
	}
	s.anchorOpen, p.anchors = true, append(p.anchors, a)
}

// mainAnchor returns by which of so many anchors what has them is known: the first with text in a heading, or else
// that of the most text; -1 if there is none.
func (p *parts) mainAnchor(first, count int32) int32 {
	main, longest := int32(-1), int32(-1)
	for i := first; i < first+count; i++ {
		a := &p.anchors[i]
		length := a.end - a.start
		if a.heading && length > 0 {
			return i
		}
		if length > longest && a.href < a.hrefEnd {
			main, longest = i, length
		}
	}
	return main
}

// target returns a hash of the address of an anchor, as it is written; 0 for none.
func (s *Scanner) target(number int32) uint64 {
	if number < 0 {
		return 0
	}
	a := &s.parts.anchors[number]
	href := bytes.TrimSpace(s.value(s.src[a.href:a.hrefEnd]))
	if len(href) == 0 || len(href) == 1 && href[0] == '#' {
		return 0
	}
	return xxhash.Sum64(href) | 1
}

// behindElement reports whether an end tag stands in front of the start tag that was read last.
func (s *Scanner) behindElement() bool {
	const longest = 32 // that is looked at
	end := s.tag - len("<a")
	before := s.src[max(0, end-longest):end]
	open := bytes.LastIndexByte(before, '<')
	return len(before) > 0 && before[len(before)-1] == '>' && open >= 0 && before[open+1] == '/'
}

// endAnchor notes where the text of the open anchor lies, if one is open. It ends with what is no white space, which
// the end of its block leaves where it is.
func (s *Scanner) endAnchor() {
	if !s.anchorOpen {
		return
	}
	s.anchorOpen = false
	text := s.Text.Bytes
	end := len(text)
	for end > s.begun && isSpace(text[end-1]) {
		end--
	}
	start := min(s.begun+skipSpace(text[s.begun:end], 0), end)
	a := &s.parts.anchors[len(s.parts.anchors)-1]
	a.start, a.end = int32(start), int32(end)
	if s.Parts {
		a.isTouched = start < end && end == len(text) && s.pos+1 < len(s.src) && s.src[s.pos] == '<' && isLetter(s.src[s.pos+1])
		s.endLink()
	}
}

// TextOf returns the text of a link that is an anchor, without white space at its ends and with that of blocks and
// elements within; nil if it has none, or Anchors are not wanted.
func (s *Scanner) TextOf(l Link) []byte {
	if l.anchor == 0 || !s.Anchors {
		return nil
	}
	at := s.parts.anchors[l.anchor-1]
	if at.start == at.end {
		return nil
	}
	return s.Text.Bytes[at.start:at.end]
}
