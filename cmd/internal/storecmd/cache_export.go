package storecmd

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/remote"
	"github.com/webrace/webrace/internal/wording"
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
			if asked, err := withParts(c, globals, func(p *parts) error { return flags.ofParts(c, p) }); asked {
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
			progress.Show("exporting: %s", wording.Count(n, "version"))
		}
	}
	to := f.warc + f.wacz
	if to != "-" {
		to = globals.Path(to)
	}
	n := 0
	err := writeWhole(c, to, func(out io.Writer) (err error) {
		if f.warc != "" {
			name := exportName(to)
			if part := partOf(c); part != nil {
				if err := json.Unmarshal(part.Ask, &name); err != nil {
					return err
				}
			}
			n, err = archive.WriteWARC(ctx, store, out, name, f.selection)
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
	if err == nil && partOf(c) != nil {
		_, err = fmt.Fprintln(c.ErrOrStderr(), n)
	} else if err == nil {
		f.say(c, n)
	}
	return err
}

func (f exportFlags) say(c *cobra.Command, n int) {
	to := f.warc + f.wacz
	note(c, "exported %s%s", wording.Count(n, "version"), map[bool]string{false: " to " + to}[to == "-"])
}

// ofParts writes what all partitions have, one behind the other, as the members of a WARC file may stand. There is no
// file if one of them cannot be asked.
func (f exportFlags) ofParts(c *cobra.Command, p *parts) (err error) {
	if f.wacz != "" {
		return cli.Wrongf("a WACZ file has an index of all that is in it, and this is a node of a cluster: write a WARC file, or name one of its partitions with --data")
	}
	path := f.warc
	if path != "-" {
		path = p.globals.Path(path)
	}
	if p.ask, err = json.Marshal(exportName(path)); err != nil {
		return err
	}
	all := 0
	err = writeWhole(c, path, func(out io.Writer) error {
		for partition := range p.where.Partitions {
			var said bytes.Buffer
			call := remote.Call{In: strings.NewReader(""), Out: out, Err: &said}
			call.Args, call.Part = with(p.globals.Args, "--warc", "-"), &remote.Part{Partition: partition, Ask: p.ask}
			status, err := p.run(c.Context(), call)
			if err != nil {
				return cmp.Or(p.lacking(), err)
			}
			var n int
			if _, err := fmt.Sscan(said.String(), &n); status != cli.OK || err != nil {
				note(c, "partition %s: %s", cli.PartitionName(partition), strings.TrimSpace(said.String()))
				return &cli.Error{Status: max(status, cli.Failed)}
			}
			all += n
		}
		return nil
	})
	if err == nil {
		f.say(c, all)
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
