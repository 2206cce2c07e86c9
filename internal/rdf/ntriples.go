package rdf

import "github.com/webrace/webrace"

// parseLines reads N-Triples or, with graphs, N-Quads.
func (r *reader) parseLines(graphs bool) error {
	r.skipMark()
	for r.nextLine() {
		if err := r.line(graphs); err != nil {
			return err
		}
	}
	if r.broken {
		return r.final
	}
	return nil
}

// skipMark passes over a byte order mark.
func (in *input) skipMark() {
	if c, size := in.runeAt(0); c == '\uFEFF' {
		in.pos += size
	}
	in.start = in.pos
}

// nextLine goes to the next statement, and reports whether there is one.
func (r *reader) nextLine() bool {
	for {
		switch c := r.at(0); {
		case is(c, isBlank):
			r.pos++
		case c == '#':
			r.comment()
		default:
			return c != 0 || r.has(1)
		}
	}
}

// comment passes over a comment, up to the end of its line.
func (in *input) comment() {
	for {
		for i, c := range in.buf[in.pos:in.end] {
			if c == '\n' || c == '\r' {
				in.pos += i
				return
			}
		}
		in.pos = in.end
		if !in.more() {
			return
		}
	}
}

func (r *reader) line(graphs bool) error {
	subject, err := r.resource("the subject, an IRI or a blank node")
	if err != nil {
		return err
	}
	predicate, err := r.predicate()
	if err != nil {
		return err
	}
	object, err := r.object()
	if err != nil {
		return err
	}
	var graph webrace.Term
	if c := r.skipSpace(); graphs && (c == '<' || c == '_') {
		if graph, err = r.resource("the graph, an IRI or a blank node"); err != nil {
			return err
		}
	}
	if err := r.endOfLine(graphs && graph == ""); err != nil {
		return err
	}
	return r.emit(subject, predicate, object, graph)
}

// skipSpace goes to what follows on the line, and returns the byte there.
func (r *reader) skipSpace() byte {
	for {
		c := r.at(0)
		if c != ' ' && c != '\t' {
			return c
		}
		r.pos++
	}
}

func (r *reader) resource(what string) (webrace.Term, error) {
	switch r.skipSpace() {
	case '<':
		return r.iriref()
	case '_':
		return r.label()
	}
	return "", r.expected(what)
}

func (r *reader) predicate() (webrace.Term, error) {
	if r.skipSpace() == '<' {
		return r.iriref()
	}
	return "", r.expected("the predicate, an IRI between < and >")
}

func (r *reader) object() (webrace.Term, error) {
	if r.skipSpace() != '"' {
		return r.resource("the object, an IRI, a blank node or a literal")
	}
	if err := r.text('"', false); err != nil {
		return "", err
	}
	switch r.skipSpace() {
	case '@':
		if err := r.language(); err != nil {
			return "", err
		}
	case '^':
		if r.at(1) != '^' {
			return "", r.expected("^^ before a datatype")
		}
		r.pos += len("^^")
		if r.skipSpace() != '<' {
			return "", r.expected("the datatype, an IRI between < and >")
		}
		return r.typed(r.iriref)
	}
	return r.term(&r.literals)
}

// endOfLine reads the dot that ends a statement, and sees that nothing but a comment follows on the line.
func (r *reader) endOfLine(mayHaveGraph bool) error {
	if r.skipSpace() != '.' {
		if mayHaveGraph {
			return r.expected("the graph, an IRI or a blank node, or a dot at the end of the statement")
		}
		return r.expected("a dot at the end of the statement")
	}
	r.pos++
	switch c := r.skipSpace(); {
	case c == '\n' || c == '\r':
		r.pos++
	case c == '#':
		r.comment()
	case c != 0 || r.has(1):
		return r.expected("the end of the line")
	}
	return nil
}
