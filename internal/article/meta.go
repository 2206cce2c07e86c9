package article

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/visible"
)

// What a page states of itself, by the source that is believed first:
//
//  1. JSON-LD of schema.org: an article of any kind
//  2. the same of a page
//  3. OpenGraph: og:title, og:site_name, og:image, article:published_time, article:author
//  4. meta elements of Dublin Core, Highwire Press and others; link rel="image_src"; the attribute lang of html
//  5. microdata: itemprop headline, author, datePublished, dateCreated
//  6. rel="author"
//  7. what comes first: a time, what is called a date or an author; h1 and title; the first image of the main part
//  8. a day in the path of the address; the language of which the words of the main part are
//
// Of languages, those of OpenGraph and JSON-LD are believed after 4, for a template often states them.

// field is a property of an Article.
type field uint8

const (
	fieldTitle field = iota
	fieldAuthor
	fieldPublished
	fieldSite
	fieldLanguage
	fieldImage
	fields
)

// rank tells how far a source is believed: 1 is believed first, 0 is no source.
type rank uint8

const (
	ofArticle   rank = iota + 1 // JSON-LD
	ofThing                     // JSON-LD, of something else than an article
	ofGraph                     // OpenGraph
	ofMeta                      // other names of meta elements
	ofMicrodata                 // itemprop
	ofElement                   // what an element is
	ofFirst                     // what comes first
)

// metaNames are the names of meta elements, by property, name, itemprop or http-equiv.
var metaNames = map[string]struct {
	field
	rank
}{
	"og:title": {fieldTitle, ofGraph}, "twitter:title": {fieldTitle, ofMeta}, "dc.title": {fieldTitle, ofMeta},
	"citation_title": {fieldTitle, ofMeta}, "headline": {fieldTitle, ofMicrodata},
	"article:author": {fieldAuthor, ofGraph}, "author": {fieldAuthor, ofMeta}, "dc.creator": {fieldAuthor, ofMeta},
	"dcterms.creator": {fieldAuthor, ofMeta}, "citation_author": {fieldAuthor, ofMeta}, "parsely-author": {fieldAuthor, ofMeta},
	"sailthru.author": {fieldAuthor, ofMeta}, "og:article:author": {fieldAuthor, ofGraph},
	"article:published_time": {fieldPublished, ofGraph}, "og:article:published_time": {fieldPublished, ofGraph},
	"date": {fieldPublished, ofMeta}, "dc.date": {fieldPublished, ofMeta}, "dc.date.issued": {fieldPublished, ofMeta},
	"dcterms.date": {fieldPublished, ofMeta}, "dcterms.created": {fieldPublished, ofMeta}, "dcterms.issued": {fieldPublished, ofMeta},
	"citation_publication_date": {fieldPublished, ofMeta}, "citation_date": {fieldPublished, ofMeta},
	"parsely-pub-date": {fieldPublished, ofMeta}, "sailthru.date": {fieldPublished, ofMeta}, "pubdate": {fieldPublished, ofMeta},
	"publishdate": {fieldPublished, ofMeta}, "publish-date": {fieldPublished, ofMeta}, "publication_date": {fieldPublished, ofMeta},
	"datepublished": {fieldPublished, ofMicrodata}, "datecreated": {fieldPublished, ofMicrodata},
	"og:site_name": {fieldSite, ofGraph}, "application-name": {fieldSite, ofMeta},
	"og:image": {fieldImage, ofGraph}, "og:image:url": {fieldImage, ofGraph}, "og:image:secure_url": {fieldImage, ofGraph},
	"twitter:image": {fieldImage, ofMeta}, "twitter:image:src": {fieldImage, ofMeta},
	"og:locale": {fieldLanguage, ofMicrodata}, "content-language": {fieldLanguage, ofMeta}, "dc.language": {fieldLanguage, ofMeta},
}

const (
	longest     = 300 // characters of a title, name or site
	longestURL  = 2000
	mostAuthors = 10
)

// meta gathers what a page states of itself while it is read: of each field the value that is believed most.
type meta struct {
	values   [fields]string
	ranks    [fields]rank
	page     *url.URL // against which links are resolved
	heading  string   // the first h1
	document string   // the element title
	authors  int
	reads    int // elements whose text was read for a field
}

// offer takes a value of a source, if it is one and none is believed more.
func (m *meta) offer(f field, r rank, value string) {
	if m.ranks[f] != 0 && (m.ranks[f] < r || m.ranks[f] == r && f != fieldAuthor) {
		return
	}
	if value = m.read(f, value); value == "" {
		return
	}
	if f == fieldAuthor && m.ranks[f] == r { // one of several
		if m.authors < mostAuthors && !strings.Contains(m.values[f], value) {
			m.values[f] += ", " + value
			m.authors++
		}
		return
	}
	m.values[f], m.ranks[f] = value, r
	if f == fieldAuthor {
		m.authors = 1
	}
}

// wants reports whether the text of an element is read for a field: it is believed, and few were read before.
func (m *meta) wants(f field, r rank) bool {
	if m.ranks[f] != 0 && (m.ranks[f] < r || m.ranks[f] == r && f != fieldAuthor) || m.reads >= mostReads {
		return false
	}
	m.reads++
	return true
}

// mostReads bounds what is read of a page of which every element is called an author.
const mostReads = 500

// read returns the value of a field as an Article has it; empty if it is none.
func (m *meta) read(f field, value string) string {
	switch f {
	case fieldPublished:
		return readDate(value)
	case fieldLanguage:
		return readLanguage(value)
	case fieldImage:
		return m.absolute(value)
	case fieldAuthor:
		return readAuthor(value)
	}
	return visible.Line(value, longest)
}

// absolute returns the URL of what a page links to; empty if it cannot be fetched.
func (m *meta) absolute(link string) string {
	link = strings.TrimSpace(link)
	if link == "" || len(link) > longestURL {
		return ""
	}
	u, err := url.Parse(link)
	if err != nil {
		return ""
	}
	if m.page != nil {
		u = m.page.ResolveReference(u)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	if link = u.String(); len(link) > longestURL || visible.Line(link, longestURL) != link {
		return ""
	}
	return link
}

// declared reads an element that is not shown.
func (m *meta) declared(n *html.Node) {
	switch n.Data {
	case "head":
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.ElementNode {
				m.declared(c)
			}
		}
	case "meta":
		content := htmltree.Value(n.Attr, "content")
		if content == nil {
			return
		}
		for _, key := range [...]string{"property", "name", "itemprop", "http-equiv"} {
			name := htmltree.Value(n.Attr, key)
			if name == nil || len(*name) > len("og:article:published_time") {
				continue
			}
			if known, is := metaNames[strings.ToLower(*name)]; is {
				m.offer(known.field, known.rank, *content)
			}
		}
	case "link":
		if rel, href := htmltree.Value(n.Attr, "rel"), htmltree.Value(n.Attr, "href"); rel != nil && href != nil && *rel == "image_src" {
			m.offer(fieldImage, ofMeta, *href)
		}
	case "base":
		if href := htmltree.Value(n.Attr, "href"); href != nil && m.page != nil {
			if u, err := m.page.Parse(*href); err == nil {
				m.page = u
			}
		}
	case "title":
		if m.document == "" {
			m.document = visible.Line(textOf(n), longest)
		}
	case "script":
		if is := htmltree.Value(n.Attr, "type"); is != nil && strings.EqualFold(strings.TrimSpace(*is), "application/ld+json") {
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				m.linkedData(c.Data)
			}
		}
	}
}

// shown reads an element that is shown.
func (m *meta) shown(n *html.Node) {
	if n.Data == "h1" && m.heading == "" && m.reads < mostReads {
		m.reads++
		m.heading = visible.Line(textOf(n), longest)
	}
	for i := range n.Attr {
		switch a := &n.Attr[i]; a.Key {
		case "rel":
			if a.Val == "author" && m.wants(fieldAuthor, ofElement) {
				m.offer(fieldAuthor, ofElement, textOf(n))
			}
		case "lang":
			if n.Data == "html" {
				m.offer(fieldLanguage, ofMeta, a.Val)
			}
		case "itemprop":
			if known, is := metaNames[strings.ToLower(a.Val[:min(len(a.Val), longest)])]; is && known.rank >= ofMeta && m.wants(known.field, ofMicrodata) {
				m.offer(known.field, ofMicrodata, property(n))
			}
		case "datetime":
			if n.Data == "time" {
				m.offer(fieldPublished, ofFirst, a.Val)
			}
		}
	}
}

// called reads an element that is called a date or an author.
func (m *meta) called(n *html.Node, as hint) {
	if as&dated != 0 && m.wants(fieldPublished, ofFirst) {
		m.offer(fieldPublished, ofFirst, dateIn(textOf(n)))
	}
	if as&authored != 0 && m.wants(fieldAuthor, ofFirst) && m.ranks[fieldAuthor] == 0 {
		if name := visible.Line(textOf(n), longest); len(strings.Fields(name)) <= mostNames && !strings.ContainsAny(name, "0123456789.:!?@") {
			m.offer(fieldAuthor, ofFirst, name)
		}
	}
}

// mostNames are the words that what is called an author has at most, if it is a name.
const mostNames = 5

// property returns the value of an item's property: an attribute, or the name within it, or its text.
func property(n *html.Node) string {
	for _, key := range [...]string{"content", "datetime"} {
		if v := htmltree.Value(n.Attr, key); v != nil {
			return *v
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if is := htmltree.Value(c.Attr, "itemprop"); is != nil && *is == "name" {
			return property(c)
		}
	}
	return textOf(n)
}

// textOf returns the text of an element, as far as a field needs it.
func textOf(n *html.Node) string {
	var text strings.Builder
	left := 200 // nodes
	appendAll(&text, n, &left)
	return text.String()
}

func appendAll(text *strings.Builder, n *html.Node, left *int) {
	for c := n.FirstChild; c != nil && *left > 0 && text.Len() < 4*longest; c = c.NextSibling {
		*left--
		switch {
		case c.Type == html.TextNode:
			text.WriteString(c.Data[:min(len(c.Data), 4*longest)])
		case c.Type != html.ElementNode || traits[c.Data]&skipped != 0 || isPermalink(c):
		default:
			if traits[c.Data]&inline == 0 {
				text.WriteByte(' ')
			}
			appendAll(text, c, left)
		}
	}
}

// isPermalink reports whether a link leads to the heading that it stands in.
func isPermalink(n *html.Node) bool {
	class := htmltree.Value(n.Attr, "class")
	return n.Data == "a" && class != nil && (strings.Contains(*class, "headerlink") || strings.Contains(*class, "anchor"))
}
