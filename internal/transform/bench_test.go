package transform

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// shop is a page of 60 KB as shops have them: navigation and text, products in Microdata and as JSON-LD, Open Graph.
func shop() string {
	var b strings.Builder
	b.WriteString(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Shop</title><meta property="og:title" content="Shop">
<meta property="og:type" content="website"><meta name="description" content="Things"><script type="application/ld+json">{"@context":"https://schema.org",
"@type":"Organization","name":"Shop","url":"https://shop.example/","sameAs":["https://a.example/","https://b.example/"],"address":{"@type":"PostalAddress",
"addressLocality":"Town"}}</script><script>` + strings.Repeat("var a = b < c && d; ", 300) + `</script></head><body>`)
	for range 60 {
		b.WriteString(`<div class="nav item h-full" role="navigation"><a class="link" href="/somewhere/else" title="Somewhere else">Somewhere <b>else</b></a>` +
			`<p class="text">Some words that say nothing in particular, but are many, as on any page there is.</p></div>`)
	}
	for range 40 {
		b.WriteString(`<div class="product card" itemscope itemtype="http://schema.org/Product"><h3 itemprop="name">Thing</h3><img itemprop="image" src="/i/thing.jpg">` +
			`<p itemprop="description">It is a thing that does what things do.</p><div itemprop="offers" itemscope itemtype="http://schema.org/Offer">` +
			`<span itemprop="price" content="12.50">12,50</span><meta itemprop="priceCurrency" content="EUR"><link itemprop="availability" href="http://schema.org/InStock"></div></div>`)
	}
	return b.String()
}

func BenchmarkDocument(b *testing.B) {
	page := []byte(shop())
	b.Run("transform", func(b *testing.B) {
		b.SetBytes(int64(len(page)))
		b.ReportAllocs()
		for b.Loop() {
			if g, err := Document(b.Context(), page, "text/html", at, Options{}); err != nil || len(g.Triples) < 100 || len(g.Problems) > 0 {
				b.Fatal(g, err)
			}
		}
	})
	b.Run("the tree of x/net/html alone", func(b *testing.B) {
		b.SetBytes(int64(len(page)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := html.Parse(strings.NewReader(string(page))); err != nil {
				b.Fatal(err)
			}
		}
	})
	plain := []byte(strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(string(page), "item", "x"), "ld+", ""), "property", "x"))
	b.Run("a page without a sign", func(b *testing.B) {
		b.SetBytes(int64(len(plain)))
		b.ReportAllocs()
		for b.Loop() {
			if g, err := Document(b.Context(), plain, "text/html", at, Options{}); err != nil || len(g.Triples) > 0 {
				b.Fatal(g, err)
			}
		}
	})
	b.Run("media type", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if MediaType(page, "text/html", at) != "text/html" {
				b.Fatal("no HTML")
			}
		}
	})
}
