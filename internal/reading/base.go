package reading

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
)

// base returns the URL against which the links of a page are resolved: that of its first element base which has one
// (HTML standard, 2.4.3), or else its own.
func base(root *html.Node, pageURL string) string {
	own, err := url.Parse(pageURL)
	if err != nil {
		return pageURL
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Data != "base" {
			continue
		}
		if ref := htmltree.Value(n.Attr, "href"); ref != nil {
			if to, err := own.Parse(strings.TrimSpace(*ref)); err == nil && (to.Scheme == "http" || to.Scheme == "https") {
				return to.String()
			}
			break
		}
	}
	return pageURL
}
