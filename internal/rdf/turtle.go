package rdf

import (
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace"
)

// turtle reads Turtle and TriG.
type turtle struct {
	*reader
	prefixes map[string]string // <namespace by prefix, in which > is still to come
	graph    webrace.Term
	depth    int
}

func (r *reader) parseTurtle(graphs bool) error {
	r.lax = true
	r.skipMark()
	t := &turtle{reader: r, prefixes: map[string]string{}}
	for t.space() {
		if err := t.statement(graphs); err != nil {
			return err
		}
	}
	if r.broken {
		return r.final
	}
	return nil
}

// space goes to the next token, over white space and comments, and reports whether there is one.
func (t *turtle) space() bool {
	for {
		b := t.buf[t.pos:t.end]
		n := 0
		for n < len(b) && is(b[n], isBlank) {
			n++
		}
		t.pos += n
		switch {
		case n == len(b):
			if !t.more() {
				return false
			}
		case b[n] == '#':
			t.comment()
		default:
			return true
		}
	}
}

// next goes to the next token, and returns its first byte; zero at the end.
func (t *turtle) next() byte {
	if t.pos < t.end && t.buf[t.pos] > '#' || t.space() {
		return t.buf[t.pos]
	}
	return 0
}

func (t *turtle) statement(graphs bool) error {
	switch c := t.next(); {
	case c == '@':
		return t.atDirective()
	case graphs && c == '{':
		return t.wrappedGraph("")
	case is(c, isLetter):
		switch word := t.keyword(); {
		case strings.EqualFold(word, "PREFIX"):
			t.pos += len(word)
			return t.prefix()
		case strings.EqualFold(word, "BASE"):
			t.pos += len(word)
			return t.baseIRI()
		case graphs && strings.EqualFold(word, "GRAPH"):
			t.pos += len(word)
			return t.namedGraph()
		}
	}
	if graphs {
		return t.triplesOrGraph()
	}
	if err := t.triples(); err != nil {
		return err
	}
	return t.dot()
}

// keyword returns the word of ASCII letters at pos if it is no prefix of a name.
func (t *turtle) keyword() string {
	n := 0
	for is(t.at(n), isLetter) && n <= len("PREFIX") {
		n++
	}
	c := t.at(n)
	if c == '.' { // within a name, or the end of a statement
		c = t.at(n + 1)
	}
	if c == ':' || c >= utf8.RuneSelf || is(c, inName) {
		return ""
	}
	return string(t.buf[t.pos : t.pos+n])
}

// atDirective reads @prefix or @base, in lower case, with a dot.
func (t *turtle) atDirective() error {
	var err error
	switch {
	case t.isDirective("@prefix"):
		t.pos += len("@prefix")
		err = t.prefix()
	case t.isDirective("@base"):
		t.pos += len("@base")
		err = t.baseIRI()
	default:
		return t.errorf(0, "expected @prefix or @base")
	}
	if err != nil {
		return err
	}
	return t.dot()
}

// isDirective reports whether a word with its @ stands at pos: an empty prefix may follow at once, as in @prefix:<a>.
func (t *turtle) isDirective(word string) bool {
	return t.follows(word) && t.at(len(word)) != '-' && !is(t.at(len(word)), isLetter|isDigit)
}

func (t *turtle) dot() error {
	if t.next() != '.' {
		return t.expected("a dot at the end of the statement")
	}
	t.pos++
	return nil
}

func (t *turtle) prefix() error {
	t.space()
	n, err := t.prefixEnd()
	if err != nil {
		return err
	}
	name := string(t.buf[t.pos : t.pos+n])
	t.pos += n + 1
	iri, err := t.directiveIRI("the namespace of the prefix, an IRI between < and >")
	if err != nil {
		return err
	}
	if len(t.prefixes) >= t.limits.Triples {
		return t.limitError(0, "prefixes", t.limits.Triples)
	}
	t.prefixes[name] = string(iri[:len(iri)-1])
	return nil
}

func (t *turtle) baseIRI() error {
	iri, err := t.directiveIRI("the base, an IRI between < and >")
	if err != nil {
		return err
	}
	if t.base, err = ParseBase(Value(iri)); err != nil {
		return t.errorf(0, "%v", err)
	}
	return nil
}

func (t *turtle) directiveIRI(what string) (webrace.Term, error) {
	if t.next() != '<' {
		return "", t.expected(what)
	}
	return t.iriref()
}

// triples reads a subject and what is said of it.
func (t *turtle) triples() error {
	switch c := t.next(); {
	case c == '[':
		subject, anonymous, err := t.propertyList()
		if err != nil {
			return err
		}
		if c := t.next(); !anonymous && (c == '.' || c == '}' || c == 0) {
			return nil
		}
		return t.predicates(subject)
	case c == '(':
		subject, err := t.collection()
		if err != nil {
			return err
		}
		return t.predicates(subject)
	}
	subject, err := t.iriOrLabel("a subject")
	if err != nil {
		return err
	}
	return t.predicates(subject)
}

func (t *turtle) iriOrLabel(what string) (webrace.Term, error) {
	switch t.next() {
	case '<':
		return t.iriref()
	case '_':
		return t.label()
	}
	return t.prefixed(what)
}

// predicates reads what is said of a subject: predicates with their objects, after one another.
func (t *turtle) predicates(subject webrace.Term) error {
	for {
		predicate, err := t.verb()
		if err != nil {
			return err
		}
		for {
			if err := t.object(subject, predicate); err != nil {
				return err
			}
			if t.next() != ',' {
				break
			}
			t.pos++
		}
		if t.next() != ';' {
			return nil
		}
		for t.next() == ';' {
			t.pos++
		}
		if c := t.next(); c == '.' || c == ']' || c == '}' || c == 0 {
			return nil
		}
	}
}

const typeTerm = "<" + Type + ">"

func (t *turtle) verb() (webrace.Term, error) {
	switch c := t.next(); {
	case c == '<':
		return t.iriref()
	case c == 'a' && t.keyword() == "a":
		t.pos++
		return typeTerm, nil
	}
	return t.prefixed("a predicate")
}

func (t *turtle) object(subject, predicate webrace.Term) error {
	var object webrace.Term
	var err error
	switch c := t.next(); c {
	case '<':
		object, err = t.iriref()
	case '_':
		object, err = t.label()
	case '[':
		object, _, err = t.propertyList()
	case '(':
		object, err = t.collection()
	case '"', '\'':
		object, err = t.literal(c)
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '+', '-', '.':
		object, err = t.number()
	default:
		object, err = t.word()
	}
	if err != nil {
		return err
	}
	return t.emit(subject, predicate, object, t.graph)
}

// deeper counts what lies within something else, and refuses it if that is too much.
func (t *turtle) deeper() error {
	if t.depth++; t.depth > t.limits.Depth {
		return t.limitError(0, "collections and property lists within each other", t.limits.Depth)
	}
	return nil
}

// propertyList reads a blank node in brackets, with what is said of it, or anonymous, without anything.
func (t *turtle) propertyList() (node webrace.Term, anonymous bool, err error) {
	if err := t.deeper(); err != nil {
		return "", false, err
	}
	t.pos++
	node = t.newBlank()
	if anonymous = t.next() == ']'; !anonymous {
		if err := t.predicates(node); err != nil {
			return "", false, err
		}
	}
	if t.next() != ']' {
		return "", false, t.expected("a ]")
	}
	t.pos++
	t.depth--
	return node, anonymous, nil
}

const (
	nilTerm   = "<" + Nil + ">"
	firstTerm = "<" + First + ">"
	restTerm  = "<" + Rest + ">"
)

// collection reads members in parentheses, and returns the head of their list.
func (t *turtle) collection() (webrace.Term, error) {
	if err := t.deeper(); err != nil {
		return "", err
	}
	t.pos++
	var head, last webrace.Term = nilTerm, ""
	for t.next() != ')' {
		node := t.newBlank()
		if last == "" {
			head = node
		} else if err := t.emit(last, restTerm, node, t.graph); err != nil {
			return "", err
		}
		if err := t.object(node, firstTerm); err != nil {
			return "", err
		}
		last = node
	}
	t.pos++
	t.depth--
	if last == "" {
		return head, nil
	}
	return head, t.emit(last, restTerm, nilTerm, t.graph)
}
