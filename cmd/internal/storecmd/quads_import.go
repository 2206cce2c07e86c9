package storecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/quads"
)

func newQuadsImport(globals *cli.Globals) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "read N-Quads, as quads export writes them; what they say replaces what their contexts said",
		Long: `import reads N-Quads; - is standard input. The graph of a quad is the context that says
it: what contexts said that the file names is replaced, others stay as they are. What the
graph urn:webrace:provenance says of them is taken over. Each context changes by itself: if
the file is wrong somewhere, its line and column are said, what was read before may be
there, and importing the mended file puts that right.`,
		Example: `  webrace-store quads import quads.nq
  gzip -dc quads.nq.gz | webrace-store quads import -`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			in, name, err := openInput(c, globals, args[0])
			if err != nil {
				return err
			}
			defer in.Close()
			return fillDir(globals, on((*storage.Dir).Quads, func(store *quads.Store) error { return importQuads(c, store, name, in, asJSON) }))
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object")
	return c
}

// quadsImported is what quads import --json writes.
type quadsImported struct {
	Contexts int `json:"contexts"`
	Added    int `json:"added"`
	Removed  int `json:"removed"`
	Ignored  int `json:"ignored"`
}

func importQuads(c *cobra.Command, store *quads.Store, name string, in io.Reader, asJSON bool) error {
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
	defer stop()
	progress := cli.NewProgress(c)
	done, err := store.Import(ctx, quadsOf(ctx, name, in, func(n int) { progress.Show("importing: %s", wording.Count(n, "quad")) }))
	progress.Clear()
	if err != nil {
		return importingError(ctx, err, done)
	}
	if asJSON {
		return cli.NewEncoder(c.OutOrStdout()).Encode(quadsImported(done))
	}
	return WriteTable(c.OutOrStdout(), nil, [][]any{
		{"contexts", done.Contexts}, {"quads added", done.Added}, {"quads removed", done.Removed}, {"quads ignored", done.Ignored},
	})
}

// quadsOf reads N-Quads of any size. What is wrong with them is an error of what was given, with its place.
func quadsOf(ctx context.Context, name string, in io.Reader, progress func(n int)) iter.Seq2[rdf.Quad, error] {
	options := rdf.Options{KeepLabels: true, Limits: rdf.Limits{Triples: -1, Literal: -1, IRI: -1, Depth: -1}}
	return func(yield func(rdf.Quad, error) bool) {
		n := 0
		for q, err := range rdf.Parse(ctx, in, rdf.NQuads, options) {
			n++
			var wrong *rdf.SyntaxError
			switch {
			case errors.As(err, &wrong):
				err = cli.Wrongf("%s:%d:%d: %s", name, wrong.Line, wrong.Column, wrong.Says)
			case err == nil && rdf.KindOf(q.Graph) != rdf.IRI:
				err = cli.Wrongf("%s: statement %d, %s, names no context: write the IRI of the document that says it behind the object", name, n, brief(q))
			}
			if n%1000 == 0 {
				progress(n)
			}
			if !yield(q, err) {
				return
			}
		}
	}
}

// brief writes as much of a quad as a person needs to find it.
func brief(q rdf.Quad) string {
	return fmt.Sprintf("%.100s %.100s %.100s", q.Subject, q.Predicate, q.Object)
}

// importingError reports what stays of an import that failed.
func importingError(ctx context.Context, err error, done quads.Imported) error {
	if ctx.Err() != nil {
		return &cli.Error{Status: cli.Interrupted, Err: errors.New("interrupted: what was imported stays, and the same command puts the rest right")}
	}
	if done.Contexts > 0 {
		return fmt.Errorf("%w; %s changed already, and importing the whole file puts them right", err, wording.Count(done.Contexts, "context"))
	}
	return err
}
