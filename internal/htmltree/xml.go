package htmltree

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/xmltoken"
)

// ParseXML returns the tree of a document of XML, which many feeds are only nearly. So it is cut into
// tokens as pages are, which stumbles over nothing. What declares namespaces is left out.
func ParseXML(body []byte) (*html.Node, error) { return parseXML(body, false) }

// ParseXHTML returns the tree of a page of HTML that is XML, as [ParseXML] does, with what declares namespaces: it has
// the keys "xmlns:prefix", as in the trees of [Parse].
func ParseXHTML(body []byte) (*html.Node, error) { return parseXML(body, true) }

func parseXML(body []byte, declarations bool) (*html.Node, error) {
	if len(body) > MaxInput {
		return nil, ErrTooLarge
	}
	room := new(Room)
	b := newBuilder(room)
	t := newTokens(body, room)
	t.isXML, t.cdata = true, true
	t.references.XML()
	for b.nodes <= MaxNodes {
		switch t.next() {
		case noToken:
			b.flush()
			return b.root, nil
		case textToken:
			if b.root.FirstChild != nil { // otherwise it is what is left of a document type definition
				b.addText(t.text)
			}
		case startToken:
			b.push(b.xmlElement(t.raw, declarations))
			if t.selfClosing {
				b.close()
			}
			if t.selfClosing || !IsXHTML(b.root) {
				t.rawElement = ""
			}
		case endToken:
			b.endXML(t.raw)
		}
	}
	return nil, ErrTooLarge
}

// IsXHTML reports whether a document of XML is a page, and its text extracted by the rules of pages.
func IsXHTML(root *html.Node) bool {
	return root.FirstChild != nil && strings.EqualFold(root.FirstChild.Data, "html")
}

// xmlElement reads a start tag as it is written: the case of names matters.
func (b *builder) xmlElement(tag string, declarations bool) *html.Node {
	n := b.element("")
	at := 1 + strings.IndexFunc(tag[1:], endsName)
	n.Namespace, n.Data = qualified(tag[1:at])
	for at < len(tag) {
		var key, value string
		key, value, at = xmlAttribute(tag, at)
		prefix, local := qualified(key)
		switch {
		case key == "":
		case prefix == "xmlns" || prefix == "" && local == "xmlns":
			if declarations {
				n.Attr = append(n.Attr, html.Attribute{Key: key, Val: string(xmltoken.Decode([]byte(value)))})
			}
		default:
			n.Attr = append(n.Attr, html.Attribute{Namespace: prefix, Key: local, Val: string(xmltoken.Decode([]byte(value)))})
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
	last := 0
	if b.inside(local) {
		last = len(b.open) - 1
	}
	for i := last; i > 0; i-- {
		if n := b.open[i]; n.Data == local && n.Namespace == prefix {
			b.popTo(i)
			return
		}
	}
	if b.root.FirstChild != nil {
		b.stray(name, "</")
	}
}
