package selection

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/xpathguard"
)

// matcher matches selectors with the elements of one document. What it finds out of the elements before and
// around others it remembers, so that the steps it takes grow with the document, not with its depth to the
// power of the selector's length.
type matcher struct {
	budget    *xpathguard.Budget
	html      bool // names are those of HTML: case does not matter
	reached   map[reach]bool
	positions map[*html.Node]position
}

// reach asks whether an element, or one before it in the direction of the combinator, matches a selector.
type reach struct {
	*complex
	*html.Node
}

// position is where an element stands among those of its parent, counted from 1, from both ends.
type position struct{ child, lastChild, ofType, lastOfType int }

func newMatcher(budget *xpathguard.Budget, isHTML bool) *matcher {
	return &matcher{budget: budget, html: isHTML, reached: map[reach]bool{}, positions: map[*html.Node]position{}}
}

// find returns the elements of a document that one of the selectors matches, in the order of the document.
func (m *matcher) find(root *html.Node, list []*complex) (found []*html.Node) {
	for n := root; n != nil; n = following(n, root) {
		if m.budget.Spend(1); n.Type == html.ElementNode && m.any(n, list) {
			found = append(found, n)
		}
	}
	return found
}

// following returns the node after another in the order of the document, within root.
func following(n, root *html.Node) *html.Node {
	if n.FirstChild != nil {
		return n.FirstChild
	}
	for n != root && n.NextSibling == nil {
		n = n.Parent
	}
	if n == root {
		return nil
	}
	return n.NextSibling
}

func (m *matcher) any(n *html.Node, list []*complex) bool {
	for _, c := range list {
		if m.matches(n, c) {
			return true
		}
	}
	return false
}

func (m *matcher) matches(n *html.Node, c *complex) bool {
	if !m.meets(n, c) {
		return false
	}
	switch c.combinator {
	case '>':
		parent := parentElement(n)
		return parent != nil && m.matches(parent, c.left)
	case '+':
		before := elementBefore(n)
		return before != nil && m.matches(before, c.left)
	case ' ':
		return m.reaches(n, c.left, parentElement)
	case '~':
		return m.reaches(n, c.left, elementBefore)
	}
	return true
}

// meets reports whether an element meets the conditions on it alone.
func (m *matcher) meets(n *html.Node, c *complex) bool {
	for _, t := range c.tests {
		m.budget.Spend(1)
		if !t(m, n) {
			return false
		}
	}
	return true
}

// reaches reports whether one of the elements to which the steps lead matches.
func (m *matcher) reaches(n *html.Node, c *complex, step func(*html.Node) *html.Node) (found bool) {
	var passed []*html.Node
	for at := step(n); at != nil && !found; at = step(at) {
		m.budget.Spend(1)
		known := false
		if found, known = m.reached[reach{c, at}]; known {
			break
		}
		passed = append(passed, at)
		found = m.matches(at, c)
	}
	for _, p := range passed {
		m.reached[reach{c, p}] = found
	}
	return found
}

// has looks for elements in the direction of each selector's combinator.
func (m *matcher) has(n *html.Node, list []*complex) bool {
	for _, c := range list {
		switch c.combinator {
		case ' ':
			for at := following(n, n); at != nil; at = following(at, n) {
				if m.budget.Spend(1); at.Type == html.ElementNode && m.meets(at, c) {
					return true
				}
			}
		case '>':
			for at := n.FirstChild; at != nil; at = at.NextSibling {
				if m.budget.Spend(1); at.Type == html.ElementNode && m.meets(at, c) {
					return true
				}
			}
		case '+':
			if next := elementAfter(n); next != nil && m.meets(next, c) {
				return true
			}
		case '~':
			for at := elementAfter(n); at != nil; at = elementAfter(at) {
				if m.budget.Spend(1); m.meets(at, c) {
					return true
				}
			}
		}
	}
	return false
}

func parentElement(n *html.Node) *html.Node {
	if n.Parent == nil || n.Parent.Type != html.ElementNode {
		return nil
	}
	return n.Parent
}

func elementBefore(n *html.Node) *html.Node {
	for n = n.PrevSibling; n != nil && n.Type != html.ElementNode; n = n.PrevSibling {
	}
	return n
}

func elementAfter(n *html.Node) *html.Node {
	for n = n.NextSibling; n != nil && n.Type != html.ElementNode; n = n.NextSibling {
	}
	return n
}

// attribute returns the value of an attribute, or nil.
func (m *matcher) attribute(n *html.Node, key string) *string {
	if m.html {
		key = strings.ToLower(key)
	}
	m.budget.Spend(len(n.Attr) / 4)
	return value(n.Attr, key)
}

func anything(*matcher, *html.Node) bool { return true }

func hasName(name string) test {
	lower := strings.ToLower(name)
	return func(m *matcher, n *html.Node) bool {
		return n.Data == name || m.html && n.Data == lower
	}
}

func attributeIs(key, wanted string, compare func(value, wanted string) bool) test {
	return func(m *matcher, n *html.Node) bool {
		v := m.attribute(n, key)
		if v == nil {
			return false
		}
		m.budget.Spend(len(*v) / xpathguard.StepBytes)
		return compare(*v, wanted)
	}
}

func equals(value, wanted string) bool { return value == wanted }

func hasWord(value, wanted string) bool {
	for word := range strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(" \t\n\r\f", r) }) {
		if word == wanted {
			return true
		}
	}
	return false
}

// operators compare the value of an attribute; those that look for a part find no empty one.
var operators = map[byte]func(value, wanted string) bool{
	'=': equals,
	'~': hasWord,
	'|': func(v, w string) bool { return v == w || strings.HasPrefix(v, w+"-") },
	'^': func(v, w string) bool { return w != "" && strings.HasPrefix(v, w) },
	'$': func(v, w string) bool { return w != "" && strings.HasSuffix(v, w) },
	'*': func(v, w string) bool { return w != "" && strings.Contains(v, w) },
}

// position finds out where all the children of an element's parent stand, once.
func (m *matcher) position(n *html.Node) position {
	if p, known := m.positions[n]; known || n.Parent == nil {
		return p
	}
	children, types := 0, map[string]int{}
	for kid := n.Parent.FirstChild; kid != nil; kid = kid.NextSibling {
		if m.budget.Spend(1); kid.Type == html.ElementNode {
			children++
			types[kid.Data]++
			m.positions[kid] = position{child: children, ofType: types[kid.Data]}
		}
	}
	for kid := n.Parent.FirstChild; kid != nil; kid = kid.NextSibling {
		if kid.Type == html.ElementNode {
			p := m.positions[kid]
			p.lastChild, p.lastOfType = children-p.child+1, types[kid.Data]-p.ofType+1
			m.positions[kid] = p
		}
	}
	return m.positions[n]
}

// nth is :nth-child(an+b) and the like.
func nth(name string, step, offset int) test {
	return func(m *matcher, n *html.Node) bool {
		p := m.position(n)
		at := p.child
		switch name {
		case "nth-last-child":
			at = p.lastChild
		case "nth-of-type":
			at = p.ofType
		case "nth-last-of-type":
			at = p.lastOfType
		}
		if step == 0 {
			return at == offset
		}
		return (at-offset)%step == 0 && (at-offset)/step >= 0
	}
}

var simplePseudos = map[string]test{
	"first-child":   func(m *matcher, n *html.Node) bool { return m.position(n).child == 1 },
	"last-child":    func(m *matcher, n *html.Node) bool { return m.position(n).lastChild == 1 },
	"first-of-type": func(m *matcher, n *html.Node) bool { return m.position(n).ofType == 1 },
	"last-of-type":  func(m *matcher, n *html.Node) bool { return m.position(n).lastOfType == 1 },
	"only-child": func(m *matcher, n *html.Node) bool {
		p := m.position(n)
		return p.child == 1 && p.lastChild == 1
	},
	"only-of-type": func(m *matcher, n *html.Node) bool {
		p := m.position(n)
		return p.ofType == 1 && p.lastOfType == 1
	},
	"root": func(_ *matcher, n *html.Node) bool { return n.Parent != nil && n.Parent.Type == html.DocumentNode },
	"empty": func(_ *matcher, n *html.Node) bool {
		for kid := n.FirstChild; kid != nil; kid = kid.NextSibling {
			if kid.Type == html.ElementNode || kid.Type == html.TextNode && strings.TrimSpace(kid.Data) != "" {
				return false
			}
		}
		return true
	},
}

var simpleNames = []string{"first-child", "last-child", "first-of-type", "last-of-type", "only-child", "only-of-type", "root", "empty"}
