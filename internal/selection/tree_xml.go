package selection

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// parseXML returns the tree of a document of XML, which many feeds are only nearly. So it is read by the
// tokenizer that their text is extracted with, which stumbles over nothing.
func parseXML(body []byte) (*html.Node, error) {
	if len(body) > MaxInput {
		return nil, ErrTooLarge
	}
	b := newBuilder()
	z := html.NewTokenizer(bytes.NewReader(body))
	z.AllowCDATA(true)
	for b.nodes <= maxNodes {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			b.flush()
			return b.root, nil
		case html.TextToken:
			if b.root.FirstChild != nil { // otherwise it is what is left of a document type definition
				b.text = append(b.text, xmlText(z)...)
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			b.push(xmlElement(string(z.Raw())))
			if kind == html.SelfClosingTagToken {
				b.close()
			}
			if kind == html.SelfClosingTagToken || !isXHTML(b.root) {
				z.NextIsNotRawText()
			}
		case html.EndTagToken:
			b.endXML(string(z.Raw()))
		}
	}
	return nil, ErrTooLarge
}

// isXHTML reports whether a document of XML is a page, and its text extracted by the rules of pages.
func isXHTML(root *html.Node) bool {
	return root.FirstChild != nil && strings.EqualFold(root.FirstChild.Data, "html")
}

func xmlText(z *html.Tokenizer) []byte {
	if section, ok := bytes.CutPrefix(z.Raw(), []byte("<![CDATA[")); ok {
		return bytes.TrimSuffix(section, []byte("]]>"))
	}
	return z.Text()
}

// xmlElement reads a start tag again as it is written: the tokenizer lowers the case of names.
func xmlElement(tag string) *html.Node {
	n := &html.Node{Type: html.ElementNode}
	at := 1 + strings.IndexFunc(tag[1:]+">", endsName)
	n.Namespace, n.Data = qualified(tag[1:at])
	for at < len(tag) {
		var key, value string
		key, value, at = xmlAttribute(tag, at)
		prefix, local := qualified(key)
		if key != "" && prefix != "xmlns" && (prefix != "" || local != "xmlns") {
			n.Attr = append(n.Attr, html.Attribute{Namespace: prefix, Key: local, Val: html.UnescapeString(value)})
		}
	}
	return n
}

func endsName(r rune) bool { return strings.ContainsRune(" \t\n\r\f/>", r) }

// xmlAttribute reads the attribute from at on, and returns where it ends; the key is empty where none is.
func xmlAttribute(tag string, at int) (key, value string, end int) {
	start := at
	for at < len(tag) && !endsName(rune(tag[at])) && (tag[at] != '=' || at == start) {
		at++
	}
	if key = tag[start:at]; key == "" {
		return "", "", at + 1
	}
	rest := strings.TrimLeft(tag[at:], space)
	if !strings.HasPrefix(rest, "=") {
		return key, "", at
	}
	rest = strings.TrimLeft(rest[1:], space)
	at = len(tag) - len(rest)
	length := 0
	if strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, "'") {
		at++
		length = strings.IndexByte(rest[1:], rest[0])
	} else {
		length = strings.IndexAny(rest, space+">")
	}
	if length < 0 {
		length = len(tag) - at
	}
	return key, tag[at : at+length], at + length + 1
}

const space = " \t\n\r\f"

func qualified(name string) (prefix, local string) {
	if prefix, local, ok := strings.Cut(name, ":"); ok {
		return prefix, local
	}
	return "", name
}

func (b *builder) endXML(tag string) {
	if b.beyond > 0 {
		b.beyond--
		return
	}
	name := tag[len("</"):]
	name = name[:strings.IndexFunc(name+">", endsName)]
	prefix, local := qualified(name)
	for i := len(b.open) - 1; i > 0 && b.inside(local); i-- {
		if n := b.open[i]; n.Data == local && n.Namespace == prefix {
			b.popTo(i)
			return
		}
	}
	if b.root.FirstChild != nil {
		b.stray(name, "</")
	}
}
