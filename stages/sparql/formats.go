package sparql

import (
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/stages/sparql/results"
)

// format is how an answer is written: as solutions or a boolean, or as a graph.
type format struct {
	media     string // as it is named in the answer
	short     string // in an ETag
	solutions results.Format
	graph     rdf.Syntax
}

// The formats, each under all media types that clients ask for, those that a server prefers first.
var (
	solutionFormats = []format{
		{media: string(results.JSON), short: "json", solutions: results.JSON}, {media: "application/json", short: "json", solutions: results.JSON},
		{media: string(results.XML), short: "xml", solutions: results.XML}, {media: "application/xml", short: "xml", solutions: results.XML},
		{media: "text/xml", short: "xml", solutions: results.XML},
		{media: string(results.TSV), short: "tsv", solutions: results.TSV}, {media: string(results.CSV), short: "csv", solutions: results.CSV},
	}
	booleanFormats = solutionFormats[:len(solutionFormats)-1] // CSV has no place for one
	graphFormats   = []format{
		{media: string(rdf.Turtle), short: "ttl", graph: rdf.Turtle}, {media: "application/x-turtle", short: "ttl", graph: rdf.Turtle},
		{media: string(rdf.NTriples), short: "nt", graph: rdf.NTriples}, {media: "text/plain", short: "nt", graph: rdf.NTriples},
		{media: string(rdf.RDFXML), short: "rdf", graph: rdf.RDFXML},
	}
)

// offersOf returns the formats that an answer can have; that to no query describes the endpoint.
func offersOf(q *sparql.Query) []format {
	switch {
	case q == nil || q.Form() == sparql.Construct || q.Form() == sparql.Describe:
		return graphFormats
	case q.Form() == sparql.Ask:
		return booleanFormats
	}
	return solutionFormats
}

// negotiate returns the format that a client likes most; of several, the one that is offered first (RFC 9110, section
// 12.5.1).
func negotiate(accept []string, offers []format) (format, error) {
	ranges := rangesOf(accept)
	if len(ranges) == 0 {
		return offers[0], nil
	}
	best, most := format{}, 0.0
	for _, f := range offers {
		if q := quality(f.media, ranges); q > most {
			best, most = f, q
		}
	}
	if most == 0 {
		names := make([]string, len(offers))
		for i, f := range offers {
			names[i] = f.media
		}
		return best, refuse(http.StatusNotAcceptable, "the answer to this query can have no media type that Accept names; it can be %s", strings.Join(names, ", "))
	}
	return best, nil
}

// mediaRange is a part of Accept: type/subtype, type/* or */*, and how much it is liked.
type mediaRange struct {
	media   string
	quality float64
}

// rangesOf reads Accept. What is not well formed is left out, as if it were not there.
func rangesOf(accept []string) (ranges []mediaRange) {
	for part := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		media, options, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		r := mediaRange{media, 1}
		if q, ok := options["q"]; ok {
			r.quality, err = strconv.ParseFloat(q, 64)
			if err != nil || math.IsNaN(r.quality) || r.quality < 0 || r.quality > 1 {
				continue
			}
		}
		ranges = append(ranges, r)
	}
	return ranges
}

// quality is how much a media type is liked: the q of the range that fits it most closely.
func quality(media string, ranges []mediaRange) (q float64) {
	kind, _, _ := strings.Cut(media, "/")
	for _, name := range []string{"*/*", kind + "/*", media} {
		for _, r := range ranges {
			if r.media == name {
				q = r.quality
			}
		}
	}
	return q
}

// contentType is the media type as the header of an answer has it.
func (f format) contentType() string {
	switch {
	case f.solutions == results.CSV:
		return f.media + "; charset=utf-8; header=present"
	case strings.HasPrefix(f.media, "text/"):
		return f.media + "; charset=utf-8"
	}
	return f.media
}
