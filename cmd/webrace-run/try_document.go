package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/fetch"
)

// source is where the document to try comes from.
type source struct {
	url, file         string
	contentType, base string   // of a file
	set               []string // overrides of the options of fetch
}

// specimen is the document that is tried.
type specimen struct {
	*extract.Result
	name      string // as it is shown
	url       string // where it is, or is taken to be; empty for a file of nowhere
	body      []byte
	truncated bool
}

func (s *source) check() error {
	switch {
	case (s.url == "") == (s.file == ""):
		return errors.New("say which document: --url URL or --file FILE")
	case s.url != "" && (s.contentType != "" || s.base != ""):
		return errors.New("--type and --base are of a --file")
	case s.url != "":
		return mustBeStart(s.url)
	case s.base != "":
		return mustBeStart(s.base)
	}
	return nil
}

// document gets the document, and reads its text.
func (s *source) document(c *cobra.Command, place *cli.Place) (*specimen, error) {
	options, err := fetchOptions(place, s.set)
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
	got, err := fetch.One(c.Context(), options, url)
	if err != nil {
		return nil, err
	}
	d := &specimen{name: got.URL, url: got.URL, body: got.Body, truncated: got.Truncated}
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

// fetchOptions returns how the configuration says that documents are fetched: for the pipeline crawl if it
// fetches, or else for the first that does. A configuration that fetches nothing leaves it to the shipped one.
func fetchOptions(place *cli.Place, set []string) (fetch.Options, error) {
	for _, from := range []*cli.Place{place, {Shipped: true}} {
		name, err := fetchingPipeline(from)
		if err != nil {
			return fetch.Options{}, err
		}
		if name != "" {
			options, _, err := fetchOptionsOf(from, name, set)
			return options, err
		}
	}
	return fetch.Options{}, errors.New("no pipeline fetches anything")
}

// fetchingPipeline returns the name of a pipeline that fetches, empty if there is none. One that cannot be
// read, because a variable is not set, matters only if no other will do.
func fetchingPipeline(place *cli.Place) (string, error) {
	config, err := place.Load(pipeline.LoadOptions{Run: []string{}})
	if err != nil {
		return "", err
	}
	slices.SortStableFunc(config.Pipelines, func(a, b pipeline.PipelineInfo) int {
		return cmp.Compare(isCrawl(b), isCrawl(a))
	})
	var faults []error
	for _, p := range config.Pipelines {
		_, found, err := fetchOptionsOf(place, p.Name, nil)
		if found {
			return p.Name, nil
		}
		faults = append(faults, err)
	}
	return "", cmp.Or(faults...)
}

func isCrawl(p pipeline.PipelineInfo) int {
	if p.Name == "crawl" {
		return 1
	}
	return 0
}

// fetchOptionsOf returns the options of the stage of a pipeline that fetches, and whether there is one.
func fetchOptionsOf(place *cli.Place, name string, set []string) (options fetch.Options, found bool, err error) {
	config, err := place.Load(pipeline.LoadOptions{Run: []string{name}, Set: set})
	if err != nil {
		return options, false, err
	}
	graph, err := config.Graph(name)
	if err != nil {
		return options, false, cli.Wrong(err)
	}
	for _, s := range graph.Stages {
		if options, found = s.Options.(fetch.Options); found {
			return options, true, nil
		}
	}
	return options, false, nil
}
