package selection

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
)

// speaks is :lang(), of ranges in lower case.
func speaks(ranges []string) test {
	return func(m *matcher, i int32) bool {
		language := m.language(i)
		for _, r := range ranges {
			m.budget.Spend((len(language) + len(r)) / foldedBytes)
			if inRange(language, r) {
				return true
			}
		}
		return false
	}
}

// inRange reports whether a language is in a range: the extended filtering of RFC 4647, section 3.3.2, where a range
// that does not name a script or a region is one of all. The empty range is that of an unknown language alone.
func inRange(language, within string) bool {
	if language == "" || within == "" {
		return language == within
	}
	wanted, rest, more := strings.Cut(within, "-")
	first, tags, _ := strings.Cut(language, "-")
	if wanted != "*" && !strings.EqualFold(wanted, first) {
		return false
	}
	for more {
		wanted, rest, more = strings.Cut(rest, "-")
		for wanted != "*" {
			var tag string
			if tag, tags, _ = strings.Cut(tags, "-"); strings.EqualFold(tag, wanted) && tag != "" {
				break
			}
			if len(tag) <= 1 { // there is none, or what follows is private
				return false
			}
		}
	}
	return true
}

// language returns that of an element; it is empty if it is not known. What HTTP declares of the document is not looked
// at.
func (m *matcher) language(i int32) string {
	if m.speaker == nil {
		m.budget.Spend(len(m.nodes) / wordsPerStep * 2)
		m.listen()
	}
	if speaker := m.speaker[i]; speaker >= 0 {
		return *m.says(m.nodes[speaker])
	}
	return m.declared
}

// listen finds the nearest element that declares its language for each.
func (e *elements) listen() {
	e.speaker = make([]int32, len(e.nodes))
	for i, n := range e.nodes {
		e.speaker[i] = -1
		if e.says(n) != nil {
			e.speaker[i] = int32(i)
		} else if p := e.parent[i]; p >= 0 {
			e.speaker[i] = e.speaker[p]
		}
		if e.page && n.Data == "meta" {
			e.declare(n)
		}
	}
}

// says returns the language that an element declares, or nil.
func (e *elements) says(n *html.Node) *string {
	var lang *string
	for i := range n.Attr {
		switch a := &n.Attr[i]; {
		case a.Namespace == "xml" && a.Key == "lang":
			return &a.Val // in XML, before that of HTML
		case e.page && a.Namespace == "" && a.Key == "lang":
			lang = &a.Val
		}
	}
	return lang
}

// declare reads the language of a page from <meta http-equiv=content-language>, as the HTML standard requires in
// section 4.2.5.3.
func (e *elements) declare(meta *html.Node) {
	directive, content := htmltree.Value(meta.Attr, "http-equiv"), htmltree.Value(meta.Attr, "content")
	if directive == nil || content == nil || !strings.EqualFold(*directive, "content-language") || strings.Contains(*content, ",") {
		return
	}
	if words := strings.Fields(*content); len(words) > 0 {
		e.declared = words[0]
	}
}
