package storecmd

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage/objects"
)

func newCacheScreenshot(globals *cli.Globals) *cobra.Command {
	var secret, output string
	var version int
	c := &cobra.Command{
		Use:   "screenshot URL",
		Short: "write what a page looked like as PNG, if its pipeline renders it with screenshot = \"view\" or \"page\"",
		Long: `screenshot writes the PNG that was stored with the latest version of a URL, or another. The
stage render makes it where its option screenshot says so.`,
		Example: `  webrace-store cache screenshot https://example.org/ --output page.png
  webrace-store cache screenshot https://example.org/ --version 3 > page.png`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			url, err := normal(args[0])
			if err != nil {
				return err
			}
			if output == "-" && cli.IsTerminal(c.OutOrStdout()) {
				return cli.Wrongf("a PNG is not for a terminal: name a file with --output, or send it through a pipe")
			}
			if output != "-" {
				output = globals.Path(output)
			}
			if asked, err := wholeFromHome(c, globals, url, output); asked {
				return err
			}
			return lookIntoObjects(globals, func(store *objects.Store) error {
				view := objects.View(secret, store.Spelling(secret, url))
				v, err := versionOf(store, view, version)
				if err != nil {
					return err
				}
				shot, err := store.Screenshot(v)
				if errors.Is(err, objects.ErrNoScreenshot) {
					return fmt.Errorf("%w: %s", err, othersShown(store, view))
				}
				if err != nil {
					return err
				}
				return writeWhole(c, output, func(out io.Writer) error { _, err := out.Write(shot.PNG); return err })
			})
		},
	}
	withVersion(c, &version)
	c.Flags().StringVar(&output, "output", "-", "write it to this `FILE`; - is standard output")
	withSecret(c, &secret)
	return c
}

// othersShown returns which version of a page has a screenshot, or how to get one.
func othersShown(store *objects.Store, view string) string {
	versions, _ := store.Versions(view) // without them, it is said how to get one
	for i := len(versions) - 1; i >= 0; i-- {
		if n := versions[i].Number; versions[i].Screenshot {
			return fmt.Sprintf("version %d has one (--version %d)", n, n)
		}
	}
	return "no version has one; with --set render.screenshot=page, what is rendered is stored with one"
}
