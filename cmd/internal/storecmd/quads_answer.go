package storecmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/stages/sparql/results"
	"github.com/webrace/webrace/storage/quads"
)

// The formats of answers, by the names that --format knows.
var (
	solutionFormats = map[string]results.Format{"json": results.JSON, "xml": results.XML, "csv": results.CSV, "tsv": results.TSV}
	graphFormats    = map[string]rdf.Syntax{"turtle": rdf.Turtle, "ntriples": rdf.NTriples, "rdfxml": rdf.RDFXML}
)

// answerFormat is how an answer is written: one of the two, or neither for the form that people and scripts read.
type answerFormat struct {
	solutions results.Format
	graph     rdf.Syntax
}

// formatOf returns the format that was asked for, if an answer to such a query can have it.
func (f *queryFlags) formatOf(form sparql.Form) (format answerFormat, err error) {
	name := f.format
	if f.json && name != "" && name != "json" {
		return format, cli.Wrongf("choose --json or --format %s", name)
	}
	if f.json {
		name = "json"
	}
	isGraph := form == sparql.Construct || form == sparql.Describe
	format = answerFormat{solutions: solutionFormats[name], graph: graphFormats[name]}
	switch {
	case name == "" && isGraph:
		format.graph = rdf.Turtle
	case name == "":
	case format.solutions == "" && format.graph == "":
		return format, cli.Wrongf("--format %s: solutions are written as %s, graphs as %s", name, names(solutionFormats), names(graphFormats))
	case isGraph && format.graph == "":
		return format, cli.Wrongf("--format %s: the answer is a graph, which is written as %s", name, names(graphFormats))
	case !isGraph && format.solutions == "":
		return format, cli.Wrongf("--format %s: the answer is no graph; it is written as %s", name, names(solutionFormats))
	case form == sparql.Ask && format.solutions == results.CSV:
		return format, cli.Wrongf("--format csv has no place for the answer of an ASK: choose json, xml or tsv")
	}
	return format, nil
}

func names[T any](formats map[string]T) string {
	all := slices.Sorted(maps.Keys(formats))
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}

// answer asks the query and writes the answer. Where that ends too soon, what was written is said to be a part.
func (f *queryFlags) answer(ctx context.Context, c *cobra.Command, s *quads.Snapshot, query *sparql.Query, format answerFormat) error {
	r, err := query.Run(ctx, s, f.limits.limits())
	if err != nil {
		return f.limits.ended(err)
	}
	to := &countingWriter{w: c.OutOrStdout()}
	n := 0
	switch {
	case format.graph != "":
		err = rdf.WriteTriples(to, format.graph, counted(&n, r.Triples()))
	case r.Form == sparql.Ask && format.solutions == "":
		_, err = fmt.Fprintln(to, r.Boolean)
	case r.Form == sparql.Ask:
		err = results.WriteBoolean(to, format.solutions, r.Boolean)
	case format.solutions != "":
		err = writeSolutions(to, format.solutions, r, &n)
	default:
		err = f.printSolutions(c, to, r, &n)
	}
	switch {
	case err != nil && to.n > 0:
		return fmt.Errorf("%w; what was written is a part of the answer", f.limits.ended(err))
	case err != nil:
		return f.limits.ended(err)
	case n == 0 && r.Form != sparql.Ask:
		noteNothing(c, s, "nothing answers the query")
	}
	return nil
}

// writeSolutions writes solutions in a format of SPARQL. JSON and XML that lack their end are no JSON and XML.
func writeSolutions(w io.Writer, format results.Format, r *sparql.Results, n *int) error {
	out, err := results.NewWriter(w, format, r.Vars)
	if err != nil {
		return err
	}
	for row, err := range counted(n, r.Solutions()) {
		if err == nil {
			err = out.Write(row)
		}
		if err != nil {
			return err
		}
	}
	return out.Close()
}

// mostShown is how many solutions a terminal shows: a table is laid out when all of it is there.
const mostShown = 1000

// printSolutions writes solutions for people and scripts.
func (f *queryFlags) printSolutions(c *cobra.Command, w io.Writer, r *sparql.Results, n *int) error {
	screen := cli.IsTerminal(c.OutOrStdout())
	out := newRows(c.OutOrStdout(), r.Vars, false)
	if !screen {
		out.w = bufio.NewWriter(w)
	}
	write := textOf
	if screen {
		write = shownOf
	}
	for solution, err := range counted(n, r.Solutions()) {
		if screen && *n > mostShown {
			note(c, "these are the first %d solutions: LIMIT and OFFSET ask for others, and a file or a pipe gets all", mostShown)
			break
		}
		if err == nil {
			err = out.row(texts(solution, write)...)
		}
		if err != nil {
			return errors.Join(err, out.w.Flush())
		}
	}
	return out.flush()
}

func texts(solution []webrace.Term, write func(webrace.Term) string) []any {
	fields := make([]any, len(solution))
	for i, t := range solution {
		fields[i] = write(t)
	}
	return fields
}

// countingWriter counts what was written.
type countingWriter struct {
	w io.Writer
	n int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.w.Write(p)
	w.n += int64(n)
	return n, err
}
