package selection

import (
	"iter"
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/xpathguard"
)

// matcher matches selectors with the elements of one document, a set of elements at a time: those that meet the
// conditions right of a combinator, then those that the selector left of it matches, then of the former those to
// which the combinator leads from the latter. Each element is passed once, however many lead there. So the steps
// grow with the length of a selector times the elements that it may concern, whatever the document looks like, and
// what is kept are sets of a bit an element.
type matcher struct {
	*elements
	budget *xpathguard.Budget
	placed bool // the places of elements are paid for
}

// matching returns the elements that one of the selectors matches.
func (m *matcher) matching(list []*complex) set64 {
	found := m.newSet()
	for _, c := range list {
		m.match(c, found)
	}
	return found
}

// newSet returns an empty set, which is paid for.
func (m *matcher) newSet() set64 {
	s := newSet(len(m.nodes))
	m.budget.Spend(1 + len(s)/wordsPerStep)
	return s
}

// wordsPerStep is how many words of a set are passed over at the cost of a step.
const wordsPerStep = 8

// match adds the elements that a selector matches to a set.
func (m *matcher) match(c *complex, found set64) {
	if c.left == nil {
		m.meeting(&c.compound, found)
		return
	}
	right := m.newSet()
	if !m.meeting(&c.compound, right) {
		return // as most often where it is a class that the page does not have
	}
	left := m.newSet()
	m.match(c.left, left)
	var reached func(int32) bool
	switch c.combinator {
	case '>':
		reached = func(i int32) bool { return left.has(m.parent[i]) }
	case '+':
		reached = func(i int32) bool { return left.has(m.before[i]) }
	case ' ':
		reached = m.within(left).has
	case '~':
		reached = m.behind(left).has
	}
	right.each(func(i int32) {
		if m.budget.Spend(1); reached(i) {
			found.add(i)
		}
	})
}

// within returns the elements that stand within one of a set.
func (m *matcher) within(set set64) set64 {
	all, end := m.newSet(), int32(0)
	set.each(func(i int32) {
		m.budget.Spend(1)
		if i >= end { // and not within the one before
			end = m.end[i]
			all.addRange(i+1, end)
		}
	})
	return all
}

// behind returns the elements that have one of a set among the siblings before them.
func (m *matcher) behind(set set64) set64 {
	all := m.newSet()
	set.each(func(i int32) { m.along(i, m.after, all) })
	return all
}

// along adds the elements to which steps lead from one, up to what is there already.
func (m *matcher) along(i int32, step func(int32) int32, to set64) {
	for i = step(i); i >= 0 && !to.has(i); i = step(i) {
		m.budget.Spend(1)
		to.add(i)
	}
}

// meeting adds the elements that meet conditions to a set, and reports whether there are any.
func (m *matcher) meeting(c *compound, found set64) (any bool) {
	related := make([]set64, len(c.relations))
	var among set64 // of which they are, if there is such a relation
	for i, r := range c.relations {
		if r.has {
			related[i] = m.having(r.list)
		} else {
			related[i] = m.matching(r.list)
		}
		if !r.not {
			among = related[i]
		}
	}
	try := func(i int32) {
		m.budget.Spend(1)
		for k, set := range related {
			if set.has(i) == c.relations[k].not {
				return
			}
		}
		for _, meets := range c.tests {
			m.budget.Spend(1)
			if !meets(m, i) {
				return
			}
		}
		found.add(i)
		any = true
	}
	switch {
	case c.key != key{}:
		m.candidates(c.key, try)
	case among != nil:
		among.each(try)
	default:
		for i := range m.nodes {
			try(int32(i))
		}
	}
	return any
}

// having returns the elements from which the combinator of one of the selectors leads to what that matches.
func (m *matcher) having(list []*complex) set64 {
	all := m.newSet()
	up := func(i int32) int32 { return m.parent[i] }
	back := func(i int32) int32 { return m.before[i] }
	for _, c := range list {
		there := m.newSet()
		m.meeting(&c.compound, there)
		there.each(func(i int32) {
			m.budget.Spend(1)
			switch c.combinator {
			case ' ':
				m.along(i, up, all)
			case '~':
				m.along(i, back, all)
			case '>':
				if p := m.parent[i]; p >= 0 {
					all.add(p)
				}
			case '+':
				if b := m.before[i]; b >= 0 {
					all.add(b)
				}
			}
		})
	}
	return all
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

// attribute returns the value of an attribute, or nil.
func (m *matcher) attribute(i int32, key string) *string {
	if m.html {
		key = strings.ToLower(key)
	}
	attrs := m.nodes[i].Attr
	m.budget.Spend(len(attrs) / 4)
	return value(attrs, key)
}

func hasName(name string) test {
	lower := strings.ToLower(name)
	return func(m *matcher, i int32) bool {
		n := m.nodes[i]
		return n.Data == name || m.html && n.Data == lower
	}
}

func attributeIs(key, wanted string, compare func(value, wanted string) bool) test {
	return func(m *matcher, i int32) bool {
		v := m.attribute(i, key)
		if v == nil {
			return false
		}
		m.budget.Spend(len(*v) / xpathguard.StepBytes)
		return compare(*v, wanted)
	}
}

func equals(value, wanted string) bool { return value == wanted }

func words(value string) iter.Seq[string] {
	return strings.FieldsFuncSeq(value, func(r rune) bool { return strings.ContainsRune(space, r) })
}

// hasWord reports whether a word is among others.
func hasWord(value, wanted string) bool {
	if wanted == "" || strings.ContainsAny(wanted, space) {
		return false
	}
	for {
		at := strings.Index(value, wanted)
		if at < 0 {
			return false
		}
		end := strings.IndexAny(value[at:], space)
		if end < 0 {
			end = len(value) - at
		}
		if end == len(wanted) && (at == 0 || strings.IndexByte(space, value[at-1]) >= 0) {
			return true
		}
		value = value[at+end:]
	}
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

// place returns where an element stands. All places are found out at once, and paid for by each who asks.
func (m *matcher) place(i int32) place {
	if !m.placed {
		m.placed = true
		m.budget.Spend(4 * len(m.nodes))
		m.count()
	}
	return m.places[i]
}

// nth is :nth-child(an+b) and the like.
func nth(name string, step, offset int) test {
	return func(m *matcher, i int32) bool {
		p := m.place(i)
		counted := p.child
		switch name {
		case "nth-last-child":
			counted = p.lastChild
		case "nth-of-type":
			counted = p.ofType
		case "nth-last-of-type":
			counted = p.lastOfType
		}
		at := int(counted)
		if step == 0 {
			return at == offset
		}
		return (at-offset)%step == 0 && (at-offset)/step >= 0
	}
}

var simplePseudos = map[string]test{
	"first-child":   func(m *matcher, i int32) bool { return m.place(i).child == 1 },
	"last-child":    func(m *matcher, i int32) bool { return m.place(i).lastChild == 1 },
	"first-of-type": func(m *matcher, i int32) bool { return m.place(i).ofType == 1 },
	"last-of-type":  func(m *matcher, i int32) bool { return m.place(i).lastOfType == 1 },
	"only-child": func(m *matcher, i int32) bool {
		p := m.place(i)
		return p.child == 1 && p.lastChild == 1
	},
	"only-of-type": func(m *matcher, i int32) bool {
		p := m.place(i)
		return p.ofType == 1 && p.lastOfType == 1
	},
	"root": func(m *matcher, i int32) bool { return m.parent[i] < 0 },
	"empty": func(m *matcher, i int32) bool {
		m.place(i)
		return m.hollow.has(i)
	},
}

var simpleNames = []string{"first-child", "last-child", "first-of-type", "last-of-type", "only-child", "only-of-type", "root", "empty"}
