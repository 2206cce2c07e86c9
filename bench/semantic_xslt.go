package main

import (
	"fmt"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/xslt"
)

// xsltLimit is what a page may cost that a stylesheet makes RDF/XML, which is read then, in microseconds.
const xsltLimit = 200_000.0 / 12

// byXSLT has a stylesheet find what pages state, but for their JSON-LD.
func (s *semanticBench) byXSLT(pages []*semanticPage) error {
	pages = pages[:min(len(pages), s.work(500))]
	want := make(map[string]*semanticPage, len(pages))
	for _, p := range pages {
		want[p.url] = p
	}
	o := pipeline.DefaultRegistry.Defaults("xslt").(xslt.Options)
	o.Rules = []xslt.Rule{{MediaType: "text/html", Stylesheet: "semantic/statements.xsl"}}
	r := stagesRun{flow: "xslt > transform", options: map[string]any{"xslt": o}, look: func(d *webrace.Document) error {
		if err := sayings(literalsOf(d.Graph), want[d.URL].in); err != nil {
			return fmt.Errorf("%s: %w: %q", d.URL, err, d.Graph.Problems)
		}
		return nil
	}}
	value, err := least(min(s.rounds, 3), len(pages), func() (cost, error) { return r.run(asValues(documentsOf(pages))) })
	if err != nil {
		return fmt.Errorf("transform by XSLT: %w", err)
	}
	s.table.value("transform by XSLT, HTML with structured data, a page, CPU", value, "µs", atMost(xsltLimit))
	return nil
}
