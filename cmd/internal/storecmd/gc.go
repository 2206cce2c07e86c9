package storecmd

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/terminal"
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

func (f *gcFlags) run(c *cobra.Command, dir *storage.Dir) error {
	if f.dry {
		versions, bytes, err := dir.WouldCollect(c.Context(), f.retain())
		if err != nil {
			return err
		}
		if f.asJSON {
			return cli.NewEncoder(c.OutOrStdout()).Encode(map[string]int64{"versions": int64(versions), "bytes": bytes})
		}
		_, err = fmt.Fprintf(cli.Prose(c.OutOrStdout()), "%s would be removed, of %s before compression\n", cli.Count(versions, "version"), terminal.Size(bytes))
		return err
	}
	done, err := dir.Collect(c.Context(), f.retain())
	if err != nil {
		return err
	}
	if f.setAside {
		bytes, err := dir.RemoveSetAside()
		if err != nil {
			return err
		}
		note(c, "%s that were set aside are removed", terminal.Size(bytes))
	}
	if f.asJSON {
		return cli.NewEncoder(c.OutOrStdout()).Encode(collection{
			done.Versions, done.Bodies, done.Kept, done.Expired, done.Trimmed, done.Segments, done.Freed,
			done.Quads.Contexts, done.Quads.Quads,
		})
	}
	_, err = fmt.Fprintln(cli.Prose(c.OutOrStdout()), done)
	return err
}
