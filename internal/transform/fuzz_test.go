package transform

import (
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// FuzzDocument reads anything as anything. What it states must be RDF: its own N-Triples state the same, each triple
// once, and its blank nodes are its own. Reading it again gives the same.
func FuzzDocument(f *testing.F) {
	for contentType, body := range map[string]string{
		"text/html": `<html lang=en prefix="x: http://x/"><base href=b/><p itemscope itemid=a itemtype="http://schema.org/T" itemref=i><b itemprop="a b">x</b>
			<time itemprop=c>2026-01-02</time><a id=i itemprop-reverse=d href="x y">z</a></p><div vocab=http://v/ typeof="T x:U" rel=r inlist><i property=p
			content=c datatype=xsd:date resource="[x:y]"></i></div><p resource=_:a typeof=rdfa:Pattern property=dc:title>t</p><i about=s property=rdfa:copy href=_:a></i>
			<script type=application/ld+json>{"@context":"http://schema.org","@type":"T","name":{"@id":"_:x"}}</script><meta name=dc.title content=x>
			<meta property=og:title content=y><p class="h-card vcard"><a class="u-url fn p-name" href=/>J</a></p><img role=x src=y alt=z>`,
		"text/turtle":         "@prefix a: <b> . <c> a:d [ a:e 'f'@g, 1, (2 3) ] .",
		"application/n-quads": "<a:a> <b:b> \"\\u0001\"^^<c:c> _:d .", "application/trig": "<a> { <b> <c> _:d }",
		"application/ld+json": `{"@id":"a","http://x/p":[1,{"@value":"b","@language":"c"},{"@list":[]}]}`,
		"application/rss+xml": "<rss version='2.0'><channel><title>a</title><item><guid>b:c</guid></item></channel></rss>",
		"application/xml":     "<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>urn:a</id></entry></feed>", "": "<a:a> <b:b> <c:c> .",
	} {
		f.Add([]byte(body), contentType)
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		o := Options{Page: true, Roles: true}
		o.Limits.Triples, o.Limits.IRI, o.Limits.Literal = 1000, 1000, 1000
		first, err := Document(t.Context(), body, contentType, at, o)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Document(t.Context(), body, contentType, at, o)
		if err != nil || !slices.Equal(first.Triples, again.Triples) || !slices.Equal(first.Problems, again.Problems) {
			t.Fatalf("read again, it says %v, not %v (%v)", again, first, err)
		}
		var text strings.Builder
		seen := make(map[webrace.Triple]bool)
		for _, triple := range first.Triples {
			if seen[triple] {
				t.Errorf("twice: %v", triple)
			}
			seen[triple] = true
			for _, term := range []webrace.Term{triple.Subject, triple.Predicate, triple.Object} {
				if rdf.KindOf(term) == rdf.Blank && !strings.HasPrefix(string(term), blankOf(at)) {
					t.Errorf("the blank node %s is not the document's", term)
				}
				text.WriteString(string(term) + " ")
			}
			text.WriteString(".\n")
		}
		var read []webrace.Triple
		for q, err := range rdf.Parse(t.Context(), strings.NewReader(text.String()), rdf.NTriples, rdf.Options{KeepLabels: true, Limits: rdf.Limits{IRI: -1, Literal: -1, Triples: -1}}) {
			if err != nil {
				t.Fatalf("%v in %s", err, text.String())
			}
			read = append(read, q.Triple)
		}
		if !slices.Equal(read, first.Triples) {
			t.Errorf("as N-Triples it says %v, not %v", read, first.Triples)
		}
	})
}
