package storecmd

import (
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/control"
)

func newOwner(globals *cli.Globals) *cobra.Command {
	c := &cobra.Command{Use: "owner", Short: "who asked for something, and how much they may cause, have and be sent: list, quota, budget"}
	c.AddCommand(newOwnerList(globals), newOwnerQuota(globals), newOwnerBudget(globals))
	return c
}

// ownerUsage is an owner, and how many requests they used today; those that served several owners count
// as fractions. So many annotations were withheld from them today.
type ownerUsage struct {
	control.Owner
	used     float64
	withheld int
}

var ownerListing = listing[ownerUsage]{
	header: []string{"owner", "urds", "quota", "used today", "withheld today"},
	row: func(o ownerUsage) []any {
		return []any{o.Name, o.URDs, o.Quota, strconv.FormatFloat(o.used, 'f', 1, 64), o.withheld}
	},
}

func withUsage(owners iter.Seq2[control.Owner, error], used map[string]float64, withheld map[string]int) iter.Seq2[ownerUsage, error] {
	return func(yield func(ownerUsage, error) bool) {
		for o, err := range owners {
			if !yield(ownerUsage{o, used[o.Name], withheld[o.Name]}, err) {
				return
			}
		}
	}
}

func newOwnerList(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "list owners: name, number of URDs, requests a day (0 is no limit), those used today (UTC), and annotations withheld today",
		Example: "  webrace-store owner list",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return lookIntoControl(globals, func(store *control.Store) error {
				now := time.Now().UTC()
				used, err := store.Usage(c.Context(), now.Format(time.DateOnly))
				if err != nil {
					return err
				}
				withheld, err := store.WithheldOn(c.Context(), now)
				if err != nil {
					return err
				}
				return ownerListing.list(c, false, withUsage(store.Owners(c.Context()), used, withheld), noURDs)
			})
		},
	}
}

func newOwnerQuota(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:     "quota NAME [N]",
		Short:   "say, or with N set, how many requests a day an owner may cause; 0 is no limit",
		Example: "  webrace-store owner quota eleni 5000",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				return lookIntoControl(globals, func(store *control.Store) error {
					quota, err := store.Quota(c.Context(), args[0])
					if err == nil {
						_, err = fmt.Fprintln(c.OutOrStdout(), quota)
					}
					return err
				})
			}
			requests, err := strconv.Atoi(args[1])
			if err != nil || requests < 0 {
				return cli.Wrongf("%s: a quota is a number of requests a day, 0 for no limit", args[1])
			}
			return fillControl(globals, func(store *control.Store) error {
				before, err := store.Quota(c.Context(), args[0])
				if err != nil {
					return err
				}
				if err := store.SetQuota(c.Context(), args[0], requests); err != nil {
					return err
				}
				note(c, "%s may cause %s (before: %s)", args[0], requestsADay(requests), requestsADay(before))
				return noteOwner(c, store, args[0])
			})
		},
	}
}

// requestsADay writes a quota.
func requestsADay(n int) string {
	if n == 0 {
		return "requests without a limit"
	}
	return wording.Count(n, "request") + " a day"
}
