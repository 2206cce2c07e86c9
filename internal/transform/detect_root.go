package transform

import (
	"bytes"
	"strings"

	"github.com/webrace/webrace/internal/htmltext"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/xmltoken"
)

const (
	nsXHTML    = "http://www.w3.org/1999/xhtml"
	nsAtom     = "http://www.w3.org/2005/Atom"
	nsAtomOld  = "http://purl.org/atom/ns#"
	nsSVG      = "http://www.w3.org/2000/svg"
	nsRSSOwn   = "http://backend.userland.com/" // RSS 2.0 had such for a time, and has none
	typeSVG    = "image/svg+xml"
	docTypeTag = "!DOCTYPE"
)

// rootHead is how much of a document is looked at for its root: what stands before may have entities.
const rootHead = 64 << 10

// Root returns the namespace and the name of the element that a document of XML in an encoding like ASCII begins with,
// as far as it begins like one. Bytes are scanned, nothing is parsed.
func Root(body []byte) (namespace, name string) {
	body = bytes.TrimPrefix(body[:min(len(body), rootHead)], []byte("\xef\xbb\xbf"))
	for {
		body = bytes.TrimLeft(body, white)
		switch {
		case len(body) < 2 || body[0] != '<':
			return "", ""
		case body[1] == '?':
			body = behind(body, "?>")
		case bytes.HasPrefix(body, []byte("<!--")):
			body = behind(body[4:], "-->")
		case body[1] == '!':
			_, body = docType(body[1:])
		default:
			name, space, _ := root(body)
			return string(xmltoken.Decode([]byte(space))), name
		}
	}
}

// rootSign knows documents of XML and HTML by their root.
func rootSign(body []byte, cut bool, header string) string {
	declared := bytes.HasPrefix(body, []byte("<?xml")) // an XML declaration
	for {
		body = bytes.TrimLeft(body, white)
		switch {
		case len(body) < 2 || body[0] != '<':
			return ""
		case body[1] == '?':
			body = behind(body, "?>")
		case bytes.HasPrefix(body, []byte("<!--")):
			body = behind(body[4:], "-->")
		case body[1] == '!':
			name, rest := docType(body[1:])
			if strings.EqualFold(name, "html") {
				return htmlSign(header, declared && bytes.Contains(rest[:min(len(rest), head)], []byte(nsXHTML)))
			}
			if rest == nil { // its internal subset is longer than what is looked at
				return typeOfRoot(local(name), "", true, header, declared)
			}
			body = rest
		default:
			name, space, whole := root(body)
			return typeOfRoot(name, space, !whole && cut, header, declared)
		}
	}
}

func behind(body []byte, end string) []byte {
	_, rest, _ := bytes.Cut(body, []byte(end))
	return rest
}

// docType returns the name in a document type declaration, and what follows it; nil if that is not there.
func docType(body []byte) (name string, rest []byte) {
	if len(body) < len(docTypeTag) || !bytes.EqualFold(body[:len(docTypeTag)], []byte(docTypeTag)) {
		return "", behind(body, ">")
	}
	body = bytes.TrimLeft(body[len(docTypeTag):], white)
	end := bytes.IndexAny(body, white+"[>")
	if end < 0 {
		return string(body), nil
	}
	name = string(body[:end])
	bracket, close := bytes.IndexByte(body, '['), bytes.IndexByte(body, '>')
	if bracket >= 0 && bracket < close {
		body = behind(body[bracket:], "]")
	}
	if body = behind(body, ">"); len(body) == 0 {
		return name, nil
	}
	return name, body
}

// root returns the local name of the element that a document begins with, and its namespace; and whether its start tag
// is all there.
func root(body []byte) (name, space string, whole bool) {
	end := htmltext.NameEnd(body, len("<"))
	qualified := string(body[1:end])
	declaration := "xmlns"
	if prefix, _, ok := strings.Cut(qualified, ":"); ok {
		declaration += ":" + prefix
	}
	for at := end; ; {
		key, value, next, _ := htmltext.NextAttribute(body, at)
		if key == nil {
			return local(qualified), space, next >= 0
		}
		if string(key) == declaration {
			space = string(value)
		}
		at = next
	}
}

// local returns a name without its prefix.
func local(name string) string { return name[strings.IndexByte(name, ':')+1:] }

// typeOfRoot returns what a document is by its root; empty if that tells nothing. Where the start tag is cut, the
// namespace may be missing.
func typeOfRoot(name, space string, cut bool, header string, declared bool) string {
	unknown := cut && space == ""
	switch {
	case name == "RDF" && (space == rdf.NS || unknown || space != "" && strings.HasPrefix(space, "&")): // an entity
		return string(rdf.RDFXML)
	case name == "rss" && (space == "" || strings.HasPrefix(space, nsRSSOwn)):
		return typeRSS
	case name == "feed" && (space == nsAtom || space == nsAtomOld || unknown):
		return typeAtom
	case name == "svg" && space == nsSVG:
		return typeSVG
	case strings.EqualFold(name, "html"):
		return htmlSign(header, space == nsXHTML && declared)
	case declared && (header == typeHTML || header == typeText || header == ""):
		return typeXML
	case header == "" && elements[strings.ToLower(name)]:
		return typeHTML
	}
	return ""
}

// htmlSign returns the type of a page: what the header names, if that is one of the two, since pages that begin as XML
// are mostly none.
func htmlSign(header string, isXML bool) string {
	if header == typeXHTML || isXML && header != typeHTML {
		return typeXHTML
	}
	return typeHTML
}

// elements are those that pages begin with which leave out their root.
var elements = map[string]bool{
	"head": true, "body": true, "title": true, "meta": true, "link": true, "script": true, "style": true, "div": true, "p": true, "h1": true,
	"table": true, "a": true, "b": true, "br": true, "font": true, "iframe": true, "article": true, "section": true, "header": true,
	"main": true, "nav": true, "span": true, "ul": true,
}
