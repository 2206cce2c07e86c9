package pipelinetest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/antchfx/xmlquery"
	"github.com/antchfx/xpath"

	"github.com/webrace/webrace/internal/xpathguard"
	"github.com/webrace/webrace/pipeline"
)

// canonical is implemented by values that have a form in XML.
type canonical interface{ Canonical() []byte }

// xpaths compares what XPath expressions select in an item that is XML: in its own form, or in its body.
func (r *runner) xpaths(e pipeline.TestExpectation, it item, which string) {
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
	compiled, err := xpathguard.Compile(path)
	if err != nil {
		return "", err
	}
	err = xpathguard.Evaluate(func() {
		switch v := compiled.Evaluate(xmlquery.CreateXPathNavigator(root)).(type) {
		case *xpath.NodeIterator:
			if v.MoveNext() {
				text = v.Current().Value()
			}
		default:
			text = fmt.Sprint(v)
		}
	})
	return text, err
}
