package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/urlnorm"
)

// source is where the document to try comes from.
type source struct {
	url, file         string
	contentType, base string   // of a file
	set               []string // overrides of the options of fetch and render
	secret            string   // the name of the credentials to ask with
	render            bool     // let a browser run the scripts
}

// specimen is the document that is tried.
type specimen struct {
	*extract.Result
	name      string // as it is shown
	url       string // where it is, or is taken to be; empty for a file of nowhere
	body      []byte
	truncated bool
	rendered  bool
	notes     []string // on how it was got
}

func (s *source) check() error {
	switch {
	case (s.url == "") == (s.file == ""):
		return errors.New("say which document: --url URL or --file FILE")
	case s.url != "" && (s.contentType != "" || s.base != ""):
		return errors.New("--type and --base are of a --file")
	case s.file != "" && (s.secret != "" || s.render):
		return errors.New("--secret and --render are of a --url")
	case s.url != "":
		return mustBeStart(s.url)
	case s.base != "":
		return mustBeStart(s.base)
	}
	return nil
}

// document gets the document, and reads its text.
func (s *source) document(c *cobra.Command, place *cli.Place) (*specimen, error) {
	options, rendering, err := s.options(place)
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
	got, notes, err := s.get(c, place, url, options, rendering)
	if err != nil {
		return nil, err
	}
	if why := got.Header.Get(webrace.UndecodedField); why != "" {
		notes = append(notes, "its body is not all decoded: "+why)
	}
	d := &specimen{name: got.URL, url: got.URL, body: got.Body, truncated: got.Truncated, rendered: got.Rendered, notes: notes}
	d.Result, err = extract.Document(got.Body, extract.ContentType(got.Header, got.MediaType), got.URL, extract.Options{})
	return d, err
}

// nowhere stands for the URL of a file that has none.
const nowhere = "http://file.invalid/"

// read reads a file, at most as much as would be fetched.
func (s *source) read(stdin io.Reader, limit int64) (d *specimen, err error) {
	d = &specimen{name: s.file}
	in, contentType := stdin, s.contentType
	if s.file == "-" {
		d.name = "standard input"
	} else {
		file, err := os.Open(s.file)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		in = file
		if contentType == "" {
			contentType = typesOfFiles[strings.ToLower(path.Ext(s.file))]
		}
	}
	if d.body, err = io.ReadAll(io.LimitReader(in, limit+1)); err != nil {
		return nil, fmt.Errorf("read %s: %w", d.name, err)
	}
	if d.truncated = int64(len(d.body)) > limit; d.truncated {
		d.body = d.body[:limit]
	}
	at := nowhere
	if s.base != "" {
		if d.url, err = urlnorm.Parse(s.base); err != nil {
			return nil, cli.Wrong(err)
		}
		at = d.url
	}
	d.Result, err = extract.Document(d.body, contentType, at, extract.Options{})
	return d, err
}

// typesOfFiles are the types that the names of files tell better than their beginnings.
var typesOfFiles = map[string]string{
	".html": "text/html", ".htm": "text/html", ".xhtml": "application/xhtml+xml", ".xml": "text/xml",
	".rss": "application/rss+xml", ".atom": "application/atom+xml", ".txt": "text/plain", ".md": "text/plain",
}
