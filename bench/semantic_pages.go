package main

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// semanticPage is a page with structured data.
type semanticPage struct {
	url   string
	body  []byte
	says  []saying // all that was put into it
	in    []saying // of it, what a stylesheet can read: all but the JSON-LD, which is text to it
	files string   // where it lies, for programs
}

// saying is a property, by the end of its name, and its text.
type saying struct{ property, text string }

// documentationPages are pages of Debian's documentation, as they are.
func (s *semanticBench) documentationPages(most int) [][]byte {
	var c corpus
	if err := c.readDocumentation(s.bench, most); err != nil {
		s.note("semantic: %v", err)
	}
	return c.pages
}

// structuredPages makes pages of documentation into pages with structured data: no package of Debian brings any. What
// is put in is the same each time.
func (s *semanticBench) structuredPages(most int) (pages []*semanticPage) {
	for i, page := range s.documentationPages(most) {
		if p := structured(page, i); p != nil {
			pages = append(pages, p)
		}
	}
	return pages
}

// structured puts Open Graph and JSON-LD into the head of a page, and Microdata and RDFa to the end of its body, as
// shops and publishers have them. It returns nil for what is no whole page.
func structured(page []byte, i int) *semanticPage {
	head, body := bytes.Index(page, []byte("</head>")), bytes.LastIndex(page, []byte("</body>"))
	if head < 0 || body < head {
		return nil
	}
	title := fmt.Sprintf("Chapter %d: %s", i, titleOf(page[:head]))
	p := &semanticPage{url: fmt.Sprintf("https://docs.example/page%d.html", i)}
	say := func(stylesheet bool, property, text string) string {
		p.says = append(p.says, saying{property, text})
		if stylesheet {
			p.in = append(p.in, p.says[len(p.says)-1])
		}
		return html.EscapeString(text)
	}
	var b bytes.Buffer
	b.Write(page[:head])
	fmt.Fprintf(&b, `<meta property="og:title" content="%s"/><meta property="og:type" content="%s"/><meta property="og:description" content="%s"/>`,
		say(true, "title", title), say(true, "type", "article"), say(true, "description", fmt.Sprintf("What chapter %d is about", i)))
	fmt.Fprintf(&b, `<script type="application/ld+json">{"@context": "https://schema.org", "@type": "TechArticle", "headline": "Headline %d",`+
		`"wordCount": %d, "author": {"@type": "Organization", "legalName": "Authors of chapter %d"},`+
		`"isPartOf": {"@type": "Book", "bookEdition": "Edition %d"}}</script>`, i, len(page), i, i%9)
	say(false, "headline", fmt.Sprint("Headline ", i))
	say(false, "wordCount", fmt.Sprint(len(page)))
	say(false, "legalName", fmt.Sprint("Authors of chapter ", i))
	say(false, "bookEdition", fmt.Sprint("Edition ", i%9))
	b.Write(page[head:body])
	fmt.Fprintf(&b, `<div itemscope="" itemid="#book" itemtype="http://schema.org/Product"><p itemprop="name">%s</p><div itemprop="offers" itemscope="" `+
		`itemtype="http://schema.org/Offer"><meta itemprop="price" content="%s"/><meta itemprop="priceCurrency" content="%s"/></div></div>`,
		say(true, "name", fmt.Sprint("The book of chapter ", i)), say(true, "price", fmt.Sprintf("%d.50", 10+i%40)), say(true, "priceCurrency", "EUR"))
	fmt.Fprintf(&b, `<div vocab="http://schema.org/" resource="#talk" typeof="Event"><p property="alternateName">%s</p><p property="startDate" content="%s">soon</p>`+
		`<p property="location" typeof="Place"><span property="address">%s</span></p></div>`,
		say(true, "alternateName", fmt.Sprint("A talk on chapter ", i)), say(true, "startDate", fmt.Sprintf("2026-11-%02d", 1+i%30)),
		say(true, "address", fmt.Sprintf("%d High Street", i)))
	b.Write(page[body:])
	p.body = b.Bytes()
	return p
}

// titleOf is the text of a page's title.
func titleOf(head []byte) string {
	_, rest, _ := bytes.Cut(head, []byte("<title>"))
	title, _, _ := bytes.Cut(rest, []byte("</title>"))
	return strings.Join(strings.Fields(html.UnescapeString(string(title))), " ")
}

// writePages writes pages to files of a folder, which programs read and a server serves.
func writePages(dir string, pages []*semanticPage) error {
	for _, p := range pages {
		p.files = filepath.Join(dir, filepath.Base(p.url))
		if err := os.WriteFile(p.files, p.body, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// sayings compares what was found with what was put in.
func sayings(found, want []saying) error {
	for _, w := range want {
		if !slices.Contains(found, w) {
			return fmt.Errorf("%s %q is not found", w.property, w.text)
		}
	}
	for _, f := range found {
		if !slices.Contains(want, f) {
			return fmt.Errorf("%s %q was not put in", f.property, f.text)
		}
	}
	return nil
}
