// Package reading gives a document as Markdown, with what is known of it: of a page its main part, of other
// documents their text. It puts together what article, markdown and usage do, for all commands and stages that show
// documents to people or hand them to models, so that all of them read the same.
//
// No document is an error: of a page that cannot be taken apart, as one that is too large, it is the text. What is read
// has no markup but that of Markdown: no HTML, no scripts, no control characters.
package reading

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/net/html"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/article"
	"github.com/webrace/webrace/internal/charsets"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/markdown"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/internal/usage"
)

// Page is a document as it is read.
type Page struct {
	URL       string `json:"url"`
	Title     string `json:"title,omitempty"`
	Author    string `json:"author,omitempty"`
	Site      string `json:"site,omitempty"`
	Language  string `json:"language,omitempty"`  // BCP 47
	Published string `json:"published,omitempty"` // a date, or a date and time (RFC 3339)
	Image     string `json:"image,omitempty"`     // absolute URL
	Part      string `json:"part"`                // of what the Markdown is: PartMain, PartAll or PartSelected

	IsPage   bool             `json:"-"` // it has elements, of which some may be its main part
	Broken   error            `json:"-"` // why it is read as text, though it is a page
	Markdown []byte           `json:"-"`
	Usage    usage.Statements `json:"-"` // what it may be used for
}

// The parts of documents that are read.
const (
	PartMain     = "main"     // the main part of a page
	PartAll      = "all"      // all of it
	PartSelected = "selected" // what the caller selected
)

// Options is what of a document is wanted. The zero value is its main part.
type Options struct {
	All    bool                // also what is beside the main part of a page
	Select []*selection.Finder // choose the elements of a page that are wanted instead; nil for its main part
}

// Of reads a document, of which Body, MediaType, Charset, Header and Text are there. An error is that of the
// context, or of a selection.
func Of(ctx context.Context, d *webrace.Document, o Options) (*Page, error) {
	room := rooms.Get().(*htmltree.Room)
	defer func() {
		room.Clear()
		rooms.Put(room)
	}()
	at, _ := urlnorm.CutMark(d.URL)
	p := &Page{URL: at, Title: article.Line(d.Title), Language: d.Language, Part: PartAll}
	root, err := tree(d, room)
	p.Usage = usage.Of(at, d.Header, root)
	if root == nil {
		if p.Broken = err; o.Select != nil {
			return nil, fmt.Errorf("nothing can be selected of %s, which is %s: %w", at, cmp.Or(d.MediaType, "of an unknown type"), cmp.Or(err, errNoPage))
		}
		if d.Text != nil {
			p.Markdown = markdown.AppendText(nil, d.Text)
		}
		return p, nil
	}
	a := article.Find(root, at)
	p.IsPage = true
	p.Title, p.Author, p.Site = cmp.Or(a.Title, p.Title), a.Author, a.Site
	p.Language, p.Published, p.Image = cmp.Or(a.Language, d.Language), a.Published, a.Image
	nodes, to := []*html.Node{root}, markdown.Options{Base: markdown.BaseOf(root, at), Without: func(n *html.Node) bool {
		return d.Rendered && n.Data == "noscript" // by a browser that runs scripts
	}}
	switch {
	case o.Select != nil:
		nodes, err = selection.Nodes(ctx, root, o.Select)
		if err == nil && len(nodes) == 0 {
			err = errors.New("nothing in it is what was selected")
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", at, err)
		}
		p.Part = PartSelected
	case !o.All && a.Main != nil:
		p.Part, nodes, to.Without = PartMain, a.Main, a.Without
	}
	p.Markdown = markdown.Append(nil, nodes, to)
	return p, nil
}

var errNoPage = errors.New("it is no page")

// rooms are memory for trees, none of which outlives the call that reads it.
var rooms = sync.Pool{New: func() any { return new(htmltree.Room) }}

// tree returns the elements of a document that is a page, or Markdown, which means one; nil of others. Its errors are
// those of a body in no encoding, and of one that is too large for a tree.
func tree(d *webrace.Document, room *htmltree.Room) (*html.Node, error) {
	isMarkdown := formats.Of(d.MediaType, "", nil) == formats.Markdown
	if !isMarkdown && extract.KindOf(d.MediaType, d.Body, d.Text) != extract.Page {
		return nil, nil
	}
	contentType := d.MediaType
	if d.Charset != "" {
		contentType += "; charset=" + d.Charset
	}
	page, _, err := charsets.ToUTF8(d.Body, contentType)
	if err != nil {
		return nil, err
	}
	switch {
	case isMarkdown:
		page, _ = formats.HTML(page, nil)
	case d.MediaType == "application/xhtml+xml":
		if root, err := htmltree.ParseXHTML(page); err == nil {
			return root, nil
		}
	}
	return room.Parse(page)
}
