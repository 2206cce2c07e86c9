package storecmd

import (
	"io"
	"iter"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/control"
)

func newACI(globals *cli.Globals) *cobra.Command {
	c := &cobra.Command{Use: "aci", Short: "what owners were told: list, query, take"}
	c.AddCommand(newACIList(globals), newACIQuery(globals), newACITake(globals))
	return c
}

func newACIList(globals *cli.Globals) *cobra.Command {
	var filter aciFilter
	var format aciFormat
	var withheld bool
	c := &cobra.Command{
		Use:     "list",
		Short:   "write annotations: as XML, or readable on a terminal",
		Example: "  webrace-store aci list --owner eleni --since 7d",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if format.xml && format.selection != "" {
				return cli.Wrongf("choose --select or --xml")
			}
			if err := checkSelection(format.selection); err != nil {
				return err
			}
			if withheld {
				return writeWithheld(c, globals, filter, format)
			}
			return writeACIs(c, globals, filter, format)
		},
	}
	filter.addFlags(c)
	c.Flags().StringVar(&filter.url, "url", "", "only those about this URL")
	c.Flags().BoolVar(&withheld, "withheld", false, "those that were not sent, because their owners had been sent what their budgets allow a day")
	selectFlag(c, &format.selection)
	format.addFlags(c)
	return c
}

func newACIQuery(globals *cli.Globals) *cobra.Command {
	var filter aciFilter
	var format aciFormat
	c := &cobra.Command{
		Use:     "query XPATH",
		Short:   "write the annotations that an XPath expression selects something in",
		Long:    "query evaluates an XPath 1.0 expression on each annotation as a document of its own.",
		Example: `  webrace-store aci query "/aci[@relevance > 50]" --owner eleni --since 24h`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			filter.xpath = args[0]
			return writeACIs(c, globals, filter, format)
		},
	}
	filter.addFlags(c)
	format.addFlags(c)
	return c
}

func newACITake(globals *cli.Globals) *cobra.Command {
	var owner string
	var format aciFormat
	c := &cobra.Command{
		Use:     "take --owner OWNER",
		Short:   "write the annotations that wait for an owner, and mark them retrieved",
		Example: "  webrace-store aci take --owner eleni",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if owner == "" {
				return cli.Wrongf("take needs --owner: whose annotations are taken")
			}
			return withControl(globals, func(store *control.Store) error {
				taken, err := store.Take(c.Context(), owner)
				if err != nil {
					return err
				}
				if len(taken) == 0 {
					note(c, "nothing new waits for %s", owner)
				}
				if err := format.write(c.OutOrStdout(), cli.Each(taken)); err != nil {
					return err
				}
				return noteWithheld(c, store, owner)
			})
		},
	}
	c.Flags().StringVar(&owner, "owner", "", "whose")
	format.addFlags(c)
	return c
}

// aciFilter selects the annotations that are wanted.
type aciFilter struct{ owner, since, url, xpath string }

func (f *aciFilter) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.owner, "owner", "", "only those for this owner")
	c.Flags().StringVar(&f.since, "since", "", "only those since a `TIME`: 2026-01-31, 2026-01-31T08:00:00Z, or how long ago as 24h or 7d")
}

func (f *aciFilter) filter(now time.Time) (chosen control.Filter, err error) {
	chosen = control.Filter{Owner: f.owner, XPath: f.xpath}
	if chosen.Since, err = parseSince(f.since, now); err != nil {
		return chosen, err
	}
	if f.url != "" {
		if chosen.URL, err = normal(f.url); err != nil {
			return chosen, err
		}
	}
	if f.xpath != "" {
		err = checkXPath(f.xpath)
	}
	return chosen, err
}

// parseSince reads a time, a day, or how long ago; without a text it is the zero time.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	var ago pipeline.Duration
	if err := ago.UnmarshalText([]byte(text)); err == nil {
		return now.Add(-time.Duration(ago)), nil
	}
	return time.Time{}, cli.Wrongf("--since %s: write a day as 2026-01-31, a time as 2026-01-31T08:00:00Z, or how long ago as 24h or 7d", text)
}

func writeACIs(c *cobra.Command, globals *cli.Globals, f aciFilter, format aciFormat) error {
	filter, err := f.filter(time.Now())
	if err != nil {
		return err
	}
	return lookIntoControl(globals, func(store *control.Store) error {
		return format.print(c, store.ACIs(c.Context(), filter), "no annotations; webrace-store explain URL OWNER says why one was not made")
	})
}

// writeWithheld writes what was withheld: the latest day first, and of each the most relevant.
func writeWithheld(c *cobra.Command, globals *cli.Globals, f aciFilter, format aciFormat) error {
	if f.since != "" || f.url != "" {
		return cli.Wrongf("--withheld goes with --owner alone")
	}
	return lookIntoControl(globals, func(store *control.Store) error {
		return format.print(c, store.Withheld(c.Context(), f.owner), "no annotation was withheld")
	})
}

// aciFormat determines how annotations are written.
type aciFormat struct {
	json, xml bool
	selection string // XPath: only the values that it selects
}

func (f *aciFormat) addFlags(c *cobra.Command) {
	c.Flags().BoolVar(&f.json, "json", false, "as JSON lines")
	c.Flags().BoolVar(&f.xml, "xml", false, "as an XML document, also on a terminal")
}

// print writes annotations, or what is selected in them, and a remark if there are none.
func (f aciFormat) print(c *cobra.Command, acis iter.Seq2[control.ACI, error], none string) (err error) {
	n := 0
	if f.selection == "" {
		err = f.write(c.OutOrStdout(), counted(&n, acis))
	} else {
		n, err = printValues(c, f.selection, f.json, acis, func(a control.ACI) (string, []byte) { return a.ID, a.Canonical() })
	}
	if n == 0 && err == nil {
		note(c, "%s", none)
	}
	return err
}

func (f aciFormat) write(w io.Writer, acis iter.Seq2[control.ACI, error]) error {
	switch {
	case f.json && f.xml:
		return cli.Wrongf("choose --json or --xml")
	case f.json:
		return control.WriteACILines(w, acis)
	case !f.xml && cli.IsTerminal(w):
		return printACIs(w, acis)
	}
	_, err := control.WriteACIs(w, acis)
	return err
}

// printACIs shows annotations to a person.
func printACIs(w io.Writer, acis iter.Seq2[control.ACI, error]) error {
	for aci, err := range acis {
		if err != nil {
			return err
		}
		cli.PrintACI(w, aci.ACI)
	}
	return nil
}
