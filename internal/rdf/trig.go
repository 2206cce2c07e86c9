package rdf

import "github.com/webrace/webrace"

// triplesOrGraph reads what begins with a subject or with the name of a graph.
func (t *turtle) triplesOrGraph() error {
	var name webrace.Term
	var err error
	switch t.next() {
	case '(':
		if err := t.triples(); err != nil {
			return err
		}
		return t.dot()
	case '[':
		var anonymous bool
		if name, anonymous, err = t.propertyList(); err != nil {
			return err
		}
		if !anonymous {
			if t.next() != '.' {
				if err := t.predicates(name); err != nil {
					return err
				}
			}
			return t.dot()
		}
	default:
		if name, err = t.iriOrLabel("a subject, or the name of a graph"); err != nil {
			return err
		}
	}
	if t.next() == '{' {
		return t.wrappedGraph(name)
	}
	if err := t.predicates(name); err != nil {
		return err
	}
	return t.dot()
}

// namedGraph reads what follows GRAPH.
func (t *turtle) namedGraph() error {
	var name webrace.Term
	var err error
	if t.next() == '[' {
		var anonymous bool
		if name, anonymous, err = t.propertyList(); err == nil && !anonymous {
			return t.errorf(0, "a graph has a name, an IRI or a blank node of which nothing is said")
		}
	} else {
		name, err = t.iriOrLabel("the name of a graph")
	}
	if err != nil {
		return err
	}
	if t.next() != '{' {
		return t.expected("a {")
	}
	return t.wrappedGraph(name)
}

// wrappedGraph reads the triples of a graph in braces, of which the last one needs no dot.
func (t *turtle) wrappedGraph(name webrace.Term) error {
	t.pos++
	t.graph = name
	for t.next() != '}' {
		if err := t.triples(); err != nil {
			return err
		}
		if t.next() != '.' {
			break
		}
		t.pos++
	}
	if t.next() != '}' {
		return t.expected("a dot or a }")
	}
	t.pos++
	t.graph = ""
	return nil
}
