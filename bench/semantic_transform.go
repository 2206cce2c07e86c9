package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	_ "embed"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// What reading a page may cost, in microseconds, and beside rivals.
const (
	transformLimit = 200_000.0 / 200
	tidyRatio      = 0.15
	extructRatio   = 0.1
)

// transform reads what pages with structured data state.
func (s *semanticBench) transform(pages []*semanticPage) error {
	value, err := s.transforms(pages)
	if err != nil {
		return fmt.Errorf("transform: %w", err)
	}
	bytes := 0
	for _, p := range pages {
		bytes += len(p.body)
	}
	s.note("semantic: transform: %d pages of documentation, %.1f KB each, with Open Graph, JSON-LD, Microdata and RDFa put in", len(pages), float64(bytes)/1000/float64(len(pages)))
	s.table.value("transform, HTML with structured data, a page, CPU", value, "µs", atMost(transformLimit))
	for _, rival := range []struct {
		name     string
		packages []string
		pages    int // that it is given: it takes long
		run      func(pages []*semanticPage) error
		goal     *goal
	}{
		{"tidy and xsltproc", []string{"tidy", "xsltproc"}, 100, s.tidy, atMost(tidyRatio)},
		{"python3-extruct", []string{"python3-extruct"}, 100, s.extruct, atMost(extructRatio)},
	} {
		if err := s.besideTransform(pages[:min(len(pages), s.work(2*rival.pages))], rival.name, rival.packages, rival.run, rival.goal); err != nil {
			return err
		}
	}
	return nil
}

// transforms returns what a page costs the stage.
func (s *semanticBench) transforms(pages []*semanticPage) (float64, error) {
	want := make(map[string]*semanticPage, len(pages))
	for _, p := range pages {
		want[p.url] = p
	}
	r := stagesRun{flow: "transform", look: func(d *webrace.Document) error {
		if len(d.Graph.Problems) > 0 {
			return fmt.Errorf("%s: %s", d.URL, d.Graph.Problems[0])
		}
		if err := sayings(literalsOf(d.Graph), want[d.URL].says); err != nil {
			return fmt.Errorf("%s: %w", d.URL, err)
		}
		return nil
	}}
	check := true
	return least(s.rounds, len(pages), func() (cost, error) {
		if !check {
			r.look = nil
		}
		check = false
		return r.run(asValues(documentsOf(pages)))
	})
}

func documentsOf(pages []*semanticPage) (documents []*webrace.Document) {
	for _, p := range pages {
		documents = append(documents, &webrace.Document{
			URL: p.url, Outcome: webrace.Fetched, Status: http.StatusOK, Version: 1, Body: p.body,
			MediaType: "text/html", Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		})
	}
	return documents
}

// literalsOf are the properties of a graph whose values are texts.
func literalsOf(g *webrace.Graph) (found []saying) {
	for _, t := range g.Triples {
		if rdf.KindOf(t.Object) == rdf.Literal {
			name := rdf.Value(t.Predicate)
			found = append(found, saying{name[strings.LastIndexAny(name, "/#")+1:], strings.Join(strings.Fields(rdf.Value(t.Object)), " ")})
		}
	}
	return found
}

// besideTransform lets a rival read pages, and adds a row.
func (s *semanticBench) besideTransform(pages []*semanticPage, name string, packaged []string, run func([]*semanticPage) error, g *goal) error {
	row := "transform, HTML with structured data, a page, CPU"
	for _, one := range packaged {
		if err := needs(one); err != nil {
			s.leftOut(row+" beside "+name, err)
			return nil
		}
	}
	ours, err := s.transforms(pages)
	if err != nil {
		return fmt.Errorf("transform: %w", err)
	}
	costs, err := race(min(s.rounds, 2), []contestant{{"nothing", func() error { return run(nil) }}, {name, func() error { return run(pages) }}})
	if err != nil {
		return fmt.Errorf("transform beside %s: %w", name, err)
	}
	theirs := micros(best(costs[name], cpuOf)-best(costs["nothing"], cpuOf)) / float64(len(pages))
	s.against(row, ours, "µs", name, theirs, g)
	return nil
}

//go:embed semantic/structured.xsl
var structuredXSL []byte

// tidy has two processes for each page, as MultiCrawler had: tidy makes it XHTML, and xsltproc finds what it states,
// but for JSON-LD, which is text to a stylesheet.
func (s *semanticBench) tidy(pages []*semanticPage) error {
	stylesheet := filepath.Join(s.dir, "structured.xsl")
	if err := os.WriteFile(stylesheet, structuredXSL, 0o666); err != nil {
		return err
	}
	for _, p := range pages {
		tidy := exec.Command("tidy", "-asxml", "-numeric", "-quiet", "--force-output", "yes", "--show-warnings", "no", "--tidy-mark", "no", "--drop-empty-elements", "no", p.files)
		xhtml, err := tidy.Output()
		if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() == 1 { // which means that there were warnings
			err = nil
		}
		if err != nil && len(xhtml) == 0 {
			return fmt.Errorf("tidy: %w", err)
		}
		xsltproc := exec.Command("xsltproc", "--novalid", "--nonet", stylesheet, "-")
		xsltproc.Stdin = bytes.NewReader(xhtml)
		said, err := xsltproc.Output()
		if err != nil {
			return fmt.Errorf("xsltproc: %w", err)
		}
		if err := sayings(sayingsIn(said), p.in); err != nil {
			return fmt.Errorf("%s: %w", p.url, err)
		}
	}
	return nil
}

// sayingsIn reads lines of a property, a tab, and a text.
func sayingsIn(text []byte) (found []saying) {
	for line := range strings.Lines(string(text)) {
		if property, text, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok {
			found = append(found, saying{property, text})
		}
	}
	return found
}

//go:embed semantic/extract.py
var extractPy string

// extruct has one process in Python read all pages.
func (s *semanticBench) extruct(pages []*semanticPage) error {
	args := []string{"-c", extractPy}
	for _, p := range pages {
		args = append(args, p.files, p.url)
	}
	c := exec.Command(debianPython, args...)
	var complaints bytes.Buffer
	c.Stderr = &complaints
	said, err := c.Output()
	if err != nil {
		return fmt.Errorf("extruct: %w: %s", err, lastLine(complaints.Bytes()))
	}
	answers := bytes.Split(said, []byte("\f\n"))
	if len(answers) != len(pages)+1 {
		return fmt.Errorf("extruct: %d of %d pages are read", len(answers)-1, len(pages))
	}
	for i, p := range pages {
		if err := sayings(sayingsIn(answers[i]), p.says); err != nil {
			return fmt.Errorf("extruct: %s: %w", p.url, err)
		}
	}
	return nil
}
