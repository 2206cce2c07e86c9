package storecmd

import (
	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

func newURDPause(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "pause ID…",
		Short: "let URDs start no crawl and tell nothing until they are resumed; none if one is not there",
		Long: `pause lets URDs rest: they start no crawl, and their owners are told of nothing by
them. A crawl that other URDs share goes on.`,
		Example: "  webrace-store urd pause u42",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, ids []string) error {
			return withControl(globals, func(store *control.Store) error { return setPaused(c, store, ids, true) })
		},
	}
}

func newURDResume(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "resume ID…",
		Short: "make URDs active that are paused; none if one is not there",
		Long: `resume makes URDs active again: their owners are told of what is new since they were
told last, as far as no crawl that others share has brought it meanwhile.`,
		Example: "  webrace-store urd resume u42",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, ids []string) error {
			return withControl(globals, func(store *control.Store) error { return setPaused(c, store, ids, false) })
		},
	}
}

// setPaused pauses URDs, or resumes them, and prints what became of each. One that is so already stays as it is.
func setPaused(c *cobra.Command, store *control.Store, ids []string, paused bool) error {
	changes, err := store.Change(c.Context(), ids, func(u *xmlschema.URD) error {
		u.Paused = paused
		return nil
	})
	if err != nil {
		return hinting(err, control.ErrNotFound, listURDs)
	}
	became := "resumed"
	if paused {
		became = "paused"
	}
	var rows [][]any
	for _, change := range changes {
		effect := string(change.Effect)
		if change.Effect == control.Changed {
			effect = became
		}
		rows = append(rows, []any{change.ID, effect})
	}
	return WriteTable(c.OutOrStdout(), []string{"id", "effect"}, rows)
}
