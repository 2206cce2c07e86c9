package transform

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/rdf"
)

// dublinCore are the namespaces of Dublin Core by the prefixes that its names have in elements meta (DC-HTML): those
// that pages use without declaring them.
var dublinCore = map[string]string{"dc": "http://purl.org/dc/elements/1.1/", "dcterms": dcterms}

// meta reads Dublin Core in elements meta and link, and Open Graph where it is written as a name: as a property, it is
// RDFa.
func (p *page) meta() error {
	schemas := make(map[string]string)
	for _, n := range p.elements {
		if n.Data != "link" {
			continue
		}
		rel, _ := attr(n, "rel")
		if prefix, ok := strings.CutPrefix(strings.ToLower(strings.Trim(rel, white)), "schema."); ok {
			href, _ := attr(n, "href")
			if iri, ok := p.absolute(href); ok {
				schemas[prefix] = iri
			}
		}
	}
	for _, n := range p.elements {
		if n.Data != "meta" && n.Data != "link" {
			continue
		}
		if err := p.metaElement(n, schemas); err != nil {
			return err
		}
	}
	return nil
}

// metaElement states what one element tells of the page.
func (p *page) metaElement(n *html.Node, schemas map[string]string) error {
	key, valueKey := "name", "content"
	if n.Data == "link" {
		key, valueKey = "rel", "href"
	}
	name, _ := attr(n, key)
	text, ok := attr(n, valueKey)
	iri, known := metaProperty(strings.Trim(name, white), schemas, n.Data == "meta")
	if !ok || !known || !p.takes(iri) {
		return nil
	}
	subject, predicate := rdf.NewIRI(p.baseIRI), rdf.NewIRI(iri)
	if n.Data == "link" {
		if object, ok := p.resolve(text); ok {
			return p.add(subject, predicate, object)
		}
		return nil
	}
	if object, ok := p.literal(text, p.language(n)); ok {
		return p.add(subject, predicate, object)
	}
	return nil
}

// metaProperty returns the property that a name means; false for one that means none.
func metaProperty(name string, schemas map[string]string, openly bool) (string, bool) {
	if prefix, rest, ok := strings.Cut(name, "."); ok {
		prefix = strings.ToLower(prefix)
		namespace, known := schemas[prefix]
		if !known {
			namespace, known = dublinCore[prefix]
		}
		rest, _, _ = strings.Cut(rest, ".") // as in DC.title.alternative, which refines it
		return propertyIn(namespace, rest, known)
	}
	prefix, rest, ok := strings.Cut(name, ":")
	if !ok || !openly {
		return "", false
	}
	namespace, known := openGraph[prefix]
	if prefix == "og" {
		namespace, known = rdf.KnownPrefixes[prefix]
	}
	return propertyIn(namespace, rest, known)
}

// propertyIn returns the property of a name in a vocabulary. Dublin Core's begin with a small letter, whatever pages
// write.
func propertyIn(namespace, name string, known bool) (string, bool) {
	if !known || name == "" || strings.ContainsAny(name, white) || !rdf.ValidIRI(name) {
		return "", false
	}
	if strings.HasPrefix(namespace, "http://purl.org/dc/") {
		_, first := utf8.DecodeRuneInString(name)
		name = strings.ToLower(name[:first]) + name[first:]
	}
	return namespace + name, true
}
