package sparql

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
)

// The media types in which queries are sent.
const (
	formType   = "application/x-www-form-urlencoded"
	queryType  = "application/sparql-query"
	updateType = "application/sparql-update"
)

// maxForm is how large a form may be: the longest query, with each of its bytes written as %XX, and the names of
// graphs.
const maxForm = 4 * sparql.MaxText

// refusal is an answer that is no answer to a query.
type refusal struct {
	status int
	says   string
}

func (r *refusal) Error() string { return r.says }

func refuse(status int, format string, args ...any) *refusal {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

var errUpdate = refuse(http.StatusBadRequest, "updates are refused: this endpoint answers queries, and nothing is updated by SPARQL")

// question is what is asked.
type question struct {
	text            string
	isQuery         bool // if not, the endpoint is to describe itself
	defaults, named []webrace.Term
}

// read reads what a request asks (SPARQL 1.1 Protocol, section 2.1). Parameters that the protocol does not have are
// ignored, as many clients send some.
func read(r *http.Request) (*question, error) {
	parameters, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "the part of the URL behind ? is not well formed: %v", err)
	}
	if r.Method == http.MethodPost {
		if err := readBody(r, parameters); err != nil {
			return nil, err
		}
	}
	q := new(question)
	texts := parameters["query"]
	switch {
	case parameters.Has("update"):
		return nil, errUpdate
	case len(texts) > 1:
		return nil, refuse(http.StatusBadRequest, "the request has %d queries, and may have one: send a request for each", len(texts))
	case len(texts) == 0 && r.Method == http.MethodPost:
		return nil, refuse(http.StatusBadRequest, "the form has no query: send one as its parameter query")
	case len(texts) == 0:
		return q, nil
	case !utf8.ValidString(texts[0]):
		return nil, refuse(http.StatusBadRequest, "the query is no UTF-8")
	}
	q.isQuery, q.text = true, texts[0]
	for name, graphs := range map[string]*[]webrace.Term{"default-graph-uri": &q.defaults, "named-graph-uri": &q.named} {
		if *graphs, err = graphsOf(name, parameters[name]); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// readBody adds what is sent by POST to the parameters of the URL.
func readBody(r *http.Request, parameters url.Values) error {
	given := r.Header.Get("Content-Type")
	media, options, err := mime.ParseMediaType(given)
	charset := options["charset"]
	switch {
	case given == "":
		return refuse(http.StatusUnsupportedMediaType, "the request has no Content-Type: a query is sent as %s, or as the parameter query of %s", queryType, formType)
	case err != nil:
		return refuse(http.StatusUnsupportedMediaType, "the Content-Type %q is not well formed: %v", given, err)
	case media == updateType:
		return errUpdate
	case media != formType && media != queryType:
		return refuse(http.StatusUnsupportedMediaType, "the Content-Type is %s: a query is sent as %s, or as the parameter query of %s", media, queryType, formType)
	case charset != "" && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii"):
		return refuse(http.StatusUnsupportedMediaType, "the charset is %s: queries are sent in UTF-8", charset)
	}
	most := int64(maxForm)
	if media == queryType {
		most = sparql.MaxText
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, most))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return refuse(http.StatusRequestEntityTooLarge, "the body has more than %d bytes, and a query may have %d", most, sparql.MaxText)
	case err != nil:
		return refuse(http.StatusBadRequest, "the body ends early: %v", err)
	case media == queryType:
		parameters.Add("query", string(body))
		return nil
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return refuse(http.StatusBadRequest, "the form is not well formed: %v", err)
	}
	for name, values := range form {
		parameters[name] = append(parameters[name], values...)
	}
	return nil
}

// mostGraphs is how many graphs a request may name.
const mostGraphs = 5_000

// graphsOf returns the graphs that a parameter names, each once.
func graphsOf(name string, iris []string) (graphs []webrace.Term, err error) {
	if len(iris) > mostGraphs {
		return nil, refuse(http.StatusBadRequest, "%s is there %d times, and may be %d", name, len(iris), mostGraphs)
	}
	seen := make(map[string]bool, len(iris))
	for _, iri := range iris {
		if _, err := rdf.ParseBase(iri); err != nil || !rdf.ValidIRI(iri) {
			return nil, refuse(http.StatusBadRequest, "%s: %.200q is no absolute IRI: write it in full, as https://example.org/page", name, iri)
		}
		if !seen[iri] {
			seen[iri] = true
			graphs = append(graphs, rdf.NewIRI(iri))
		}
	}
	return slices.Clip(graphs), nil
}
