package pipelinetest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/antchfx/xmlquery"

	"github.com/webrace/webrace/internal/xpath"
	"github.com/webrace/webrace/pipeline/config"
)

// canonical is implemented by values that have a form in XML.
type canonical interface{ Canonical() []byte }

// xpaths compares what XPath expressions select in an item that is XML: in its own form, or in its body.
func (r *runner) xpaths(e config.TestExpectation, it item, which string) {
	if len(e.XPath) == 0 {
		return
	}
	var text []byte
	if c, ok := it.value.(canonical); ok {
		text = c.Canonical()
	} else if body, ok := it.fields["body"].(string); ok {
		text = []byte(body)
	}
	root, err := xmlquery.Parse(bytes.NewReader(text))
	if err != nil || len(text) == 0 {
		r.fail(e.At, "xpath", "%s from %s is no XML: %v", which, e.From, err)
		return
	}
	for _, path := range slices.Sorted(maps.Keys(e.XPath)) {
		got, err := selected(root, path)
		switch want := fmt.Sprint(e.XPath[path]); {
		case err != nil:
			r.fail(e.At, "xpath."+path, "XPath %s: %v", path, err)
		case got != want:
			r.fail(e.At, "xpath."+path, "%s from %s: %s is not as expected", which, e.From, path).Detail = difference(want, got)
		}
	}
}

// selected returns what an expression gives, as text: of nodes, that of the first.
func selected(root *xmlquery.Node, path string) (text string, err error) {
	compiled, err := xpath.Compile(path)
	if err != nil {
		return "", err
	}
	err = xpath.Evaluate(func() {
		budget := &xpath.Budget{Context: context.Background(), Left: maxSteps}
		if values := compiled.Values(newNodes(root), 0, budget); len(values) > 0 {
			text = values[0]
		}
	})
	return text, err
}

// maxSteps is how many nodes an expression may look at.
const maxSteps = 1 << 24

// nodes is those of a document as XPath looks at them.
type nodes []*xmlquery.Node

func newNodes(root *xmlquery.Node) *xpath.Tree {
	t := &xpath.Tree{}
	t.Reset(1)
	s := nodes{root}
	var add func(n *xmlquery.Node, parent int32)
	add = func(n *xmlquery.Node, parent int32) {
		for kid := n.FirstChild; kid != nil; kid = kid.NextSibling {
			kind := xpath.Element
			switch kid.Type {
			case xmlquery.ElementNode:
			case xmlquery.TextNode, xmlquery.CharDataNode:
				if kind = xpath.Text; parent == 0 {
					continue // white space around the document's element is no node
				}
			case xmlquery.CommentNode:
				kind = xpath.Comment
			default:
				continue // XPath knows no declarations
			}
			s = append(s, kid)
			add(kid, t.Add(kind, parent))
		}
	}
	add(root, 0)
	t.Done()
	t.Source = s
	return t
}

func (s nodes) Name(number, attribute int32) (prefix, local string) {
	if attribute >= 0 {
		name := s.attributes(number)[attribute].Name
		return name.Space, name.Local
	}
	return s[number].Prefix, s[number].Data
}

func (s nodes) Space(number, attribute int32) string {
	if attribute >= 0 {
		return s.attributes(number)[attribute].NamespaceURI
	}
	return s[number].NamespaceURI
}

func (s nodes) Text(number, attribute int32) string {
	if attribute >= 0 {
		return s.attributes(number)[attribute].Value
	}
	return s[number].Data
}

func (s nodes) Attributes(number int32) int32 { return int32(len(s.attributes(number))) }

// attributes returns those of an element, which the declarations of namespaces are not.
func (s nodes) attributes(number int32) []xmlquery.Attr {
	isDeclaration := func(a xmlquery.Attr) bool {
		return a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns"
	}
	attributes := s[number].Attr
	if !slices.ContainsFunc(attributes, isDeclaration) {
		return attributes
	}
	return slices.DeleteFunc(slices.Clone(attributes), isDeclaration)
}
