package webrace

// Term is a node or a predicate of an RDF graph in canonical N-Triples (RDF 1.1, section 3): <https://example.org/>,
// "text", "text"@el, "1"^^<http://www.w3.org/2001/XMLSchema#integer> or _:b0. Equal terms are equal texts, so it
// compares, hashes, and is what programs outside of Go are given. The package internal/rdf makes terms and takes them
// apart.
type Term string

// Triple is a statement of an RDF graph.
type Triple struct{ Subject, Predicate, Object Term }

// Graph is what a document states as RDF.
type Graph struct {
	Triples  []Triple // each once, in document order
	Whole    bool     // false: the document is malformed or was cut, so this is not all that it states
	Problems []string // why it is not whole, and which parts of HTML could not be read, with line and column
}
