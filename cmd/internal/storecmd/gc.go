package storecmd

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
)

// collection is what a collection did, for programs.
type collection struct {
	Versions int   `json:"versions"` // removed
	Bodies   int   `json:"bodies"`
	Kept     int   `json:"kept"` // about to go, and kept for an owner
	Expired  int   `json:"expired"`
	Trimmed  int   `json:"trimmed"`
	Segments int   `json:"segments"` // rewritten
	Freed    int64 `json:"freed"`    // bytes on disk
	Contexts int   `json:"contexts"` // of the quad store, removed
	Quads    int   `json:"quads"`    // that these said
}

// gcFlags are how long things are kept.
type gcFlags struct {
	retention, unmatched, annotations pipeline.Duration
	maxSize                           pipeline.Size
	dry, asJSON, setAside             bool
}

func newGC(globals *cli.Globals) *cobra.Command {
	var f gcFlags
	c := &cobra.Command{
		Use:   "gc",
		Short: "remove versions and annotations that are older than they are to be kept, and give the space back",
		Long: `gc removes a version when it was not current for longer than its retention, and
no owner waits for it: when no annotation speaks of it that is neither retrieved
nor expired. Without any flag it gives back the space of what was removed before.
The stage gc of webrace-run does the same, again and again with --continuous.`,
		Example: `  webrace-store gc --retention 365d --retention-unmatched 30d --retention-annotations 90d
  webrace-store gc --retention 90d --dry-run`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.dry && f.maxSize > 0 {
				return cli.Wrongf("--dry-run says what would go for its age: it does not know --max-size")
			}
			if asked, err := f.ofParts(c, globals); asked {
				return err
			}
			return withDir(globals, func(dir *storage.Dir) error { return f.run(c, dir) })
		},
	}
	c.Flags().TextVar(&f.retention, "retention", pipeline.Duration(0), "keep versions that an annotation speaks of for this `TIME` since they were last current, as 90d; 0s for good")
	c.Flags().TextVar(&f.unmatched, "retention-unmatched", pipeline.Duration(0), "keep other versions for this `TIME`")
	c.Flags().TextVar(&f.annotations, "retention-annotations", pipeline.Duration(0), "let annotations that no owner took expire after this `TIME`, and remove them after it again")
	c.Flags().TextVar(&f.maxSize, "max-size", pipeline.Size(0), "let the oldest versions go above this `SIZE` of documents on disk, as 10GB")
	c.Flags().BoolVar(&f.dry, "dry-run", false, "say what would go for its age, and remove nothing")
	c.Flags().BoolVar(&f.setAside, "set-aside", false, "also remove what crashes and repairs have set aside (*.set-aside)")
	c.Flags().BoolVar(&f.asJSON, "json", false, "as JSON")
	return c
}

func (f *gcFlags) retain() storage.Retention {
	return storage.Retention{
		Versions: time.Duration(f.retention), Unmatched: time.Duration(f.unmatched),
		Annotations: time.Duration(f.annotations), MaxBytes: int64(f.maxSize),
	}
}

// gathered is what a collection did, or would do.
type gathered struct {
	storage.Collected
	SetAside int64 // bytes of what was set aside, and is removed
	Bytes    int64 // of the versions that would be removed
}

func (g *gathered) add(more gathered) {
	g.Versions, g.Bodies, g.Kept = g.Versions+more.Versions, g.Bodies+more.Bodies, g.Kept+more.Kept
	g.Expired, g.Trimmed, g.Segments = g.Expired+more.Expired, g.Trimmed+more.Trimmed, g.Segments+more.Segments
	g.Freed, g.SetAside, g.Bytes = g.Freed+more.Freed, g.SetAside+more.SetAside, g.Bytes+more.Bytes
}

// ofParts has all partitions of a node collect, if it is one.
func (f *gcFlags) ofParts(c *cobra.Command, globals *cli.Globals) (asked bool, err error) {
	if f.maxSize > 0 && asksParts(c, globals) {
		return true, cli.Wrongf("--max-size counts in one data directory, and this is a node of a cluster, which has several: name one of its partitions with --data")
	}
	return sumOf(c, globals, (*gathered).add, func(g gathered) error { return f.print(c, g) })
}

func (f *gcFlags) run(c *cobra.Command, dir *storage.Dir) (err error) {
	var g gathered
	if f.dry {
		g.Versions, g.Bytes, err = dir.WouldCollect(c.Context(), f.retain())
	} else if g.Collected, err = dir.Collect(c.Context(), f.retain()); err == nil && f.setAside {
		g.SetAside, err = dir.RemoveSetAside()
	}
	if err != nil {
		return err
	}
	return sharing(c, g, func() error { return f.print(c, g) })
}

func (f *gcFlags) print(c *cobra.Command, g gathered) (err error) {
	switch {
	case f.dry && f.asJSON:
		return cli.NewEncoder(c.OutOrStdout()).Encode(map[string]int64{"versions": int64(g.Versions), "bytes": g.Bytes})
	case f.dry:
		_, err = fmt.Fprintf(cli.Prose(c.OutOrStdout()), "%s would be removed, of %s before compression\n", wording.Count(g.Versions, "version"), terminal.Size(g.Bytes))
		return err
	case f.setAside:
		note(c, "%s that were set aside are removed", terminal.Size(g.SetAside))
	}
	if f.asJSON {
		return cli.NewEncoder(c.OutOrStdout()).Encode(collection{
			g.Versions, g.Bodies, g.Kept, g.Expired, g.Trimmed, g.Segments, g.Freed,
			g.Quads.Contexts, g.Quads.Quads,
		})
	}
	_, err = fmt.Fprintln(cli.Prose(c.OutOrStdout()), g.Collected)
	return err
}
