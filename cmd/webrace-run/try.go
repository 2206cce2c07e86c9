package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/xmlschema"
)

// tryFlags determine which document is tried against what.
type tryFlags struct {
	source   source
	urds     []string
	interest cli.InterestFlags
	fields   []string
	owner    string

	text   string
	alerts bool
	json   bool
	graph  bool
}

// What of the text is shown.
const (
	textMatches = "matches"
	textFull    = "full"
	textNone    = "none"
)

func newTry(globals *cli.Globals) *cobra.Command {
	var flags tryFlags
	c := &cobra.Command{
		Use:   "try URL|--file FILE [--keyword WORD:WEIGHT]… [--nonfilter] [--select RULE]… [--urds FILE]…",
		Short: "show what one document is worth to keywords or URDs, and why; nothing is stored",
		Long: `try fetches one document, or reads it from a file, and shows what it is worth to
each URD: its relevance, whether its owner would be told, what each keyword
contributes, the summary, and the text with what was found in it. The document
counts as one that no owner has seen before.

A URL is fetched as in a pipeline: with the options of fetch, robots.txt obeyed and
redirects followed; where it is the start of a URD with a <request>, as that says.
Of a mailbox or newsgroup it is the newest message, and of a query of a database its
answer, or its newest row: as the first pipeline reads it that reads such.

Nothing is stored, and no data directory is opened or made, but for --secret, for the
secrets that such a request names, and for fetch.sign: then these are looked up in the one
that is there, and go where they would go in a crawl that begins at the URL.

What matters is said by the flags of webrace-store urd add, and judged as the URD would
be that is stored by the same. --select and --ignore alone show which part of the page is
looked at, as it stands, block by block. --field takes values out of the page, as the
stage extract does.

--graph shows what the document says as RDF, as Turtle, and on stderr what of it could
not be read: the stages detect and transform with their defaults. A document that is
malformed or cut ends with status 1, because a pipeline would index nothing of it.

With --render a browser runs the page's scripts, if the stage render would have it do so:
by the options of the pipeline that has that stage, or by its defaults.`,
		Example: `  webrace-run try --url https://go.dev/ --keyword generics:5 --keyword "garbage collector:4"
  webrace-run try --url https://example.org/news --urds interests.xml
  webrace-run try https://example.org/boat --select 'css:#price' --ignore css:.ad --field 'price=css:#price | number'
  webrace-run try --url https://bank.example/account --secret bank -k statement
  webrace-run try --url imaps://mail.example.org/INBOX --secret mail -k ferry
  webrace-run try --url https://example.org/app --render --set render.sandbox=false -k boat
  webrace-run try --file page.html --keyword boat --text full
  webrace-run try https://example.org/events --graph
  webrace-run try --url http://127.0.0.1:8080/ -k boat --set fetch.allow_networks=loopback
  curl -s https://example.org/ | webrace-run try --file - --type text/html -k news:4 --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				if flags.source.url != "" {
					return cli.Wrongf("%s and --url %s: one document is tried at a time", args[0], flags.source.url)
				}
				flags.source.url = args[0]
			}
			keepToBudget(globals)
			if flags.graph {
				return flags.showGraph(c, globals)
			}
			return flags.run(c, globals)
		},
	}
	f := c.Flags()
	f.StringVar(&flags.source.url, "url", "", "the document's `URL`, which can also stand alone")
	f.StringVar(&flags.source.file, "file", "", "read the document from a `FILE` instead; - is standard input")
	f.StringVar(&flags.source.contentType, "type", "", "the media type of the file, as text/html (default: as it is called, or looks)")
	f.StringVar(&flags.source.base, "base", "", "the `URL` that the file is taken to be of")
	f.StringArrayVar(&flags.source.set, "set", nil, "override an option of fetch: `fetch.OPTION=VALUE`, as often as needed; with --render also render.OPTION=VALUE")
	f.StringVar(&flags.source.secret, "secret", "", "fetch the URL with the credentials of this `NAME` (webrace-store secret set)")
	f.BoolVar(&flags.source.render, "render", false, "let a browser run the scripts of the page")
	f.StringArrayVar(&flags.urds, "urds", nil, "try the URDs of an XML `FILE`, as often as needed")
	flags.interest.Add(f)
	f.StringArrayVar(&flags.fields, "field", nil, "take `NAME=css:…|xpath:…|jq:…` out of the page, as the stage extract does, as often as needed")
	f.StringVar(&flags.owner, "owner", currentUser(), "whose the keywords are, and URDs that name no owner")
	f.StringVar(&flags.text, "text", textMatches, "what of the text to show: matches, full or none")
	f.BoolVar(&flags.alerts, "alerts", false, "show only the URDs whose owners would be told")
	f.BoolVar(&flags.json, "json", false, "as JSON")
	f.BoolVar(&flags.graph, "graph", false, "show what the document says as RDF, as Turtle, and judge nothing")
	return c
}

func (f *tryFlags) run(c *cobra.Command, globals *cli.Globals) error {
	if !slices.Contains([]string{textMatches, textFull, textNone}, f.text) {
		return cli.Wrongf("--text %s: it is %s, %s or %s", f.text, textMatches, textFull, textNone)
	}
	if err := f.source.check(); err != nil {
		return cli.Wrong(err)
	}
	fields, err := parseFields(f.fields)
	if err != nil {
		return cli.Wrong(err)
	}
	urds, err := f.requests(c.ErrOrStderr(), globals)
	if err != nil {
		return err
	}
	if err := f.source.askAs(urds); err != nil {
		return err
	}
	d, err := f.source.document(c, globals)
	if err != nil {
		return err
	}
	t, err := newTrial(c.Context(), d, urds)
	if err != nil {
		return err
	}
	if err := t.take(c.Context(), fields); err != nil {
		return err
	}
	alerting := t.Alerting()
	if f.alerts {
		t.Scores = t.Scores[:alerting]
	}
	if f.json {
		err = t.writeJSON(c.OutOrStdout(), f.text)
	} else {
		err = t.show(newScreen(c.OutOrStdout()), f.text)
	}
	if f.looksOnly() {
		return err
	}
	if len(urds) == 0 {
		fmt.Fprintln(cli.Prose(c.ErrOrStderr()), "nothing was looked for: --keyword WORD:5, --nonfilter, --select RULE or --urds FILE says what matters")
	} else {
		fmt.Fprintf(cli.Prose(c.ErrOrStderr()), "worth an alert to %d of %s\n", alerting, wording.Count(len(urds), "URD"))
	}
	return err
}

// looksOnly reports whether parts and fields of the page are looked at, and nothing is to be judged.
func (f *tryFlags) looksOnly() bool {
	return !f.interest.Asks() && len(f.urds) == 0 && (f.interest.Looks() || len(f.fields) > 0)
}

// requests returns the URDs to try: those of the files, and one of the flags.
// What is probably not meant in the files is said here, apart from advice, which is shown beside its URD.
func (f *tryFlags) requests(w io.Writer, globals *cli.Globals) (urds []*xmlschema.URD, err error) {
	for _, path := range f.urds {
		var said strings.Builder
		more, err := readURDs(&said, globals, path, f.owner)
		for line := range strings.Lines(said.String()) {
			if !isAdvice(line, more) {
				fmt.Fprint(cli.Prose(w), line)
			}
		}
		if err != nil {
			return nil, err
		}
		urds = append(urds, more...)
	}
	if f.interest.Asks() || f.interest.Looks() {
		urd, err := f.adHoc()
		if err != nil {
			return nil, cli.Wrong(err)
		}
		urds = append(urds, urd)
	}
	for _, urd := range urds {
		if urd.ID == "" {
			urd.ID = xmlschema.DeriveID(urd.Owner, urd.Source(), urd.InterestHash())
		}
	}
	return urds, nil
}

func isAdvice(line string, urds []*xmlschema.URD) bool {
	return slices.ContainsFunc(urds, func(u *xmlschema.URD) bool {
		return slices.ContainsFunc(u.Advice(), func(a string) bool { return strings.HasSuffix(line, a+"\n") })
	})
}

// adHocID is the name of the URD that is made of flags.
const adHocID = "keywords"

// adHoc makes a URD of the flags alone: it asks for what any crawl finds.
func (f *tryFlags) adHoc() (*xmlschema.URD, error) {
	urd := xmlschema.NewURD(f.owner, "*")
	urd.ID = adHocID
	if err := f.interest.Fill(urd); err != nil {
		return nil, err
	}
	if err := urd.Validate(); err != nil {
		return nil, err
	}
	_, err := cli.CheckInterest(urd) // its warnings are shown beside it
	return urd, err
}
