package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"github.com/blevesearch/bleve/v2"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/en"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/fulltext"
)

// What bleve is given at a time: as many pages, or as much text, as webrace takes.
const (
	bleveBatch = 500
	bleveBytes = 4 << 20
)

// page is what rivals are given of a page: its text, so that they have no HTML to read.
type page struct{ URL, Title, Body string }

// writeTexts writes the texts of all pages as a JSON array, and returns how many bytes they have.
func (c *searchBench) writeTexts(path string) (bytes int, err error) {
	file, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	w := bufio.NewWriter(file)
	separator := "["
	for _, path := range c.paths {
		response, err := http.Get(c.site.base + path)
		if err != nil {
			return 0, err
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil {
			return 0, err
		}
		d, _, err := fulltext.FromDocument(&webrace.Document{URL: c.site.base + path, Header: response.Header, Body: body})
		if err != nil {
			return 0, err
		}
		line, err := json.Marshal(page{d.URL, d.Title, d.Headings + d.Body + d.Navigation})
		if err != nil {
			return 0, err
		}
		bytes += len(d.Headings) + len(d.Body) + len(d.Navigation)
		fmt.Fprintf(w, "%s\n%s", separator, line)
		separator = ","
	}
	fmt.Fprintln(w, "]")
	return bytes, w.Flush()
}

func (c *searchBench) bleve(texts string) func(dir string) (usage, error) {
	return func(dir string) (usage, error) {
		command, err := child("bleve", texts, filepath.Join(dir, "bleve"))
		if err != nil {
			return usage{}, err
		}
		return runProcess(command)
	}
}

// indexWithBleve is the child process: bleve's default mapping, with its English analyzer.
func indexWithBleve(texts, path string) error {
	file, err := os.Open(texts)
	if err != nil {
		return err
	}
	defer file.Close()
	m := bleve.NewIndexMapping()
	m.DefaultAnalyzer = "en"
	ix, err := bleve.New(path, m)
	if err != nil {
		return err
	}
	input := json.NewDecoder(bufio.NewReaderSize(file, 1<<20))
	if _, err := input.Token(); err != nil {
		return err
	}
	batch, bytes, all := ix.NewBatch(), 0, uint64(0)
	for input.More() {
		var p page
		if err := input.Decode(&p); err != nil {
			return err
		}
		if err := batch.Index(p.URL, p); err != nil {
			return err
		}
		all++
		if bytes += len(p.Body); bytes >= bleveBytes || batch.Size() >= bleveBatch || !input.More() {
			if err := ix.Batch(batch); err != nil {
				return err
			}
			batch, bytes = ix.NewBatch(), 0
		}
	}
	if n, err := ix.DocCount(); err != nil || n != all {
		return fmt.Errorf("bleve has %d documents of %d: %w", n, all, err)
	}
	return ix.Close()
}
