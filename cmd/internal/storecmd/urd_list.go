package storecmd

import (
	"errors"
	"iter"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
)

// jsonOfURD is a URD as a JSON line, with how its start was checked; urd export writes all there is to know of it.
func jsonOfURD(u urdChecked) any {
	return struct {
		control.URDRecord
		LastCheck string `json:"last_check,omitempty"`
		Outcome   string `json:"outcome,omitempty"`
		Next      string `json:"next,omitempty"` // or now
	}{u.Record(), wording.Moment(u.Last), u.Outcome, u.next()}
}

// urdChecked is a URD, and how its start was checked.
type urdChecked struct {
	control.URD
	checked
}

var urdListing = listing[urdChecked]{
	header: []string{"id", "owner", "uri", "depth", "threshold", "interest", "last check", "outcome", "next", "title"},
	row: func(u urdChecked) []any {
		row := []any{u.ID, u.Owner, u.URI, u.Depth, u.Keywords.Threshold, cli.Interest(u.URD.URD), u.Last, u.Outcome, u.next()}
		if u.Title != "" {
			row = append(row, u.Title)
		}
		return row
	},
	json: jsonOfURD,
}

func newURDList(globals *cli.Globals) *cobra.Command {
	var owner, xpath, selection string
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "list URDs: id, owner, URI, depth, threshold, keywords with their weights; when its start was last checked, with what outcome, and when it is due; and its title, if it has one",
		Example: `  webrace-store urd list --owner eleni
  webrace-store urd list --xpath '//urd[@state="paused"]'
  webrace-store urd list --select "concat(/urd/@id, ' ', /urd/uri)"`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkSelection(selection); err != nil {
				return err
			}
			if xpath != "" {
				if err := checkXPath(xpath); err != nil {
					return err
				}
			}
			chosen := func(store *control.Store) iter.Seq2[control.URD, error] { return urdsThat(c, store, owner, xpath) }
			if part := partOf(c); part != nil {
				return writeStandings(c, globals, part.Partition)
			}
			show := func(store *control.Store, checks func() (*checks, error)) error {
				n, err := printURDs(c, checks, chosen(store), selection, asJSON)
				switch {
				case n > 0 || err != nil:
				case xpath != "":
					note(c, noneSelected)
				default:
					note(c, noURDs)
				}
				return err
			}
			if asked, err := withParts(c, globals, func(p *parts) error {
				store, err := p.control()
				if err != nil {
					return err
				}
				return errors.Join(show(store, func() (*checks, error) { return p.readChecks(store) }), p.lacking())
			}); asked {
				return err
			}
			return lookIntoDir(globals, func(dir *storage.Dir) error {
				store, err := dir.Control()
				if err != nil {
					return err
				}
				return show(store, func() (*checks, error) { return readChecks(c, globals, dir, store) })
			})
		},
	}
	c.Flags().StringVar(&owner, "owner", "", "only those of this owner")
	c.Flags().StringVar(&xpath, "xpath", "", "only those that an `XPATH` expression selects something in")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON lines")
	selectFlag(c, &selection)
	return c
}

// urdsThat returns the URDs of an owner, or of all, that an expression selects something in; all if there is none.
func urdsThat(c *cobra.Command, store *control.Store, owner, xpath string) iter.Seq2[control.URD, error] {
	if xpath == "" {
		return urdsOf(c, store, owner)
	}
	return func(yield func(control.URD, error) bool) {
		for urd, err := range store.Query(c.Context(), xpath) {
			if (err != nil || owner == "" || urd.Owner == owner) && !yield(urd, err) {
				return
			}
		}
	}
}

func printURDs(c *cobra.Command, read func() (*checks, error), urds iter.Seq2[control.URD, error], selection string, asJSON bool) (int, error) {
	if selection != "" {
		return printValues(c, selection, asJSON, urds, func(u control.URD) (string, []byte) { return u.ID, u.Canonical() })
	}
	checks, err := read()
	if err != nil {
		return 0, err
	}
	return urdListing.print(c, asJSON, func(yield func(urdChecked, error) bool) {
		for urd, err := range urds {
			var done checked
			if err == nil {
				done, err = checks.of(urd)
			}
			if !yield(urdChecked{urd, done}, err) {
				return
			}
		}
	})
}
