package transform

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

const (
	foaf = "http://xmlns.com/foaf/0.1/"
	rdfs = "http://www.w3.org/2000/01/rdf-schema#"
)

// What the paper's stylesheet for pages states, in RDFS, Dublin Core and FOAF.
var (
	titleTerm = rdf.NewIRI(dcterms + "title")
	mboxTerm  = rdf.NewIRI(foaf + "mbox")
	imageTerm = rdf.NewIRI(foaf + "depiction")
	linkTerm  = rdf.NewIRI(dcterms + "references")
	labelTerm = rdf.NewIRI(rdfs + "label")
)

// say states what the paper's stylesheet does of any page: its title, addresses of mail, images, and links with the
// words that they are called by.
func (p *page) say() error {
	subject, titled := rdf.NewIRI(p.baseIRI), false
	for _, n := range p.elements {
		var err error
		switch n.Data {
		case "title":
			if !titled && n.Parent != nil && n.Parent.Data == "head" {
				titled = true
				err = p.called(subject, titleTerm, n, "")
			}
		case "img":
			if src, ok := attr(n, "src"); ok && !strings.HasPrefix(src, "data:") {
				err = p.address(subject, imageTerm, src, n)
			}
		case "a", "area":
			href, ok := attr(n, "href")
			switch scheme := strings.ToLower(href[:min(len(href), len("mailto:"))]); {
			case !ok, strings.HasPrefix(strings.TrimSpace(scheme), "javasc"):
			case scheme == "mailto:":
				address, _, _ := strings.Cut(href, "?")
				err = p.address(subject, mboxTerm, address, n)
			default:
				err = p.address(subject, linkTerm, href, n)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// address states a property whose value is what a reference means, and what the page calls that.
func (p *page) address(subject, predicate webrace.Term, reference string, n *html.Node) error {
	object, ok := p.resolve(reference)
	if !ok {
		return nil
	}
	if err := p.add(subject, predicate, object); err != nil {
		return err
	}
	alternative, _ := attr(n, "alt")
	return p.called(object, labelTerm, n, alternative)
}

// called states a property whose value is the text of an element, or what stands for it, unless there is none.
func (p *page) called(subject, predicate webrace.Term, n *html.Node, instead string) error {
	text, err := p.content(n)
	if err != nil {
		return err
	}
	if text = strings.Join(strings.Fields(text), " "); text == "" {
		text = strings.Join(strings.Fields(instead), " ")
	}
	if text == "" {
		return nil
	}
	object, ok := p.literal(text, p.language(n))
	if !ok {
		return nil
	}
	return p.add(subject, predicate, object)
}
