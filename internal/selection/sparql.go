package selection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/internal/transform"
)

const (
	// stepsPerSPARQL are the cost of a step of a query, which takes that many times as long as one of XPath.
	stepsPerSPARQL = 8
	// stepsPerTriple are the cost of a triple of the document: a query has them sorted in several orders.
	stepsPerTriple = 8
	// mostSPARQLMemory is what a query may keep, and mostSPARQLTime how long it may run. The steps end it before, unless
	// these are unusually slow.
	mostSPARQLMemory = 32 << 20
	mostSPARQLTime   = 10 * time.Second
)

// sparqlRules read a rule. Vocabularies are known by the prefixes of RDFa's initial context.
var sparqlRules = sparql.Rules{Prefixes: rdf.KnownPrefixes, Means: rdf.SchemaOrg}

// parseSPARQL reads a query.
func parseSPARQL(source string) (*sparql.Query, error) {
	query, err := sparqlRules.Parse(source)
	var fault *sparql.SyntaxError
	switch {
	case !errors.As(err, &fault):
		return query, err
	case fault.Line == 1:
		return nil, fmt.Errorf("at character %d: %s", fault.Column, fault.Says)
	}
	return nil, fmt.Errorf("at line %d, character %d: %s", fault.Line, fault.Column, fault.Says)
}

// graph returns what a document states, as queries are asked of it. The error is that of the context, or tells why it
// cannot be read as a whole: then no part of it is taken for what it states.
func (d *Document) graph(ctx context.Context) (*sparql.Memory, error) {
	if d.said == nil && d.unsaid == nil {
		said, err := d.transformed(ctx)
		if err != nil && ctx.Err() != nil {
			return nil, ctx.Err() // another one may read it
		}
		d.said, d.unsaid = said, err
	}
	return d.said, d.unsaid
}

func (d *Document) transformed(ctx context.Context) (*sparql.Memory, error) {
	if len(d.body) > htmltree.MaxInput {
		return nil, htmltree.ErrTooLarge
	}
	body, contentType := d.body, d.contentType
	if d.markdown {
		var err error
		if body, err = d.utf8(); err != nil {
			return nil, err
		}
		contentType = "text/html; charset=utf-8"
	}
	url := d.url
	if url == "" {
		url = nowhere
	}
	graph, err := transform.Document(ctx, body, contentType, url, transform.Options{})
	if err != nil {
		return nil, err
	}
	d.problems = graph.Problems
	if !graph.Whole {
		return nil, fmt.Errorf("%w: %s", ErrUnread, strings.Join(graph.Problems, "; "))
	}
	slices.SortFunc(graph.Triples, compareTriples) // so that their order in the document decides nothing
	d.triples = len(graph.Triples)
	return sparql.NewMemory(graph.Triples), nil
}

func compareTriples(a, b webrace.Triple) int {
	return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Predicate, b.Predicate), cmp.Compare(a.Object, b.Object))
}

// solutions appends to a text what the rules in SPARQL select of a document.
func (w *work) solutions(d *Document, text *webrace.Text) (*webrace.Text, error) {
	graph, err := d.graph(w.budget.Context)
	if err != nil {
		return nil, err
	}
	text = &webrace.Text{Bytes: slices.Clone(text.Bytes), Blocks: slices.Clone(text.Blocks), Entries: text.Entries}
	for i, r := range w.rules {
		if r.sparql == nil {
			continue
		}
		w.running = &w.rules[i].Rule
		w.budget.Spend(stepsPerTriple * d.triples)
		blocks, err := w.ask(r.sparql, graph)
		if err != nil {
			return nil, err
		}
		for _, block := range blocks {
			w.matched[i] = true
			appendBlock(text, block, webrace.FieldBody)
		}
		if len(blocks) == 0 {
			if w.unmet[i], err = w.says(r.topic, graph); err != nil {
				return nil, err
			}
		}
		w.running = nil
	}
	return text, nil
}

// ask returns the solutions of a query, as blocks.
func (w *work) ask(q *sparql.Query, graph *sparql.Memory) (blocks []string, err error) {
	results, err := q.Run(w.budget.Context, graph, w.limits())
	if err != nil {
		return nil, err
	}
	var found []solution
	size := 0
	for terms, err := range results.Solutions() {
		var limit *sparql.LimitError
		switch {
		case errors.As(err, &limit):
			w.budget.Spend(w.budget.Left + 1)
		case err != nil:
			return nil, err
		}
		s := newSolution(results.Vars, terms)
		w.budget.Spend(stepsPerHit + len(s.text)/renderedBytes)
		found = append(found, s)
		if size += len(s.text); size >= formats.Default.Text {
			break
		}
	}
	if !q.IsOrdered() {
		slices.SortStableFunc(found, compareSolutions)
	}
	seen := make(map[string]bool, len(found))
	for _, s := range found {
		if !seen[s.text] {
			seen[s.text] = true
			blocks = append(blocks, s.text)
		}
	}
	return blocks, nil
}

// says asks a query of the form ASK.
func (w *work) says(q *sparql.Query, graph *sparql.Memory) (bool, error) {
	answer, err := q.Run(w.budget.Context, graph, w.limits())
	var limit *sparql.LimitError
	switch {
	case errors.As(err, &limit):
		w.budget.Spend(w.budget.Left + 1)
	case err != nil:
		return false, err
	}
	return answer != nil && answer.Boolean, nil
}

// limits are those of a query, which is paid for.
func (w *work) limits() sparql.Limits {
	return sparql.Limits{Time: mostSPARQLTime, Memory: mostSPARQLMemory, Pay: func(steps int) error {
		w.budget.Spend(steps * stepsPerSPARQL)
		return nil
	}}
}
