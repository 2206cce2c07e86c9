package storecmd

import (
	"bufio"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
	"github.com/webrace/webrace/xmlschema/urdimport"
)

// importFlags determine how a file is read.
type importFlags struct {
	owner, format string
	timing        time.Duration
	at            string
	depth         int
	keywords      []string
	skipBad       bool
}

func newURDImport(globals *cli.Globals) *cobra.Command {
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
			urds, err := flags.read(c, globals, args[0])
			if err != nil {
				return err
			}
			return fillControl(globals, func(store *control.Store) error { return putURDs(c, store, urds) })
		},
	}
	f := c.Flags()
	f.StringVar(&flags.owner, "owner", "", "the owner of URDs that name none")
	f.StringVar(&flags.format, "format", "", "what the file is: xml, urls, opml or changedetection (default: as it looks)")
	f.DurationVar(&flags.timing, "timing", 0, "the longest time between visits where the file names none; not for XML")
	atFlag(f, &flags.at, "ask at these times where the file names neither times nor an interval; not for XML")
	f.IntVar(&flags.depth, "depth", xmlschema.DefaultDepth, "levels of pages (of feeds with keywords: 2, with the pages of their entries); not for XML")
	f.StringArrayVarP(&flags.keywords, "keyword", "k", nil, "a further keyword of each, as `WORD[:WEIGHT]`; not for XML")
	f.BoolVar(&flags.skipBad, "skip-bad", false, "pass over entries that make no URD; not for XML")
	return c
}

// read reads the URDs of a file, and prints what is to be said of it.
func (f *importFlags) read(c *cobra.Command, globals *cli.Globals, path string) ([]*xmlschema.URD, error) {
	file, name, err := openInput(c, globals, path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, urdimport.DetectBytes)
	format := f.format
	if format == "" {
		head, _ := in.Peek(urdimport.DetectBytes) // an error is met again
		if format = urdimport.Detect(head); format != urdimport.XML {
			note(c, "%s: taken for %s; --format says otherwise", name, formatNames[format])
		}
	}
	if format != urdimport.XML {
		return f.foreign(c, in, name, format)
	}
	for _, flag := range []string{"timing", "at", "depth", "keyword", "skip-bad"} {
		if c.Flags().Changed(flag) {
			return nil, cli.Wrongf("%s: --%s is not for XML, where each URD says so itself", name, flag)
		}
	}
	urds, warnings, err := globals.ReadURDs(in, name, f.owner)
	for _, w := range warnings {
		note(c, "%s", w)
	}
	return urds, err
}

// feedDepth is how many levels of a feed are read, unless the flag sets it: the feed, which has its entries; and
// the pages of these, too, for who looks for words in them.
func (f *importFlags) feedDepth(c *cobra.Command) int {
	switch {
	case c.Flags().Changed("depth"):
		return f.depth
	case len(f.keywords) > 0:
		return 2
	}
	return 1
}

var formatNames = map[string]string{
	urdimport.URLs: "a list of URLs", urdimport.OPML: "OPML", urdimport.ChangeDetection: "watches of changedetection.io",
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
	at, err := timesOf(f.at, f.timing)
	if err != nil {
		return nil, cli.Wrong(err)
	}
	r, err := urdimport.Read(in, urdimport.Options{
		Name: name, Format: format, Check: checkInterest,
		Defaults: urdimport.Defaults{Owner: f.owner, Timing: f.timing, At: at, Depth: f.depth, Feeds: f.feedDepth(c), Keywords: keywords},
	})
	if err != nil {
		return nil, cli.Wrongf("%s: %w", name, err)
	}
	problems := noteEntries(c, name, r.Entries)
	if problems > 0 && !f.skipBad {
		return nil, cli.Wrongf("%s: %s, and nothing was stored; --skip-bad stores the others", name, wording.Count(problems, "problem"))
	}
	return r.URDs(), nil
}

// checkInterest refuses what no page can meet. What is probably not meant is not said of other programs' entries.
func checkInterest(u *xmlschema.URD) []xmlschema.Fault {
	if _, err := cli.CheckInterest(u); err != nil {
		return []xmlschema.Fault{{About: "keywords", Message: err.Error()}}
	}
	return nil
}

// noteEntries notes what is to be said of the entries of a file, and returns how many problems they have.
func noteEntries(c *cobra.Command, name string, entries []urdimport.Entry) (problems int) {
	for _, e := range entries {
		for _, w := range e.Warnings {
			note(c, "%s: warning: %s: %s", name, e.Place(), w.Message)
		}
		if len(e.Lost) > 0 {
			note(c, "%s: warning: %s: %.200s: not taken over: %s", name, e.Place(), e.URI, strings.Join(e.Lost, ", "))
		}
	}
	for _, e := range entries {
		for _, p := range e.Problems {
			note(c, "%s: %s: %s", name, e.Place(), p.Message)
		}
		problems += len(e.Problems)
	}
	return problems
}
