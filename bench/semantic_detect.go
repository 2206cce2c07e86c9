package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/transform"
)

// What finding out what a document is may cost, in microseconds, and beside encoding/xml.
const (
	detectLimit = 2200.0 / 40
	detectRatio = 0.5
)

// sample is a document, and the media type that it has.
type sample struct {
	url  string
	body []byte
	is   string
	root bool // its root element tells
}

// detect has the stage find out what documents are that a server sends as nothing in particular.
func (s *semanticBench) detect() error {
	samples, err := s.samples()
	if err != nil {
		return err
	}
	var xmls []sample
	for _, one := range samples {
		if one.root {
			xmls = append(xmls, one)
		}
	}
	s.note("semantic: detect: %s", kindsOf(samples))
	all, err := s.detects(samples)
	if err != nil {
		return fmt.Errorf("detect: %w", err)
	}
	s.table.value("detect, HTML, RDF, feeds and XML mixed, a document, CPU", all, "µs", atMost(detectLimit))
	return s.besideXML(xmls)
}

// besideXML finds out what documents are that have a root element, without a pipeline, as encoding/xml finds that
// element.
func (s *semanticBench) besideXML(samples []sample) error {
	times := 1 + s.work(20_000)/len(samples)
	every := func(typeOf func(sample) (string, error)) func() error {
		return func() error {
			for range times {
				for _, one := range samples {
					if is, err := typeOf(one); err != nil || is != one.is {
						return fmt.Errorf("%s is taken for %q, and is %s: %w", one.url, is, one.is, err)
					}
				}
			}
			return nil
		}
	}
	costs, err := race(s.rounds, []contestant{
		{ours, every(func(one sample) (string, error) {
			return transform.MediaType(one.body, "application/octet-stream", one.url), nil
		})},
		{"encoding/xml", every(typeByXML)},
	})
	if err != nil {
		return err
	}
	a := func(name string) float64 { return micros(best(costs[name], cpuOf)) / float64(times*len(samples)) }
	s.against("detect without the stage, HTML, RDF/XML, feeds and XML, a document, CPU", a(ours), "µs", "encoding/xml to the root",
		a("encoding/xml"), atMost(detectRatio))
	return nil
}

// work is how often something small is done in a round.
func (s *semanticBench) work(full int) int {
	if s.quick {
		return full / 10
	}
	return full
}

// detects returns what a document costs the stage.
func (s *semanticBench) detects(samples []sample) (float64, error) {
	is := make(map[string]string, len(samples))
	var values []any
	for len(values) < s.work(20_000) {
		for _, one := range samples {
			is[one.url] = one.is
			values = append(values, &webrace.Document{URL: one.url, Outcome: webrace.Fetched, Status: 200, Body: one.body, MediaType: "application/octet-stream"})
		}
	}
	r := stagesRun{flow: "detect", look: func(d *webrace.Document) error {
		asTriG := d.MediaType == string(rdf.TriG) && is[d.URL] == string(rdf.Turtle) // which is TriG without graphs, and reads the same
		if d.MediaType != is[d.URL] && !asTriG {
			return fmt.Errorf("%s is taken for %s, and is %s", d.URL, d.MediaType, is[d.URL])
		}
		return nil
	}}
	return least(s.rounds, len(values), func() (cost, error) { return r.run(values) })
}

// typeByXML returns what a document is by its root element, as encoding/xml reads it.
func typeByXML(one sample) (string, error) {
	decoder := xml.NewDecoder(bytes.NewReader(one.body))
	decoder.Strict = false
	decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // as it is: names are ASCII
	for {
		token, err := decoder.Token()
		if err != nil {
			return "", err
		}
		root, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch {
		case root.Name.Space == rdf.NS && root.Name.Local == "RDF":
			return string(rdf.RDFXML), nil
		case root.Name.Local == "rss":
			return "application/rss+xml", nil
		case root.Name.Local == "feed" && root.Name.Space == "http://www.w3.org/2005/Atom":
			return "application/atom+xml", nil
		case root.Name.Local == "html" && root.Name.Space != "":
			return "application/xhtml+xml", nil
		case strings.EqualFold(root.Name.Local, "html"):
			return "text/html", nil
		}
		return "application/xml", nil
	}
}

// samples are documents of each kind: pages and XML of Debian, Turtle of the LV2 plugins, and the statements of these
// in other syntaxes; feeds are made.
func (s *semanticBench) samples() (all []sample, err error) {
	for i, page := range s.documentationPages(40) {
		is := "text/html"
		if bytes.Contains(page[:min(len(page), 1<<10)], []byte("<html xmlns")) {
			is = "application/xhtml+xml"
		}
		all = append(all, sample{fmt.Sprintf("https://docs.example/page%d", i), page, is, true})
	}
	for i, path := range someFiles("/usr/share/mime/application", ".xml", 20) {
		body, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		all = append(all, sample{fmt.Sprintf("https://docs.example/%d.xml", i), body, "application/xml", true})
	}
	for i, path := range someFiles(lv2, ".ttl", 20) {
		body, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		g, err := transform.Document(context.Background(), body, string(rdf.Turtle), "https://lv2.example/"+filepath.Base(path), transform.Options{})
		if err != nil {
			return nil, err
		}
		all = append(all, sample{fmt.Sprintf("https://docs.example/turtle%d", i), body, string(rdf.Turtle), false})
		for _, syntax := range []rdf.Syntax{rdf.NTriples, rdf.RDFXML} {
			text, err := written(g.Triples, syntax)
			if err != nil || len(g.Triples) == 0 {
				continue // a few have predicates that RDF/XML has no names for
			}
			all = append(all, sample{fmt.Sprintf("https://docs.example/%s%d", filepath.Base(string(syntax)), i), text, string(syntax), syntax == rdf.RDFXML})
		}
	}
	for i := range 20 {
		all = append(all,
			sample{fmt.Sprintf("https://docs.example/rss%d", i), fmt.Appendf(nil, rssFeed, i), "application/rss+xml", true},
			sample{fmt.Sprintf("https://docs.example/atom%d", i), fmt.Appendf(nil, atomFeed, i), "application/atom+xml", true})
	}
	if len(all) < 100 {
		return nil, errors.New("neither documentation nor LV2 plugins are installed")
	}
	return all, nil
}

const (
	rssFeed = `<?xml version="1.0" encoding="utf-8"?>
<!-- what is new -->
<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel><title>Feed %d</title><link>https://docs.example/</link>
<description>News</description><item><title>A page</title><link>https://docs.example/a</link></item></channel></rss>`
	atomFeed = `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><title>Feed %d</title><id>https://docs.example/</id>
<updated>2026-11-23T00:00:00Z</updated><entry><title>A page</title><id>https://docs.example/a</id><updated>2026-11-23T00:00:00Z</updated></entry></feed>`
)

// someFiles returns so many files below a folder whose names end so, from all of it.
func someFiles(root, extension string, most int) (chosen []string) {
	var all []string
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error { // what cannot be read is left out
		if err == nil && !d.IsDir() && strings.HasSuffix(path, extension) {
			all = append(all, path)
		}
		return nil
	})
	most = min(most, len(all))
	for i := range most {
		chosen = append(chosen, all[i*len(all)/most])
	}
	return chosen
}

// kindsOf returns how many samples there are of each media type.
func kindsOf(samples []sample) string {
	counts := map[string]int{}
	for _, one := range samples {
		counts[one.is]++
	}
	return strings.TrimPrefix(fmt.Sprint(counts), "map")
}
