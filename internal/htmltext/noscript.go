package htmltext

// To readers whose scripts run, the content of noscript is raw text, and these are the readers for whom a page is made:
// what begins in it and does not end, such as <iframe/>, takes nothing of the page away from them. So here it ends with
// the element, too, though the standard has the rest of the page belong to it where no scripts run.

// NoScriptEnd returns where the content of a noscript element ends that begins at i; the end of the page if the element
// has no end tag.
func NoScriptEnd(src []byte, i int) int { return endTagOf("noscript", src, i) }

// outside is what is around the noscript element that is open.
type outside struct {
	page              []byte // all of it, while src ends where the element does; nil where none is open
	template, foreign int
	concealed, beyond int
}

// enterNoScript takes note that a noscript element has begun.
func (s *Scanner) enterNoScript() {
	s.noScript++
	if s.outside.page != nil || s.Scripts || s.XHTML {
		return
	}
	s.outside = outside{s.src, s.template, len(s.foreign), len(s.concealed.open), s.concealed.beyond}
	s.src = s.src[:NoScriptEnd(s.src, s.pos)]
}

// leaveNoScript goes on with the page behind what is in noscript, and reports whether it was there. What began within
// hides nothing any more.
func (s *Scanner) leaveNoScript() bool {
	out := s.outside
	if out.page == nil {
		return false
	}
	s.outside = outside{}
	s.src, s.noScript = out.page, 1
	s.template = min(s.template, out.template)
	if len(s.foreign) > out.foreign {
		s.leave(out.foreign)
	}
	if len(s.concealed.open) > out.concealed {
		s.concealed.open, s.concealed.beyond = s.concealed.open[:out.concealed], out.beyond
	}
	return true
}
