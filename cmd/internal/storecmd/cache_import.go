package storecmd

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/signal"
	"slices"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/stages/normalize"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/storage/objects/archive"
)

// importJSON is what cache import --json writes.
type importJSON struct {
	archive.Imported
	Records []archive.Skipped `json:"records"` // that were skipped; the first of them
}

// mostSkipped is how many skipped records are listed one by one.
const mostSkipped = 1000

func newCacheImport(globals *cli.Globals) *cobra.Command {
	var asJSON bool
	o := archive.Options{Extract: normalize.Extraction()}
	c := &cobra.Command{
		Use:   "import FILE…",
		Short: "read the documents of WARC files that other programs wrote, plain or compressed by gzip or zstd",
		Long: `import stores the documents of WARC files as if they had been crawled when they were:
what answers brought no document, and pages that ask not to be indexed, are left out. What
is damaged is skipped, and reported with its offset and the reason; the rest goes in.
Importing a file again adds nothing. A document that is older than a stored version of its
URL is skipped, so import the files of a crawl together, or in their order. A file that
cannot be read or is no WARC file is named, with the reason; the others are imported, and
the status is 2.`,
		Example: "  webrace-store cache import crawl-*.warc.gz",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, files []string) error {
			if asksParts(c, globals) {
				return cli.Wrongf("cache import stores what there is in files in one data directory, and this is a node of a cluster, which has several: name one of its partitions with --data")
			}
			ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
			defer stop()
			paths, given := make([]string, len(files)), map[string]string{}
			for i, file := range files {
				paths[i] = globals.Path(file)
				given[paths[i]] = file
			}
			result := importJSON{Records: []archive.Skipped{}}
			progress := cli.NewProgress(c)
			o.Progress = func(done, total int64) { progress.Show("importing: %d %%", 100*done/max(total, 1)) }
			o.Skipped = func(s archive.Skipped) {
				if s.File = given[s.File]; len(result.Records) < mostSkipped {
					result.Records = append(result.Records, s)
				}
			}
			err := fillDir(globals, on((*storage.Dir).Objects, func(store *objects.Store) (err error) {
				result.Imported, err = archive.Import(ctx, store, paths, o)
				progress.Clear()
				return err
			}))
			if err != nil {
				return importError(ctx, err)
			}
			for i := range result.Refused {
				r := &result.Refused[i]
				r.File = given[r.File]
				note(c, "%s: %s", r.File, r.Reason)
			}
			if err := result.print(c, asJSON); err != nil {
				return err
			}
			if n := len(result.Refused); n > 0 {
				return cli.Wrongf("%s not imported", wording.Count(n, "file"))
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write one JSON object")
	c.Flags().BoolVar(&o.IgnoreRobots, "ignore-robots", false, "also take pages that ask not to be indexed, and links that ask not to be followed")
	return c
}

// importError finds the status that an error ends with.
func importError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &cli.Error{Status: cli.Interrupted, Err: errors.New("interrupted: what was imported stays, and the same command imports the rest")}
	}
	return err
}

func (r importJSON) print(c *cobra.Command, asJSON bool) error {
	if asJSON {
		return cli.NewEncoder(c.OutOrStdout()).Encode(r)
	}
	for _, s := range r.Records {
		url := ""
		if s.URL != "" {
			url = " (" + wording.OneLine(s.URL) + ")"
		}
		note(c, "%s: skipped at %d%s: %s", s.File, s.Offset, url, s.Reason)
	}
	if more := r.Skipped - len(r.Records); more > 0 {
		note(c, "and %d more", more)
	}
	lines := [][]any{{"documents", r.Documents}, {"new versions", r.Versions}, {"known", r.Known}, {"skipped", r.Skipped}}
	for _, what := range slices.Sorted(maps.Keys(r.Left)) {
		lines = append(lines, []any{"left out: " + what, r.Left[what]})
	}
	return WriteTable(c.OutOrStdout(), nil, lines)
}
