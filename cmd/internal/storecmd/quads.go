package storecmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/quads"
)

func newQuads(globals *cli.Globals) *cobra.Command {
	c := &cobra.Command{
		Use:   "quads",
		Short: "what documents say as RDF: query, search, show, contexts, stats, export, import, rm",
		Long: `quads looks into what documents say as RDF, and which of them says it. A quad is a
triple and its context, the URL of the document that says it.`,
	}
	c.AddCommand(
		newQuadsQuery(globals), newQuadsSearch(globals), newQuadsShow(globals), newQuadsContexts(globals), newQuadsStats(globals),
		newQuadsExport(globals), newQuadsImport(globals), newQuadsRm(globals),
	)
	return c
}

const nothingSaid = "no document says anything yet: the pipelines multicrawler and quads fill the store, and so does webrace-store quads import"

// lookIntoQuads runs f on one state of the quad store, which is not changed. A signal ends the context that f gets, so
// that nothing is left behind.
func lookIntoQuads(c *cobra.Command, globals *cli.Globals, f func(context.Context, *quads.Snapshot) error) error {
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
	defer stop()
	err := lookIntoDir(globals, on((*storage.Dir).Quads, func(store *quads.Store) error {
		snapshot, err := store.Snapshot()
		if err != nil {
			return err
		}
		return errors.Join(f(ctx, snapshot), snapshot.Close())
	}))
	if err != nil && ctx.Err() != nil {
		return &cli.Error{Status: cli.Interrupted, Err: errors.New("interrupted")}
	}
	return err
}

// noteNothing notes that there is nothing to show, and why.
func noteNothing(c *cobra.Command, s *quads.Snapshot, format string, args ...any) {
	if s.Stats().Contexts == 0 {
		note(c, nothingSaid)
		return
	}
	note(c, format, args...)
}

// contextNamed returns what is known of a context, by its IRI as it is or as a URL that is not written as it is stored.
func contextNamed(s *quads.Snapshot, name string) (r quads.Record, found bool, err error) {
	if r, found, err = s.Context(name); found || err != nil {
		return r, found, err
	}
	if url, wrong := normal(name); wrong == nil && url != name {
		return s.Context(url)
	}
	return r, false, nil
}

func newQuadsRm(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "rm URL…",
		Short: "forget what documents say, or nothing if one says nothing",
		Long: `rm forgets what documents say, and what is known of that: the documents themselves
stay in the object cache, and say it again when they are next fetched, or when the
pipeline quads reads them all anew.`,
		Example: "  webrace-store quads rm https://example.org/events",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, names []string) error {
			return withDir(globals, on((*storage.Dir).Quads, func(store *quads.Store) error { return removeContexts(c, store, names) }))
		},
	}
}

func removeContexts(c *cobra.Command, store *quads.Store, names []string) error {
	found, err := contextsNamed(store, names)
	if err != nil {
		return err
	}
	var urls []string
	var rows [][]any
	for _, r := range found {
		urls, rows = append(urls, r.URL), append(rows, []any{r.URL, r.Quads})
	}
	if err := store.Remove(c.Context(), urls...); err != nil {
		return err
	}
	return WriteTable(c.OutOrStdout(), []string{"url", "quads removed"}, rows)
}

// contextsNamed returns what is known of contexts, all of which must be there.
func contextsNamed(store *quads.Store, names []string) (found []quads.Record, err error) {
	s, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for _, name := range names {
		r, ok, err := contextNamed(s, name)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, fmt.Errorf("%s says nothing, and nothing was removed: webrace-store quads contexts lists what does", name)
		}
		found = append(found, r)
	}
	return found, nil
}

func newQuadsExport(globals *cli.Globals) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "export",
		Short: "write all quads as N-Quads, with what is known of each context",
		Long: `export writes one state of the store as N-Quads. The graph urn:webrace:provenance says of
each context its version, date, type and digest. quads import reads it back. Sorted, the
lines are the same for all stores that hold the same. A file is there when it is complete,
and not before; what goes to a pipe is complete if the exit status is 0.`,
		Example: `  webrace-store quads export --output quads.nq
  webrace-store quads export | gzip > quads.nq.gz`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return lookIntoQuads(c, globals, func(ctx context.Context, s *quads.Snapshot) error {
				to := output
				if to != "-" {
					to = globals.Path(to)
				}
				if err := writeWhole(c, to, func(w io.Writer) error { return s.Export(ctx, w) }); err != nil {
					return err
				}
				note(c, "exported %s of %s", wording.Count(s.Stats().Quads, "quad"), wording.Count(s.Stats().Contexts, "context"))
				return nil
			})
		},
	}
	c.Flags().StringVar(&output, "output", "-", "write to this `FILE`; - is standard output")
	return c
}
