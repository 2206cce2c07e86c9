package storecmd

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/control"
)

func newOwnerBudget(globals *cli.Globals) *cobra.Command {
	var change control.Budget
	var others, reset bool
	c := &cobra.Command{
		Use:   "budget NAME [--alerts N] [--urds N] [--keywords N]",
		Short: "say, or set, how many annotations a day an owner is sent, and how many URDs and keywords they may have",
		Long: `budget prints the three numbers of an owner; 0 is no limit. With flags, it sets those that are
given. Annotations beyond the first of a day (UTC) are withheld: aci list --withheld shows them.
URDs beyond are refused when they are added; what an owner has already stays.`,
		Example: `  webrace-store owner budget eleni --alerts 200
  webrace-store owner budget --others --urds 500`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			owner := ""
			switch {
			case len(args) == 1 && args[0] != "" && !others:
				owner = args[0]
			case len(args) == 1 || !others:
				return cli.Wrongf("budget needs the name of an owner, or --others for all who were given none")
			}
			set := func(store *control.Store) error { return setBudget(c, store, owner, change, reset) }
			if f := c.Flags(); reset || f.Changed("alerts") || f.Changed("urds") || f.Changed("keywords") {
				return fillControl(globals, set)
			}
			return lookIntoControl(globals, func(store *control.Store) error {
				b, err := store.Budget(c.Context(), owner)
				if err != nil {
					return err
				}
				return budgetListing.printOne(c, b)
			})
		},
	}
	f := c.Flags()
	f.IntVar(&change.Alerts, "alerts", 0, "annotations sent a day; 0 is no limit")
	f.IntVar(&change.URDs, "urds", 0, "URDs that may be stored; 0 is no limit")
	f.IntVar(&change.Keywords, "keywords", 0, "keywords of all URDs; 0 is no limit")
	f.BoolVar(&others, "others", false, "instead of NAME: everyone who was given no budget of their own")
	f.BoolVar(&reset, "reset", false, "take the budget back: that of --others holds again, or the default")
	return c
}

var budgetListing = listing[control.Budget]{
	header: []string{"annotations a day", "urds", "keywords"},
	row:    func(b control.Budget) []any { return []any{b.Alerts, b.URDs, b.Keywords} },
}

// printOne prints a listing of one.
func (l listing[T]) printOne(c *cobra.Command, value T) error {
	_, err := l.print(c, false, func(yield func(T, error) bool) { yield(value, nil) })
	return err
}

// setBudget sets those numbers of a budget whose flags were given.
func setBudget(c *cobra.Command, store *control.Store, owner string, change control.Budget, reset bool) error {
	if min(change.Alerts, change.URDs, change.Keywords) < 0 {
		return cli.Wrongf("a budget consists of numbers, 0 for no limit")
	}
	given := func(flag string) bool { return c.Flags().Changed(flag) }
	if reset {
		if given("alerts") || given("urds") || given("keywords") {
			return cli.Wrongf("--reset takes the whole budget back: give no numbers with it")
		}
		if err := store.SetBudget(c.Context(), owner, nil); err != nil {
			return err
		}
		b, err := store.Budget(c.Context(), owner)
		if err == nil {
			note(c, "%s again: %s", whose(owner), allowed(b))
		}
		return err
	}
	b, err := store.Budget(c.Context(), owner)
	if err != nil {
		return err
	}
	for _, part := range []struct {
		flag     string
		to, from *int
	}{{"alerts", &b.Alerts, &change.Alerts}, {"urds", &b.URDs, &change.URDs}, {"keywords", &b.Keywords, &change.Keywords}} {
		if given(part.flag) {
			*part.to = *part.from
		}
	}
	if err := store.SetBudget(c.Context(), owner, &b); err != nil {
		return err
	}
	note(c, "%s: %s", whose(owner), allowed(b))
	return noteOwner(c, store, owner)
}

// whose returns who is given a budget; all others if that is none.
func whose(owner string) string {
	if owner == "" {
		return "owners without a budget of their own may have"
	}
	return owner + " may have"
}

// allowed describes what a budget allows.
func allowed(b control.Budget) string {
	number := func(n int, what string) string {
		if n == 0 {
			return what + "s without a limit"
		}
		return wording.Count(n, what)
	}
	alerts := number(b.Alerts, "annotation")
	if b.Alerts > 0 {
		alerts += " a day"
	}
	return fmt.Sprintf("%s, %s, %s", alerts, number(b.URDs, "URD"), number(b.Keywords, "keyword"))
}

// noteOwner notes that there are no URDs of an owner of that name; none ("") are all others.
func noteOwner(c *cobra.Command, store *control.Store, name string) error {
	if name == "" {
		return nil
	}
	for o, err := range store.Owners(c.Context()) {
		if err != nil {
			return err
		}
		if o.Name == name && o.URDs > 0 {
			return nil
		}
	}
	note(c, "%s has no URDs: webrace-store owner list shows who has", name)
	return nil
}

// noteWithheld tells an owner, once for each day, that annotations were withheld from them.
func noteWithheld(c *cobra.Command, store *control.Store, owner string) error {
	notices, err := store.Notices(c.Context(), owner)
	for _, n := range notices {
		note(c, "%s: withheld beyond the budget of %s so far: %s; the most relevant, of %d: %s %s",
			n.Day.Format(time.DateOnly), owner, wording.Count(n.Count, "annotation"), n.Best.Relevance, n.Best.URI, wording.OneLine(n.Best.Title))
	}
	if len(notices) > 0 {
		note(c, "webrace-store aci list --withheld --owner %s shows them", owner)
	}
	return err
}
