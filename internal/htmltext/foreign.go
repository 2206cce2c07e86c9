package htmltext

import "slices"

// Foreign content is SVG and MathML: there, CDATA sections exist, tags may close themselves, and no
// element is raw text. Some elements of SVG hold HTML again. The stack s.foreign has the open elements
// of both kinds.

// maxForeign bounds the memory of hostile nesting; what is nested deeper is read as if it were not.
const maxForeign = 128

func (s *Scanner) enter(el id) {
	if len(s.foreign) < maxForeign {
		s.foreign = append(s.foreign, el)
	}
}

// inForeign says whether the rules of foreign content hold.
func (s *Scanner) inForeign() bool {
	n := len(s.foreign)
	return n > 0 && (s.foreign[n-1] == elemSVG || s.foreign[n-1] == elemMath)
}

// hidden says whether text is not shown: within SVG, where it is a drawing's, and within templates.
func (s *Scanner) hidden() bool {
	return s.template > 0 || slices.Contains(s.foreign, elemSVG)
}

// foreignStart handles a start tag in foreign content and says whether it belongs to it. If not, the
// foreign content has ended without an end tag.
func (s *Scanner) foreignStart(el *element, selfClosing bool) bool {
	if el.breakout {
		s.leaveForeign()
		return false
	}
	if selfClosing {
		return true
	}
	switch el.id {
	case elemSVG, elemMath:
		s.enter(el.id)
	case elemForeignObject, elemDesc, elemTitle:
		if s.foreign[len(s.foreign)-1] == elemSVG {
			s.enter(el.id)
		}
	}
	return true
}

// foreignEnd handles an end tag while some foreign element is open: it closes the innermost element of
// that name and everything within it.
func (s *Scanner) foreignEnd(el *element) {
	if s.inForeign() && (el.breakout || el.heading != noHeading) {
		s.leaveForeign()
		return
	}
	if el.id == elemOther {
		return
	}
	for i := len(s.foreign) - 1; i >= 0; i-- {
		if s.foreign[i] == el.id {
			s.foreign = s.foreign[:i]
			return
		}
	}
}

// leaveForeign goes back to the innermost HTML.
func (s *Scanner) leaveForeign() {
	for s.inForeign() {
		s.foreign = s.foreign[:len(s.foreign)-1]
	}
}
