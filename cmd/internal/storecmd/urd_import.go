package storecmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

func newURDImport(place *cli.Place) *cobra.Command {
	var owner string
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "add or change the URDs of an XML document (- reads standard input), all of them or none",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			file, name, err := openInput(c, place, args[0])
			if err != nil {
				return err
			}
			defer file.Close()
			urds, warnings, err := cli.ReadURDs(file, name, owner)
			for _, w := range warnings {
				note(c, "%s", w)
			}
			if err != nil {
				return err
			}
			if err := checkStarts(name, urds); err != nil {
				return err
			}
			return fillControl(place, func(store *control.Store) error { return putURDs(c, store, urds) })
		},
	}
	c.Flags().StringVar(&owner, "owner", "", "the owner of URDs that name none")
	return c
}

// checkStarts refuses URDs whose crawls could not be started, before anything is stored.
func checkStarts(name string, urds []*xmlschema.URD) error {
	for i, u := range urds {
		if _, _, err := control.CrawlOf(u); err != nil {
			return cli.Wrongf("%s: %s: %w", name, ordinal(i, u), err)
		}
	}
	return nil
}

func newURDCheck(place *cli.Place) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "say what is wrong with an XML document of URDs (- reads standard input), and what is probably not meant",
		Args:  cobra.ExactArgs(1),
		RunE:  func(c *cobra.Command, args []string) error { return checkURDs(c, place, args[0]) },
	}
}

func checkURDs(c *cobra.Command, place *cli.Place, path string) error {
	file, name, err := openInput(c, place, path)
	if err != nil {
		return err
	}
	defer file.Close()
	decoder := xmlschema.NewDecoder(file, xmlschema.Name(name))
	var urds []*xmlschema.URD
	ownerless := 0
	for urd := range decoder.URDs() {
		if urds = append(urds, urd); urd.Owner == "" {
			ownerless++
		}
	}
	var problems xmlschema.Problems
	if err := decoder.Err(); err != nil && !errors.As(err, &problems) {
		return cli.Wrong(err)
	}
	for _, p := range append(problems, decoder.Warnings()...) {
		fmt.Fprintln(c.OutOrStdout(), p)
	}
	if len(problems) > 0 {
		return cli.Wrongf("%s: %s", name, plural(len(problems), "problem"))
	}
	if err := checkStarts(name, urds); err != nil {
		return err
	}
	note(c, "%s: %s, nothing wrong", name, plural(len(urds), "URD"))
	if ownerless > 0 {
		note(c, "without an owner: %d; import them with --owner", ownerless)
	}
	return nil
}
