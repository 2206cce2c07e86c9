package selection

import (
	"fmt"
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/article"
	"github.com/webrace/webrace/internal/charsets"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/internal/xpath"
)

// Document is what rules are applied to. Its tree is made once, when a rule asks for it. It must not be
// used by two goroutines at once.
type Document struct {
	url         string
	body        []byte
	mediaType   string // of Markdown that of the page which it means
	markdown    bool
	contentType string
	text        *webrace.Text

	values   []any // of JSON
	numbered bool  // their paths begin with their numbers
	json     []byte
	broken   error // where what follows the values is no JSON

	said     *sparql.Memory // as RDF; nil before a rule asks for it
	unsaid   error          // why it cannot be read as such
	problems []string       // which parts could not be
	triples  int

	root     *html.Node
	err      error
	parsed   bool
	quirks   bool // browsers show it in quirks mode
	elements *elements
	paths    *paths
	main     *article.Article // once a rule names the main part
}

// Open takes a document as it was extracted: its URL, empty if it has none, its body in the encoding of that name, its
// media type, and its text. The body is not changed, and must not be while the document is in use.
func Open(url string, body []byte, mediaType, charset string, text *webrace.Text) *Document {
	d := &Document{url: url, body: body, mediaType: mediaType, contentType: mediaType, text: text}
	if d.markdown = formats.Of(mediaType, "", nil) == formats.Markdown; d.markdown {
		d.mediaType = "text/html"
	}
	if charset != "" {
		d.contentType += "; charset=" + charset
	}
	if text == nil {
		d.text = &webrace.Text{}
	}
	return d
}

// Text returns the text of the whole document.
func (d *Document) Text() *webrace.Text { return d.text }

func (d *Document) isHTML() bool { return d.mediaType == "text/html" }

// isXML reports whether the document is extracted as XML.
func (d *Document) isXML() bool {
	switch d.mediaType {
	case "text/xml", "application/xml":
		return true
	}
	return strings.HasSuffix(d.mediaType, "+xml") && d.mediaType != "image/svg+xml"
}

// utf8 returns the body in UTF-8; of Markdown the page that it means.
func (d *Document) utf8() ([]byte, error) {
	text, _, err := charsets.ToUTF8(d.body, d.contentType)
	if err == nil && d.markdown {
		text, _ = formats.HTML(text, nil)
	}
	return text, err
}

// tree returns the elements of a document; nil if it is of a type that has none.
func (d *Document) tree() (*html.Node, error) {
	if d.parsed || !d.isHTML() && !d.isXML() {
		return d.root, d.err
	}
	d.parsed = true
	text, err := d.utf8()
	switch {
	case err != nil:
		d.err = err
	case d.isHTML():
		d.root, d.err = htmltree.Parse(text)
		d.quirks = inQuirksMode(text)
	default:
		d.root, d.err = htmltree.ParseXML(text)
	}
	return d.root, d.err
}

// matcher returns what matches selectors of CSS with the tree, which there is.
func (d *Document) matcher(budget *xpath.Budget) *matcher {
	if d.elements == nil {
		d.elements = number(d.root, d.isHTML(), d.quirks)
	}
	return &matcher{elements: d.elements, budget: budget, scope: -1}
}

// xpaths returns the tree, which there is, as XPath looks at it.
func (d *Document) xpaths() *paths {
	if d.paths == nil {
		d.paths = newPaths(d.root)
	}
	return d.paths
}

// nowhere is the address of a document whose links are not used.
const nowhere = "http://part.invalid/"

// render returns the text of what is marked.
func (d *Document) render(m marks, budget *xpath.Budget) (*webrace.Text, error) {
	r := &renderer{marks: m, budget: budget, xml: !d.isHTML()}
	r.html = !r.xml || d.mediaType == "application/xhtml+xml" || htmltree.IsXHTML(d.root)
	r.node(d.root, !m.chosen)
	budget.Spend(r.out.Len() / renderedBytes)
	part, err := extract.Text(r.out.Bytes(), nil, d.mediaType+"; charset=utf-8", nowhere)
	if err != nil {
		return nil, fmt.Errorf("read what was selected: %w", err)
	}
	return part.Text, nil
}
