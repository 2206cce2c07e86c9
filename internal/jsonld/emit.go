package jsonld

import (
	"context"
	"strconv"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// emitter yields what an expanded document states (JSON-LD 1.1 API, sections 7.2 and 8.1). Where the standard gathers
// what is said of each node first, it goes through the document once: RDF is a set.
type emitter struct {
	*watch
	limits    Limits
	direction string
	yield     func(rdf.Quad, error) bool
	stopped   bool  // nothing more is wanted
	err       error // why the document ended early

	label      string
	labels     int
	blanks     map[string]webrace.Term // by their labels in the document
	predicates map[string]webrace.Term
	indexes    map[indexed]string

	graph   webrace.Term
	noGraph bool // the name of the graph is not well-formed, so what is in it is left out
	quads   int
	named   int // bytes of IRIs, datatypes and languages
}

// indexed is a node in a graph, which can have one index.
type indexed struct{ graph, node webrace.Term }

func newEmitter(w *watch, o Options, limits Limits, yield func(rdf.Quad, error) bool) *emitter {
	e := &emitter{watch: w, limits: limits, direction: o.Direction, yield: yield, label: o.Blank,
		blanks: map[string]webrace.Term{}, predicates: map[string]webrace.Term{}, indexes: map[indexed]string{}}
	if e.label == "" {
		e.label = "b"
	}
	return e
}

// ended reports whether there is nothing more to do. It is asked at each step, also at those that yield nothing.
func (e *emitter) ended() bool {
	if e.steps++; e.steps%stepsPerLook == 0 && e.err == nil && e.ctx.Err() != nil {
		e.err = context.Cause(e.ctx)
	}
	return e.stopped || e.err != nil
}

// nodes yields what nodes state that are no value of anything.
func (e *emitter) nodes(nodes []*node) {
	for _, n := range nodes {
		if e.ended() {
			return
		}
		if !n.isNode() {
			e.note(n.at, leftOut, unowned, "")
			continue
		}
		e.at = n.at
		e.node(n, e.subject(n))
	}
}

// subject returns the term of a node object; empty if it is not well-formed.
func (e *emitter) subject(n *node) webrace.Term {
	if n.has&hasID == 0 {
		return e.newBlank()
	}
	return e.resource(n.id)
}

// resource returns the term of an IRI or a blank node; empty if it is not well-formed.
func (e *emitter) resource(id string) webrace.Term {
	if strings.HasPrefix(id, "_:") {
		if e.blanks[id] == "" {
			e.blanks[id] = e.newBlank()
		}
		return e.blanks[id]
	}
	if e.name(id, "bytes of an IRI"); e.err != nil {
		return ""
	}
	iri, ok := e.iri(id)
	if !ok {
		e.note(e.at, leftOut, "what is said by a name that is no absolute IRI", id)
		return ""
	}
	if len(iri) > len(id) {
		e.name(iri, "bytes of an IRI")
	}
	return rdf.NewIRI(iri)
}

// name counts an IRI or a language, of which a document can have many terms though it writes it once, in a context.
func (e *emitter) name(s, what string) {
	e.within(len(s), e.limits.IRI, what)
	e.named += len(s)
	e.within(e.named, maxJoined, "bytes of IRIs, datatypes and languages")
}

func (e *emitter) newBlank() webrace.Term {
	e.labels++
	return rdf.NewBlank(e.label + strconv.Itoa(e.labels-1))
}

func (e *emitter) within(n, limit int, what string) {
	if n > limit && e.err == nil {
		e.err = e.limitError(what, limit)
	}
}

// predicate returns the term of a property; empty if it is not well-formed, as a blank node is not.
func (e *emitter) predicate(prop *property) webrace.Term {
	iri := prop.iri
	term, ok := e.predicates[iri]
	if !ok {
		if len(prop.values) > 0 {
			e.at = prop.values[0].at
		}
		if !strings.HasPrefix(iri, "_:") {
			term = e.resource(iri)
		} else {
			e.note(e.at, leftOut, "a property is a blank node", iri)
		}
		e.predicates[iri] = term
	}
	return term
}

// quad yields a triple in the graph that the emitter is in, if all of it is well-formed.
func (e *emitter) quad(s, p, o webrace.Term) {
	if e.ended() || s == "" || p == "" || o == "" || e.noGraph {
		return
	}
	e.quads++
	if e.within(e.quads, e.limits.Triples, "triples"); e.err != nil {
		return
	}
	e.stopped = !e.yield(rdf.Quad{Triple: webrace.Triple{Subject: s, Predicate: p, Object: o}, Graph: e.graph}, nil)
}

const typeIRI = webrace.Term("<" + rdf.Type + ">")

// node yields what is said of a node.
func (e *emitter) node(n *node, subject webrace.Term) {
	e.at = n.at
	if n.has&hasIndex != 0 && !e.index(n, subject) {
		return
	}
	for _, t := range n.types {
		e.quad(subject, typeIRI, e.resource(t))
	}
	if n.has&hasGraph != 0 {
		e.namedGraph(n, subject)
	}
	if n.has&hasIncluded != 0 {
		e.nodes(n.included)
	}
	if n.has&hasReverse != 0 {
		e.reversed(n, subject)
	}
	for _, prop := range n.props {
		predicate := e.predicate(&prop)
		for _, v := range prop.values {
			if e.ended() {
				return
			}
			e.value(subject, predicate, v)
		}
	}
}

// reversed yields what has a node as its value.
func (e *emitter) reversed(n *node, subject webrace.Term) {
	for _, prop := range n.reverse {
		predicate := e.predicate(&prop)
		for _, v := range prop.values {
			from := e.subject(v)
			e.quad(from, predicate, subject)
			e.node(v, from)
		}
	}
}

// index reports whether a node has no other index than before.
func (e *emitter) index(n *node, subject webrace.Term) bool {
	if subject == "" {
		return true
	}
	key := indexed{e.graph, subject}
	before, ok := e.indexes[key]
	e.indexes[key] = n.index
	if ok && before != n.index && e.err == nil {
		e.err = catch(func() {
			e.failAt(n.at, "conflicting indexes", "the node "+string(subject)+" has the indexes "+
				strconv.Quote(before)+" and "+strconv.Quote(n.index))
		})
	}
	return e.err == nil
}

func (e *emitter) namedGraph(n *node, name webrace.Term) {
	graph, no := e.graph, e.noGraph
	e.graph, e.noGraph = name, name == ""
	e.nodes(n.items)
	e.graph, e.noGraph = graph, no
}

// value yields that a subject has a value, and what is said of that.
func (e *emitter) value(subject, predicate webrace.Term, v *node) {
	e.at = v.at
	switch {
	case v.has&hasValue != 0:
		if v.has&hasDirection != 0 && e.direction == "compound-literal" {
			e.compound(subject, predicate, v)
			return
		}
		e.quad(subject, predicate, e.literal(v))
	case v.has&hasList != 0:
		e.list(subject, predicate, v.items)
	default:
		object := e.subject(v)
		e.quad(subject, predicate, object)
		e.node(v, object)
	}
}

const (
	firstIRI = webrace.Term("<" + rdf.First + ">")
	restIRI  = webrace.Term("<" + rdf.Rest + ">")
	nilIRI   = webrace.Term("<" + rdf.Nil + ">")
)

// list yields a collection (section 8.3). What is no RDF leaves a place without a first.
func (e *emitter) list(subject, predicate webrace.Term, items []*node) {
	if subject == "" || predicate == "" { // its nodes say what they say
		for _, n := range items {
			e.value("", "", n)
		}
		return
	}
	for _, n := range items {
		if e.ended() {
			return
		}
		cell := e.newBlank()
		e.quad(subject, predicate, cell)
		e.value(cell, firstIRI, n)
		subject, predicate = cell, restIRI
	}
	e.quad(subject, predicate, nilIRI)
}

// literal returns the literal of a value object (section 8.2); empty if it is not well-formed.
func (e *emitter) literal(n *node) webrace.Term {
	datatype := ""
	if n.has&hasType != 0 {
		datatype = n.types[0]
	}
	lexicalForm, standard := n.value.text, rdf.XSDString
	switch {
	case datatype == "@json":
		lexicalForm, datatype = string(appendCanonical(nil, n.value)), rdf.NS+"JSON"
	case n.value.kind == trueKind || n.value.kind == falseKind:
		lexicalForm, standard = n.value.kind.String(), rdf.XSDBoolean
	case n.value.kind == number:
		var integer bool
		if lexicalForm, integer = lexical(n.value.text, datatype == rdf.XSDDouble); integer {
			standard = rdf.XSDInteger
		} else {
			standard = rdf.XSDDouble
		}
		if strings.HasSuffix(lexicalForm, "INF") {
			e.note(n.value.at, readAs, "a number that no double can hold is infinite", n.value.text)
		}
	}
	e.within(len(lexicalForm), e.limits.Literal, "bytes of a literal")
	e.name(datatype, "bytes of an IRI")
	e.name(n.language, "bytes of a language tag")
	if e.ended() || !e.isLanguage(n.language) {
		return ""
	}
	if n.has&hasDirection != 0 && e.direction == "" {
		e.note(e.at, leftOut, "the direction of a text, for which RDF has no place", n.direction)
	}
	datatype, ok := e.datatype(datatype)
	switch {
	case !ok:
		return ""
	case n.has&hasDirection != 0 && e.direction == "i18n-datatype":
		return rdf.NewTyped(lexicalForm, "https://www.w3.org/ns/i18n#"+strings.ToLower(n.language)+"_"+n.direction)
	case n.language != "":
		return rdf.NewLangString(lexicalForm, n.language)
	case datatype == "":
		return rdf.NewTyped(lexicalForm, standard)
	}
	return rdf.NewTyped(lexicalForm, datatype)
}

func (e *emitter) datatype(name string) (iri string, ok bool) {
	if name == "" {
		return "", true
	}
	if iri, ok = e.iri(name); !ok {
		e.note(e.at, leftOut, "a value whose datatype is no absolute IRI", name)
	}
	return iri, ok
}

func (e *emitter) isLanguage(tag string) bool {
	ok := tag == "" || isLanguage(tag)
	if !ok {
		e.note(e.at, leftOut, "a text in what is no language", tag)
	}
	return ok
}

// compound yields a text with a direction as a blank node.
func (e *emitter) compound(subject, predicate webrace.Term, n *node) {
	e.name(n.language, "bytes of a language tag")
	if e.ended() || !e.isLanguage(n.language) {
		return
	}
	literal := e.newBlank()
	e.quad(subject, predicate, literal)
	e.quad(literal, rdf.NewIRI(rdf.NS+"value"), rdf.NewString(n.value.text))
	if n.language != "" {
		e.quad(literal, rdf.NewIRI(rdf.NS+"language"), rdf.NewString(strings.ToLower(n.language)))
	}
	e.quad(literal, rdf.NewIRI(rdf.NS+"direction"), rdf.NewString(n.direction))
}
