package rdf

import (
	"strings"

	"github.com/webrace/webrace"
)

// schemaOrg is where the terms of schema.org are. Pages name them at https: as often, and some with www: they are the
// same (schema.org, FAQ 19).
const schemaOrg = "http://schema.org/"

// SchemaOrg returns the IRI at http: of a term of schema.org, wherever it is written to be; any other as it is, also
// that of a document of the site.
func SchemaOrg(iri string) string {
	rest, ok := strings.CutPrefix(iri, "http")
	if !ok {
		return iri
	}
	rest = strings.TrimPrefix(rest, "s")
	if rest, ok = strings.CutPrefix(rest, "://"); !ok {
		return iri
	}
	name, ok := strings.CutPrefix(strings.TrimPrefix(rest, "www."), "schema.org/")
	if !ok || name == "" || len(schemaOrg)+len(name) == len(iri) {
		return iri
	}
	for _, c := range []byte(name) {
		if !is(c, isLetter) && !is(c, isDigit) && c != '_' && c != '-' {
			return iri
		}
	}
	return schemaOrg + name
}

// SchemaOrgTerm is [SchemaOrg] of a term: of an IRI, or of the datatype of a literal.
func SchemaOrgTerm(t webrace.Term) webrace.Term {
	if t == "" || t[len(t)-1] != '>' {
		return t
	}
	start := strings.LastIndexByte(string(t), '<') + 1
	iri := string(t[start : len(t)-1])
	if plain := SchemaOrg(iri); plain != iri {
		return t[:start] + webrace.Term(plain) + ">"
	}
	return t
}

// SchemaOrgObject is [SchemaOrgTerm] of the object of a property that is at http:. A string that is the address of a
// term, as most shops write "availability", is that term, where the property is one of schema.org: its context types no
// property whose values are its own terms.
func SchemaOrgObject(property, object webrace.Term) webrace.Term {
	if len(object) < len(`"`+schemaOrg+`"`) || object[0] != '"' || object[len(object)-1] != '"' {
		return SchemaOrgTerm(object)
	}
	address := string(object[1 : len(object)-1])
	plain := SchemaOrg(address)
	if plain == address && !isSchemaOrg(address) || !strings.HasPrefix(string(property), "<"+schemaOrg) {
		return object
	}
	return webrace.Term("<" + plain + ">")
}

// isSchemaOrg reports whether an IRI is that of a term at http:.
func isSchemaOrg(iri string) bool {
	name, is := strings.CutPrefix(iri, schemaOrg)
	return is && SchemaOrg("https://schema.org/"+name) == iri
}
