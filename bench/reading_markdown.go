package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	tables "github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/markdown"
	"github.com/webrace/webrace/pipeline"
	_ "github.com/webrace/webrace/stages/all"
)

// markdownLimit is how much of a rival's CPU a page may cost as Markdown, chunksLimit how many pieces of a page of
// fifty paragraphs may change with one.
const (
	markdownLimit = 1
	chunksLimit   = 2
)

// benchMarkdown measures what a page costs as Markdown, from its bytes, and how many pieces of one change.
func benchMarkdown(b *bench) error {
	if err := b.markdownOfPages(); err != nil {
		return err
	}
	return b.piecesThatChange()
}

func (b *bench) markdownOfPages() error {
	dir := filepath.Join("/", docSites[0].pages, "library")
	files, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil {
		return err
	}
	if b.quick {
		files = files[:min(len(files), 40)]
	}
	if len(files) == 0 {
		return fmt.Errorf("no pages in %s: install the Debian package %s", dir, docSites[0].packaged)
	}
	var pages [][]byte
	size := 0
	for _, file := range files {
		page, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		pages, size = append(pages, page), size+len(page)
	}
	rounds := 5
	if b.quick {
		rounds = 1
	}
	rival := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), strikethrough.NewStrikethroughPlugin(), tables.NewTablePlugin()))
	const address = "https://example.org/library/page.html"
	costs, err := race(rounds, []contestant{
		{"webrace", func() error {
			for i, page := range pages {
				root, err := htmltree.Parse(page)
				if err != nil {
					return err
				}
				if md := markdown.Append(nil, []*html.Node{root}, markdown.Options{Base: address}); !isPage(md, i, files) {
					return fmt.Errorf("%s gives %d bytes", files[i], len(md))
				}
			}
			return nil
		}},
		{"html-to-markdown", func() error {
			for i, page := range pages {
				md, err := rival.ConvertReader(bytes.NewReader(page), converter.WithDomain(address))
				if err != nil || !isPage(md, i, files) {
					return fmt.Errorf("%s gives %d bytes: %w", files[i], len(md), err)
				}
			}
			return nil
		}},
	})
	if err != nil {
		return err
	}
	each := func(name string) float64 {
		return float64(best(costs[name], cpuOf).Microseconds()) / float64(len(pages)) / 1000
	}
	b.table.against(fmt.Sprintf("Markdown of a page of %d KB", size/len(pages)/1000), each("webrace"), "ms", "html-to-markdown alone", each("html-to-markdown"), atMost(markdownLimit))
	return nil
}

// isPage reports whether Markdown has what a page does: a heading, and the name of its module.
func isPage(md []byte, i int, files []string) bool {
	name := strings.TrimSuffix(filepath.Base(files[i]), ".html")
	name, _, _ = strings.Cut(name, ".")
	return bytes.Contains(md, []byte("\n# ")) && bytes.Contains(bytes.ToLower(md), bytes.ToLower([]byte(name)[:1]))
}

// piecesThatChange changes each paragraph of a page of fifty, one at a time.
func (b *bench) piecesThatChange() error {
	page := func(changed int) string {
		var text strings.Builder
		text.WriteString("<h1>A page</h1>")
		for i := range 50 {
			text.WriteString("<p>")
			for w := range 20 + i*7%60 {
				n := i*1000 + w
				if i == changed {
					n += 1_000_000
				}
				fmt.Fprintf(&text, "word%d ", n)
			}
		}
		return text.String()
	}
	most := 0
	for changed := range 50 {
		told, err := piecesOf(page(-1), page(changed))
		if err != nil {
			return err
		}
		most = max(most, told)
	}
	b.table.value("chunk: pieces of a page of 50 paragraphs that change with one, at most", float64(most), "", atMost(chunksLimit))
	return nil
}

// piecesOf returns how many pieces are new, or gone, in the last version of a page: the larger number.
func piecesOf(versions ...string) (int, error) {
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, pipeline.StatesInMemory())
	var mu sync.Mutex
	counts := make(map[string]int)
	g := pipeline.NewGraph("vectors")
	g.AddStage("versions", pipeline.Spec{Type: "versions", Out: []pipeline.Port{{Kind: pipeline.KindOf[*webrace.Document]()}}}, func(*pipeline.Env) (any, error) {
		return versionsOf(versions), nil
	})
	g.AddType("chunk", "chunk", nil)
	g.AddStage("taker", pipeline.Spec{Type: "taker", In: pipeline.Kinds(pipeline.KindOf[pipeline.Record]())}, func(*pipeline.Env) (any, error) {
		return pipeline.Map(func(_ context.Context, p pipeline.Record) (pipeline.Record, error) {
			mu.Lock()
			defer mu.Unlock()
			if p["version"] == float64(len(versions)) {
				counts[p["change"].(string)]++
			}
			return p, nil
		}), nil
	})
	g.Connect("versions", "", "chunk")
	g.Connect("chunk", "", "taker")
	g.Connect("chunk", "gone", "taker")
	if _, err := g.Run(context.Background(), pipeline.RunOptions{Resources: resources}); err != nil {
		return 0, err
	}
	if counts["new"] == 0 {
		return 0, errors.New("a paragraph that changed changes no piece")
	}
	return max(counts["new"], counts["gone"]), nil
}

// versionsOf is a source of the versions of a page.
type versionsOf []string

func (v versionsOf) Run(ctx context.Context, out pipeline.Emitter) error {
	for i, body := range v {
		d := &webrace.Document{
			URL: "https://example.org/", MediaType: "text/html", Outcome: webrace.Fetched, Body: []byte(body), Text: &webrace.Text{},
			Version: i + 1, Digest: sha256.Sum256([]byte(body)),
		}
		done := make(chan struct{})
		if err := out.Emit(ctx, pipeline.NewItem(d, func(pipeline.Outcome) { close(done) })); err != nil {
			return err
		}
		select {
		case <-done: // the stage may work on two at once
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}
