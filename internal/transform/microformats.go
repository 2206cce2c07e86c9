package transform

import (
	"fmt"
	"net/url"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"willnorris.com/go/microformats"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// microformatsNS is where the IRIs of types and properties of microformats are, which have none of their own.
const microformatsNS = "http://microformats.org/profile/"

// firstRoots are the classes of items of the first microformats.
var firstRoots = set("adr geo hentry hfeed hnews hproduct hrecipe hresume hreview hreview-aggregate vcard vevent")

// heights are classes that look like those of items, and are what libraries of styles (Tailwind, Bootstrap, Tachyons)
// call heights: pages have them on hundreds of elements.
var heights = set("h-auto h-dvh h-fit h-full h-inherit h-lh h-lvh h-max h-min h-px h-screen h-svh")

func set(words string) map[string]bool {
	all := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		all[word] = true
	}
	return all
}

// isRoot reports whether a class is that of items: h- and words of lower-case letters with hyphens between, of which
// the first can have digits if another follows, as that of a vendor (microformats2 parsing, "parse for microformats").
func isRoot(class string) bool {
	name, second := strings.CutPrefix(class, "h-")
	if !second || heights[class] {
		return firstRoots[class]
	}
	first := true
	for word := range strings.SplitSeq(name, "-") {
		for _, c := range []byte(word) {
			switch {
			case '0' <= c && c <= '9' && first && len(word) < len(name): // of a vendor
			case c < 'a' || 'z' < c:
				return false
			}
		}
		if word == "" {
			return false
		}
		first = false
	}
	return true
}

// microformats reads the items of a page. It is the last part that asks elements for their numbers: the library wants
// its own.
func (p *page) microformats() error {
	base, err := url.Parse(p.baseIRI)
	if err != nil {
		return err
	}
	m := &items{page: p}
	for n := range m.outermost() {
		if err := m.prepare(n); err != nil {
			return err
		}
	}
	for n := range m.outermost() {
		if err := p.ended(); err != nil {
			return err
		}
		if err := m.data(microformats.ParseNode(n, base)); err != nil {
			return err
		}
	}
	return nil
}

// data states what the items have that were read at once. Addresses tell them apart: those of others may have been
// theirs.
func (m *items) data(read *microformats.Data) error {
	defer runtime.KeepAlive(read)
	m.subjects = make(map[uintptr]webrace.Term)
	for _, item := range read.Items {
		if _, err := m.item(item); err != nil {
			return err
		}
	}
	return nil
}

// items is the reading of a page's microformats.
type items struct {
	*page
	subjects map[uintptr]webrace.Term // of data, by the address of the map of an item's properties, which copies of it share
	copied   int                      // bytes that the library copies to read all properties
	rels     int
}

// outermost yields the items that are in no other.
func (m *items) outermost() func(func(*html.Node) bool) {
	return func(yield func(*html.Node) bool) {
		end := (*html.Node)(nil) // of the item that was yielded last
		for _, n := range m.elements {
			if end != nil && within(n, end) {
				continue
			}
			if class, ok := attr(n, "class"); ok && namesRoot(class) {
				if end = n; !yield(n) {
					return
				}
			}
		}
	}
}

// The library reads the text below each property anew, and copies it once for each element on the way; it compares the
// addresses of all elements with rel. It ends in no time limit, so what it would cost is counted before.
const (
	copyFactor = 128 // times the size of the page that may be copied
	mostRels   = 1000
)

// prepare makes an item's tree ready for the library, which wants atoms, and refuses one that would cost too much.
func (m *items) prepare(item *html.Node) error {
	_, _, err := m.cost(item)
	if err == nil && m.rels > mostRels {
		err = &limitError{"literal", fmt.Sprintf("items have more than %d links with rel", mostRels)}
	}
	return err
}

// cost returns how many bytes are below a node, and how many are copied to read them.
func (m *items) cost(n *html.Node) (size, copied int, err error) {
	if err := m.step(); err != nil {
		return 0, 0, err
	}
	if n.Type == html.TextNode {
		return len(n.Data), len(n.Data), nil
	}
	n.DataAtom = atom.Lookup([]byte(n.Data))
	m.withoutIncludes(n)
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		s, c, err := m.cost(child)
		if err != nil {
			return 0, 0, err
		}
		size += s
		copied += c
	}
	size += 2*len(n.Data) + 5
	for _, a := range n.Attr {
		size += len(a.Key) + len(a.Val)
	}
	copied += size
	readers := 1
	if class, ok := attr(n, "class"); ok {
		readers += len(strings.Fields(class))
	}
	if _, ok := attr(n, "rel"); ok {
		readers++
		m.rels++
	}
	if readers > 1 {
		if m.copied += readers * copied; m.copied > max(leastText, copyFactor*len(m.text)) {
			return 0, 0, &limitError{"literal", fmt.Sprintf("properties, one within another, would be copied to more than %d times the page", copyFactor)}
		}
	}
	return size, copied, nil
}

// withoutIncludes takes away what refers to other elements as if they stood here (the include pattern of the first
// microformats): two that refer to each other end the library in a stack overflow, and ten that refer twice each to the
// next in a thousand copies.
func (m *items) withoutIncludes(n *html.Node) {
	for i := range n.Attr {
		a := &n.Attr[i]
		switch key := strings.ToLower(a.Key); {
		case key == "itemref", key == "headers":
			a.Val = ""
		case key == "class" && strings.Contains(a.Val, "include"):
			a.Val = strings.Join(slices.DeleteFunc(strings.Fields(a.Val), func(class string) bool { return class == "include" }), " ")
		}
	}
}

// item states what an item has, and returns its subject.
func (m *items) item(item *microformats.Microformat) (webrace.Term, error) {
	key := reflect.ValueOf(item.Properties).Pointer()
	if subject, ok := m.subjects[key]; ok {
		return subject, nil
	}
	if err := m.step(); err != nil {
		return "", err
	}
	subject := m.newBlank()
	m.subjects[key] = subject
	for _, typ := range item.Type {
		if !isRoot(typ) {
			continue
		}
		if err := m.add(subject, typeTerm, rdf.NewIRI(microformatsNS+typ)); err != nil {
			return "", err
		}
	}
	var names []string
	for name := range item.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range item.Properties[name] {
			if err := m.property(subject, name, value); err != nil {
				return "", err
			}
		}
	}
	for _, child := range item.Children {
		object, err := m.item(child)
		if err != nil {
			return "", err
		}
		if err := m.add(subject, rdf.NewIRI(microformatsNS+"children"), object); err != nil {
			return "", err
		}
	}
	return subject, nil
}

// linked are the properties whose values are addresses.
var linked = set("url uid photo logo video audio sound key email impp syndication featured attach in-reply-to like-of " +
	"repost-of bookmark-of follow-of read-of listen-of watch-of checkin")

// timed are the properties whose values are times: a telephone number looks like a year.
var timed = map[string]bool{
	"published": true, "updated": true, "accessed": true, "start": true, "end": true, "duration": true, "bday": true, "anniversary": true,
	"rev": true, "reviewed": true, "listed": true, "expired": true,
}

func (m *items) property(subject webrace.Term, name string, value any) error {
	iri := microformatsNS + name
	if !m.takes(iri) {
		return nil
	}
	predicate, text := rdf.NewIRI(iri), ""
	switch v := value.(type) {
	case *microformats.Microformat:
		object, err := m.item(v)
		if err != nil {
			return err
		}
		return m.add(subject, predicate, object)
	case map[string]string:
		text = v["value"]
	case string:
		text = v
	}
	if linked[name] && rdf.IsAbsolute(text) {
		if object, ok := m.resolve(text); ok {
			return m.add(subject, predicate, object)
		}
	}
	if object, ok := timeTerm(text); ok && timed[name] {
		return m.add(subject, predicate, object)
	}
	if object, ok := m.literal(text, ""); ok && text != "" {
		return m.add(subject, predicate, object)
	}
	return nil
}
