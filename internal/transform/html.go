package transform

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/rdf"
)

// page is a page of HTML whose tree all syntaxes share.
type page struct {
	*transformation
	text     []byte // in UTF-8
	xhtml    bool
	base     rdf.Base     // of the page's references
	baseIRI  string       // the same, without a fragment
	elements []*html.Node // each has its number in its DataAtom, which the tree does not use
	found    signs
	ids      map[string]*html.Node          // by id the first element that has it; nil before it is asked for
	tags     map[string][]htmltree.StartTag // by name, of the elements whose place was asked for
	spoken   map[*html.Node]string          // the languages of elements, as far as they were asked for
	textLeft int                            // bytes of text of elements that may yet be read, and of IRIs that may be made
}

// textFactor is how many times its own size the text may be that is read of a page's properties: those within each
// other have the same text, and a page of a megabyte could ask for half a gigabyte.
const textFactor = 16

// leastText is how much text may be read of the properties of any page.
const leastText = 1 << 20

// html reads a page. Each syntax stands alone.
func (t *transformation) html(text []byte, xhtml bool) {
	wanted := every
	if !t.options.Roles {
		wanted &^= signRole
	}
	if !t.options.Page && !xhtml && look(text, wanted)&wanted == 0 { // as most
		return
	}
	p := &page{transformation: t, text: text, xhtml: xhtml, base: t.base, baseIRI: withoutFragment(t.url)}
	p.refill()
	if err := p.parse(); err != nil {
		t.fail("", err)
		t.whole = false
		return
	}
	for _, part := range []struct {
		sign signs
		name string
		read func() error
	}{
		{signJSONLD, "", p.scripts},
		{signMicrodata, "Microdata", p.microdata},
		{signRDFa | wanted&signRole, "RDFa", p.rdfa},
		{signMeta, "meta", p.meta},
		{signMicroformats, "microformats", p.microformats},
	} {
		if p.found&part.sign != 0 {
			p.part(part.name, part.read)
		}
	}
	if t.options.Page {
		p.part("page", p.say)
	}
}

// part reads a part of a page that stands alone: if it fails, nothing of it is kept.
func (p *page) part(name string, read func() error) {
	if p.ctx.Err() != nil { // which an earlier part told
		return
	}
	mark := len(p.triples)
	p.refill()
	err := read()
	if err == nil {
		err = p.spend(0)
	}
	if err != nil {
		p.undo(mark)
		p.fail(name, err)
		if limit := limitOf(err); limit == "time" || limit == "triples" { // of the whole page
			p.whole = false
		}
	}
}

// parse makes the tree, and finds the base of the page's references and the signs in its elements.
func (p *page) parse() error {
	parse := htmltree.Parse
	if p.xhtml {
		parse = htmltree.ParseXHTML
	}
	root, err := parse(p.text)
	if err != nil {
		return err
	}
	const perElement = 32 // bytes, at least in most pages
	p.elements = make([]*html.Node, 0, len(p.text)/perElement)
	based, deep := false, false
	depth := 0
	for n := root; n != nil; {
		if n.Type == html.ElementNode {
			n.DataAtom = atom.Atom(len(p.elements))
			for i := range n.Attr {
				p.found |= signOf(n.Attr[i].Key, n.Attr[i].Val)
			}
			p.elements = append(p.elements, n)
			if n.Data == "base" && !based {
				based = p.rebase(n)
			}
		}
		deep = deep || depth > htmltree.MaxDepth-2
		if n.FirstChild != nil {
			n = n.FirstChild
			depth++
			continue
		}
		for n != nil && n.NextSibling == nil {
			n = n.Parent
			depth--
		}
		if n != nil {
			n = n.NextSibling
		}
	}
	if deep && p.exceed("depth") {
		p.problem(fmt.Sprintf("elements are nested %d deep or more: those beyond are read as if they stood side by side", htmltree.MaxDepth))
	}
	return nil
}

// rebase takes the address of an element base for the base of references, unless it has none.
func (p *page) rebase(n *html.Node) bool {
	href, ok := attr(n, "href")
	if !ok {
		return false
	}
	iri, ok := p.absolute(href)
	if !ok {
		return false
	}
	base, err := rdf.ParseBase(iri)
	if err != nil {
		return false
	}
	p.base, p.baseIRI = base, withoutFragment(iri)
	return true
}

func withoutFragment(iri string) string {
	iri, _, _ = strings.Cut(iri, "#")
	return iri
}

// white is white space in HTML.
const white = " \t\n\r\f"

// attr returns the value of an attribute.
func attr(n *html.Node, key string) (string, bool) {
	for i := range n.Attr {
		if a := &n.Attr[i]; a.Key == key && a.Namespace == "" {
			return a.Val, true
		}
	}
	return "", false
}

// absolute returns the IRI that a reference means, by RFC 3986; false if it means none, or one that is too long. As in
// browsers, line breaks and tabs in it mean nothing, and what else no IRI may have, such as spaces, is percent-encoded.
func (p *page) absolute(reference string) (string, bool) {
	if p.textLeft < 0 {
		return "", false
	}
	reference = strings.Trim(reference, white)
	if len(reference) > p.limits.IRI {
		p.leaveOut("iri", "an IRI", p.limits.IRI)
		return "", false
	}
	iri, err := p.base.Resolve(rdf.EscapeIRI(reference))
	if err != nil || !p.takes(iri) {
		return "", false
	}
	return iri, true
}

// takes reports whether a text is an IRI that may be said, and counts it as text that is read.
func (p *page) takes(iri string) bool {
	if len(iri) > p.limits.IRI {
		p.leaveOut("iri", "an IRI", p.limits.IRI)
		return false
	}
	return rdf.ValidIRI(iri) && p.spend(len(iri)) == nil
}

// resolve returns the term of the IRI that a reference means.
func (p *page) resolve(reference string) (webrace.Term, bool) {
	iri, ok := p.absolute(reference)
	return rdf.NewIRI(iri), ok
}

// content returns the text of an element: of all in it, as the DOM has it.
func (p *page) content(n *html.Node) (string, error) {
	if only := n.FirstChild; only == nil || only == n.LastChild && only.Type == html.TextNode {
		if only == nil {
			return "", nil
		}
		return only.Data, p.spend(len(only.Data))
	}
	var b strings.Builder
	for at := n.FirstChild; at != nil; at = next(at, n) {
		if err := p.step(); err != nil {
			return "", err
		}
		if at.Type == html.TextNode {
			b.WriteString(at.Data)
			if err := p.spend(len(at.Data)); err != nil {
				return "", err
			}
		}
	}
	return b.String(), nil
}

// next returns the node behind another in the order of the document, within an element.
func next(n, within *html.Node) *html.Node {
	if n.FirstChild != nil {
		return n.FirstChild
	}
	for n != within && n.NextSibling == nil {
		n = n.Parent
	}
	if n == within {
		return nil
	}
	return n.NextSibling
}

// refill lets a part read as much as each may.
func (p *page) refill() { p.textLeft = max(leastText, textFactor*len(p.text)) }

// spend counts text that was read of the page's properties.
func (p *page) spend(n int) error {
	if p.textLeft -= n; p.textLeft >= 0 {
		return nil
	}
	return &limitError{"literal", fmt.Sprintf("its properties have more text and IRIs than %d times the page", textFactor)}
}

// literal returns the literal of a text in a language, which may be unknown; false for one that is too long.
func (p *page) literal(text, language string) (webrace.Term, bool) {
	if len(text) > p.limits.Literal {
		p.leaveOut("literal", "a literal", p.limits.Literal)
		return "", false
	}
	if !isTag(language) {
		return rdf.NewString(text), true
	}
	return rdf.NewLangString(text, language), true
}

// isTag reports whether a text has the form of a language tag in N-Triples.
func isTag(language string) bool {
	const longest = 64
	if len(language) > longest {
		return false
	}
	for i, part := range strings.Split(language, "-") {
		if part == "" {
			return false
		}
		for _, c := range []byte(part) {
			if (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
				return false
			}
		}
	}
	return true
}

// says returns the language that an element itself declares: in XML by xml:lang before lang, in HTML, where
// xml:lang is a name like others, by that in the last place.
func says(n *html.Node) (language string, ok bool) {
	rank := 0
	for i := range n.Attr {
		this := 0
		switch a := &n.Attr[i]; {
		case a.Namespace == "xml" && a.Key == "lang":
			this = 3
		case a.Namespace == "" && a.Key == "lang":
			this = 2
		case a.Namespace == "" && a.Key == "xml:lang":
			this = 1
		}
		if this > rank {
			language, rank = n.Attr[i].Val, this
		}
	}
	return strings.Trim(language, white), rank > 0
}

// language returns the language that an element is in; empty if it is not known.
func (p *page) language(n *html.Node) (language string) {
	if p.spoken == nil {
		p.spoken = make(map[*html.Node]string)
	}
	at := n
	for ; at != nil; at = at.Parent {
		known, ok := p.spoken[at]
		if !ok {
			known, ok = says(at)
		}
		if ok {
			language = known
			break
		}
	}
	for ; n != at; n = n.Parent {
		p.spoken[n] = language
	}
	if at != nil {
		p.spoken[at] = language
	}
	return language
}

// position returns where the content of an element, or its tag if it has none, stands in the page, as
// "line 3, column 5".
// It reads the page again, once for each name, since no tree has it; not for problems that are not told.
func (p *page) position(n *html.Node, line, column int) string {
	if len(p.problems) >= mostProblems {
		return ""
	}
	number := 0 // of elements of that name before it
	for _, e := range p.elements {
		if e == n {
			break
		}
		if e.Data == n.Data {
			number++
		}
	}
	tags := p.tagsOf(n.Data)
	if number >= len(tags) {
		return fmt.Sprintf("line %d, column %d of element %s", line, column, n.Data)
	}
	at := tags[number].End
	if line == 0 {
		at, line, column = tags[number].Start, 1, 1
	}
	before := p.text[:at]
	if line == 1 {
		column += utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	}
	return fmt.Sprintf("line %d, column %d", line+bytes.Count(before, []byte{'\n'}), column)
}

// tagsOf returns the start tags of a name, in their order.
func (p *page) tagsOf(name string) []htmltree.StartTag {
	tags, known := p.tags[name]
	if known {
		return tags
	}
	for tag := range htmltree.StartTags(p.text, p.xhtml) {
		if tag.Name == name {
			tags = append(tags, tag)
		}
	}
	if p.tags == nil {
		p.tags = make(map[string][]htmltree.StartTag)
	}
	p.tags[name] = tags
	return tags
}
