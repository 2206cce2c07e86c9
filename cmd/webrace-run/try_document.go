package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/internal/usage"
	"github.com/webrace/webrace/xmlschema"
)

// source is where the document to try comes from.
type source struct {
	url, file         string
	contentType, base string   // of a file
	set               []string // overrides of the options of fetch and render
	secret            string   // the name of the credentials to ask with
	way               wayToAsk // as URDs say
	render            bool     // let a browser run the scripts
}

// triedDocument is the document of a trial.
type triedDocument struct {
	*extract.Result
	name      string // as it is shown
	url       string // where it is, or is taken to be; empty for a file of nowhere
	asked     string // the URL that was asked for, which may have led there
	body      []byte
	sentAs    string // the Content-Type; empty if none is known
	header    http.Header
	at        time.Time // when it came; zero for a file
	truncated bool
	rendered  bool
	notes     []string         // on how it was got
	usage     usage.Statements // what it may be used for
}

func (s *source) check() error {
	switch {
	case (s.url == "") == (s.file == ""):
		return errors.New("say which document: --url URL or --file FILE")
	case s.url != "" && (s.contentType != "" || s.base != ""):
		return errors.New("--type and --base are of a --file")
	case s.file != "" && (s.secret != "" || s.render):
		return errors.New("--secret and --render are of a --url")
	case !s.isOfTheWeb() && s.render:
		return errors.New("--render is of pages")
	case !s.isOfTheWeb():
		_, err := xmlschema.ParseStart(s.url)
		return err
	case s.url != "":
		return mustBeStart(s.url)
	case s.base != "":
		return mustBeStart(s.base)
	}
	return nil
}

// isOfTheWeb reports whether the document is a page or a file, and no newest one of a mailbox or the like.
func (s *source) isOfTheWeb() bool { return xmlschema.ProtocolOf(s.url) == xmlschema.ProtocolHTTP }

// document gets the document, and reads its text.
func (s *source) document(c *cobra.Command, globals *cli.Globals) (*triedDocument, error) {
	d, err := s.receive(c, globals)
	if err != nil {
		return nil, err
	}
	if err := d.read(c.Context(), cmp.Or(d.url, s.address(d))); err != nil {
		return nil, err
	}
	return d, nil
}

// read reads the text, as of a document at that URL.
func (d *triedDocument) read(ctx context.Context, url string) (err error) {
	if d.Result, err = extract.DocumentContext(ctx, d.body, d.sentAs, url, extract.Options{}); err != nil {
		return err
	}
	d.usage = usage.OfBody(url, d.header, d.body, cmp.Or(d.sentAs, d.MediaType))
	if d.Robots(d.header, extract.Robot{}).NoIndex {
		d.notes = append(d.notes, "it asks robots not to keep it (noindex), and a crawl leaves it out: normalize.obey_robots=false keeps it")
	}
	return nil
}

// receive gets the document as it is.
func (s *source) receive(c *cobra.Command, globals *cli.Globals) (d *triedDocument, err error) {
	if !s.isOfTheWeb() {
		return s.newest(c, globals)
	}
	options, rendering, err := s.options(globals)
	if err != nil {
		return nil, err
	}
	if s.file != "" {
		return s.read(c.InOrStdin(), int64(options.MaxBody))
	}
	url, err := urlnorm.Parse(s.url)
	if err != nil {
		return nil, cli.Wrong(err)
	}
	asker, err := s.asker(c, globals, options, rendering)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, asker.Close()) }()
	got, notes, err := asker.get(c.Context(), url)
	if err != nil {
		return nil, err
	}
	return newTriedDocument(url, got, notes), nil
}

// newTriedDocument makes one of what was got when a URL was asked for. Its text is not read yet.
func newTriedDocument(asked string, got *webrace.Document, notes []string) *triedDocument {
	if why := got.Header.Get(webrace.UndecodedField); why != "" {
		notes = append(notes, "its body is not all decoded: "+why)
	}
	at, _ := urlnorm.CutMark(got.URL)
	return &triedDocument{
		name: at, url: at, asked: asked, body: got.Body, header: got.Header, sentAs: extract.ContentType(got.Header, got.MediaType),
		at: got.At, truncated: got.Truncated, rendered: got.Rendered, notes: notes,
	}
}

// asDocument returns it as the stage normalize would pass it on.
func (d *triedDocument) asDocument() *webrace.Document {
	return &webrace.Document{URL: d.url, Body: d.body, At: d.at, MediaType: d.MediaType, Charset: d.Charset, Language: d.Language, Text: d.Text}
}

// nowhere stands for the URL of a file that has none.
const nowhere = "http://file.invalid/"

// read reads a file, at most as much as would be fetched.
func (s *source) read(stdin io.Reader, limit int64) (d *triedDocument, err error) {
	d = &triedDocument{name: s.file, sentAs: s.contentType}
	in := stdin
	if s.file == "-" {
		d.name = "standard input"
	} else {
		file, err := os.Open(s.file)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
		d.sentAs = cmp.Or(d.sentAs, typesOfFiles[strings.ToLower(path.Ext(s.file))])
	}
	if d.body, err = io.ReadAll(io.LimitReader(in, limit+1)); err != nil {
		return nil, fmt.Errorf("read %s: %w", d.name, err)
	}
	if d.truncated = int64(len(d.body)) > limit; d.truncated {
		d.body = d.body[:limit]
	}
	if s.base != "" {
		if d.url, err = urlnorm.Parse(s.base); err != nil {
			return nil, cli.Wrong(err)
		}
	}
	return d, nil
}

// typesOfFiles are the types that the names of files tell better than their beginnings.
var typesOfFiles = map[string]string{
	".html": "text/html", ".htm": "text/html", ".xhtml": "application/xhtml+xml", ".xml": "text/xml",
	".rss": "application/rss+xml", ".atom": "application/atom+xml", ".txt": "text/plain",
}
