package markdown

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/urlnorm"
)

// resolver makes the addresses of links absolute. Those that it returns have no character that ends a link in
// Markdown, or means anything there, but for parentheses, vertical bars, backslashes and ampersands, which are
// escaped as they are written.
type resolver struct {
	base        *urlnorm.Base // nil if there is none
	last, found string        // the address that was resolved last, and what it means
	made        int           // bytes of the addresses that were made absolute
}

// BaseOf returns the address against which the links of a page are resolved: what the page declares, or else its own.
func BaseOf(root *html.Node, pageURL string) string {
	base, err := urlnorm.NewBase(pageURL)
	if err != nil {
		return pageURL
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "body" {
			break
		}
		if n.Type == html.ElementNode && n.Data == "base" {
			if href := attribute(n, "href"); href != "" {
				if rebased, err := base.Rebase([]byte(href)); err == nil {
					return rebased.String()
				}
				break
			}
		}
	}
	return pageURL
}

// resolve returns the absolute address that a link of the page means; "" if there is none that Markdown may lead to.
func (r *resolver) resolve(href string) string {
	if href == "" && r.base == nil || len(href) > urlnorm.MaxLength {
		return ""
	}
	if href == r.last && href != "" {
		return r.found
	}
	if r.made > MaxOutput { // a long base makes every address long
		return ""
	}
	r.last, r.found = href, r.absolute(strings.Trim(href, " \t\r\n\f"))
	r.made += len(r.found)
	return r.found
}

func (r *resolver) absolute(href string) string {
	if scheme, rest, ok := strings.Cut(href, ":"); ok && otherSchemes[strings.ToLower(scheme)] {
		if rest = encode(rest); rest == "" {
			return ""
		}
		return strings.ToLower(scheme) + ":" + rest
	}
	href, fragment, _ := strings.Cut(href, "#")
	address, err := "", error(nil)
	if r.base != nil {
		address, err = r.base.Resolve([]byte(href))
	} else {
		address, err = urlnorm.Parse(href)
	}
	if err != nil {
		return ""
	}
	address = encode(address)
	if fragment = encode(fragment); fragment != "" {
		address += "#" + fragment
	}
	return address
}

// otherSchemes are those that lead somewhere without a web, and do nothing by themselves.
var otherSchemes = map[string]bool{"mailto": true, "tel": true, "news": true, "nntp": true, "ftp": true}

// encode percent-encodes what an address must not have where it is written in Markdown.
func encode(s string) string {
	const hex = "0123456789ABCDEF"
	at := strings.IndexFunc(s, isUnsafe)
	if at < 0 {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:at])
	for _, c := range []byte(s[at:]) {
		if isUnsafe(rune(c)) {
			b.WriteString(string([]byte{'%', hex[c>>4], hex[c&15]}))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isUnsafe(r rune) bool {
	return r <= ' ' || r >= 0x7F || r == '<' || r == '>' || r == '"' || r == '`'
}

// lazy are the attributes in which pages keep the address of an image until a script shows it.
var lazy = []string{"src", "data-src", "data-original", "data-lazy-src"}

// resolveImage returns the address of an image; "" if it has none that Markdown may name.
func (r *resolver) resolveImage(n *html.Node) string {
	for _, name := range lazy {
		src := attribute(n, name)
		if src == "" {
			continue
		}
		if address := r.resolve(src); strings.HasPrefix(address, "http") {
			return address
		}
	}
	return ""
}

// appendDestination appends an address as it is written behind the text of a link.
func appendDestination(dst []byte, address string) []byte {
	for i := range len(address) {
		switch c := address[i]; c {
		case '(', ')', '|', '\\':
			dst = append(dst, '\\', c)
		case '&':
			dst = append(dst, '&')
			if isReference(address[i+1:], lineEnd) {
				dst = append(dst, "amp;"...)
			}
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
