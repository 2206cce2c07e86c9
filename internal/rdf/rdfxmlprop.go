package rdf

import "github.com/webrace/webrace"

// propertyTag is what the attributes of a property element state.
type propertyTag struct {
	id        webrace.Term // of the statement; empty if it is not named
	object    webrace.Term // of rdf:resource or rdf:nodeID
	datatype  webrace.Term
	parseType string
	parsed    bool // there is a parseType
}

// propertyElement reads a property element, whose start tag was read (section 7.2.14).
func (p *rdfXML) propertyElement(subject, predicate webrace.Term, s *scope) error {
	at := p.tagAt
	tag, err := p.propertyTag(s)
	if err != nil {
		return err
	}
	statement := func(object webrace.Term) error { return p.statement(subject, predicate, object, tag.id) }
	switch {
	case tag.parsed:
		if tag.object != "" || tag.datatype != "" || len(p.attrs) > 0 {
			return p.errorAt(at, "a property with rdf:parseType has attributes besides rdf:ID")
		}
		return p.parseType(tag.parseType, statement, s)
	case tag.object != "" || len(p.attrs) > 0:
		if tag.datatype != "" {
			return p.errorAt(at, "a property with rdf:datatype has attributes besides rdf:ID")
		}
		return p.emptyProperty(tag.object, statement, s)
	}
	return p.content(tag, statement, s)
}

// propertyTag takes the attributes of the syntax out of those of a property element.
func (p *rdfXML) propertyTag(s *scope) (tag propertyTag, err error) {
	kept := p.attrs[:0]
	for _, a := range p.attrs {
		local := ""
		if a.space == NS {
			local = string(a.local)
		}
		var object webrace.Term
		switch local {
		case "ID":
			tag.id, err = p.id(s, a)
		case "datatype":
			tag.datatype, err = p.iriAttribute(s, a)
		case "parseType":
			tag.parseType, tag.parsed = string(a.value), true
		case "resource":
			object, err = p.iriAttribute(s, a)
		case "nodeID":
			object, err = p.nodeID(a)
		default:
			kept = append(kept, a)
		}
		if err == nil && object != "" && tag.object != "" {
			err = p.errorAt(a.at, "a property has rdf:resource and rdf:nodeID")
		}
		if err != nil {
			return tag, err
		}
		if object != "" {
			tag.object = object
		}
	}
	p.attrs = kept
	return tag, nil
}

const (
	statementTerm = "<" + NS + "Statement>"
	subjectTerm   = "<" + NS + "subject>"
	predicateTerm = "<" + NS + "predicate>"
	objectTerm    = "<" + NS + "object>"
	literalTerm   = "<" + XMLLiteral + ">"
)

// statement yields a triple and, if it is named, what it is made of.
func (p *rdfXML) statement(subject, predicate, object, id webrace.Term) error {
	if err := p.emit(subject, predicate, object, ""); err != nil || id == "" {
		return err
	}
	for _, t := range [][2]webrace.Term{
		{typeTerm, statementTerm}, {subjectTerm, subject}, {predicateTerm, predicate}, {objectTerm, object},
	} {
		if err := p.emit(id, t[0], t[1], ""); err != nil {
			return err
		}
	}
	return nil
}

// emptyProperty reads a property that gives its object in its attributes, and what is said of it.
func (p *rdfXML) emptyProperty(object webrace.Term, statement func(webrace.Term) error, s *scope) error {
	if object == "" {
		object = p.newBlank()
	}
	if err := statement(object); err != nil {
		return err
	}
	if err := p.propertyAttributes(object, s); err != nil {
		return err
	}
	kind, err := p.nextElement("the end of a property that has its object in an attribute")
	if err == nil && kind == xmlStart {
		err = p.errorAt(p.tagAt, "a property that has its object in an attribute has elements within")
	}
	return err
}

// parseType reads the content of a property as rdf:parseType demands. All that the specification does not know is
// Literal.
func (p *rdfXML) parseType(parseType string, statement func(webrace.Term) error, s *scope) error {
	switch parseType {
	case "Resource":
		object := p.newBlank()
		if err := statement(object); err != nil {
			return err
		}
		return p.properties(object, s)
	case "Collection":
		return p.collection(statement, s)
	}
	text, err := p.literal()
	if err != nil {
		return err
	}
	object, err := p.typedText(text, literalTerm)
	if err != nil {
		return err
	}
	return statement(object)
}

// collection reads nodes up to the end of their property, and makes a list of them.
func (p *rdfXML) collection(statement func(webrace.Term) error, s *scope) error {
	var last webrace.Term
	for {
		kind, err := p.nextElement("nodes")
		if err != nil {
			return err
		}
		var cell webrace.Term = nilTerm
		if kind == xmlStart {
			cell = p.newBlank()
		}
		if last == "" {
			err = statement(cell)
		} else {
			err = p.emit(last, restTerm, cell, "")
		}
		if err != nil || kind == xmlEnd {
			return err
		}
		inner, err := p.scope(s)
		if err != nil {
			return err
		}
		member, err := p.node(inner)
		if err != nil {
			return err
		}
		if err := p.emit(cell, firstTerm, member, ""); err != nil {
			return err
		}
		last = cell
	}
}

// content reads a property that has a text or one node within.
func (p *rdfXML) content(tag propertyTag, statement func(webrace.Term) error, outer *scope) error {
	p.chars = p.chars[:0]
	kind, err := p.next()
	if err != nil {
		return err
	}
	if kind == xmlEnd {
		var object webrace.Term
		switch tag.datatype {
		case "":
			object, err = p.plain(p.chars, outer)
		case xsdStringTerm:
			object, err = p.plain(p.chars, &scope{})
		default:
			object, err = p.typedText(p.chars, tag.datatype)
		}
		if err != nil {
			return err
		}
		return statement(object)
	}
	if err := p.onlyBlank("a node"); err != nil {
		return err
	}
	if tag.datatype != "" {
		return p.errorAt(p.tagAt, "a property with rdf:datatype has elements within")
	}
	s, err := p.scope(outer)
	if err != nil {
		return err
	}
	object, err := p.node(s)
	if err != nil {
		return err
	}
	if err := statement(object); err != nil {
		return err
	}
	kind, err = p.nextElement("the end of a property that has a node")
	if err == nil && kind == xmlStart {
		err = p.errorAt(p.tagAt, "a property has a second node")
	}
	return err
}
