package storecmd

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/storage/objects/archive"
)

// exportFlags determine what is exported, and where to.
type exportFlags struct {
	warc, wacz string
	since      string
	all        bool
	selection  archive.Selection
}

func newCacheExport(globals *cli.Globals) *cobra.Command {
	var flags exportFlags
	c := &cobra.Command{
		Use:   "export [PREFIX] --warc FILE | --wacz FILE",
		Short: "write all versions of the URLs that begin like this as a WARC or WACZ file (- is standard output)",
		Long: `export writes a file that stands alone: WARC/1.1 with a gzip member for each record, or
WACZ 1.1.1, which players such as replayweb.page open. The file is there when it is complete,
and not before. cache import reads WARC files back.`,
		Example: `  webrace-store cache export https://example.org/ --wacz example.wacz
  webrace-store cache export --since 24h --warc - | ssh archive 'cat > today.warc.gz'`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if (flags.warc == "") == (flags.wacz == "") {
				return cli.Wrongf("say where to: --warc FILE or --wacz FILE")
			}
			flags.selection.Prefix = strings.Join(args, "")
			var err error
			if flags.selection.Since, err = parseSince(flags.since, time.Now()); err != nil {
				return err
			}
			return lookIntoDir(globals, func(dir *storage.Dir) error {
				if flags.all {
					var err error
					if flags.selection.Answers, err = dir.Answers(); err != nil {
						return err
					}
				}
				return on((*storage.Dir).Objects, func(store *objects.Store) error { return flags.run(c, globals, store) })(dir)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&flags.warc, "warc", "", "write a WARC `FILE`, by custom named .warc.gz")
	f.StringVar(&flags.wacz, "wacz", "", "write a WACZ `FILE`")
	f.BoolVar(&flags.all, "all", false, "also the requests, and where links lead to no document: redirects, 404 and 410")
	f.BoolVar(&flags.selection.Latest, "latest", false, "only the latest version of each URL")
	f.StringVar(&flags.since, "since", "", "only versions fetched since this `TIME`, or so long ago: 2026-01-31, 24h")
	return c
}

func (f exportFlags) run(c *cobra.Command, globals *cli.Globals, store *objects.Store) error {
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
	defer stop()
	progress := cli.NewProgress(c)
	f.selection.Progress = func(n int) {
		if n%64 == 0 {
			progress.Show("exporting: %s", cli.Count(n, "version"))
		}
	}
	to := f.warc + f.wacz
	if to != "-" {
		to = globals.Path(to)
	}
	n := 0
	err := writeWhole(c, to, func(out io.Writer) (err error) {
		if f.warc != "" {
			n, err = archive.WriteWARC(ctx, store, out, exportName(to), f.selection)
			return err
		}
		scratch, err := os.MkdirTemp("", "webrace-export-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(scratch)
		n, err = archive.WriteWACZ(ctx, store, out, scratch, f.selection)
		return err
	})
	progress.Clear()
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return &cli.Error{Status: cli.Interrupted, Err: errors.New("interrupted: nothing was exported")}
	}
	if err == nil {
		note(c, "exported %s%s", cli.Count(n, "version"), map[bool]string{false: " to " + f.warc + f.wacz}[to == "-"])
	}
	return err
}

// exportName is the name that a file gives for itself.
func exportName(path string) string {
	if path == "-" {
		return "webrace.warc.gz"
	}
	return filepath.Base(path)
}

// writeWhole writes a file that is there when it is complete, under another name until then; - is standard
// output.
func writeWhole(c *cobra.Command, path string, write func(io.Writer) error) error {
	if path == "-" {
		if cli.IsTerminal(c.OutOrStdout()) {
			return cli.Wrongf("the file is not for a terminal: name one, or send it through a pipe")
		}
		out := bufio.NewWriterSize(c.OutOrStdout(), 1<<20)
		return errors.Join(write(out), out.Flush())
	}
	return cli.WriteWhole(path, 0o644, write)
}
