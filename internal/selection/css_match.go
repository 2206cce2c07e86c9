package selection

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/xpath"
)

// matcher matches selectors with the elements of one document, a set of elements at a time: those that meet the
// conditions right of a combinator, then those that the selector left of it matches, then of the former those to
// which the combinator leads from the latter. Each element is passed once, however many lead there. So the steps
// grow with the length of a selector times the elements that it may concern, whatever the document looks like, and
// what is kept are sets of a bit an element.
type matcher struct {
	*elements
	budget *xpath.Budget
	scope  int32   // the element that :scope means; -1 for the document, whose root that is then
	placed bool    // the places of elements are paid for
	counts []int32 // by the number of a parent, and one more: 0 unless children are being counted
}

// span is the elements from one number to before another.
type span struct{ from, to int32 }

func (m *matcher) everything() span { return span{0, int32(len(m.nodes))} }

// matching returns the elements that one of the selectors matches.
func (m *matcher) matching(list []*complex) set64 { return m.matchingIn(list, m.everything()) }

// matchingIn returns those in a part of the document.
func (m *matcher) matchingIn(list []*complex, in span) set64 {
	found := m.newSet()
	for _, c := range list {
		m.match(c, in, found)
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

// match adds the elements of a part of the document that a selector matches to a set.
func (m *matcher) match(c *complex, in span, found set64) {
	if c.left == nil {
		m.meeting(&c.compound, in, found)
		return
	}
	right := m.newSet()
	if !m.meeting(&c.compound, in, right) {
		return // as most often where it is a class that the page does not have
	}
	left := m.newSet()
	m.match(c.left, m.everything(), left)
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

// meeting adds the elements of a part of the document that meet conditions to a set, and reports whether there are any.
func (m *matcher) meeting(c *compound, in span, found set64) (any bool) {
	related := make([]set64, len(c.relations))
	var among set64 // of which they are, if there is such a relation
	for i, r := range c.relations {
		switch {
		case r.has:
			related[i] = m.having(r.list)
		case r.nth != nil:
			related[i] = m.nthOf(m.matching(r.list), r)
		default:
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
	case c.key.kind == scopeKey:
		m.scopes(try)
	case in != m.everything(): // the children of a row: fewer than the index leads to
		for i := in.from; i < in.to; i++ {
			try(i)
		}
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

// scopes calls back with what :scope means.
func (m *matcher) scopes(visit func(int32)) {
	if m.scope >= 0 {
		visit(m.scope)
		return
	}
	for i := int32(0); int(i) < len(m.nodes); i = m.end[i] {
		visit(i)
	}
}

// having returns the elements from which the combinators of one of the selectors lead to what that matches. It goes
// from the last compound selector to the first, each time with all elements that are on such a way.
func (m *matcher) having(list []*complex) set64 {
	all := m.newSet()
	for _, c := range list {
		there, from := m.newSet(), m.newSet() // a set of its own: what others lead to does not end a way
		for any := m.meeting(&c.compound, m.everything(), there); any; c = c.left {
			if c.left == nil {
				m.back(there, c.combinator, from)
				break
			}
			before, met := m.newSet(), m.newSet()
			m.back(there, c.combinator, before)
			any = m.meeting(&c.left.compound, m.everything(), met)
			there = before
			there.keep(met)
		}
		all.join(from)
	}
	return all
}

// back adds the elements from which a combinator leads to one of a set.
func (m *matcher) back(from set64, combinator byte, to set64) {
	up := func(i int32) int32 { return m.parent[i] }
	before := func(i int32) int32 { return m.before[i] }
	from.each(func(i int32) {
		m.budget.Spend(1)
		switch combinator {
		case ' ':
			m.along(i, up, to)
		case '~':
			m.along(i, before, to)
		case '>':
			if p := m.parent[i]; p >= 0 {
				to.add(p)
			}
		case '+':
			if b := m.before[i]; b >= 0 {
				to.add(b)
			}
		}
	})
}

// nthOf returns the elements of a set whose place among their siblings in that set is one of the relation's.
func (m *matcher) nthOf(set set64, r relation) set64 {
	if m.counts == nil {
		m.budget.Spend(len(m.nodes) / wordsPerStep / 2)
		m.counts = make([]int32, len(m.nodes)+1)
	}
	if r.last {
		set.each(func(i int32) { m.counts[m.parent[i]+1]++ })
	}
	chosen := m.newSet()
	set.each(func(i int32) {
		m.budget.Spend(1)
		count := &m.counts[m.parent[i]+1]
		place := int(*count)
		if r.last {
			*count--
		} else {
			*count++
			place++
		}
		if r.nth.has(place) {
			chosen.add(i)
		}
	})
	if !r.last {
		set.each(func(i int32) { m.counts[m.parent[i]+1] = 0 })
	}
	return chosen
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
		key = lowerASCII(key)
	}
	attrs := m.nodes[i].Attr
	m.budget.Spend(len(attrs) / 4)
	return htmltree.Value(attrs, key)
}

func hasName(name string) test {
	lower := lowerASCII(name)
	return func(m *matcher, i int32) bool {
		n := m.nodes[i]
		return n.Data == name || m.html && n.Data == lower
	}
}

// attributeIs compares an attribute; without regard to the case of ASCII letters where fold reports true.
func attributeIs(key, wanted string, compare func(value, wanted string) bool, fold func(*matcher, int32) bool) test {
	lower := lowerASCII(wanted)
	return func(m *matcher, i int32) bool {
		v := m.attribute(i, key)
		if v == nil {
			return false
		}
		m.budget.Spend(len(*v) / xpath.StepBytes)
		if !fold(m, i) {
			return compare(*v, wanted)
		}
		folded := lowerASCII(*v)
		if folded != *v {
			m.budget.Spend(len(folded) / foldedBytes)
		}
		return compare(folded, lower)
	}
}

// foldedBytes of an attribute are copied in lower case at the cost of a step.
const foldedBytes = 8

// hasMark is the condition on an id or a class.
func hasMark(key, wanted string, compare func(value, wanted string) bool) test {
	return attributeIs(key, wanted, compare, func(m *matcher, _ int32) bool { return m.quirks })
}

// caselessValues are the attributes whose values have no case in HTML, by the HTML standard, section 4.16.2.
var caselessValues = htmltree.Names("accept accept-charset align alink axis bgcolor charset checked clear codetype color compact " +
	"declare defer dir direction disabled enctype face frame hreflang http-equiv lang language link media method multiple " +
	"nohref noresize noshade nowrap readonly rel rev rules scope scrolling selected shape target text type valign " +
	"valuetype vlink")

// isHTMLElement reports whether an element is one of HTML: not of a document of XML, a drawing or a formula.
func (m *matcher) isHTMLElement(i int32) bool {
	if !m.html {
		return false
	}
	for at := i; at >= 0; at = m.parent[at] {
		m.budget.Spend(1)
		switch m.nodes[at].Data {
		case "svg", "math":
			return false
		case "foreignobject", "desc", "title":
			if at != i {
				return true
			}
		}
	}
	return true
}

// lowerASCII returns a text with the letters A to Z in lower case, and no others.
func lowerASCII(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] |= 0x20
				}
			}
			return string(b)
		}
	}
	return s
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

// siblingIndex returns where an element stands. All places are found out at once, and paid for by each who asks.
func (m *matcher) siblingIndex(i int32) siblingIndex {
	if !m.placed {
		m.placed = true
		m.budget.Spend(4 * len(m.nodes))
		m.count()
	}
	return m.indexes[i]
}

// nth is :nth-child(an+b) and the like.
func nth(name string, f formula) test {
	return func(m *matcher, i int32) bool {
		p := m.siblingIndex(i)
		counted := p.child
		switch name {
		case "nth-last-child":
			counted = p.lastChild
		case "nth-of-type":
			counted = p.ofType
		case "nth-last-of-type":
			counted = p.lastOfType
		}
		return f.has(int(counted))
	}
}

var simplePseudos = map[string]test{
	"first-child":   func(m *matcher, i int32) bool { return m.siblingIndex(i).child == 1 },
	"last-child":    func(m *matcher, i int32) bool { return m.siblingIndex(i).lastChild == 1 },
	"first-of-type": func(m *matcher, i int32) bool { return m.siblingIndex(i).ofType == 1 },
	"last-of-type":  func(m *matcher, i int32) bool { return m.siblingIndex(i).lastOfType == 1 },
	"only-child": func(m *matcher, i int32) bool {
		p := m.siblingIndex(i)
		return p.child == 1 && p.lastChild == 1
	},
	"only-of-type": func(m *matcher, i int32) bool {
		p := m.siblingIndex(i)
		return p.ofType == 1 && p.lastOfType == 1
	},
	"root": func(m *matcher, i int32) bool { return m.parent[i] < 0 },
	"scope": func(m *matcher, i int32) bool {
		if m.scope < 0 {
			return m.parent[i] < 0
		}
		return i == m.scope
	},
	"link":     isLink,
	"any-link": isLink,
	"empty": func(m *matcher, i int32) bool {
		m.siblingIndex(i)
		return m.hollow.has(i)
	},
}

var simpleNames = slices.Sorted(maps.Keys(simplePseudos))

// isLink is :any-link: without a history, no link was visited.
func isLink(m *matcher, i int32) bool {
	n := m.nodes[i]
	if !m.page || n.Data != "a" && n.Data != "area" {
		return false
	}
	return m.attribute(i, "href") != nil || n.Data == "a" && m.attribute(i, "xlink:href") != nil && !m.isHTMLElement(i)
}
