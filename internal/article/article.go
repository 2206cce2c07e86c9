// Package article finds the main part of a page: what a reader came for, beside navigation, cookie notices, related
// links and comments; and what the page states of itself: title, author, date, language, site, lead image.
package article

import "golang.org/x/net/html"

// Article is what a page is about. What the page does not state is empty.
type Article struct {
	Title, Author, Site, Language string
	Published                     string // a date, or a date and time with zone (RFC 3339)
	Image                         string // absolute URL of the lead image

	// Main are the elements that hold the main part, in document order, none within another. It is nil if the page has
	// none (a list, a form, an app), and then all of it counts.
	Main []*html.Node

	without map[*html.Node]struct{}
}

// Find returns what the page is about whose tree htmltree.Parse made, fetched from an absolute URL.
func Find(root *html.Node, pageURL string) *Article {
	a := &Article{}
	p := newPage(root)
	p.choose(a)
	return a
}

// Without reports whether an element within Main is none of the main part, with all that is within it: share buttons,
// related links.
func (a *Article) Without(n *html.Node) bool {
	_, is := a.without[n]
	return is
}
