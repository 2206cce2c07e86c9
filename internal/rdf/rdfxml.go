package rdf

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/webrace/webrace"
)

// rdfXML reads RDF/XML. Beyond its specification it passes over attributes of rdf:RDF in other namespaces than RDF's,
// as many documents name their schema there, and over white space in property elements that name their object.
type rdfXML struct {
	*xmlReader
	ids map[string]struct{} // the IRIs that rdf:ID gave
}

// scope is what attributes of XML declare of an element and all within.
type scope struct {
	base     Base
	language string
}

func (r *reader) parseXML() error {
	p := &rdfXML{xmlReader: newXMLReader(r), ids: map[string]struct{}{}}
	if _, err := p.next(); err != nil {
		return err
	}
	s, err := p.scope(&scope{base: r.base})
	if err != nil {
		return err
	}
	if p.name.space == NS && string(p.name.local) == "RDF" {
		err = p.root(s)
	} else {
		_, err = p.node(s)
	}
	if err != nil {
		return err
	}
	_, err = p.next()
	return err
}

// root reads the nodes in rdf:RDF.
func (p *rdfXML) root(s *scope) error {
	for _, a := range p.attrs {
		if a.space == NS {
			return p.errorAt(a.at, "rdf:RDF has the attribute %s", a.qualified)
		}
	}
	for {
		kind, err := p.nextElement("a node")
		if err != nil || kind == xmlEnd {
			return err
		}
		inner, err := p.scope(s)
		if err != nil {
			return err
		}
		if _, err := p.node(inner); err != nil {
			return err
		}
	}
}

// nextElement goes to the next tag, before which only white space may stand.
func (p *rdfXML) nextElement(what string) (xmlKind, error) {
	p.chars = p.chars[:0]
	kind, err := p.next()
	if err == nil {
		err = p.onlyBlank(what)
	}
	return kind, err
}

func (p *rdfXML) onlyBlank(what string) error {
	for _, c := range p.chars {
		if !is(c, isBlank) {
			return p.errorAt(p.tagAt, "there is text before this tag, where only %s may stand", what)
		}
	}
	return nil
}

// scope takes the attributes of XML itself out of those of the tag, and puts those without a namespace that stand for
// attributes of RDF into it (section 6.1.4).
func (p *rdfXML) scope(outer *scope) (*scope, error) {
	s := outer
	kept := p.attrs[:0]
	for _, a := range p.attrs {
		switch {
		case a.space == xmlNS:
			var err error
			if s, err = p.inScope(s, outer, a); err != nil {
				return nil, err
			}
			continue
		case a.space == "" && bytes.HasPrefix(a.local, []byte("xml")):
			continue
		case a.space == "":
			switch string(a.local) {
			case "ID", "about", "resource", "parseType", "type":
				a.space = NS
			default:
				return nil, p.errorAt(a.at, "the attribute %s has no namespace, so it is no property", shortened(a.local))
			}
		}
		kept = append(kept, a)
	}
	p.attrs = kept
	return s, nil
}

func (p *rdfXML) inScope(s, outer *scope, a attribute) (*scope, error) {
	if s == outer {
		copied := *outer
		s = &copied
	}
	switch string(a.local) {
	case "lang":
		if len(a.value) > p.limits.IRI {
			return nil, p.limitError(a.at-p.dropped-p.pos, "bytes of a language tag", p.limits.IRI)
		}
		if len(a.value) > 0 && !isLanguage(a.value) {
			return nil, p.errorAt(a.at, "%q is no language tag", shortened(a.value))
		}
		s.language = string(bytes.ToLower(a.value))
	case "base":
		base, err := outer.base.Resolve(percentEncoded(a.value))
		if len(base) > p.limits.IRI {
			return nil, p.limitAt(a.at)
		}
		if err == nil {
			s.base, err = ParseBase(base)
		}
		if err != nil {
			return nil, p.errorAt(a.at, "xml:base: %v", err)
		}
	}
	return s, nil
}

// isLanguage reports whether a tag can stand in N-Triples.
func isLanguage(tag []byte) bool {
	for i, part := range bytes.Split(tag, []byte("-")) {
		if len(part) == 0 {
			return false
		}
		for _, c := range part {
			if !is(c, isLetter) && (i == 0 || !is(c, isDigit)) {
				return false
			}
		}
	}
	return true
}

// node reads a node element, whose start tag was read, and returns its term.
func (p *rdfXML) node(s *scope) (webrace.Term, error) {
	element, err := p.property(&p.name, p.tagAt)
	if err != nil {
		return "", err
	}
	if p.name.space == NS && !mayBeNode(p.name.local) {
		return "", p.errorAt(p.tagAt, "%s is no node", p.name.qualified)
	}
	subject, err := p.subject(s)
	if err != nil {
		return "", err
	}
	if element != "<"+NS+"Description>" {
		if err := p.emit(subject, typeTerm, element, ""); err != nil {
			return "", err
		}
	}
	if err := p.propertyAttributes(subject, s); err != nil {
		return "", err
	}
	return subject, p.properties(subject, s)
}

// subject takes rdf:about, rdf:ID or rdf:nodeID out of the attributes.
func (p *rdfXML) subject(s *scope) (webrace.Term, error) {
	var subject webrace.Term
	kept := p.attrs[:0]
	for _, a := range p.attrs {
		local := ""
		if a.space == NS {
			local = string(a.local)
		}
		var named webrace.Term
		var err error
		switch local {
		case "about":
			named, err = p.iriAttribute(s, a)
		case "ID":
			named, err = p.id(s, a)
		case "nodeID":
			named, err = p.nodeID(a)
		case "resource", "datatype", "parseType":
			err = p.errorAt(a.at, "a node has the attribute %s", a.qualified)
		default:
			kept = append(kept, a)
			continue
		}
		if err != nil {
			return "", err
		}
		if subject != "" {
			return "", p.errorAt(a.at, "a node has two of rdf:about, rdf:ID and rdf:nodeID")
		}
		subject = named
	}
	p.attrs = kept
	if subject == "" {
		subject = p.newBlank()
	}
	return subject, nil
}

// propertyAttributes yields what the attributes that are left state.
func (p *rdfXML) propertyAttributes(subject webrace.Term, s *scope) error {
	for _, a := range p.attrs {
		if a.space == NS && !mayBeAttribute(a.local) {
			return p.errorAt(a.at, "%s is no property", a.qualified)
		}
		predicate, err := p.property(&a.xmlName, a.at)
		if err != nil {
			return err
		}
		var object webrace.Term
		if predicate == typeTerm {
			object, err = p.iriAttribute(s, a)
		} else {
			object, err = p.plain(a.value, s)
		}
		if err != nil {
			return err
		}
		if err := p.emit(subject, predicate, object, ""); err != nil {
			return err
		}
	}
	return nil
}

// properties reads property elements up to the end of the element around them.
func (p *rdfXML) properties(subject webrace.Term, outer *scope) error {
	for li := 1; ; {
		kind, err := p.nextElement("properties")
		if err != nil || kind == xmlEnd {
			return err
		}
		s, err := p.scope(outer)
		if err != nil {
			return err
		}
		var predicate webrace.Term
		if p.name.space == NS && string(p.name.local) == "li" {
			predicate = webrace.Term("<" + NS + "_" + strconv.Itoa(li) + ">")
			li++
		} else if predicate, err = p.property(&p.name, p.tagAt); err != nil {
			return err
		} else if p.name.space == NS && !mayBeProperty(p.name.local) {
			return p.errorAt(p.tagAt, "%s is no property", p.name.qualified)
		}
		if err := p.propertyElement(subject, predicate, s); err != nil {
			return err
		}
	}
}

// Names of RDF that have a meaning in the syntax, so that they are not used for nodes and properties (section 7.2.2).

func mayBeNode(local []byte) bool { return !syntaxTerm(local) && string(local) != "li" }

func mayBeProperty(local []byte) bool { return !syntaxTerm(local) && string(local) != "Description" }

func mayBeAttribute(local []byte) bool { return mayBeNode(local) && string(local) != "Description" }

func syntaxTerm(local []byte) bool {
	switch string(local) {
	case "RDF", "ID", "about", "parseType", "resource", "nodeID", "datatype", "aboutEach", "aboutEachPrefix", "bagID":
		return true
	}
	return false
}

// property returns the term of a name of XML.
func (p *rdfXML) property(n *xmlName, at int) (webrace.Term, error) {
	p.scratch = append(append(append(append(p.scratch[:0], '<'), n.space...), n.local...), '>')
	if known, ok := p.names.find(p.scratch); ok {
		return known, nil
	}
	iri := p.scratch[1 : len(p.scratch)-1]
	switch {
	case n.space == "":
		return "", p.errorAt(at, "%s has no namespace, so it is no IRI", shortened(n.qualified))
	case schemeEnd(iri) < 0 || !validIRI(iri):
		space := shortened([]byte(n.space))
		return "", p.errorAt(at, "%s is no IRI, where the namespace is %q", shortened(n.qualified), space)
	case len(iri) > p.limits.IRI:
		return "", p.limitAt(at)
	}
	return p.term(&p.names)
}

func (p *rdfXML) limitAt(at int) error {
	return p.limitError(at-p.dropped-p.pos, "bytes of an IRI", p.limits.IRI)
}

// iriAttribute returns the term of an IRI reference in an attribute.
func (p *rdfXML) iriAttribute(s *scope, a attribute) (webrace.Term, error) {
	p.scratch = append(append(append(p.scratch[:0], '<'), a.value...), '>')
	if known, ok := p.iris.find(p.scratch); ok {
		return known, nil
	}
	if len(a.value) > p.limits.IRI {
		return "", p.limitAt(a.at)
	}
	switch {
	case schemeEnd(a.value) < 0:
		return p.resolveAt(s, percentEncoded(a.value), a.at)
	case !validIRI(a.value):
		p.scratch = append(append(append(p.scratch[:0], '<'), percentEncoded(a.value)...), '>')
	}
	return p.iris.add(p.scratch), nil
}

func (p *rdfXML) resolveAt(s *scope, ref string, at int) (webrace.Term, error) {
	iri, err := s.base.Resolve(ref)
	if err != nil {
		return "", p.errorAt(at, "%v", err)
	}
	if len(iri) > p.limits.IRI {
		return "", p.limitAt(at)
	}
	p.scratch = append(append(append(p.scratch[:0], '<'), iri...), '>')
	return p.term(&p.names)
}

// percentEncoded writes a reference of XML, which may have any characters, as one to an IRI (XML 1.0, section 4.2.2).
func percentEncoded(value []byte) string {
	if validIRI(value) {
		return string(value)
	}
	out := make([]byte, 0, len(value)+16)
	for _, c := range value {
		if is(c, inIRI) {
			out = append(out, c)
		} else {
			out = append(out, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(out)
}

func validIRI(b []byte) bool {
	for _, c := range b {
		if !is(c, inIRI) {
			return false
		}
	}
	return true
}

// id returns the term of rdf:ID, which a document gives once.
func (p *rdfXML) id(s *scope, a attribute) (webrace.Term, error) {
	if !isNCName(a.value) {
		return "", p.errorAt(a.at, "rdf:ID is %q, which is no name", shortened(a.value))
	}
	term, err := p.resolveAt(s, "#"+string(a.value), a.at)
	if err != nil {
		return "", err
	}
	if _, known := p.ids[string(term)]; known {
		return "", p.errorAt(a.at, "rdf:ID gives %s a second time", term)
	}
	if len(p.ids) >= p.limits.Triples { // an ID alone makes no triple, so that limit would not be met
		return "", p.limitError(a.at-p.dropped-p.pos, "nodes with an ID", p.limits.Triples)
	}
	p.ids[string(term)] = struct{}{}
	return term, nil
}

func (p *rdfXML) nodeID(a attribute) (webrace.Term, error) {
	if !isNCName(a.value) {
		return "", p.errorAt(a.at, "rdf:nodeID is %q, which is no name", shortened(a.value))
	}
	if len(p.blanks) >= 2*p.limits.Triples {
		return "", p.limitError(a.at-p.dropped-p.pos, "blank nodes", 2*p.limits.Triples)
	}
	return p.blankOf(a.value), nil
}

func isNCName(b []byte) bool {
	for i := 0; i < len(b); {
		c, size := utf8.DecodeRune(b[i:])
		if !isNameStart(c) && c != '_' && (i == 0 || !isNameRune(c) && c != '.') {
			return false
		}
		i += size
	}
	return len(b) > 0
}

// plain returns the term of a text in the language of its element.
func (p *rdfXML) plain(text []byte, s *scope) (webrace.Term, error) {
	p.quoteText(text)
	if s.language != "" {
		p.scratch = append(append(p.scratch, '@'), s.language...)
	}
	return p.term(&p.literals)
}

// typedText returns the term of a text with a datatype.
func (p *rdfXML) typedText(text []byte, datatype webrace.Term) (webrace.Term, error) {
	p.quoteText(text)
	p.scratch = append(append(p.scratch, "^^"...), datatype...)
	return p.term(&p.literals)
}

// quoteText puts a text into scratch, quoted.
func (p *rdfXML) quoteText(text []byte) {
	p.scratch = append(p.scratch[:0], '"')
	for len(text) > 0 {
		n := 0
		for n < len(text) && is(text[n], inText) {
			n++
		}
		p.scratch = append(p.scratch, text[:n]...)
		if n == len(text) {
			break
		}
		p.scratch = appendQuoted(p.scratch, rune(text[n]))
		text = text[n+1:]
	}
	p.scratch = append(p.scratch, '"')
}
