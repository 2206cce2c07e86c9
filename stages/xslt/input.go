package xslt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"strings"

	"github.com/lestrrat-go/helium"
	"github.com/lestrrat-go/helium/sax"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/charsets"
	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/transform"
	"github.com/webrace/webrace/internal/xmltoken"
)

const (
	typeHTML  = "text/html"
	typeXHTML = "application/xhtml+xml"
)

// input is a document that may be given to a stylesheet.
type input struct {
	document *webrace.Document
	rootOnce string // "" before it is known

	url, contentType, mediaType string
	body                        []byte
}

func newInput(d *webrace.Document) *input {
	contentType := d.MediaType
	if sent := d.Header.Get("Content-Type"); sent != "" {
		if mediaType, _, _ := mime.ParseMediaType(sent); d.MediaType == "" || mediaType == d.MediaType {
			contentType = sent
		}
	}
	mediaType, _, _ := mime.ParseMediaType(contentType)
	return &input{document: d, url: d.URL, contentType: contentType, mediaType: cmp.Or(d.MediaType, mediaType), body: d.Body}
}

// copied returns an input with a body of its own: a transformation that is left behind outlives the item, and with that
// the body of its document.
func (in *input) copied() *input {
	work := *in
	work.document, work.body = nil, bytes.Clone(in.body)
	return &work
}

// isMarkup reports whether it is XML or HTML.
func (in *input) isMarkup() bool {
	switch in.mediaType {
	case typeHTML, "application/xml", "text/xml":
		return true
	}
	return strings.HasSuffix(in.mediaType, "+xml")
}

// root returns the root element as rules name it.
func (in *input) root() string {
	if in.rootOnce == "" {
		namespace, name := htmltree.NamespaceXHTML, "html"
		if in.mediaType != typeHTML {
			namespace, name = transform.Root(in.body)
		}
		in.rootOnce = name
		if namespace != "" {
			in.rootOnce = "{" + namespace + "}" + name
		}
	}
	return in.rootOnce
}

// malformedError is the error of a document that has no tree.
type malformedError struct{ err error }

func (e *malformedError) Error() string { return e.err.Error() }

// parse makes the tree of the document. Its error is a [*malformedError], or [errNodes].
func (in *input) parse(ctx context.Context) (*helium.Document, error) {
	text, _, err := charsets.ToUTF8(in.body, in.contentType)
	if err != nil {
		return nil, &malformedError{err}
	}
	if in.mediaType == typeHTML {
		return in.parseHTML(ctx, text)
	}
	tree, err := in.parseXML(ctx, text, maxDepth)
	if err != nil && in.mediaType == typeXHTML { // as browsers show it that were sent it as HTML
		if page, err := in.parseHTML(ctx, text); err == nil {
			return page, nil
		}
	}
	return tree, err
}

func (in *input) parseHTML(ctx context.Context, text []byte) (*helium.Document, error) {
	root, err := htmltree.Parse(text)
	if err != nil {
		return nil, &malformedError{err}
	}
	return in.parseXML(ctx, htmltree.AppendXHTML(make([]byte, 0, len(text)+len(text)/8), root), htmltree.MaxDepth+1)
}

// maxDepth is how deep the elements of a document of XML may nest.
const maxDepth = 256

// parseXML makes the tree of XML in UTF-8, whatever encoding it declares. Entities of its own are resolved, as far as
// they make no bomb of it; those of other files are left out, as are other documents.
func (in *input) parseXML(ctx context.Context, text []byte, depth int) (*helium.Document, error) {
	if err := (xmltoken.Bounds{Depth: len(text), Attributes: mostAttributes, Elements: len(text)}).Check(text); err != nil {
		return nil, fmt.Errorf("%w: %w", errNodes, err)
	}
	parser := helium.NewParser().SubstituteEntities(true).MergeCDATA(true).IgnoreEncoding(true).MaxDepth(depth).BaseURI(in.url).
		SuppressErrors(true).SuppressWarnings(true).
		SAXHandler(&builder{TreeBuilder: helium.NewTreeBuilder(), left: mostNodes * max(len(text)>>20, 1)})
	tree, err := parser.Parse(ctx, text)
	if errors.Is(err, errNodes) {
		return nil, errNodes
	}
	if err != nil {
		return nil, &malformedError{placed(err)}
	}
	forgetSchemas(tree)
	return tree, nil
}

const (
	// mostNodes are as many as a document of a megabyte may have, and a larger one a megabyte: each takes some 500 bytes,
	// in the tree and in the result. Deep ones count more often: the library looks for a node among those around it.
	mostNodes = 1 << 17
	asDeep    = 32
	// mostAttributes are as many as an element may have: each is compared with those before.
	mostAttributes = 256
)

// errNodes is the error of a document that has more nodes than its tree may.
var errNodes = errors.New("the document has too many nodes to be transformed")

// builder makes a tree, and counts its nodes while they are made: entities may make more than is written.
type builder struct {
	*helium.TreeBuilder
	left  int
	depth int
	text  bool // was made last: what follows is of the same node
}

func (b *builder) spend(nodes int) error {
	b.text = false
	if b.left -= nodes * (1 + b.depth/asDeep); b.left < 0 {
		return errNodes
	}
	return nil
}

func (b *builder) StartElementNS(ctx context.Context, name, prefix, uri string, namespaces []sax.Namespace, attributes []sax.Attribute) error {
	b.depth++
	if err := b.spend(1 + len(namespaces) + len(attributes)); err != nil {
		return err
	}
	return b.TreeBuilder.StartElementNS(ctx, name, prefix, uri, namespaces, attributes)
}

func (b *builder) EndElementNS(ctx context.Context, name, prefix, uri string) error {
	b.depth--
	b.text = false
	return b.TreeBuilder.EndElementNS(ctx, name, prefix, uri)
}

func (b *builder) Characters(ctx context.Context, text []byte) error {
	if !b.text {
		if err := b.spend(1); err != nil {
			return err
		}
		b.text = true
	}
	return b.TreeBuilder.Characters(ctx, text)
}

func (b *builder) Comment(ctx context.Context, text []byte) error {
	if err := b.spend(1); err != nil {
		return err
	}
	return b.TreeBuilder.Comment(ctx, text)
}

func (b *builder) ProcessingInstruction(ctx context.Context, target, data string) error {
	if err := b.spend(1); err != nil {
		return err
	}
	return b.TreeBuilder.ProcessingInstruction(ctx, target, data)
}

const nsXSI = "http://www.w3.org/2001/XMLSchema-instance"

// forgetSchemas takes off the root which schemas the document asks to be read: the library would look for them before
// anything else, and give the document up where it finds none.
func forgetSchemas(tree *helium.Document) {
	if root := tree.DocumentElement(); root != nil {
		root.RemoveAttributeNS("schemaLocation", nsXSI)
		root.RemoveAttributeNS("noNamespaceSchemaLocation", nsXSI)
	}
}

// placed is an error of the parser as other readers of this program write it, without the text around it.
func placed(err error) error {
	var at helium.ErrParseError
	if errors.As(err, &at) {
		return fmt.Errorf("line %d, column %d: %w", at.LineNumber, at.Column, at.Err)
	}
	return err
}
