// Package rdf reads and writes RDF: N-Triples, N-Quads, Turtle, TriG and RDF/XML.
package rdf

import (
	"strings"

	"github.com/webrace/webrace"
)

// IRIs that the syntaxes themselves give a meaning to.
const (
	NS         = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
	Type       = NS + "type"
	First      = NS + "first"
	Rest       = NS + "rest"
	Nil        = NS + "nil"
	LangString = NS + "langString"
	XMLLiteral = NS + "XMLLiteral"

	XSD        = "http://www.w3.org/2001/XMLSchema#"
	XSDString  = XSD + "string"
	XSDBoolean = XSD + "boolean"
	XSDInteger = XSD + "integer"
	XSDDecimal = XSD + "decimal"
	XSDDouble  = XSD + "double"
)

// Quad is a triple and the graph that it is in; the graph is empty for the default graph.
type Quad struct {
	webrace.Triple
	Graph webrace.Term
}

// Kind is what a term is.
type Kind uint8

// The kinds of terms.
const (
	IRI Kind = iota + 1
	Literal
	Blank
)

// KindOf returns what a term is; zero for one that is empty.
func KindOf(t webrace.Term) Kind {
	if t == "" {
		return 0
	}
	switch t[0] {
	case '<':
		return IRI
	case '"':
		return Literal
	default:
		return Blank
	}
}

// NewIRI returns the term of an absolute IRI, in which N-Triples must be able to stand: see [ValidIRI].
func NewIRI(iri string) webrace.Term { return webrace.Term("<" + iri + ">") }

// NewBlank returns the term of a blank node by its label.
func NewBlank(label string) webrace.Term { return webrace.Term("_:" + label) }

// NewString returns the term of a plain text, which has the datatype xsd:string.
func NewString(text string) webrace.Term { return webrace.Term(quote(text)) }

// NewLangString returns the term of a text in a language, by its BCP 47 tag, which is kept in lower case (RDF 1.1
// Concepts, section 3.3).
func NewLangString(text, tag string) webrace.Term {
	return webrace.Term(quote(text) + "@" + strings.ToLower(tag))
}

// NewTyped returns the term of a literal by its lexical form and the IRI of its datatype.
func NewTyped(text, datatype string) webrace.Term {
	if datatype == XSDString || datatype == "" {
		return NewString(text)
	}
	return webrace.Term(quote(text) + "^^<" + datatype + ">")
}

// Value returns the IRI, the label of a blank node, or the lexical form of a literal.
func Value(t webrace.Term) string {
	switch KindOf(t) {
	case IRI:
		return string(t[1 : len(t)-1])
	case Literal:
		return unquote(string(t[1:endOfText(t)]))
	case Blank:
		return string(t[2:])
	default:
		return ""
	}
}

// Datatype returns the IRI of a literal's datatype: [LangString] for one with a language; empty for other terms.
func Datatype(t webrace.Term) string {
	if KindOf(t) != Literal {
		return ""
	}
	switch rest := t[endOfText(t)+1:]; {
	case rest == "":
		return XSDString
	case rest[0] == '@':
		return LangString
	default:
		return string(rest[len("^^<") : len(rest)-1])
	}
}

// Language returns the language tag of a literal, in lower case; empty for terms without one.
func Language(t webrace.Term) string {
	if KindOf(t) != Literal {
		return ""
	}
	if rest := t[endOfText(t)+1:]; rest != "" && rest[0] == '@' {
		return string(rest[1:])
	}
	return ""
}

// ValidIRI reports whether an IRI can stand in N-Triples: it has none of the characters <>"{}|^`\, no control character
// and no space (production IRIREF). Whether it is absolute is not asked.
func ValidIRI(iri string) bool {
	for i := range len(iri) {
		if c := iri[i]; c <= ' ' || strings.IndexByte("<>\"{}|^`\\", c) >= 0 {
			return false
		}
	}
	return true
}

// EscapeIRI percent-encodes what no IRI may have: URLs of the web may have some of it, as | in a path and {} in a
// query. Line breaks and tabs mean nothing, as in browsers, and are left out.
func EscapeIRI(reference string) string {
	if ValidIRI(reference) { // as most
		return reference
	}
	var b strings.Builder
	for i := range len(reference) {
		switch c := reference[i]; {
		case c == '\t', c == '\n', c == '\r':
		case ValidIRI(reference[i : i+1]):
			b.WriteByte(c)
		default:
			b.WriteString(string([]byte{'%', upperHex[c>>4], upperHex[c&15]}))
		}
	}
	return b.String()
}

// endOfText returns where the quotation mark stands that ends the text of a literal. Neither a language tag nor an IRI
// can hold one.
func endOfText(t webrace.Term) int { return strings.LastIndexByte(string(t), '"') }

const upperHex = "0123456789ABCDEF"

// quote writes a text as canonical N-Triples do (RDF Dataset Canonicalization, section 5), but for U+FFFE and U+FFFF:
// escapes where there is one of a letter, \u00XX for other control characters, and all else as it is.
func quote(text string) string {
	var b strings.Builder
	b.Grow(len(text) + 2)
	b.WriteByte('"')
	start := 0
	for i := range len(text) {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
			continue
		}
		b.WriteString(text[start:i])
		start = i + 1
		if letter := strings.IndexByte(escaped, c); letter >= 0 {
			b.WriteByte('\\')
			b.WriteByte(letters[letter])
			continue
		}
		b.WriteString(`\u00`)
		b.WriteByte(upperHex[c>>4])
		b.WriteByte(upperHex[c&15])
	}
	b.WriteString(text[start:])
	b.WriteByte('"')
	return b.String()
}

// Characters that are escaped by a letter, and those letters.
const (
	escaped = "\b\t\n\f\r\"\\"
	letters = "btnfr\"\\"
)

// unquote undoes quote.
func unquote(text string) string {
	i := strings.IndexByte(text, '\\')
	if i < 0 {
		return text
	}
	b := make([]byte, 0, len(text))
	for ; i >= 0; i = strings.IndexByte(text, '\\') {
		b = append(b, text[:i]...)
		if c := text[i+1]; c != 'u' {
			b = append(b, escaped[strings.IndexByte(letters, c)])
			text = text[i+2:]
			continue
		}
		b = append(b, hex(text[i+4])<<4|hex(text[i+5]))
		text = text[i+6:]
	}
	return string(append(b, text...))
}

func hex(c byte) byte { return byte(strings.IndexByte(upperHex, c)) }
