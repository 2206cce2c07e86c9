package storecmd

import (
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// textOf writes a term as an IRI, a text, or a blank node with its _: in front.
func textOf(t webrace.Term) string {
	if rdf.KindOf(t) == rdf.Blank {
		return string(t)
	}
	return rdf.Value(t)
}

// shownOf writes a term for a person: IRIs by well-known prefixes, texts with their language.
func shownOf(t webrace.Term) string {
	switch {
	case rdf.KindOf(t) == rdf.IRI:
		return rdf.ShortIRI(rdf.Value(t))
	case rdf.Language(t) != "":
		return rdf.Value(t) + " @" + rdf.Language(t)
	}
	return textOf(t)
}

// termJSON is a term as the results of SPARQL have it in JSON.
type termJSON struct {
	Type     string `json:"type"` // uri, literal or bnode
	Value    string `json:"value"`
	Language string `json:"xml:lang,omitempty"`
	Datatype string `json:"datatype,omitempty"`
}

func jsonOfTerm(t webrace.Term) termJSON {
	j := termJSON{Value: rdf.Value(t), Language: rdf.Language(t)}
	switch rdf.KindOf(t) {
	case rdf.IRI:
		j.Type = "uri"
	case rdf.Blank:
		j.Type = "bnode"
	default:
		j.Type = "literal"
	}
	if d := rdf.Datatype(t); d != rdf.XSDString && d != rdf.LangString {
		j.Datatype = d
	}
	return j
}
