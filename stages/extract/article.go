package extract

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/reading"
	"github.com/webrace/webrace/internal/suggest"
)

// articlePrefix begins a field that is found by what a page states of itself, and by what its main part is.
const articlePrefix = "article:"

// articleParts are what such fields can be.
var articleParts = map[string]func(*reading.Page) string{
	"title":     func(p *reading.Page) string { return p.Title },
	"author":    func(p *reading.Page) string { return p.Author },
	"site":      func(p *reading.Page) string { return p.Site },
	"language":  func(p *reading.Page) string { return p.Language },
	"published": func(p *reading.Page) string { return p.Published },
	"image":     func(p *reading.Page) string { return p.Image },
	"part":      func(p *reading.Page) string { return p.Part },
	"markdown":  func(p *reading.Page) string { return string(p.Markdown) },
}

func checkArticle(about string) error {
	if articleParts[about] != nil {
		return nil
	}
	var names []string
	for name := range articleParts {
		names = append(names, name)
	}
	slices.Sort(names)
	return fmt.Errorf("%s%s is nothing of an article%s: there are %s", articlePrefix, about, suggest.DidYouMean(suggest.Nearest(about, names)), strings.Join(names, ", "))
}

// readArticle reads a document if one of the fields is of its article; nil if none is.
func readArticle(ctx context.Context, d *webrace.Document, fields []field) (*reading.Page, error) {
	if !slices.ContainsFunc(fields, func(f field) bool { return f.article != "" }) {
		return nil, nil
	}
	return reading.Of(ctx, d, reading.Options{})
}

// ofArticle returns the value of such a field: nil for what is not known.
func (f field) ofArticle(p *reading.Page) any {
	if value := articleParts[f.article](p); value != "" {
		return value
	}
	return nil
}
