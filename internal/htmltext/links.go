package htmltext

import "bytes"

// element takes what is to be had from the attributes of a start tag.
func (s *Scanner) element(el *element) {
	if s.template > 0 {
		return
	}
	a := &s.attrs
	switch el.id {
	case elemA:
		s.endAnchor() // the standard lets none stand within another
		before := len(s.Links)
		s.link(Anchor, a.href)
		if (s.Anchors || s.Parts) && a.href != nil {
			s.beginAnchor(el, before)
		}
	case elemArea:
		s.link(Anchor, a.href)
	case elemFrame:
		s.link(Frame, a.src)
	case elemImg:
		if s.Images {
			s.link(Image, a.src)
		}
	case elemForm:
		if s.Forms {
			s.link(Form, a.action)
		}
	case elemLink:
		s.relation()
	case elemBase:
		if s.Base == nil && a.href != nil {
			s.Base = s.value(a.href)
		}
	case elemMeta:
		s.meta()
	case elemHTML:
		if a.lang == nil {
			a.lang = a.xmlLang
		}
		if s.Language == nil && a.lang != nil {
			s.Language = s.value(a.lang)
		}
	}
}

// link takes note of a reference; href is nil when the element has none.
func (s *Scanner) link(kind Kind, href []byte) {
	if href == nil {
		return
	}
	s.found(kind, s.value(href), s.attrs.rel != nil && hasWord(s.value(s.attrs.rel), "nofollow"))
}

func (s *Scanner) found(kind Kind, url []byte, noFollow bool) {
	if s.MaxLinks > 0 && len(s.Links) >= s.MaxLinks {
		s.Skipped++
		return
	}
	s.Links = append(s.Links, Link{URL: url, Kind: kind, NoFollow: noFollow})
}

// relation handles a link element.
func (s *Scanner) relation() {
	if s.attrs.href == nil || s.attrs.rel == nil {
		return
	}
	rel := s.value(s.attrs.rel)
	if s.Canonical == nil && hasWord(rel, "canonical") {
		s.Canonical = s.value(s.attrs.href)
	}
	if hasWord(rel, "alternate") && !hasWord(rel, "stylesheet") {
		s.link(Alternate, s.attrs.href)
	}
}

// meta handles a meta element.
func (s *Scanner) meta() {
	a := &s.attrs
	if a.content == nil {
		return
	}
	if equalFold(a.name, "robots") || s.RobotsName != "" && equalFold(a.name, s.RobotsName) {
		s.robots(s.value(a.content))
	}
	if equalFold(a.httpEquiv, "refresh") {
		s.refresh(s.value(a.content))
	}
}

// robots handles what is asked of robots.
func (s *Scanner) robots(content []byte) {
	none := hasWord(content, "none")
	s.NoIndex = s.NoIndex || none || hasWord(content, "noindex")
	s.NoFollow = s.NoFollow || none || hasWord(content, "nofollow")
	const unavailable = "unavailable_after"
	for i := 0; s.Unavailable == nil && i+len(unavailable) <= len(content); i++ {
		if equalFold(content[i:i+len(unavailable)], unavailable) {
			s.Unavailable = content[i:]
		}
	}
}

// dwell is for how many seconds a page may be shown at most that is there to send its reader on. One that
// stays for longer is there to be read.
const dwell = 15

// refresh handles the content of a meta refresh. One in noscript is a link: it sends away those who have no scripts,
// but the text of the page is often there all the same.
func (s *Scanner) refresh(content []byte) {
	target, seconds, ok := refreshTarget(content)
	switch {
	case !ok:
	case seconds <= dwell && s.Refresh == nil && s.noScript == 0:
		s.Refresh = target
	default:
		s.found(Refresh, target, false)
	}
}

// RefreshTarget reads the content of a meta refresh, or of a Refresh field in a header: an address, and whether it
// is loaded so soon that the page is there to send its reader on.
func RefreshTarget(content []byte) (target []byte, atOnce, ok bool) {
	target, seconds, ok := refreshTarget(content)
	return target, seconds <= dwell, ok
}

// refreshTarget returns the address in the content of a refresh and after how many seconds it is loaded, by
// the steps of section 4.2.5.3. A refresh without an address reloads the page itself, and is no link.
func refreshTarget(b []byte) (target []byte, seconds int, ok bool) {
	b = b[skipSpace(b, 0):]
	i := 0
	for whole := true; i < len(b) && ('0' <= b[i] && b[i] <= '9' || b[i] == '.'); i++ {
		if whole = whole && b[i] != '.'; whole {
			seconds = min(10*seconds+int(b[i]-'0'), dwell+1)
		}
	}
	if i == 0 {
		return nil, 0, false
	}
	b = b[i:]
	if len(b) == 0 || !isSpace(b[0]) && b[0] != ';' && b[0] != ',' {
		return nil, 0, false
	}
	b = b[skipSpace(b, 0):]
	if len(b) > 0 && (b[0] == ';' || b[0] == ',') {
		b = b[1:]
	}
	b = b[skipSpace(b, 0):]
	if len(b) >= 3 && equalFold(b[:3], "url") {
		if rest := b[3+skipSpace(b[3:], 0):]; len(rest) > 0 && rest[0] == '=' {
			b = rest[1+skipSpace(rest[1:], 0):]
		}
	}
	if len(b) > 0 && (b[0] == '"' || b[0] == '\'') {
		quote := b[0]
		b = b[1:]
		if n := bytes.IndexByte(b, quote); n >= 0 {
			b = b[:n]
		}
	}
	return b, seconds, len(b) > 0
}

// hasWord reports whether the list, separated by white space, commas or semicolons, has the word, in any case.
func hasWord(list []byte, word string) bool {
	for i := 0; i < len(list); i++ {
		start := i
		for i < len(list) && !isSpace(list[i]) && list[i] != ',' && list[i] != ';' {
			i++
		}
		if equalFold(list[start:i], word) {
			return true
		}
	}
	return false
}

// equalFold reports whether b is the lower-case word, in any case.
func equalFold(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i, c := range b {
		if lower[c] != word[i] {
			return false
		}
	}
	return true
}
