package transform

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// known are the vocabularies that all know something of: the additional types of schema.org's things are types.
var known = func() map[string]Vocabulary {
	all := make(map[string]Vocabulary)
	for _, prefix := range []string{"http://schema.org/", "https://schema.org/"} {
		all[prefix] = Vocabulary{Properties: map[string][]string{prefix + "additionalType": {rdf.Type}}}
	}
	return all
}()

// microdata is the reading of a page's Microdata, by "Microdata to RDF, Second Edition" (W3C Note, 2014).
type microdata struct {
	*page
	subjects map[*html.Node]webrace.Term
	done     map[inVocabulary]bool
	names    map[named]webrace.Term // the terms of properties, which are many of few
	path     []*html.Node           // the items that are being read, the outermost first
}

// inVocabulary is an item in the vocabulary of the item around it, where it has no type: one that several refer to
// may state something else of each.
type inVocabulary struct {
	item       *html.Node
	vocabulary string
}

// named is the name of a property in a vocabulary.
type named struct{ name, vocabulary string }

func (p *page) microdata() error {
	m := &microdata{page: p, subjects: make(map[*html.Node]webrace.Term), done: make(map[inVocabulary]bool), names: make(map[named]webrace.Term)}
	for _, n := range p.elements {
		if _, ok := attr(n, "itemscope"); !ok {
			continue
		}
		if _, ok := attr(n, "itemprop"); ok {
			continue
		}
		if _, err := m.item(n, ""); err != nil {
			return err
		}
	}
	return nil
}

// item states what an item has, in the vocabulary of the item around it unless it has one of its own, and returns its
// subject.
func (m *microdata) item(n *html.Node, vocabulary string) (webrace.Term, error) {
	subject := m.subject(n)
	key := inVocabulary{n, vocabulary}
	if m.done[key] {
		return subject, nil
	}
	m.done[key] = true
	if len(m.path) >= m.limits.Depth {
		return "", &limitError{"depth", fmt.Sprintf("items are more than %d deep within each other", m.limits.Depth)}
	}
	m.path = append(m.path, n)
	defer func() { m.path = m.path[:len(m.path)-1] }()
	types, _ := attr(n, "itemtype")
	first := ""
	for typ := range strings.FieldsSeq(types) {
		if !rdf.IsAbsolute(typ) {
			continue
		}
		iri, ok := m.resolve(typ)
		if !ok {
			continue
		}
		if first == "" {
			first = typ
			vocabulary = m.vocabularyOf(typ)
		}
		if err := m.add(subject, typeTerm, iri); err != nil {
			return "", err
		}
	}
	properties, err := m.properties(n)
	if err != nil {
		return "", err
	}
	for _, property := range properties {
		if err := m.property(subject, property, vocabulary); err != nil {
			return "", err
		}
	}
	return subject, nil
}

var typeTerm = rdf.NewIRI(rdf.Type)

// subject returns what an item is: the thing that its itemid names, or a blank node.
func (m *microdata) subject(n *html.Node) webrace.Term {
	if subject, ok := m.subjects[n]; ok {
		return subject
	}
	id, named := attr(n, "itemid")
	subject, ok := m.resolve(id)
	if !named || !ok {
		subject = m.newBlank()
	}
	m.subjects[n] = subject
	return subject
}

// vocabularyOf returns what the properties of a type begin with: that of the longest vocabulary that is known, or the
// type's IRI up to its last # or /.
func (m *microdata) vocabularyOf(typ string) string {
	best := ""
	for _, vocabularies := range []map[string]Vocabulary{known, m.options.Vocabularies} {
		for prefix := range vocabularies {
			if strings.HasPrefix(typ, prefix) && len(prefix) > len(best) {
				best = prefix
			}
		}
	}
	if best != "" {
		if !strings.HasSuffix(best, "/") && !strings.HasSuffix(best, "#") {
			return best + "#"
		}
		return best
	}
	return typ[:strings.LastIndexAny(typ, "#/:")+1]
}

// properties returns the elements that are the properties of an item, in document order.
func (m *microdata) properties(item *html.Node) (found []*html.Node, err error) {
	for child := item.FirstChild; child != nil; child = child.NextSibling {
		if found, err = m.within(child, found); err != nil {
			return nil, err
		}
	}
	refs, ok := attr(item, "itemref")
	if !ok {
		return found, nil
	}
	seen := map[*html.Node]bool{item: true}
	for id := range strings.FieldsSeq(refs) {
		n := m.byID(id)
		if n == nil || seen[n] {
			continue
		}
		seen[n] = true
		if within(item, n) {
			m.problem(fmt.Sprintf("Microdata: an item refers by itemref to %q, which it stands in: %s", id, m.position(item, 0, 0)))
			continue
		}
		if found, err = m.within(n, found); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(found, func(a, b *html.Node) int { return cmp.Compare(a.DataAtom, b.DataAtom) })
	return slices.Compact(found), nil
}

// within appends the properties among an element and what is in it, but for what is in items.
func (m *microdata) within(n *html.Node, found []*html.Node) ([]*html.Node, error) {
	for at := n; at != nil; {
		if err := m.step(); err != nil {
			return nil, err
		}
		m.steps += len(at.Attr) / 2
		isItem := false
		if at.Type == html.ElementNode && len(at.Attr) > 0 {
			_, isItem = attr(at, "itemscope")
			names, _ := attr(at, "itemprop")
			reverse, _ := attr(at, "itemprop-reverse")
			if names != "" || reverse != "" {
				found = append(found, at)
			}
		}
		if at.FirstChild != nil && !isItem {
			at = at.FirstChild
			continue
		}
		for at != n && at.NextSibling == nil {
			at = at.Parent
		}
		if at == n {
			break
		}
		at = at.NextSibling
	}
	return found, nil
}

func within(n, ancestor *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n == ancestor {
			return true
		}
	}
	return false
}

func (p *page) byID(id string) *html.Node {
	if p.ids == nil {
		p.ids = make(map[string]*html.Node)
		for _, n := range p.elements {
			if id, ok := attr(n, "id"); ok && p.ids[id] == nil {
				p.ids[id] = n
			}
		}
	}
	return p.ids[id]
}

// property states what one element tells of a subject.
func (m *microdata) property(subject webrace.Term, n *html.Node, vocabulary string) error {
	value, ok, err := m.value(n, vocabulary)
	if err != nil || !ok {
		return err
	}
	names, _ := attr(n, "itemprop")
	for name := range strings.FieldsSeq(names) {
		predicate, ok, err := m.predicate(name, vocabulary)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := m.state(subject, predicate, value); err != nil {
			return err
		}
	}
	reverse, _ := attr(n, "itemprop-reverse")
	if rdf.KindOf(value) == rdf.Literal {
		return nil
	}
	for name := range strings.FieldsSeq(reverse) {
		predicate, ok, err := m.predicate(name, vocabulary)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := m.add(value, predicate, subject); err != nil {
			return err
		}
	}
	return nil
}

// state states a triple, and what follows from its property.
func (m *microdata) state(subject, predicate, value webrace.Term) error {
	if err := m.add(subject, predicate, value); err != nil {
		return err
	}
	property := rdf.Value(predicate)
	for _, vocabularies := range []map[string]Vocabulary{known, m.options.Vocabularies} {
		prefix := property[:strings.LastIndexAny(property, "#/:")+1]
		for _, also := range vocabularies[prefix].Properties[property] {
			if err := m.add(subject, rdf.NewIRI(also), value); err != nil {
				return err
			}
		}
	}
	return nil
}

// predicate returns the term of a property: itself if it is an IRI; in the vocabulary, or in the document where there
// is none. False for one that is left out.
func (m *microdata) predicate(name, vocabulary string) (term webrace.Term, ok bool, err error) {
	key := named{name, vocabulary}
	if term, ok = m.names[key]; ok {
		return term, term != "", nil
	}
	iri := name
	switch {
	case rdf.IsAbsolute(name):
	case vocabulary != "":
		iri = vocabulary + name
	default:
		iri = m.baseIRI + "#" + name
	}
	if iri = rdf.EscapeIRI(iri); len(iri) <= m.limits.IRI {
		term = rdf.NewIRI(iri)
	} else {
		m.leaveOut("iri", "an IRI", m.limits.IRI)
	}
	m.names[key] = term
	return term, term != "", m.spend(len(term))
}

// addresses are the attributes that have the value of an element where that is an address.
var addresses = map[string]string{
	"audio": "src", "embed": "src", "iframe": "src", "img": "src", "source": "src", "track": "src", "video": "src",
	"a": "href", "area": "href", "link": "href", "object": "data",
}

// value returns the value of a property; false for one that is left out.
func (m *microdata) value(n *html.Node, vocabulary string) (value webrace.Term, ok bool, err error) {
	if _, ok := attr(n, "itemscope"); ok {
		if slices.Contains(m.path, n) {
			return m.subject(n), true, nil
		}
		value, err = m.item(n, vocabulary)
		return value, err == nil, err
	}
	if key, ok := addresses[n.Data]; ok {
		if address, given := attr(n, key); given {
			value, ok = m.resolve(address)
		} else {
			value, ok = m.literal("", "")
		}
		return value, ok, nil
	}
	text, special, err := m.special(n)
	if err != nil {
		return "", false, err
	}
	if special != "" {
		return special, true, nil
	}
	value, ok = m.literal(text, m.language(n))
	return value, ok, nil
}

// special returns the text that is the value of an element, and its literal if it is one with a datatype.
func (m *microdata) special(n *html.Node) (text string, literal webrace.Term, err error) {
	switch n.Data {
	case "meta":
		text, _ = attr(n, "content")
		return text, "", nil
	case "data", "meter":
		text, _ = attr(n, "value")
		literal, _ = numberTerm(text)
		return text, literal, nil
	case "time":
		var ok bool
		if text, ok = attr(n, "datetime"); !ok {
			if text, err = m.content(n); err != nil {
				return "", "", err
			}
		}
		literal, _ = timeTerm(text)
		return text, literal, nil
	}
	text, err = m.content(n)
	return text, "", err
}
