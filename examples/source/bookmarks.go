// Package source is an example of a stage that brings items in: bookmarks starts a crawl at each page of a browser's
// bookmarks, as it exports them to a file.
//
//	flow = ["bookmarks > frontier > fetch > normalize > frontier"]
package source

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"golang.org/x/net/html"
)

// Options of the stage.
type Options struct {
	Path  string `toml:"path" doc:"the file of bookmarks, in the form that all browsers export: HTML with a link for each"`
	Depth int    `toml:"depth" doc:"levels of pages: 1 is the bookmarked page alone, 0 has no limit"`
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "bookmarks",
		Summary: "starts a crawl at each bookmark of a browser",
		Out:     []pipeline.Port{{Kind: pipeline.KindOf[webrace.Request](), Doc: "the start of a crawl"}},
	}, Options{Depth: 1}, func(o Options, _ *pipeline.Env) (any, error) { return stage{o}, nil })
}

// Validate refuses options that cannot work, before anything runs.
func (o Options) Validate() error {
	if o.Path == "" {
		return &pipeline.OptionError{Option: "path", Err: errors.New("name the file of bookmarks")}
	}
	return nil
}

type stage struct{ options Options }

// Run emits the bookmarks until there are no more, or the run drains. An item without a lease, as these are, belongs to
// nothing that waits for its end; the frontier remembers each when it has taken it.
func (s stage) Run(ctx context.Context, out pipeline.Emitter) error {
	file, err := os.Open(s.options.Path)
	if err != nil {
		return fmt.Errorf("read the bookmarks: %w", err)
	}
	defer file.Close()
	tokens := html.NewTokenizer(file)
	for ctx.Err() == nil && tokens.Next() != html.ErrorToken {
		url := linkOf(tokens.Token())
		if url == "" {
			continue
		}
		crawl := &webrace.Crawl{ID: "bookmark " + url, Start: url, Scope: webrace.ScopeHost, Levels: s.options.Depth, Urgency: 1}
		if err := out.Emit(ctx, pipeline.NewItem(webrace.Request{URL: url, Crawl: crawl}, nil)); err != nil {
			return err
		}
	}
	return nil
}

// linkOf returns the address of a link to a page; empty for everything else. Browsers write addresses normalized.
func linkOf(t html.Token) string {
	if t.Type != html.StartTagToken || t.Data != "a" {
		return ""
	}
	for _, a := range t.Attr {
		if a.Key == "href" && (strings.HasPrefix(a.Val, "https://") || strings.HasPrefix(a.Val, "http://")) {
			return a.Val
		}
	}
	return ""
}
