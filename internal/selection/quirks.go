package selection

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// longestDoctype is as much of a document type as is looked at; none is longer than 128 bytes.
const longestDoctype = 1024

// inQuirksMode reports whether browsers show a page in quirks mode, where the case of ids and classes does not matter:
// without a document type, or with one of an old page.
func inQuirksMode(page []byte) bool {
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		switch z.Next() {
		case html.DoctypeToken:
			return isQuirky(string(z.Text()))
		case html.CommentToken:
		case html.TextToken:
			if len(bytes.TrimSpace(z.Text())) > 0 {
				return true
			}
		default:
			return true
		}
	}
}

// isQuirky asks the library's parser, which has the standard's list of document types and does not tell what it found;
// but it shows: only in quirks mode, a table does not end a paragraph.
func isQuirky(doctype string) bool {
	doctype = strings.TrimSpace(strings.ToLower(doctype)) // as its tokenizer should have done with the name
	if len(doctype) > longestDoctype || doctype == "html" {
		return doctype != "html"
	}
	root, err := html.Parse(strings.NewReader("<!doctype " + doctype + "><p><table>"))
	if err != nil {
		return true
	}
	for n := range root.Descendants() {
		if n.Data == "table" && n.Type == html.ElementNode {
			return n.Parent.Data == "p"
		}
	}
	return true
}
