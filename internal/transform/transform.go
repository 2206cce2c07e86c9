// Package transform reads what any document states as RDF: the syntaxes of RDF, JSON-LD, pages of HTML with JSON-LD,
// Microdata, RDFa, Open Graph, Dublin Core and microformats, and feeds. It is the sister of internal/extract: stages,
// commands and interests that ask what a document states get the same answer here, at whatever time.
//
// What it promises: the same document at the same URL gives the same graph, blank nodes included, and no blank node is
// in the graphs of two URLs. Names of graphs within a document are dropped, their triples kept: a document speaks for
// its own URL alone. A document of RDF that is malformed, or exceeds a limit, is not Whole. In a page each syntax and
// each script stands alone: what cannot be read costs that part alone, and is among the Problems, with its place. No
// document makes it ask for a URL. What it costs is bounded by counts; a limit of time is the last resort, and no graph
// depends on it: a document that reaches it is an error.
package transform

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"mime"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/charsets"
	"github.com/webrace/webrace/internal/jsonld"
	"github.com/webrace/webrace/internal/mediatype"
	"github.com/webrace/webrace/internal/rdf"
)

// Options determines what to read of documents, and how much. The zero value is what a crawler wants.
type Options struct {
	Page  bool // also the title, the addresses, the images and the links of a page, as the paper's MultiCrawler
	Roles bool // also the roles that elements have, which most pages say for screen readers (Role Attribute 1.0)

	TwoSchemaOrgs bool // leave the terms of schema.org where they are written to be, at https: or www, and not at http: all

	Contexts *jsonld.Contexts // of JSON-LD; nil for those that are built in
	Lenient  bool             // JSON-LD may have comments, control characters, marks of CDATA, and a comma behind the last value

	// Vocabularies are what is known of vocabularies, by what the IRIs of their terms begin with: for properties of
	// Microdata, and of RDFa where the page names the vocabulary. Of schema.org's, additionalType is known.
	Vocabularies map[string]Vocabulary

	Limits   Limits
	Exceeded func(limit string) // if set, is told of each limit that a document exceeds, by its name: triples, literal, iri, depth, definitions, time
}

// Vocabulary is what follows from the terms of a vocabulary. All are whole IRIs.
type Vocabulary struct {
	Properties map[string][]string // the properties that follow from one: those that it is a part of or the same as
	Classes    map[string][]string // the same of classes
}

// Limits are how much a document may ask for. A field of zero is the default, a negative one is no limit.
type Limits struct {
	jsonld.Limits               // triples 100,000; a literal 256 KiB; an IRI 8 KiB; depth 256; definitions of JSON-LD 1,000,000
	Time          time.Duration // a minute
}

// defaultTime is the time that a document is read for if the limits set none: much more than the other limits let it
// take on a machine that is not busy.
const defaultTime = time.Minute

func (l Limits) withDefaults() Limits {
	for _, f := range []struct {
		field *int
		value int
	}{{&l.Triples, 100_000}, {&l.Literal, 256 << 10}, {&l.IRI, 8 << 10}, {&l.Depth, 256}, {&l.Definitions, 1_000_000}} {
		switch {
		case *f.field == 0:
			*f.field = f.value
		case *f.field < 0:
			*f.field = 1 << 62
		}
	}
	if l.Time == 0 {
		l.Time = defaultTime
	}
	return l
}

// errTime is the cause of the end of a document that takes longer than its limit.
var errTime = errors.New("it takes longer than its limit of time")

// Document returns what the document at a URL states. The content type is that of the HTTP header or the media type
// that is known of the document; where it is empty, or tells as little as text/plain or application/xml, [MediaType]
// decides. A document of a type that states nothing has an empty graph. The error is for a URL that is none, for a
// context that ended, and for a document that takes longer than its limit of time.
func Document(ctx context.Context, body []byte, contentType, url string, o Options) (*webrace.Graph, error) {
	url = rdf.EscapeIRI(url) // what the document declares of itself is an IRI
	base, err := rdf.ParseBase(url)
	if err != nil {
		return nil, fmt.Errorf("transform document: %w", err)
	}
	t := &transformation{
		sink: newSink(o.Limits.withDefaults(), url, o), options: o, url: url, base: base, contentType: contentType,
	}
	if t.limits.Time > 0 {
		var cancel context.CancelFunc
		t.ctx, cancel = context.WithTimeoutCause(ctx, t.limits.Time, errTime)
		defer cancel()
	} else {
		t.ctx = ctx
	}
	t.read(body)
	if t.ctx.Err() != nil {
		return nil, fmt.Errorf("transform %s: %w", url, context.Cause(t.ctx))
	}
	return t.graph(), nil
}

// transformation is the work on one document.
type transformation struct {
	sink
	options     Options
	url         string
	base        rdf.Base
	contentType string
}

// read reads a document of whatever type.
func (t *transformation) read(body []byte) {
	mediaType := mediatype.Of(t.contentType)
	if vague(mediaType) {
		mediaType = MediaType(body, t.contentType, t.url)
	}
	var read func([]byte) error
	switch syntax := rdf.Syntax(mediaType); {
	case syntax == rdf.NTriples, syntax == rdf.NQuads, syntax == rdf.Turtle, syntax == rdf.TriG, syntax == rdf.RDFXML:
		read = func(text []byte) error { return t.rdf(text, syntax) }
	case mediaType == typeHTML, mediaType == typeXHTML:
		read = func(text []byte) error { t.html(text, mediaType == typeXHTML); return nil }
	case mediaType == typeJSONLD:
		read = t.jsonLD
	case feeds[mediaType] != nil:
		read = func(text []byte) error { return feeds[mediaType](t, text) }
	default:
		return
	}
	text, _, err := charsets.ToUTF8(body, withCharset(mediaType, t.contentType))
	if err == nil {
		err = read(text)
	}
	if err != nil {
		t.fail("", err)
		t.whole = false
	}
}

// rdf reads a document of one of RDF's syntaxes.
func (t *transformation) rdf(text []byte, syntax rdf.Syntax) error {
	o := rdf.Options{Base: t.url, Blank: strings.TrimPrefix(t.blank, "_:"), Limits: t.limits.Limits.Limits}
	for q, err := range rdf.Parse(t.ctx, bytes.NewReader(text), syntax, o) {
		if err != nil {
			return err
		}
		if err := t.add(q.Subject, q.Predicate, q.Object); err != nil {
			return err
		}
	}
	return nil
}

// withCharset returns a media type with the encoding that a header names, if it names one.
func withCharset(mediaType, contentType string) string {
	if _, parameters, err := mime.ParseMediaType(contentType); err == nil && mediatype.Of(contentType) != "" && parameters["charset"] != "" {
		return mime.FormatMediaType(mediaType, map[string]string{"charset": parameters["charset"]})
	}
	return mediaType
}

// blankOf returns what the blank nodes of the document at a URL begin with.
func blankOf(url string) string {
	sum := sha256.Sum256([]byte(url))
	return "_:x" + hex.EncodeToString(sum[:10]) + "n"
}
