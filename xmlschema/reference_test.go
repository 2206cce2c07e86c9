package xmlschema

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/antchfx/xmlquery"
	antchfx "github.com/antchfx/xpath"

	"github.com/webrace/webrace/internal/xpath"
)

// parseDOM builds the tree of the reference implementation, without what the XPath data model does not
// have: the XML declaration and namespace declarations.
func parseDOM(document []byte) (*xmlquery.Node, error) {
	root, err := xmlquery.Parse(bytes.NewReader(document))
	if err != nil {
		return nil, err
	}
	var clean func(*xmlquery.Node)
	clean = func(n *xmlquery.Node) {
		n.Attr = slices.DeleteFunc(n.Attr, func(a xmlquery.Attr) bool {
			return a.Name.Space == "xmlns" || a.Name.Space == "" && a.Name.Local == "xmlns"
		})
		for kid := n.FirstChild; kid != nil; {
			next := kid.NextSibling
			if kid.Type == xmlquery.DeclarationNode {
				xmlquery.RemoveFromTree(kid)
			} else {
				clean(kid)
			}
			kid = next
		}
	}
	clean(root)
	return root, nil
}

// chosen describes every node that an expression gives of a table, or the value it is.
func chosen(t testing.TB, expression string, tableBytes []byte) string {
	t.Helper()
	opened, err := openTable(tableBytes)
	if err != nil {
		t.Fatal(err)
	}
	x, err := xpath.Compile(expression)
	if err != nil {
		t.Fatal(err)
	}
	e := &evaluation{t: opened}
	tree, budget := e.grow(), &xpath.Budget{Context: context.Background(), Left: 1 << 30}
	values := x.Values(tree, 0, budget)
	if x.Type() != xpath.NodeSet {
		return values[0]
	}
	var b strings.Builder
	for i, n := range x.Nodes(tree, 0, budget) {
		name := ""
		if kind := tree.Kind(n); kind == xpath.Element || kind == xpath.Attribute {
			prefix, local := e.Name(n.Number(), n.Attribute())
			name = prefix + ":" + local
		}
		fmt.Fprintf(&b, "%d %s=%q\n", tree.Kind(n), name, values[i])
	}
	return b.String()
}

// selected describes every node of a result of the library's, or the value it is.
func selected(expression string, root antchfx.NodeNavigator) string {
	switch v := antchfx.MustCompile(expression).Evaluate(root).(type) {
	case *antchfx.NodeIterator:
		var b strings.Builder
		for v.MoveNext() {
			n := v.Current()
			name := ""
			if kind := n.NodeType(); kind == antchfx.ElementNode || kind == antchfx.AttributeNode {
				name = n.Prefix() + ":" + n.LocalName() // the reference also calls text by its value
			}
			fmt.Fprintf(&b, "%d %s=%q\n", n.NodeType(), name, n.Value())
		}
		return b.String()
	default:
		return fmt.Sprintf("%v", v)
	}
}

// distinctLines puts the lines of a description in order, each once: the library gives nodes twice, or in another order
// than the document's.
func distinctLines(description string) string {
	lines := strings.SplitAfter(description, "\n")
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "")
}

// unlikeReference reports whether a document has what the reference treats differently from the XPath
// data model: CDATA sections and processing instructions as nodes of their own, blank text skipped on
// some axes, and prefixes told from namespaces.
func unlikeReference(document []byte) bool {
	s := string(document)
	if strings.Contains(s, "<!") || strings.Contains(s, "<?") || strings.Contains(s, "xmlns") || strings.Contains(s, ":") {
		return true
	}
	for i, part := range strings.SplitAfter(s, ">") {
		if before, _, ok := strings.Cut(part, "<"); ok && i > 0 && before != "" && isBlankText(before) {
			return true
		}
	}
	return strings.Contains(s, "&#")
}

func withoutBlankText(document string) string {
	var b strings.Builder
	for i, part := range strings.SplitAfter(document, ">") {
		if before, markup, ok := strings.Cut(part, "<"); ok && i > 0 && isBlankText(before) {
			part = "<" + markup
		}
		b.WriteString(part)
	}
	return b.String()
}

func isBlankText(s string) bool {
	return strings.TrimSpace(strings.NewReplacer("&#xD;", "", "&#xA;", "", "&#x9;", "").Replace(s)) == ""
}
