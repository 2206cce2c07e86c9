// Package detect is the stage that finds out what documents are: the media type that a server sends is often none in
// particular, or wrong, most of all for what states something as RDF.
//
// What it guarantees: it looks at no more than the first 3 KB of a body and parses nothing, so that no document costs
// more than a few microseconds; and the same body, media type and URL have the same finding.
package detect

import (
	"cmp"
	"context"
	"maps"
	"mime"
	"net/http"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/transform"
	"github.com/webrace/webrace/pipeline"
)

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "detect",
		Single:  true,
		Summary: "finds out what documents are: RDF, JSON-LD, feeds, HTML or other XML, whatever the server says",
		Doc: "Strong signs at the beginning of a document win: the root element with its namespace, a declaration of Turtle, a line that is a " +
			"statement of N-Triples, JSON with a context. Else the server's word holds, of which older names are known, too (`text/n3`); where that is " +
			"nothing in particular or `text/plain`, the extension of the URL. RSS 1.0 is RDF/XML; XML of an unknown root stays what it is. " +
			"It belongs behind `normalize`, which goes by the server's word. `detected` counts documents that are something else than that said.",
		In:      pipeline.Kinds(pipeline.KindOf[*webrace.Document]()),
		Needs:   pipeline.NoParts, // of a body it makes use, but cache need not read those of documents that were not fetched anew
		Out:     []pipeline.Port{{Kind: pipeline.KindOf[*webrace.Document](), Doc: "every document, with the media type that it has; one without a body as it came"}},
		Workers: 2,
	}, struct{}{}, func(_ struct{}, env *pipeline.Env) (any, error) { return &stage{env}, nil })
}

type stage struct{ env *pipeline.Env }

var _ pipeline.Processor = (*stage)(nil)

// headerOf returns the header as it would be if the server had said what the document is: the encoding that it said is
// that of the document all the same. Of a document that a stage before this one made, it said none.
func headerOf(d *webrace.Document, found string) http.Header {
	mediaType, parameters, _ := mime.ParseMediaType(d.Header.Get("Content-Type"))
	charset := parameters["charset"]
	if charset == "" || d.MediaType != "" && d.MediaType != mediaType {
		return d.Header
	}
	header := maps.Clone(d.Header)
	header["Content-Type"] = []string{mime.FormatMediaType(found, map[string]string{"charset": charset})}
	return header
}

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	d, err := pipeline.ValueOf[*webrace.Document](it)
	if err != nil {
		return err
	}
	if len(d.Body) == 0 {
		return out.Emit(ctx, it)
	}
	// The media type is the newer: of a stage before this one that made another document, the header tells nothing.
	found := transform.MediaType(d.Body, cmp.Or(d.MediaType, d.Header.Get("Content-Type")), d.URL)
	if found == d.MediaType {
		return out.Emit(ctx, it)
	}
	s.env.Counter("detected").Add(1)
	detected := *d
	detected.MediaType, detected.Header = found, headerOf(d, found)
	return out.Emit(ctx, it.With(&detected))
}
