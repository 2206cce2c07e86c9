package storecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/quads"
)

const quadsQueryHelp = `query answers a query in SPARQL 1.1. The default graph is all that is said, each triple
once; GRAPH ?g { … } asks who says it, and the graph urn:webrace:provenance says of each
document when it was fetched, as what, and which version it is. Words are looked for by
?thing text:query "words", with PREFIX text: <http://jena.apache.org/text#>.

Solutions are a table on a terminal, and elsewhere lines with tabs between the values, as
plain texts without a header; --format json, xml, csv and tsv are the formats of SPARQL.
Graphs, of CONSTRUCT and DESCRIBE, are Turtle, or with --format ntriples and rdfxml these.

A query that takes too long or too much memory ends with status 1, and says which; so does
whatever else keeps an answer from being whole.`

// queryFlags determine what is asked, and how the answer is written.
type queryFlags struct {
	file, format string
	json         bool
	limits       queryLimits
}

// queryLimits are how much a query may take.
type queryLimits struct {
	timeout pipeline.Duration
	memory  pipeline.Size
}

func (l *queryLimits) addFlags(flags *pflag.FlagSet) {
	flags.TextVar(&l.timeout, "timeout", pipeline.Duration(sparql.DefaultTime), "how long it may take, as a `TIME`")
	flags.TextVar(&l.memory, "memory", pipeline.Size(sparql.DefaultMemory), "how much it may keep in memory, as a `SIZE`")
}

func (l *queryLimits) check() error {
	switch {
	case l.timeout <= 0:
		return cli.Wrongf("--timeout is more than 0s")
	case l.memory < 1<<20:
		return cli.Wrongf("--memory is at least 1MiB")
	}
	return nil
}

func (l *queryLimits) limits() sparql.Limits {
	return sparql.Limits{Time: time.Duration(l.timeout), Memory: int64(l.memory)}
}

// ended adds to the error of a query at its limits what raises them.
func (l *queryLimits) ended(err error) error {
	var limit *sparql.LimitError
	if errors.As(err, &limit) {
		return fmt.Errorf("%w: ask for less, or raise --timeout or --memory", err)
	}
	return err
}

func newQuadsQuery(globals *cli.Globals) *cobra.Command {
	f := new(queryFlags)
	c := &cobra.Command{
		Use:   "query QUERY | --file FILE",
		Short: "answer a query in SPARQL 1.1",
		Long:  quadsQueryHelp,
		Example: `  webrace-store quads query 'SELECT ?type (COUNT(*) AS ?n) { ?thing a ?type } GROUP BY ?type ORDER BY DESC(?n)'
  webrace-store quads query --file events.rq --format csv > events.csv
  webrace-store quads query 'DESCRIBE <https://example.org/#port>'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			query, err := f.read(c, globals, args)
			if err != nil {
				return err
			}
			format, err := f.formatOf(query.Form())
			if err != nil {
				return err
			}
			return lookIntoQuads(c, globals, func(ctx context.Context, s *quads.Snapshot) error {
				return f.answer(ctx, c, s, query, format)
			})
		},
	}
	c.Flags().StringVar(&f.file, "file", "", "read the query from a `FILE`; - is standard input")
	c.Flags().StringVar(&f.format, "format", "", "write solutions as `FORMAT` json, xml, csv or tsv, and graphs as turtle, ntriples or rdfxml")
	c.Flags().BoolVar(&f.json, "json", false, "the same as --format json")
	f.limits.addFlags(c.Flags())
	return c
}

// read reads the query.
func (f *queryFlags) read(c *cobra.Command, globals *cli.Globals, args []string) (*sparql.Query, error) {
	if (len(args) == 1) == (f.file != "") {
		return nil, cli.Wrongf("say what to ask: a query in quotes, or --file FILE")
	}
	if err := f.limits.check(); err != nil {
		return nil, err
	}
	if len(args) == 1 {
		query, err := sparql.Parse(args[0], "")
		return query, wrongQuery(err, "", args[0])
	}
	in, name, err := openInput(c, globals, f.file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, sparql.MaxText+1))
	if err != nil {
		return nil, cli.Wrong(fmt.Errorf("read the query: %w", err))
	}
	query, err := sparql.Parse(string(text), "")
	return query, wrongQuery(err, name, string(text))
}

// wrongQuery reports what is wrong with a query, and points at the place.
func wrongQuery(err error, file, text string) error {
	var wrong *sparql.SyntaxError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &wrong):
		return cli.Wrong(err)
	case file == "":
		return cli.Wrongf("%w%s", err, pointer(text, wrong.Line, wrong.Column))
	}
	return cli.Wrongf("%s:%d:%d: %s%s", file, wrong.Line, wrong.Column, wrong.Says, pointer(text, wrong.Line, wrong.Column))
}

// pointer shows a line and points at a place in it, if it is a line that can be shown.
func pointer(text string, number, column int) string {
	lines := strings.Split(text, "\n")
	if number > len(lines) {
		return ""
	}
	line := strings.TrimSuffix(lines[number-1], "\r")
	if utf8.RuneCountInString(line) > 200 || column-1 > utf8.RuneCountInString(line) || strings.ContainsAny(line, "\t\\") || line == "" {
		return ""
	}
	return fmt.Sprintf("\n  %s\n  %s^", line, strings.Repeat(" ", column-1))
}
