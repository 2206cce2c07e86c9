package main

import (
	"fmt"
	"strings"
)

// dataQueries are what the demo asks of the open data. None of them can be answered from one document.
var dataQueries = []struct{ question, query string }{
	{"What is on, when and where? Two sources know the dates, a third the places:", `PREFIX schema: <http://schema.org/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
SELECT ?when ?what ?where {
  ?event schema:startDate ?when ; schema:name ?what ; schema:location ?place .
  ?place rdfs:label ?where
} ORDER BY ?when ?what`},
	{"For whom do councillors work, and who says so? They are called otherwise there:", `PREFIX schema: <http://schema.org/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX foaf: <http://xmlns.com/foaf/0.1/>
PREFIX org: <http://www.w3.org/ns/org#>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
SELECT ?name ?employer ?page {
  ?council org:hasMember/owl:sameAs ?person .
  GRAPH ?page {
    ?person foaf:name ?name ; schema:worksFor/rdfs:label ?employer
  }
} ORDER BY ?name`},
	{"Which number has the port office? Who says what, in which version:", `PREFIX schema: <http://schema.org/>
PREFIX owl: <http://www.w3.org/2002/07/owl#>
SELECT (STR(?telephone) AS ?number) ?page ?version {
  GRAPH ?page { ?office schema:telephone ?telephone }
  GRAPH <urn:webrace:provenance> { ?page owl:versionInfo ?version }
} ORDER BY ?page`},
}

// queries asks, and shows the answers.
func (d *dataShow) queries() error {
	for _, q := range dataQueries {
		d.say("%s", q.question)
		fmt.Fprintf(d.c.OutOrStdout(), "  %s\n\n", strings.ReplaceAll(q.query, "\n", "\n  "))
		if err := d.store("quads", "query", q.query); err != nil {
			return err
		}
	}
	return nil
}
