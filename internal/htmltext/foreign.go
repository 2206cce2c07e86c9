package htmltext

import "slices"

// Foreign content is SVG and MathML: there, CDATA sections exist, tags may close themselves, and no
// element is raw text. Some of its elements, the standard's integration points, hold HTML again. The stack
// s.foreign has the open elements of both kinds.

// maxForeign bounds the memory of hostile nesting; what is nested deeper is read as if it were not.
const maxForeign = 128

func (s *Scanner) enter(el id) {
	if len(s.foreign) < maxForeign {
		s.foreign = append(s.foreign, el)
		s.entered = el != elemSVG && el != elemMath
	}
}

// leave closes the foreign elements beyond the first n.
func (s *Scanner) leave(n int) {
	s.foreign = s.foreign[:n]
	s.entered = false
}

// inForeign reports whether the rules of foreign content hold.
func (s *Scanner) inForeign() bool {
	n := len(s.foreign)
	return n > 0 && (s.foreign[n-1] == elemSVG || s.foreign[n-1] == elemMath)
}

// hidden reports whether text is not shown: within SVG, where it is a drawing's, within templates, and where the page
// hides it.
func (s *Scanner) hidden() bool {
	return s.template > 0 || len(s.concealed.open) > 0 || slices.Contains(s.foreign, elemSVG)
}

// foreignStart handles a start tag in foreign content and reports whether it belongs to it. If not, the
// foreign content has ended without an end tag. Of the tag it is given what follows the name.
func (s *Scanner) foreignStart(el *element, tag []byte, selfClosing bool) bool {
	if el.breakout || el.name == "font" && isFont(tag) {
		s.leaveForeign()
		return false
	}
	if selfClosing {
		return true
	}
	if el.id == elemSVG || el.id == elemMath || s.holdsHTML(el.id, tag) {
		s.enter(el.id)
	}
	return true
}

// holdsHTML reports whether a foreign element holds HTML (section 13.2.6: text integration points of MathML,
// and integration points of HTML).
func (s *Scanner) holdsHTML(el id, tag []byte) bool {
	inSVG := s.foreign[len(s.foreign)-1] == elemSVG
	switch el {
	case elemForeignObject, elemDesc, elemTitle:
		return inSVG
	case elemMI, elemMN, elemMO, elemMS, elemMText:
		return !inSVG
	case elemAnnotationXML:
		encoding := s.value(attribute(tag, "encoding"))
		return !inSVG && (equalFold(encoding, "text/html") || equalFold(encoding, "application/xhtml+xml"))
	}
	return false
}

// isFont reports whether a font element has one of the attributes of HTML's: SVG has an element of that name.
func isFont(tag []byte) bool {
	return attribute(tag, "color") != nil || attribute(tag, "face") != nil || attribute(tag, "size") != nil
}

// attribute returns the value of an attribute, as written, of a tag without its name; nil if it is absent.
func attribute(tag []byte, name string) []byte {
	for i := 0; ; {
		key, value, next, _ := nextAttribute(tag, i)
		if key == nil || equalFold(key, name) {
			return value
		}
		i = next
	}
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
			s.leave(i)
			return
		}
	}
}

// leaveForeign goes back to the innermost HTML.
func (s *Scanner) leaveForeign() {
	n := len(s.foreign)
	for n > 0 && (s.foreign[n-1] == elemSVG || s.foreign[n-1] == elemMath) {
		n--
	}
	s.leave(n)
}
