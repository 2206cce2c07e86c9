package main

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	readability "codeberg.org/readeck/go-readability/v2"
	distiller "github.com/markusmobius/go-domdistiller"
	"github.com/markusmobius/go-trafilatura"
	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/article"
	"github.com/webrace/webrace/internal/article/articletest"
	"github.com/webrace/webrace/internal/htmltree"
)

// extractor finds the text of the main part of a page.
type extractor struct {
	name string
	main func(page []byte, from string) (string, error)
	goal *goal // of our CPU time over its
}

// pageOf is the size of a page that CPU times are told for.
const pageOf = 70_000

// benchArticles finds the main part of pages in which a person has marked it. Each contestant begins with the bytes of
// a page, in UTF-8.
func benchArticles(b *bench) error {
	pages, err := articletest.Load(articlesDir())
	if err != nil {
		b.note("the pages with marked articles are not there (WEBRACE_ARTICLES=DIR names their folder): %v", err)
		return nil
	}
	extractors := []extractor{
		{"webrace", byWebrace, nil},
		{"go-readability", byReadability, atMost(0.3)},
		{"go-trafilatura", byTrafilatura(true), atMost(0.15)},
		{"go-trafilatura, no fallback", byTrafilatura(false), nil},
		{"go-domdistiller", byDistiller, nil},
	}
	size := 0
	for _, p := range pages {
		size += len(p.HTML)
	}
	missed := make(map[string]articletest.Agreement)
	var contestants []contestant
	for _, x := range extractors {
		var all []articletest.Agreement
		for _, p := range pages {
			text, err := x.main(p.HTML, p.URL)
			if err != nil {
				b.note("%s: %s: %v", x.name, p.URL, err)
			}
			all = append(all, articletest.Compare(text, p.Body))
		}
		m := articletest.Mean(all)
		b.note("%s: F1 %.4f, precision %.4f, recall %.4f", x.name, m.F1(), m.Precision, m.Recall)
		missed[x.name] = articletest.Agreement{Precision: 1 - m.Precision, Recall: 1 - m.F1()} // 1 - F1 beside 1 - precision
		contestants = append(contestants, contestant{x.name, func() error {
			for _, p := range pages {
				_, _ = x.main(p.HTML, p.URL) // what it cannot read is in the note
			}
			return nil
		}})
	}
	costs, err := race(b.rounds(5), contestants)
	if err != nil {
		return err
	}
	aPage := func(name string) float64 {
		return float64(best(costs[name], cpuOf)) / float64(time.Millisecond) * pageOf / float64(size)
	}
	const we = "webrace"
	b.table.value(fmt.Sprintf("main part of %d pages, 1 - F1", len(pages)), missed[we].Recall, "", atMost(0.035))
	b.table.value("main part, 1 - precision", missed[we].Precision, "", atMost(0.05))
	for _, x := range extractors[1:] {
		b.table.against("main part, 1 - F1", missed[we].Recall, "", x.name, missed[x.name].Recall, atMost(1))
	}
	b.table.value("main part, a page of 70 KB, CPU min", aPage(we), "ms", atMost(1.5))
	for _, x := range extractors[1:] {
		b.table.against("main part, a page of 70 KB, CPU min", aPage(we), "ms", x.name, aPage(x.name), x.goal)
	}
	return b.mainOfTrees(pages, size)
}

// mainOfTrees measures what is left to do where a page has a tree already.
func (b *bench) mainOfTrees(pages []articletest.Page, size int) error {
	var trees []*html.Node
	for _, p := range pages {
		root, err := htmltree.Parse(p.HTML)
		if err != nil {
			return fmt.Errorf("%s: %w", p.URL, err)
		}
		trees = append(trees, root)
	}
	costs, err := race(b.rounds(5), []contestant{{"find", func() error {
		for i, root := range trees {
			article.Find(root, pages[i].URL)
		}
		return nil
	}}})
	if err != nil {
		return err
	}
	cpu := float64(best(costs["find"], cpuOf)) / float64(time.Millisecond) * pageOf / float64(size)
	b.table.value("main part, of a tree of a page of 70 KB, CPU min", cpu, "ms", nil)
	return nil
}

// rounds returns how often contestants run: once in a quick look.
func (b *bench) rounds(n int) int {
	if b.quick {
		return 1
	}
	return n
}

func articlesDir() string {
	if dir := os.Getenv("WEBRACE_ARTICLES"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "shared", "articles") // beside the repository
}

func byWebrace(page []byte, from string) (string, error) {
	root, err := htmltree.Parse(page)
	if err != nil {
		return "", err
	}
	a := article.Find(root, from)
	if a.Main == nil {
		return articletest.Text([]*html.Node{root}, nil), nil
	}
	return articletest.Text(a.Main, a.Without), nil
}

func byReadability(page []byte, from string) (string, error) {
	u, err := url.Parse(from)
	if err != nil {
		return "", err
	}
	a, err := readability.FromReader(bytes.NewReader(page), u)
	if err != nil || a.Node == nil {
		return "", err
	}
	var text bytes.Buffer
	err = a.RenderText(&text)
	return text.String(), err
}

func byTrafilatura(fallback bool) func([]byte, string) (string, error) {
	return func(page []byte, from string) (string, error) {
		u, err := url.Parse(from)
		if err != nil {
			return "", err
		}
		r, err := trafilatura.Extract(bytes.NewReader(page), trafilatura.Options{OriginalURL: u, EnableFallback: fallback, ExcludeComments: true})
		if err != nil {
			return "", err
		}
		return r.ContentText, nil
	}
}

func byDistiller(page []byte, from string) (string, error) {
	u, err := url.Parse(from)
	if err != nil {
		return "", err
	}
	r, err := distiller.ApplyForReader(bytes.NewReader(page), &distiller.Options{OriginalURL: u})
	if err != nil {
		return "", err
	}
	return r.Text, nil
}
