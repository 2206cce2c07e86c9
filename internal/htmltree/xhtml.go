package htmltree

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// The namespaces of pages, and of the drawings and formulas in them.
const (
	NamespaceXHTML  = "http://www.w3.org/1999/xhtml"
	NamespaceSVG    = "http://www.w3.org/2000/svg"
	NamespaceMathML = "http://www.w3.org/1998/Math/MathML"
)

// AppendXHTML appends a page to dst as XML, for programs that read nothing else; root is a tree of [Parse]. The result
// is well-formed by XML 1.0 and by Namespaces in XML, whatever the page is, and has the same elements, attributes and
// text: the elements are in the namespaces of XHTML, SVG and MathML. What XML has no way to write is replaced: a
// character that it does not allow in a text by U+FFFD, one that it does not allow in a name by U and its code, as in
// aU00003Ab for a:b, as the HTML standard advises (13.2.9). Namespaces that the page declares for prefixes are kept,
// for the names that stand in values. Of an attribute that stands twice, the first counts. Tags that fit nowhere are
// left out.
func AppendXHTML(dst []byte, root *html.Node) []byte {
	w := xhtmlWriter{dst: dst}
	for n := root.FirstChild; n != nil; n = n.NextSibling {
		if n.Type == html.ElementNode {
			w.element(n, "")
			break
		}
	}
	return w.dst
}

type xhtmlWriter struct{ dst []byte }

// element writes an element. outer is the namespace of the one around it.
func (w *xhtmlWriter) element(n *html.Node, outer string) {
	name, space := coercedName(n.Data), namespaceOf(n, outer)
	w.dst = append(append(w.dst, '<'), name...)
	if space != outer {
		w.attribute("xmlns", space)
	}
	w.attributes(n.Attr)
	if n.FirstChild == nil {
		w.dst = append(w.dst, "/>"...)
		return
	}
	w.dst = append(w.dst, '>')
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		switch child.Type {
		case html.ElementNode:
			w.element(child, space)
		case html.TextNode:
			w.text(child.Data, false)
		}
	}
	w.dst = append(append(append(w.dst, "</"...), name...), '>')
}

// namespaceOf returns the namespace of an element: drawings and formulas have their own, and may have HTML in them.
func namespaceOf(n *html.Node, outer string) string {
	switch {
	case outer == NamespaceXHTML && n.Data == "svg":
		return NamespaceSVG
	case outer == NamespaceXHTML && n.Data == "math":
		return NamespaceMathML
	case outer == NamespaceSVG && (n.Parent.Data == "foreignobject" || n.Parent.Data == "desc" || n.Parent.Data == "title"):
		return NamespaceXHTML
	case outer == "":
		return NamespaceXHTML
	}
	return outer
}

func (w *xhtmlWriter) attributes(attrs []html.Attribute) {
	written := make(map[string]bool, len(attrs))
	for _, a := range attrs {
		name := attributeName(a)
		if name == "" || written[name] {
			continue
		}
		written[name] = true
		w.attribute(name, a.Val)
	}
}

// attributeName returns the name that an attribute of a page has in XML; empty if it has none.
func attributeName(a html.Attribute) string {
	if prefix, ok := strings.CutPrefix(a.Key, "xmlns:"); ok {
		if declarable(prefix, a.Val) {
			return a.Key
		}
		return ""
	}
	switch a.Key {
	case "", "xmlns":
		return ""
	case "xml:lang", "xml:base":
		return a.Key
	}
	return coercedName(a.Key)
}

// declarable reports whether readers of XML let a prefix stand for a namespace: some refuse one that is no URI. Those
// of XML itself are not to be declared, and none can be declared away.
func declarable(prefix, namespace string) bool {
	if prefix == "" || coercedName(prefix) != prefix || strings.HasPrefix(prefix, "xml") {
		return false
	}
	if namespace == "http://www.w3.org/XML/1998/namespace" || namespace == "http://www.w3.org/2000/xmlns/" {
		return false
	}
	u, err := url.Parse(namespace)
	return err == nil && u.Scheme != "" && strings.Trim(namespace, uriBytes) == ""
}

const uriBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?#@!$&'()*+,;=%"

// coercedName returns a name that XML allows: of letters of ASCII, digits, '-', '_' and '.', with all else as its code.
func coercedName(name string) string {
	for i := 0; i < len(name); i++ {
		if !nameByte(name[i], i == 0) {
			return coerce(name)
		}
	}
	return name
}

func coerce(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r < utf8.RuneSelf && nameByte(byte(r), i == 0) {
			b.WriteByte(byte(r))
		} else {
			fmt.Fprintf(&b, "U%06X", r)
		}
	}
	return b.String()
}

func nameByte(c byte, first bool) bool {
	switch {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_':
		return true
	}
	return !first && ('0' <= c && c <= '9' || c == '-' || c == '.')
}

func (w *xhtmlWriter) attribute(name, value string) {
	w.dst = append(append(append(w.dst, ' '), name...), `="`...)
	w.text(value, true)
	w.dst = append(w.dst, '"')
}

// text writes a text, or the value of an attribute, in which a reader of XML would take line breaks for spaces.
func (w *xhtmlWriter) text(text string, inAttribute bool) {
	for _, r := range text {
		switch {
		case r == '&':
			w.dst = append(w.dst, "&amp;"...)
		case r == '<':
			w.dst = append(w.dst, "&lt;"...)
		case r == '>':
			w.dst = append(w.dst, "&gt;"...)
		case r == '"' && inAttribute:
			w.dst = append(w.dst, "&quot;"...)
		case r == '\r' || inAttribute && (r == '\n' || r == '\t'):
			w.dst = fmt.Appendf(w.dst, "&#%d;", r)
		case r < ' ' && r != '\n' && r != '\t', r == 0xfffe, r == 0xffff:
			w.dst = utf8.AppendRune(w.dst, utf8.RuneError)
		default:
			w.dst = utf8.AppendRune(w.dst, r)
		}
	}
}
