package quads

import (
	"context"
	"strconv"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
)

const voidNS = "http://rdfs.org/ns/void#"

// Described is the node that the triples of [Snapshot.Describe] speak of.
var Described = rdf.NewBlank("dataset")

// voidCounts are what is counted of a dataset: by a query for a number, or for terms and a number of each, for which
// there is a part of the dataset that has the term by a property.
var voidCounts = []struct {
	query                string
	part, term, property string
}{
	{query: "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", property: "triples"},
	{query: "SELECT (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o }", property: "distinctSubjects"},
	{query: "SELECT ?c (COUNT(DISTINCT ?s) AS ?n) { ?s a ?c } GROUP BY ?c ORDER BY DESC(?n) ?c", part: "classPartition", term: "class", property: "entities"},
	{query: "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p ORDER BY DESC(?n) ?p", part: "propertyPartition", term: "property", property: "triples"},
}

// Describe returns what contexts state, taken together, in the Vocabulary of Interlinked Datasets: how many triples
// there are, and how many things of each class and triples of each property. The limits are those of each of its
// queries.
func (s *Snapshot) Describe(ctx context.Context, limits sparql.Limits) ([]webrace.Triple, error) {
	all := []webrace.Triple{{Subject: Described, Predicate: rdf.NewIRI(rdf.Type), Object: rdf.NewIRI(voidNS + "Dataset")}}
	var parts []webrace.Triple
	say := func(to *[]webrace.Triple, subject webrace.Term, property string, object webrace.Term) {
		*to = append(*to, webrace.Triple{Subject: subject, Predicate: rdf.NewIRI(voidNS + property), Object: object})
	}
	say(&all, Described, "documents", rdf.NewTyped(strconv.FormatInt(s.counts.contexts, 10), rdf.XSDInteger))
	for _, count := range voidCounts {
		rows, err := solutionsOf(ctx, s, count.query, limits)
		if err != nil {
			return nil, err
		}
		for i, row := range rows {
			n := row[len(row)-1]
			if count.part == "" {
				say(&all, Described, count.property, n)
				continue
			}
			if rdf.KindOf(row[0]) != rdf.IRI {
				continue
			}
			part := rdf.NewBlank(count.term + strconv.Itoa(i))
			say(&all, Described, count.part, part)
			say(&parts, part, count.term, row[0])
			say(&parts, part, count.property, n)
		}
	}
	return append(all, parts...), nil
}

func solutionsOf(ctx context.Context, d sparql.Dataset, text string, limits sparql.Limits) (rows [][]webrace.Term, err error) {
	query, err := sparql.Parse(text, "")
	if err != nil {
		return nil, err
	}
	r, err := query.Run(ctx, d, limits)
	if err != nil {
		return nil, err
	}
	for row, err := range r.Solutions() {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}
