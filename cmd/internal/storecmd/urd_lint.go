package storecmd

import (
	"errors"
	"fmt"
	"iter"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/xmlschema"
)

func newURDLint(globals *cli.Globals) *cobra.Command {
	return &cobra.Command{
		Use:   "lint FILE",
		Short: "say what is wrong with an XML document of URDs (- reads standard input), and what is probably not meant",
		Long: `lint reads a document as urd import would, and says with line and column what is
wrong, what nothing would serve, and what can never alert. It also checks annotations and
meta-information, and documents of the papers.`,
		Example: "  webrace-store urd lint interests.xml",
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return lintURDs(c, globals, args[0]) },
	}
}

func lintURDs(c *cobra.Command, globals *cli.Globals, path string) error {
	file, name, err := openInput(c, globals, path)
	if err != nil {
		return err
	}
	defer file.Close()
	ownerless := 0
	decoder := xmlschema.NewDecoder(file, xmlschema.Name(name), xmlschema.Check(func(u *xmlschema.URD) []xmlschema.Fault {
		if u.Owner == "" {
			ownerless++
		}
		return globals.CheckURD(u)
	}))
	what, read := "URD", 0
	switch decoder.Root() {
	case "acis", "aci":
		what, read = "annotation", count(decoder.ACIs())
	case "meta":
		if _, err := decoder.Meta(); err == nil {
			what, read = "document of meta-information", 1
		}
	default:
		read = count(decoder.URDs())
	}
	if err := listProblems(c, name, decoder); err != nil {
		return err
	}
	note(c, "%s: %s, nothing wrong", name, wording.Count(read, what))
	if what != "URD" {
		note(c, "there is no URD in it: urd import would refuse it")
	}
	if ownerless > 0 {
		note(c, "without an owner: %d; import them with --owner", ownerless)
	}
	return nil
}

func count[T any](all iter.Seq[T]) (n int) {
	for range all {
		n++
	}
	return n
}

// listProblems writes all that a decoder has found, and returns an error if it refused something.
func listProblems(c *cobra.Command, name string, decoder *xmlschema.Decoder) error {
	var problems xmlschema.Problems
	if err := decoder.Err(); err != nil && !errors.As(err, &problems) {
		return cli.Wrong(err)
	}
	for _, p := range append(problems, decoder.Warnings()...) {
		fmt.Fprintln(cli.Prose(c.OutOrStdout()), p)
	}
	if len(problems) > 0 {
		return cli.Wrongf("%s: %s", name, wording.Count(len(problems), "problem"))
	}
	return nil
}
