package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/xmlschema"
)

// tryFlags say which document is tried against what.
type tryFlags struct {
	source    source
	urds      []string
	keywords  []string
	threshold int
	owner     string

	text   string
	alerts bool
	json   bool
}

// What of the text is shown.
const (
	textMatches = "matches"
	textFull    = "full"
	textNone    = "none"
)

func newTry(place *cli.Place) *cobra.Command {
	var flags tryFlags
	c := &cobra.Command{
		Use:   "try --url URL|--file FILE [--keyword WORD:WEIGHT]… [--urds FILE]…",
		Short: "show what one document is worth to keywords or URDs, and why; nothing is stored",
		Long: `try fetches one document, or reads it from a file, and shows what it is worth to
each URD: its relevance, whether its owner would be told, what each keyword
contributes, the summary, and the text with what was found in it. The document
counts as one that nobody has seen before.

A URL is fetched as in a pipeline: with the options of fetch, robots.txt obeyed and
redirects followed. Nothing is stored, and no data directory is opened or made, but
for --secret: then the secret is looked up in the one that is there, and goes where it
would go in a crawl that begins at the URL.

With --render a browser runs the page's scripts, if the stage render would have it do so:
by the options of the pipeline that has that stage, or by its defaults.`,
		Example: `  webrace-run try --url https://go.dev/ --keyword generics:5 --keyword "garbage collector:4"
  webrace-run try --url https://example.org/news --urds interests.xml
  webrace-run try --url https://bank.example/account --secret bank -k statement
  webrace-run try --url https://example.org/app --render --set render.sandbox=false -k boat
  webrace-run try --file page.html --keyword boat --text full
  webrace-run try --url http://127.0.0.1:8080/ -k boat --set fetch.allow_networks=loopback
  curl -s https://example.org/ | webrace-run try --file - --type text/html -k news:4 --json`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return flags.run(c, place) },
	}
	f := c.Flags()
	f.StringVar(&flags.source.url, "url", "", "the document's `URL`")
	f.StringVar(&flags.source.file, "file", "", "read the document from a `FILE` instead; - is standard input")
	f.StringVar(&flags.source.contentType, "type", "", "the media type of the file, as text/html (default: as it is called, or looks)")
	f.StringVar(&flags.source.base, "base", "", "the `URL` that the file is taken to be of")
	f.StringArrayVar(&flags.source.set, "set", nil, "override an option of fetch: `fetch.OPTION=VALUE`, as often as needed; with --render also render.OPTION=VALUE")
	f.StringVar(&flags.source.secret, "secret", "", "fetch the URL with the credentials of this `NAME` (webrace-store secret set)")
	f.BoolVar(&flags.source.render, "render", false, "let a browser run the scripts of the page")
	f.StringArrayVar(&flags.urds, "urds", nil, "try the URDs of an XML `FILE`, as often as needed")
	f.StringArrayVarP(&flags.keywords, "keyword", "k", nil, "try this `WORD[:WEIGHT]`, 1 to 5, as often as needed")
	f.IntVar(&flags.threshold, "threshold", xmlschema.DefaultThreshold, "how relevant the document must be to those keywords, 0 to 100")
	f.StringVar(&flags.owner, "owner", currentUser(), "whose the keywords are, and URDs that name nobody")
	f.StringVar(&flags.text, "text", textMatches, "what of the text to show: matches, full or none")
	f.BoolVar(&flags.alerts, "alerts", false, "show only the URDs whose owners would be told")
	f.BoolVar(&flags.json, "json", false, "as JSON")
	return c
}

func (f *tryFlags) run(c *cobra.Command, place *cli.Place) error {
	if !slices.Contains([]string{textMatches, textFull, textNone}, f.text) {
		return cli.Wrongf("--text %s: it is %s, %s or %s", f.text, textMatches, textFull, textNone)
	}
	if err := f.source.check(); err != nil {
		return cli.Wrong(err)
	}
	urds, err := f.requests(c.ErrOrStderr(), place)
	if err != nil {
		return err
	}
	d, err := f.source.document(c, place)
	if err != nil {
		return err
	}
	t, err := newTrial(c.Context(), d, urds)
	if err != nil {
		return err
	}
	told := t.told()
	if f.alerts {
		t.worths = t.worths[:told]
	}
	if f.json {
		err = t.writeJSON(c.OutOrStdout(), f.text)
	} else {
		err = t.show(newScreen(c.OutOrStdout()), f.text)
	}
	if len(urds) == 0 {
		fmt.Fprintln(c.ErrOrStderr(), "nothing was looked for: --keyword WORD:5 or --urds FILE says what matters")
	} else {
		fmt.Fprintf(c.ErrOrStderr(), "worth an alert to %d of %s\n", told, cli.Count(len(urds), "URD"))
	}
	return err
}

// requests returns the URDs to try: those of the files, and one of the keywords. What is probably not meant
// in the files is said here, apart from advice, which is shown beside its URD.
func (f *tryFlags) requests(w io.Writer, place *cli.Place) (urds []*xmlschema.URD, err error) {
	for _, path := range f.urds {
		var said strings.Builder
		more, err := readURDs(&said, place, path, f.owner)
		for line := range strings.Lines(said.String()) {
			if !isAdvice(line, more) {
				fmt.Fprint(w, line)
			}
		}
		if err != nil {
			return nil, err
		}
		urds = append(urds, more...)
	}
	if len(f.keywords) > 0 {
		urd, err := f.adHoc()
		if err != nil {
			return nil, cli.Wrong(err)
		}
		urds = append(urds, urd)
	}
	for _, urd := range urds {
		if urd.ID == "" {
			urd.ID = xmlschema.DeriveID(urd.Owner, urd.URI, urd.InterestHash())
		}
	}
	return urds, nil
}

func isAdvice(line string, urds []*xmlschema.URD) bool {
	return slices.ContainsFunc(urds, func(u *xmlschema.URD) bool {
		return slices.ContainsFunc(u.Advice(), func(a string) bool { return strings.HasSuffix(line, a+"\n") })
	})
}

// adHocID is the name of the URD that is made of --keyword.
const adHocID = "keywords"

// adHoc makes a URD of keywords alone: it asks for whatever anybody finds.
func (f *tryFlags) adHoc() (*xmlschema.URD, error) {
	keywords, err := cli.ParseKeywords(f.keywords)
	if err != nil {
		return nil, err
	}
	urd := xmlschema.NewURD(f.owner, "*")
	urd.ID = adHocID
	urd.Keywords = xmlschema.NewKeywords(keywords...)
	urd.Keywords.Threshold = f.threshold
	return urd, urd.Validate()
}
