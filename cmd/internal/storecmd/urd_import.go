package storecmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/interests"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// importFlags say how a file is read.
type importFlags struct {
	owner, format string
	timing        time.Duration
	depth         int
	keywords      []string
	skipBad       bool
}

func newURDImport(place *cli.Place) *cobra.Command {
	var flags importFlags
	c := &cobra.Command{
		Use:   "import FILE",
		Short: "add or change the URDs of a file (- reads standard input), all of them or none",
		Long: `import reads URDs as XML, or makes them of what is watched with other programs: a list
of URLs, with keywords behind them if need be (https://example.org/ ibm:4, annual report),
the OPML of a feed reader, or url-watches.json of changedetection.io. What a URD cannot say
is not taken over, and said.`,
		Example: `  webrace-store urd import urds.xml
  webrace-store urd import subscriptions.opml --owner eleni --timing 1h
  webrace-store urd import bookmarks.txt --owner eleni --keyword ibm:4 --depth 2`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			urds, err := flags.read(c, place, args[0])
			if err != nil {
				return err
			}
			return fillControl(place, func(store *control.Store) error { return putURDs(c, store, urds) })
		},
	}
	f := c.Flags()
	f.StringVar(&flags.owner, "owner", "", "the owner of URDs that name none")
	f.StringVar(&flags.format, "format", "", "what the file is: xml, urls, opml or changedetection (default: as it looks)")
	f.DurationVar(&flags.timing, "timing", 0, "the longest time between visits where the file names none; not for XML")
	f.IntVar(&flags.depth, "depth", xmlschema.DefaultDepth, "levels of pages; not for XML")
	f.StringArrayVarP(&flags.keywords, "keyword", "k", nil, "a further keyword of each, as `WORD[:WEIGHT]`; not for XML")
	f.BoolVar(&flags.skipBad, "skip-bad", false, "pass over entries that make no URD; not for XML")
	return c
}

// read reads the URDs of a file, and says what is to be said of it.
func (f *importFlags) read(c *cobra.Command, place *cli.Place, path string) ([]*xmlschema.URD, error) {
	file, name, err := openInput(c, place, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	in := bufio.NewReader(file)
	format := f.format
	if format == "" {
		head, _ := in.Peek(4096) // an error is met again
		if format = interests.Detect(head); format != interests.XML {
			note(c, "%s: taken for %s; --format says otherwise", name, formatNames[format])
		}
	}
	if format != interests.XML {
		return f.foreign(c, in, name, format)
	}
	for _, flag := range []string{"timing", "depth", "keyword", "skip-bad"} {
		if c.Flags().Changed(flag) {
			return nil, cli.Wrongf("%s: --%s is not for XML, where each URD says so itself", name, flag)
		}
	}
	urds, warnings, err := cli.ReadURDs(in, name, f.owner)
	for _, w := range warnings {
		note(c, "%s", w)
	}
	if err != nil {
		return nil, err
	}
	return urds, checkStarts(name, urds)
}

var formatNames = map[string]string{
	interests.URLs: "a list of URLs", interests.OPML: "OPML", interests.ChangeDetection: "watches of changedetection.io",
}

// foreign reads a file of another program.
func (f *importFlags) foreign(c *cobra.Command, in io.Reader, name, format string) ([]*xmlschema.URD, error) {
	if formatNames[format] == "" {
		return nil, cli.Wrongf("--format %s: it is xml, urls, opml or changedetection", format)
	}
	if f.owner == "" {
		return nil, cli.Wrongf("%s: it names no owner: give one by --owner", name)
	}
	keywords, err := cli.ParseKeywords(f.keywords)
	if err != nil {
		return nil, cli.Wrong(err)
	}
	r, err := interests.Read(in, format, interests.Defaults{Owner: f.owner, Timing: f.timing, Depth: f.depth, Keywords: keywords})
	if err != nil {
		return nil, cli.Wrongf("%s: %w", name, err)
	}
	for _, w := range r.Warnings {
		note(c, "%s: warning: %s", name, w)
	}
	for _, p := range r.Problems {
		note(c, "%s: %s", name, p)
	}
	if len(r.Problems) > 0 && !f.skipBad {
		return nil, cli.Wrongf("%s: %s, and nothing was stored; --skip-bad stores the others", name, plural(len(r.Problems), "problem"))
	}
	return r.URDs, nil
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

func newURDLint(place *cli.Place) *cobra.Command {
	return &cobra.Command{
		Use:     "lint FILE",
		Short:   "say what is wrong with an XML document of URDs (- reads standard input), and what is probably not meant",
		Example: "  webrace-store urd lint interests.xml",
		Args:    cobra.ExactArgs(1),
		RunE:    func(c *cobra.Command, args []string) error { return lintURDs(c, place, args[0]) },
	}
}

// lintInterests says what documents have to do with the keywords, and refuses what none can meet.
func lintInterests(c *cobra.Command, name string, urds []*xmlschema.URD) error {
	refused := 0
	for i, u := range urds {
		warnings, err := cli.CheckInterest(u)
		if err != nil {
			refused++
			fmt.Fprintf(c.OutOrStdout(), "%s: %s: %v\n", name, ordinal(i, u), err)
		}
		for _, w := range warnings {
			fmt.Fprintf(c.OutOrStdout(), "%s: %s: warning: %s\n", name, ordinal(i, u), w)
		}
	}
	if refused > 0 {
		return cli.Wrongf("%s: %s", name, plural(refused, "problem"))
	}
	return nil
}

func lintURDs(c *cobra.Command, place *cli.Place, path string) error {
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
	if err := lintInterests(c, name, urds); err != nil {
		return err
	}
	note(c, "%s: %s, nothing wrong", name, plural(len(urds), "URD"))
	if ownerless > 0 {
		note(c, "without an owner: %d; import them with --owner", ownerless)
	}
	return nil
}
