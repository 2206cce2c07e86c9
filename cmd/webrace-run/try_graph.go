package main

import (
	"cmp"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/transform"
)

// judging are the flags that determine what a document is worth, and how that is shown.
var judging = []string{
	"urds", "keyword", "match", "threshold", "select", "ignore", "when", "nonfilter", "change", "remember", "field", "text", "alerts", "json",
}

// showGraph shows what the document states as RDF, as the stages detect and transform find it.
func (f *tryFlags) showGraph(c *cobra.Command, globals *cli.Globals) error {
	for _, name := range judging {
		if c.Flags().Changed(name) {
			return cli.Wrongf("choose --graph or --%s: what a document says as RDF is not judged", name)
		}
	}
	if err := f.source.check(); err != nil {
		return cli.Wrong(err)
	}
	d, err := f.source.receive(c, globals)
	if err != nil {
		return err
	}
	mediaType := transform.MediaType(d.body, d.sentAs, f.source.address(d))
	contentType := mediaType
	if sent, _, _ := mime.ParseMediaType(d.sentAs); sent == mediaType {
		contentType = d.sentAs // with its charset
	}
	graph, err := transform.Document(c.Context(), d.body, contentType, cmp.Or(d.url, f.source.address(d)), transform.Options{})
	if err != nil {
		return err
	}
	if err := rdf.WriteTriples(c.OutOrStdout(), rdf.Turtle, cli.Each(graph.Triples)); err != nil {
		return err
	}
	return sayProblems(c, d, graph, mediaType)
}

// address returns where the document is, for its extension: a file goes by its name.
func (s *source) address(d *triedDocument) string {
	if s.file == "" {
		return d.url
	}
	name := filepath.Base(s.file)
	if s.file == "-" {
		name = ""
	}
	return nowhere + url.PathEscape(name)
}

// sayProblems prints what could not be read, and fails if the document is not whole.
func sayProblems(c *cobra.Command, d *triedDocument, g *webrace.Graph, mediaType string) error {
	stderr := cli.Prose(c.ErrOrStderr())
	for _, note := range d.notes {
		fmt.Fprintln(stderr, "warning:", note)
	}
	for _, problem := range g.Problems {
		fmt.Fprintln(stderr, "problem:", problem)
	}
	switch {
	case d.truncated:
		return errors.New("the document was cut where it was too long: nothing of it would be indexed")
	case !g.Whole:
		return errors.New("the document could not be read whole: nothing of it would be indexed")
	case len(g.Triples) == 0:
		fmt.Fprintf(stderr, "the document, %s, says nothing as RDF\n", mediaType)
	}
	return nil
}
