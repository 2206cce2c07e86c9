package htmltree

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification makes trees of constructs that a page leaves something out of, which the tree has, or that are
// looked for among all that is open; and XML of these.
func TestAmplification(t *testing.T) {
	repeated, times := testutil.Repeated, strings.Repeat
	page := func(body []byte) (root *html.Node, err error) {
		if root, err = Parse(body); err == nil {
			AppendXHTML(nil, root)
		}
		return root, err
	}
	formatting := times("<b><i><u><s><tt>", 100)
	for _, c := range []struct {
		parse func([]byte) (*html.Node, error)
		testutil.Construct
	}{
		{page, repeated("elements with texts", "", "a<b>", "")},
		{page, repeated("elements in elements", "", "<div>", "")},
		{page, repeated("cells without rows", "", "<table><td>", "")},
		{page, repeated("cells", "<table>", "<td>", "")},
		{page, repeated("lines of cells", "<table>", "<tr><td>", "")},
		{page, repeated("tables in cells", "", "<table><tr><td>", "")},
		{page, repeated("items", "<ul>", "<li>", "")},
		{page, repeated("items in deep formatting", "<li>"+formatting, "<li>", "")},
		{page, repeated("items behind deep formatting", formatting, "<li>", "")},
		{page, repeated("ends of what is not open, in deep elements", times("<div>", 500), "</x>", "")},
		{page, repeated("links that do not end, in formatting", "<a>"+formatting, "<a>", "")},
		{page, repeated("paragraphs in formatting", formatting, "<p>", "")},
		{page, repeated("elements of drawings", "<svg>", "<a>", "")},
		{page, repeated("drawings in drawings", "", "<svg><title>", "")},
		{page, repeated("elements in deep drawings", "<svg>"+times("<g>", 500), "<a/>", "")},
		{page, repeated("attributes", "<p", " a%d", ">")},
		{page, repeated("attributes of elements", "", "<b a b c d e>", "")},
		{page, repeated("attributes of body", "<body>", "<body a%d>", "")},
		{page, repeated("attributes of html", "<html>", "<html a%d>", "")},
		{page, repeated("attributes of formatting that goes on", "<a><b"+times(" a=b", 50)+">", "<a>", "")},
		{page, repeated("names that XML has not", "", "<a\x01=\x02>", "")},
		{page, repeated("characters that XML writes longer", `<p a="`, "&quot;\n", `">`)},
		{page, repeated("namespaces", "<p", " xmlns:a%d=u:b", ">")},
		{page, repeated("texts between comments", "", "a<!-->", "")},
		{page, repeated("NUL", "", "\x00a", "")},
		{page, repeated("options", "<select>", "<option>", "")},
		{ParseXML, repeated("elements of XML", "<a>", "a<b/>", "</a>")},
		{ParseXML, repeated("attributes of XML", "<a", ` a%d=""`, "/>")},
		{ParseXML, repeated("attributes of elements of XML", "<a>", `<a b="" c="" d=""/>`, "</a>")},
		{ParseXML, repeated("elements in elements of XML", "", "<a>", "")},
		{ParseXML, repeated("ends of what is not open, in deep XML", times("<a><b:c>", 250), "</c>", "")},
		{ParseXML, repeated("sections", "<a>", "<![CDATA[a]]>", "</a>")},
		{ParseXML, repeated("references", "<a>", "&lt;", "</a>")},
		{ParseXHTML, repeated("namespaces of XML", "<html", ` xmlns:a%d=""`, "/>")},
	} {
		testutil.Amplify(t, c.Construct, func(body []byte) bool {
			_, err := c.parse(body)
			return err != nil
		})
	}
}
