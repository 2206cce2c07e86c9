package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/piprate/json-gold/ld"

	"github.com/webrace/webrace/internal/jsonld"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/testutil"
)

const (
	jsonldContext = "https://example.org/context"
	jsonldBase    = "https://example.org/shop/"
	jsonldTerms   = 3000 // as many as schema.org's context has
	jsonldRatio   = 0.1
	manyValues    = 4000
)

// benchJSONLD reads pages' structured data under a context of schema.org's size, which both contestants have in memory.
func benchJSONLD(b *bench) error {
	j := newJSONLDBench(200)
	rounds := 5
	if b.quick {
		j, rounds = newJSONLDBench(20), 2
	}
	for i, body := range append(j.documents[:10:10], j.values) {
		if err := j.sameAnswer(body); err != nil {
			return fmt.Errorf("document %d: %w", i, err)
		}
	}
	for _, work := range []struct {
		name      string
		documents [][]byte
		goal      *goal
	}{
		{"JSON-LD under a context of schema.org's size, a document, CPU", j.documents, atMost(jsonldRatio)},
		{fmt.Sprintf("JSON-LD, %d values of one property, CPU", manyValues), [][]byte{j.values}, atMost(jsonldRatio)},
	} {
		costs, err := race(rounds, []contestant{
			{"webrace", func() error { return each(work.documents, j.ours) }},
			{"json-gold", func() error { return each(work.documents, j.rival) }},
		})
		if err != nil {
			return err
		}
		n := float64(len(work.documents))
		b.table.against(work.name, micros(best(costs["webrace"], cpuOf))/n, "µs", "json-gold",
			micros(best(costs["json-gold"], cpuOf))/n, work.goal)
	}
	return nil
}

func each(documents [][]byte, read func(body []byte) error) error {
	for _, body := range documents {
		if err := read(body); err != nil {
			return err
		}
	}
	return nil
}

type jsonldBench struct {
	documents [][]byte
	values    []byte // a document with many values of one property
	contexts  *jsonld.Contexts
	loaded    *ld.RemoteDocument
}

func newJSONLDBench(n int) *jsonldBench {
	body := contextOfSchemaOrgsSize()
	j := &jsonldBench{
		contexts: jsonld.NewContexts(map[string][]byte{jsonldContext: []byte(body)}),
		loaded:   &ld.RemoteDocument{DocumentURL: jsonldContext},
	}
	if err := json.Unmarshal([]byte(body), &j.loaded.Document); err != nil {
		panic(err) // it is made below
	}
	for i := range n {
		j.documents = append(j.documents, fmt.Appendf(nil, product, jsonldContext, i, i%7, i))
	}
	j.values = fmt.Appendf(nil, `{"@context": %q, "@id": "list", "term1": [`, jsonldContext)
	for i := range manyValues {
		j.values = fmt.Appendf(j.values, `"%d",`, i)
	}
	j.values = append(j.values, `"the end"]}`...)
	return j
}

func contextOfSchemaOrgsSize() string {
	var b strings.Builder
	b.WriteString(`{"@context":{"@vocab":"http://schema.org/","schema":"http://schema.org/","id":"@id","type":"@type",` +
		`"image":{"@id":"schema:image","@type":"@id"},"url":{"@id":"schema:url","@type":"@id"},` +
		`"releaseDate":{"@id":"schema:releaseDate","@type":"Date"}`)
	for i := range jsonldTerms {
		typ := ""
		if i%25 == 0 {
			typ = `,"@type":"@id"`
		}
		fmt.Fprintf(&b, `,"term%d":{"@id":"schema:term%d"%s}`, i, i, typ)
	}
	b.WriteString("}}")
	return b.String()
}

// product is what shops state of one.
const product = `{
  "@context": %q, "@type": "Product", "@id": "p/%d",
  "name": "A lamp of brass and glass", "description": "It gives light.\nIts cable is long enough for every room.",
  "image": ["lamp.jpg", "lamp-2.jpg", "https://images.example.org/lamp.jpg"], "sku": "L-7", "releaseDate": "2026-11-23",
  "brand": {"@type": "Brand", "name": "Lamps"},
  "aggregateRating": {"@type": "AggregateRating", "ratingValue": 4.%d, "reviewCount": 89},
  "review": [
    {"@type": "Review", "author": {"@type": "Person", "name": "Ada"}, "reviewBody": "Bright.",
      "reviewRating": {"ratingValue": 5}},
    {"@type": "Review", "author": {"@type": "Person", "name": "Bob"}, "reviewBody": "Dark.",
      "reviewRating": {"ratingValue": 1}}
  ],
  "offers": {"@type": "Offer", "url": "p/%d?offer", "price": 49.90, "priceCurrency": "EUR",
    "availability": "schema:InStock",
    "seller": {"@type": "Organization", "name": "The lamp shop", "url": "https://example.org/"}},
  "breadcrumb": {"@type": "BreadcrumbList", "itemListElement": [
    {"@type": "ListItem", "position": 1, "name": "Home", "item": {"@id": "/"}},
    {"@type": "ListItem", "position": 2, "name": "Lamps", "item": {"@id": "/lamps"}}]}
}`

func (j *jsonldBench) ours(body []byte) error {
	o := jsonld.Options{Base: jsonldBase, Contexts: j.contexts}
	for _, err := range jsonld.ToRDF(context.Background(), body, o) {
		if err != nil {
			return err
		}
	}
	return nil
}

func (j *jsonldBench) rival(body []byte) error {
	_, err := j.rivalsQuads(body)
	return err
}

func (j *jsonldBench) rivalsQuads(body []byte) (*ld.RDFDataset, error) {
	var document any
	if err := json.Unmarshal(body, &document); err != nil {
		return nil, err
	}
	o := ld.NewJsonLdOptions(jsonldBase)
	o.DocumentLoader = j
	said, err := ld.NewJsonLdProcessor().ToRDF(document, o)
	if err != nil {
		return nil, err
	}
	return said.(*ld.RDFDataset), nil
}

// LoadDocument gives the rival the context, which is parsed.
func (j *jsonldBench) LoadDocument(string) (*ld.RemoteDocument, error) { return j.loaded, nil }

// sameAnswer compares what both find in a document.
func (j *jsonldBench) sameAnswer(body []byte) error {
	var ours, rivals []rdf.Quad
	for q, err := range jsonld.ToRDF(context.Background(), body, jsonld.Options{Base: jsonldBase, Contexts: j.contexts}) {
		if err != nil {
			return err
		}
		ours = append(ours, q)
	}
	said, err := j.rivalsQuads(body)
	if err != nil {
		return err
	}
	text, err := (&ld.NQuadRDFSerializer{}).Serialize(said)
	if err != nil {
		return err
	}
	for q, err := range rdf.Parse(context.Background(), strings.NewReader(text.(string)), rdf.NQuads, rdf.Options{}) {
		if err != nil {
			return err
		}
		rivals = append(rivals, q)
	}
	if len(ours) == 0 {
		return fmt.Errorf("it says nothing")
	}
	if difference := testutil.Isomorphic(rivals, ours); difference != "" {
		return fmt.Errorf("the answers differ: %s", difference)
	}
	return nil
}
