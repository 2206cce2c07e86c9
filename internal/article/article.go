// Package article finds the main part of a page: what a reader came for, beside navigation, cookie notices, related
// links and comments; and what the page states of itself: title, author, date, language, site, lead image.
package article

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/analyze"
	"github.com/webrace/webrace/internal/htmltree"
)

// Article is what a page is about. What the page does not state is empty. Strings are of one line of UTF-8, without
// control and format characters; title, site and each of at most ten authors have at most 300 characters, an address
// 2,000 bytes.
type Article struct {
	Title, Author, Site string
	Language            string // a tag of BCP 47; guessed if it is not stated, and clear
	Published           string // a date, or a date and time with zone (RFC 3339)
	Image               string // absolute URL of the lead image

	// Main are the elements that hold the main part, in document order, none within another. It is nil if the page has
	// none (a list, a form, an app), and then all of it counts.
	Main []*html.Node

	without map[*html.Node]struct{}
}

// Find returns what the page is about whose tree [htmltree.Parse] made, fetched from an absolute URL; it is never nil.
// Time and memory are in proportion to the tree, which is not changed.
func Find(root *html.Node, pageURL string) *Article {
	from, err := url.Parse(pageURL)
	if err != nil {
		from = nil
	}
	p := pages.Get().(*page)
	defer p.free()
	p.read(root, from)
	a := &Article{}
	p.choose(a)
	p.describe(a)
	return a
}

// describe fills in what the page states of itself.
func (p *page) describe(a *Article) {
	m := &p.meta
	if m.ranks[fieldImage] == 0 {
		m.offer(fieldImage, ofFirst, a.firstImage())
	}
	if m.ranks[fieldPublished] == 0 && m.page != nil {
		m.values[fieldPublished] = dateOfPath(m.page.Path)
	}
	a.Title = m.title()
	a.Author, a.Published, a.Site = m.values[fieldAuthor], m.values[fieldPublished], m.values[fieldSite]
	a.Image, a.Language = m.values[fieldImage], m.values[fieldLanguage]
	if a.Language == "" {
		a.Language = analyze.Detect(p.sample(a), analyze.Unknown).String()
	}
}

// title returns what the page is called. The element title often has the name of the site before or behind that, so
// that a heading, or what is stated elsewhere, is believed where it is a part of the other.
func (m *meta) title() string {
	switch {
	case m.values[fieldTitle] != "" && !strings.HasPrefix(m.values[fieldTitle], m.heading+" "): // with the site's behind it
		return m.values[fieldTitle]
	case m.heading != "" && (m.values[fieldTitle] != "" || m.document == "" || strings.Contains(strings.ToLower(m.document), strings.ToLower(m.heading))):
		return m.heading
	case m.document != "":
		return m.document
	}
	return m.heading
}

// firstImage returns the link of the first image in the main part; empty if there is none.
func (a *Article) firstImage() string {
	for _, n := range a.Main {
		if link := a.imageIn(n); link != "" {
			return link
		}
	}
	return ""
}

func (a *Article) imageIn(n *html.Node) string {
	if n.Data == "img" {
		if src := htmltree.Value(n.Attr, "src"); src != nil && !strings.HasPrefix(*src, "data:") {
			return *src
		}
		return ""
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && !a.Without(c) {
			if link := a.imageIn(c); link != "" {
				return link
			}
		}
	}
	return ""
}

// sampled is how many bytes of a text tell its language.
const sampled = 4000

// sample returns the beginning of the main part; of the page, if it has none.
func (p *page) sample(a *Article) []byte {
	text := make([]byte, 0, sampled)
	from := a.Main
	if from == nil {
		from = []*html.Node{p.elements[0].node}
	}
	for _, n := range from {
		text = a.appendSample(text, n)
	}
	return text
}

func (a *Article) appendSample(text []byte, n *html.Node) []byte {
	for c := n.FirstChild; c != nil && len(text) < sampled; c = c.NextSibling {
		switch {
		case c.Type == html.TextNode:
			text = append(text, c.Data[:min(len(c.Data), sampled)]...)
		case c.Type == html.ElementNode && traits[c.Data]&skipped == 0 && !a.Without(c):
			text = append(a.appendSample(text, c), ' ')
		}
	}
	return text
}

// Without reports whether an element within Main is none of the main part, with all that is within it: share buttons,
// related links.
func (a *Article) Without(n *html.Node) bool {
	_, is := a.without[n]
	return is
}
