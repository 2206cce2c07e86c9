package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/reading"
	"github.com/webrace/webrace/internal/urlnorm"
)

// readFlags determine what of which documents is read, and how they are got.
type readFlags struct {
	source  source
	reading cli.ReadingFlags
}

func newRead(globals *cli.Globals) *cobra.Command {
	var flags readFlags
	c := &cobra.Command{
		Use:   "read URL… | --file FILE",
		Short: "fetch documents and write what they say as Markdown: of pages the main part",
		Long: `read fetches each document, as a pipeline would: with the options of fetch, robots.txt
obeyed, redirects followed, a host left its pauses. It writes what a reader comes for as
Markdown, below a front matter with URL, title, author, date, language, and what the page's
owner allows it to be used for. Of PDF, office files, tables, feeds and plain text it is all
the text. Nothing is stored; of what is stored, webrace-store cache cat --markdown shows
the same.

A URL that gives no document does not keep the others from being read: it is told, and the
exit status is 1.`,
		Example: `  webrace-run read https://go.dev/doc/effective_go
  webrace-run read https://example.org/ --all
  webrace-run read https://example.org/ --select css:main --max-words 500
  webrace-run read https://example.org/a https://example.org/b --json
  webrace-run read https://example.org/app --render
  webrace-run read --file page.html --base https://example.org/`,
		RunE: func(c *cobra.Command, urls []string) error {
			keepToBudget(globals)
			return flags.run(c, globals, urls)
		},
	}
	f := c.Flags()
	flags.reading.Add(f)
	f.StringVar(&flags.source.file, "file", "", "read the document from a `FILE` instead; - is standard input")
	f.StringVar(&flags.source.contentType, "type", "", "the media type of the file, as text/html (default: as it is called, or looks)")
	f.StringVar(&flags.source.base, "base", "", "the `URL` that the file is taken to be of")
	f.StringArrayVar(&flags.source.set, "set", nil, "override an option of fetch: `fetch.OPTION=VALUE`, as often as needed; with --render also render.OPTION=VALUE")
	f.StringVar(&flags.source.secret, "secret", "", "fetch with the credentials of this `NAME` (webrace-store secret set)")
	f.BoolVar(&flags.source.render, "render", false, "let a browser run the scripts of pages")
	return c
}

func (f *readFlags) run(c *cobra.Command, globals *cli.Globals, urls []string) error {
	if err := f.reading.Prepare(); err != nil {
		return err
	}
	if f.source.file != "" {
		return f.readFile(c, globals, urls)
	}
	if len(urls) == 0 {
		return cli.Wrongf("say what to read: a URL, as often as needed, or --file FILE")
	}
	for _, url := range urls {
		one := f.source
		one.url = url
		if err := one.check(); err != nil {
			return cli.Wrong(err)
		}
	}
	return f.readAll(c, globals, urls)
}

// readFile reads a document that is a file.
func (f *readFlags) readFile(c *cobra.Command, globals *cli.Globals, urls []string) error {
	if len(urls) > 0 {
		return cli.Wrongf("%s and --file %s: read URLs, or a file", urls[0], f.source.file)
	}
	if err := f.source.check(); err != nil {
		return cli.Wrong(err)
	}
	d, err := f.source.document(c, globals)
	if err != nil {
		return err
	}
	return f.write(c, d.asRead(), d.notes)
}

// readAll reads one URL after the other.
func (f *readFlags) readAll(c *cobra.Command, globals *cli.Globals, urls []string) (err error) {
	options, rendering, err := f.source.options(globals)
	if err != nil {
		return err
	}
	asker, err := f.source.asker(c, globals, options, rendering)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, asker.Close()) }()
	failed := 0
	for _, url := range urls {
		err := f.readOne(c, asker, url)
		if c.Context().Err() != nil || err != nil && len(urls) == 1 {
			return err
		}
		if err != nil {
			failed++
			fmt.Fprintln(cli.Prose(c.ErrOrStderr()), "error:", err)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d URLs were not read", failed, len(urls))
	}
	return nil
}

func (f *readFlags) readOne(c *cobra.Command, asker *asker, url string) error {
	url, err := urlnorm.Parse(url)
	if err != nil {
		return cli.Wrong(err)
	}
	got, notes, err := asker.get(c.Context(), url)
	if err != nil {
		return err
	}
	d := newTriedDocument(url, got, notes)
	if err := d.read(c.Context(), d.url); err != nil {
		return err
	}
	return f.write(c, d.asRead(), d.notes)
}

// asRead returns the document with all that reading takes.
func (d *triedDocument) asRead() *webrace.Document {
	read := d.asDocument()
	read.Title, read.Header, read.Truncated = d.Title, d.header, d.truncated
	return read
}

// write writes a document as Markdown.
func (f *readFlags) write(c *cobra.Command, d *webrace.Document, notes []string) error {
	shown, err := f.reading.Read(c.Context(), d, reading.Stored{Fetched: d.At})
	if err != nil {
		return err
	}
	if d.Truncated {
		notes = append(notes, "it is cut: fetch.max_body is how much of it is taken")
	}
	for _, remark := range append(notes, f.reading.Remarks(shown)...) {
		fmt.Fprintf(cli.Prose(c.ErrOrStderr()), "%s: %s\n", d.URL, remark)
	}
	return f.reading.Write(c.OutOrStdout(), shown)
}
