package markdown

import (
	"golang.org/x/net/html"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/charsets"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/internal/htmltree"
)

// Tree returns the elements of a document that is a page, or Markdown, which means one; nil of others. Its errors are
// those of a body in no encoding, and of one that is too large for a tree.
func Tree(d *webrace.Document) (*html.Node, error) {
	isMarkdown := formats.Of(d.MediaType, "", nil) == formats.Markdown
	if !isMarkdown && extract.KindOf(d.MediaType, d.Body, d.Text) != extract.Page {
		return nil, nil
	}
	contentType := d.MediaType
	if d.Charset != "" {
		contentType += "; charset=" + d.Charset
	}
	text, _, err := charsets.ToUTF8(d.Body, contentType)
	if err != nil {
		return nil, err
	}
	switch {
	case isMarkdown:
		text, _ = formats.HTML(text, nil)
	case d.MediaType == "application/xhtml+xml":
		if root, err := htmltree.ParseXHTML(text); err == nil {
			return root, nil
		}
	}
	return htmltree.Parse(text)
}

// Document returns all of a document as Markdown: a page by its body, another document by its text, which are as the
// stage normalize has them.
func Document(d *webrace.Document) ([]byte, error) {
	root, err := Tree(d)
	switch {
	case err != nil:
		return nil, err
	case root != nil:
		return Append(nil, []*html.Node{root}, Options{Base: BaseOf(root, d.URL)}), nil
	case d.Text != nil:
		return AppendText(nil, d.Text), nil
	}
	return nil, nil
}
