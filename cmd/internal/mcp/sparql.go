package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
)

type sparqlIn struct {
	Query string `json:"query" jsonschema:"a query in SPARQL 1.1: SELECT, ASK, CONSTRUCT or DESCRIBE"`
}

type sparqlOut struct {
	Notice  string     `json:"notice"`
	Form    string     `json:"form"`
	Boolean *bool      `json:"boolean,omitempty" jsonschema:"of ASK"`
	Vars    []string   `json:"vars,omitempty" jsonschema:"of SELECT"`
	Rows    [][]string `json:"rows,omitempty" jsonschema:"of SELECT: terms as in N-Triples, empty where unbound"`
	Triples string     `json:"triples,omitempty" jsonschema:"of CONSTRUCT and DESCRIBE: N-Triples"`
	More    bool       `json:"more,omitempty" jsonschema:"there is more of the answer: use LIMIT and OFFSET"`
}

var sparqlTool = define("sparql", "Ask what documents state as RDF (schema.org, Open Graph, microformats and others), by SPARQL 1.1. GRAPH ?g asks which document says it.",
	looks, true, nil, ask)

var forms = map[sparql.Form]string{sparql.Select: "SELECT", sparql.Ask: "ASK", sparql.Construct: "CONSTRUCT", sparql.Describe: "DESCRIBE"}

const (
	mostRows    = 500
	queryTime   = time.Minute
	queryMemory = 64 << 20
)

func ask(ctx context.Context, d *Desk, in sparqlIn, say func(string)) (*sparqlOut, error) {
	if len(in.Query) > sparql.MaxText {
		return nil, fmt.Errorf("the query has %d bytes: %d are the most", len(in.Query), sparql.MaxText)
	}
	query, err := sparql.Parse(in.Query, "")
	if err != nil {
		return nil, err
	}
	store, err := d.Dir.Quads()
	if err != nil {
		return nil, err
	}
	snapshot, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	say("the query is answered")
	results, err := query.Run(ctx, snapshot, sparql.Limits{Time: queryTime, Memory: queryMemory})
	var out *sparqlOut
	if err == nil {
		out, err = answerOf(results, say)
	}
	return out, errors.Join(err, snapshot.Close())
}

// answerOf reads an answer until it has as much of it as is given at once.
func answerOf(r *sparql.Results, say func(string)) (*sparqlOut, error) {
	out := &sparqlOut{Notice: notice, Form: forms[r.Form], Vars: r.Vars}
	switch r.Form {
	case sparql.Ask:
		out.Boolean = &r.Boolean
		return out, nil
	case sparql.Select:
		return out, out.readRows(r, say)
	}
	var triples []webrace.Triple
	size := 0
	for t, err := range r.Triples() {
		if err != nil {
			return nil, err
		}
		size += len(t.Subject) + len(t.Predicate) + len(t.Object)
		if out.More = size > mostBytes || len(triples) == mostRows; out.More {
			break
		}
		triples = append(triples, t)
	}
	var b strings.Builder
	err := rdf.WriteTriples(&b, rdf.NTriples, func(yield func(webrace.Triple, error) bool) {
		for _, t := range triples {
			if !yield(t, nil) {
				return
			}
		}
	})
	out.Triples = b.String()
	return out, err
}

func (o *sparqlOut) readRows(r *sparql.Results, say func(string)) error {
	o.Rows = [][]string{}
	size := 0
	for solution, err := range r.Solutions() {
		if err != nil {
			return err
		}
		row := make([]string, len(solution))
		for i, term := range solution {
			row[i] = string(term)
			size += len(term)
		}
		if o.More = size > mostBytes || len(o.Rows) == mostRows; o.More {
			break
		}
		o.Rows = append(o.Rows, row)
		say(fmt.Sprintf("%d solutions so far", len(o.Rows)))
	}
	return nil
}
