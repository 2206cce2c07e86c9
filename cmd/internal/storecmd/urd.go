package storecmd

import (
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

func newURD(globals *cli.Globals) *cobra.Command {
	c := &cobra.Command{Use: "urd", Short: "what people asked for: add, list, pause, resume, remove, import, export, lint, check, query"}
	c.AddCommand(
		newURDAdd(globals), newURDList(globals), newURDPause(globals), newURDResume(globals), newURDRm(globals),
		newURDImport(globals), newURDExport(globals), newURDLint(globals), newURDCheck(globals), newURDQuery(globals),
	)
	return c
}

const listURDs = "webrace-store urd list shows what there is"

func newURDRm(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:     "rm ID…",
		Short:   "remove URDs, or none if one is not there; what their owners were told stays",
		Example: "  webrace-store urd rm u42",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, ids []string) error {
			return withControl(globals, func(store *control.Store) error { return removeURDs(c, store, ids) })
		},
	}
}

func removeURDs(c *cobra.Command, store *control.Store, ids []string) error {
	for _, id := range ids {
		if _, err := store.Get(c.Context(), id); err != nil {
			return hinting(err, control.ErrNotFound, listURDs)
		}
	}
	for _, id := range ids {
		if err := store.Delete(c.Context(), id); err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "%s\tremoved\n", id)
	}
	return nil
}

func newURDCheck(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:     "check ID…",
		Short:   "make the starts of URDs due now, for a continuous run; none if one is not there",
		Example: "  webrace-store urd check u42",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, ids []string) error {
			return withControl(globals, func(store *control.Store) error { return checkURDs(c, store, ids) })
		},
	}
}

func checkURDs(c *cobra.Command, store *control.Store, ids []string) error {
	for _, id := range ids {
		urd, err := store.Get(c.Context(), id)
		if err != nil {
			return hinting(err, control.ErrNotFound, listURDs)
		}
		if urd.Paused {
			return cli.Wrongf("URD %s is paused, and starts no crawl: webrace-store urd resume %[1]s", id)
		}
		if urd.Crawl.ID == "" {
			return cli.Wrongf("URD %s starts no crawl: its owner is told of what others' crawls bring", id)
		}
	}
	for _, id := range ids {
		if err := store.CheckNow(c.Context(), id); err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "%s\tdue now\n", id)
	}
	return nil
}

func newURDExport(globals *cli.Globals) *cobra.Command {
	var owner string
	c := &cobra.Command{
		Use:     "export",
		Short:   "write URDs as an XML document, which urd import reads",
		Example: "  webrace-store urd export --owner eleni > eleni.xml",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return lookIntoControl(globals, func(store *control.Store) error {
				return writeURDs(c, urdsOf(c, store, owner), noURDs)
			})
		},
	}
	c.Flags().StringVar(&owner, "owner", "", "only those of this owner")
	return c
}

func newURDQuery(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "query XPATH",
		Short: "write the URDs that an XPath expression selects something in",
		Long: `query evaluates an XPath 1.0 expression on each URD as a document of its own, and
writes those that it selects something in as an XML document.`,
		Example: `  webrace-store urd query "/urd[@owner='eleni' and keywords/keyword/@key='ibm']"`,
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkXPath(args[0]); err != nil {
				return err
			}
			return lookIntoControl(globals, func(store *control.Store) error {
				return writeURDs(c, store.Query(c.Context(), args[0]), noneSelected)
			})
		},
	}
}

func checkXPath(expression string) error {
	if _, err := xmlschema.Compile(expression); err != nil {
		return cli.Wrong(err)
	}
	return nil
}

// urdsOf returns the URDs of an owner, or all of them.
func urdsOf(c *cobra.Command, store *control.Store, owner string) iter.Seq2[control.URD, error] {
	if owner == "" {
		return store.All(c.Context())
	}
	return store.ByOwner(c.Context(), owner)
}

// writeURDs writes one XML document, and reports the first error of the sequence. The remark is for when
// there are none.
func writeURDs(c *cobra.Command, urds iter.Seq2[control.URD, error], remark string) error {
	n, err := control.WriteURDs(c.OutOrStdout(), urds)
	if n == 0 && err == nil {
		note(c, "%s", remark)
	}
	return err
}

const (
	noURDs       = "no URDs: webrace-store urd add and urd import store them"
	noneSelected = "no URD is selected"
)

// openInput opens a file, or standard input for -, and returns what to call it in messages.
func openInput(c *cobra.Command, globals *cli.Globals, path string) (file io.ReadCloser, name string, err error) {
	if path == "-" {
		return io.NopCloser(c.InOrStdin()), "stdin", nil
	}
	if info, err := os.Stat(globals.Path(path)); err == nil && info.IsDir() {
		return nil, "", cli.Wrongf("%s is a directory", path)
	}
	opened, err := os.Open(globals.Path(path))
	if err != nil {
		return nil, "", cli.Wrong(err)
	}
	return opened, path, nil
}
