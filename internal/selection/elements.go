package selection

import (
	"math/bits"
	"strings"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/webrace/webrace/internal/htmltree"
)

// elements is the elements of a document by their numbers, which are in the order of the document, with an index of
// their names, ids and classes. It is made once for all rules. Numbers that are not there are -1.
type elements struct {
	html   bool // names are those of HTML: case does not matter
	page   bool // they are of HTML or XHTML
	quirks bool // the case of ids and classes does not matter
	nodes  []*html.Node
	parent []int32
	before []int32 // the sibling before
	end    []int32 // the number behind all that the element holds

	heads []int32 // by the hash of a key: the first of its entries
	index []entry
	many  []int32 // those with too many classes to have them in the index

	indexes []siblingIndex // made when a rule asks for them
	hollow  set64          // those without text and elements, as places
	counted bool

	speaker  []int32 // made when a rule asks for it: the nearest element that declares its language
	declared string  // the language of what no element declares one for
}

// key is a name, an id or a class.
type key struct {
	kind keyKind
	word string
}

type keyKind uint8

const (
	elementKey keyKind = 1 + iota
	idKey
	classKey
	scopeKey // not in the index
)

// entry is an element in the index, among those whose keys have the same hash.
type entry struct{ next, element int32 }

// indexedClasses is how many classes of an element are in the index: the classes of a hostile page take no more
// memory than its elements.
const indexedClasses = 16

// number gives the elements of a tree their numbers, of which each keeps its own in a field that we do not use
// otherwise.
func number(root *html.Node, isHTML, quirks bool) *elements {
	e := &elements{html: isHTML, page: isHTML || htmltree.IsXHTML(root), quirks: quirks}
	size := 0
	for n := root; n != nil; n = following(n, root) {
		if n.Type == html.ElementNode {
			n.DataAtom = atom.Atom(size)
			size++
		}
	}
	e.nodes = make([]*html.Node, 0, size)
	e.parent, e.before, e.end = make([]int32, 0, size), make([]int32, 0, size), make([]int32, size)
	for n := root; n != nil; n = following(n, root) {
		if n.Type == html.ElementNode {
			e.nodes = append(e.nodes, n)
			e.parent = append(e.parent, numberOf(parentElement(n)))
			e.before = append(e.before, numberOf(elementBefore(n)))
		}
	}
	for i := int32(len(e.nodes)) - 1; i >= 0; i-- {
		e.end[i] = max(e.end[i], i+1)
		if p := e.parent[i]; p >= 0 {
			e.end[p] = max(e.end[p], e.end[i])
		}
	}
	e.makeIndex()
	return e
}

// numberOf returns the number of an element; -1 of none.
func numberOf(n *html.Node) int32 {
	if n == nil {
		return -1
	}
	return int32(n.DataAtom)
}

// after returns the sibling behind an element.
func (e *elements) after(i int32) int32 {
	if next := e.end[i]; int(next) < len(e.nodes) && e.parent[next] == e.parent[i] {
		return next
	}
	return -1
}

func (e *elements) makeIndex() {
	e.heads = make([]int32, 1<<bits.Len(uint(2*len(e.nodes))))
	for i := range e.heads {
		e.heads[i] = -1
	}
	for i, n := range e.nodes {
		e.enter(key{elementKey, n.Data}, int32(i))
		if id := htmltree.Value(n.Attr, "id"); id != nil {
			e.enter(key{idKey, *id}, int32(i))
		}
		classes := htmltree.Value(n.Attr, "class")
		if classes == nil {
			continue
		}
		entered := 0
		for class := range words(*classes) {
			if entered++; entered > indexedClasses {
				e.many = append(e.many, int32(i))
				break
			}
			e.enter(key{classKey, class}, int32(i))
		}
	}
}

func (e *elements) enter(k key, i int32) {
	k.word = e.folded(k)
	head := &e.heads[e.slot(k)]
	if *head >= 0 && e.index[*head].element == i {
		return // by another class, or the same again
	}
	e.index = append(e.index, entry{*head, i})
	*head = int32(len(e.index) - 1)
}

// folded returns the word of a key as it is in the index.
func (e *elements) folded(k key) string {
	if e.quirks && k.kind != elementKey {
		return lowerASCII(k.word)
	}
	return k.word
}

func (e *elements) slot(k key) int {
	hash := xxhash.Sum64String(k.word) * (2*uint64(k.kind) + 1)
	return int(hash >> 32 & uint64(len(e.heads)-1))
}

// candidates calls back with the elements that may have a key, among them all that do, some of them twice.
func (e *elements) candidates(k key, visit func(int32)) {
	k.word = e.folded(k)
	for at := e.heads[e.slot(k)]; at >= 0; at = e.index[at].next {
		visit(e.index[at].element)
	}
	if lower := lowerASCII(k.word); k.kind == elementKey && e.html && lower != k.word {
		e.candidates(key{elementKey, lower}, visit)
	}
	if k.kind == classKey {
		for _, i := range e.many {
			visit(i)
		}
	}
}

// siblingIndex is where an element stands among those of its parent, counted from 1, from both ends.
type siblingIndex struct{ child, lastChild, ofType, lastOfType int32 }

// count finds out where all elements stand, and which are hollow.
func (e *elements) count() {
	if e.counted {
		return
	}
	e.counted = true
	e.indexes, e.hollow = make([]siblingIndex, len(e.nodes)), newSet(len(e.nodes))
	types := map[[2]string]int32{}
	typeOf := make([]int32, len(e.nodes))
	for i, n := range e.nodes {
		name := [2]string{n.Namespace, n.Data}
		t, known := types[name]
		if !known {
			t = int32(len(types))
			types[name] = t
		}
		typeOf[i] = t
		if isHollow(n) {
			e.hollow.add(int32(i))
		}
	}
	count := make([]int32, len(types)) // of the siblings, by type
	for i := range e.nodes {
		if e.before[i] >= 0 {
			continue // its first sibling counts it
		}
		children := int32(0)
		for at := int32(i); at >= 0; at = e.after(at) {
			children++
			count[typeOf[at]]++
			e.indexes[at] = siblingIndex{child: children, ofType: count[typeOf[at]]}
		}
		for at := int32(i); at >= 0; at = e.after(at) {
			p := &e.indexes[at]
			p.lastChild, p.lastOfType = children-p.child+1, count[typeOf[at]]-p.ofType+1
		}
		for at := int32(i); at >= 0; at = e.after(at) {
			count[typeOf[at]] = 0
		}
	}
}

// isHollow reports whether an element is :empty.
func isHollow(n *html.Node) bool {
	for kid := n.FirstChild; kid != nil; kid = kid.NextSibling {
		if kid.Type == html.ElementNode || kid.Type == html.TextNode && strings.TrimSpace(kid.Data) != "" {
			return false
		}
	}
	return true
}

// set64 is a set of elements, a bit each.
type set64 []uint64

func newSet(elements int) set64 { return make(set64, (elements+63)/64) }

func (s set64) has(i int32) bool { return i >= 0 && s[i>>6]&(1<<(i&63)) != 0 }
func (s set64) add(i int32)      { s[i>>6] |= 1 << (i & 63) }

// keep takes the elements away that another set does not have.
func (s set64) keep(other set64) {
	for i := range s {
		s[i] &= other[i]
	}
}

// join adds the elements of another set.
func (s set64) join(other set64) {
	for i := range s {
		s[i] |= other[i]
	}
}

// addRange adds the elements from one number to before another.
func (s set64) addRange(from, to int32) {
	for ; from < to && from&63 != 0; from++ {
		s.add(from)
	}
	for ; from+64 <= to; from += 64 {
		s[from>>6] = ^uint64(0)
	}
	for ; from < to; from++ {
		s.add(from)
	}
}

func (s set64) size() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// each calls back with the elements of the set, in their order.
func (s set64) each(visit func(int32)) {
	for w, word := range s {
		for ; word != 0; word &= word - 1 {
			visit(int32(w<<6 + bits.TrailingZeros64(word)))
		}
	}
}
