package transform

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/xmltoken"
)

// feeds are the readers of feeds that are no RDF themselves, by media type.
var feeds = map[string]func(*transformation, []byte) error{
	typeRSS: (*transformation).xmlFeed, typeAtom: (*transformation).xmlFeed, typeJSONFeed: (*transformation).jsonFeed,
}

const rss = "http://purl.org/rss/1.0/"

// feedBounds are the most that a feed may have: its parser recurses, and knows no bounds itself.
var feedBounds = xmltoken.Bounds{Depth: 100, Attributes: 32, Elements: 200_000}

// xmlFeed reads a feed of RSS or Atom.
func (t *transformation) xmlFeed(text []byte) error {
	if err := feedBounds.Check(text); err != nil {
		return &limitError{"depth", err.Error()}
	}
	body := xmltoken.EscapeBare(text)
	if rest := bytes.TrimLeft(body, white); bytes.HasPrefix(rest, []byte("<?xml")) { // it declares which encoding the text was in
		body = behind(rest, "?>")
	}
	err := t.feed(body)
	if err != nil && limitOf(err) == "" {
		return errors.Join(xmltoken.Fault(text), err)
	}
	return err
}

// jsonFeed reads a JSON Feed.
func (t *transformation) jsonFeed(text []byte) error {
	if formats.CountJSON(text) > feedBounds.Elements {
		return &limitError{"depth", fmt.Sprintf("it has more than %d values, of which an object counts as two", feedBounds.Elements)}
	}
	return t.feed(text)
}

// feed states what a feed does, in the terms of RSS 1.0 and Dublin Core.
func (t *transformation) feed(text []byte) error {
	f, err := gofeed.NewParser().Parse(bytes.NewReader(text))
	if err != nil {
		return err
	}
	p := &page{transformation: t, text: text, base: t.base}
	p.refill()
	channel := rdf.NewIRI(withoutFragment(t.url))
	if err := t.add(channel, typeTerm, rdf.NewIRI(rss+"channel")); err != nil {
		return err
	}
	err = p.entry(channel, said{
		title: f.Title, description: f.Description, links: append([]string{f.Link}, f.Links...), published: f.PublishedParsed, updated: f.UpdatedParsed,
		authors: f.Authors, categories: f.Categories, language: f.Language,
	})
	if err != nil || len(f.Items) == 0 {
		return err
	}
	sequence := t.newBlank()
	if err := errors.Join(t.add(channel, rdf.NewIRI(rss+"items"), sequence), t.add(sequence, typeTerm, rdf.NewIRI(rdf.NS+"Seq"))); err != nil {
		return err
	}
	for i, item := range f.Items {
		if item == nil {
			continue
		}
		if err := p.item(sequence, i, item, f.Language); err != nil {
			return err
		}
	}
	return p.spend(0)
}

// item states what an entry does. It is known by its link, or else by its identifier if that is an IRI.
func (p *page) item(sequence webrace.Term, i int, item *gofeed.Item, language string) error {
	subject, ok := p.first(item.Link, item.GUID)
	if !ok {
		subject = p.newBlank()
	}
	if err := p.ended(); err != nil {
		return err
	}
	if err := p.add(sequence, rdf.NewIRI(rdf.NS+"_"+strconv.Itoa(i+1)), subject); err != nil {
		return err
	}
	if err := p.add(subject, typeTerm, rdf.NewIRI(rss+"item")); err != nil {
		return err
	}
	description, published := item.Description, item.PublishedParsed
	if description == "" {
		description = item.Content
	}
	if published != nil && item.UpdatedParsed != nil && published.Equal(*item.UpdatedParsed) { // it is made up where there is none
		published = nil
	}
	links := append([]string{item.Link}, item.Links...)
	err := p.entry(subject, said{
		title: item.Title, description: description, links: links, id: item.GUID, published: published, updated: item.UpdatedParsed,
		authors: item.Authors, categories: item.Categories, language: language,
	})
	if err != nil {
		return err
	}
	for _, enclosure := range item.Enclosures {
		if enclosure == nil {
			continue
		}
		if object, ok := p.first(enclosure.URL); ok {
			if err := p.add(subject, rdf.NewIRI(dcterms+"hasPart"), object); err != nil {
				return err
			}
		}
	}
	return nil
}

// first returns the first of several references that is given and means something. Those behind the first must be
// absolute: they are names rather than addresses.
func (p *page) first(references ...string) (webrace.Term, bool) {
	for i, reference := range references {
		if strings.Trim(reference, white) == "" || i > 0 && !rdf.IsAbsolute(reference) {
			continue
		}
		if term, ok := p.resolve(reference); ok {
			return term, true
		}
	}
	return "", false
}

// said is what a feed, or an entry of it, tells.
type said struct {
	title, description, id, language string
	links, categories                []string
	published, updated               *time.Time
	authors                          []*gofeed.Person
}

func (p *page) entry(subject webrace.Term, s said) error {
	type property struct{ name, text string }
	properties := []property{{rss + "title", s.title}, {rss + "description", s.description}, {dcterms + "identifier", s.id}}
	for _, a := range s.authors {
		if a != nil {
			name := a.Name
			if name == "" {
				name = a.Email
			}
			properties = append(properties, property{dcterms + "creator", name})
		}
	}
	for _, c := range s.categories {
		properties = append(properties, property{dcterms + "subject", c})
	}
	for _, property := range properties {
		if property.text = strings.Trim(property.text, white); property.text == "" {
			continue
		}
		language := s.language
		if property.name == dcterms+"identifier" {
			language = ""
		}
		if object, ok := p.literal(property.text, language); ok {
			if err := p.add(subject, rdf.NewIRI(property.name), object); err != nil {
				return err
			}
		}
	}
	for _, link := range s.links {
		if object, ok := p.first(link); ok {
			if err := p.add(subject, rdf.NewIRI(rss+"link"), object); err != nil {
				return err
			}
		}
	}
	for _, date := range []struct {
		name string
		at   *time.Time
	}{{"issued", s.published}, {"modified", s.updated}} {
		if date.at != nil {
			if err := p.add(subject, rdf.NewIRI(dcterms+date.name), rdf.NewTyped(date.at.UTC().Format(time.RFC3339), rdf.XSD+"dateTime")); err != nil {
				return err
			}
		}
	}
	return nil
}
