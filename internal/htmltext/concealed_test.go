package htmltext_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/htmltext"
)

func TestWhatIsNotShownIsNoText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"a<p hidden>x</p>b", "a|b"},
		{"a<p hidden>x<p>b", "a|b"},
		{"<div>a<p hidden>x</div>b", "a|b"},
		{"<div>a<span hidden>x</div>b", "a|b"},
		{"un<span hidden>x</span>do", "undo"},
		{"a<DIV HIDDEN=''>x<div>y</div>z</DIV>b", "a|b"},
		{"a<div hidden=false>x</div>b", "a|b"},
		{"a<div hidden=until-found>b</div>", "a|b"},
		{"a<div style='color:red; DISPLAY : none'>x</div>b", "a|b"},
		{"a<div style='display:none!important;display:block'>x</div>b", "a|b"},
		{"a<div style='display:none;display:block'>b</div>", "a|b"},
		{"a<div style='display&#58;none'>x</div>b", "a|b"},
		{"a<div style='display:inline-none; background:none'>b</div>", "a|b"},
		{"a<div data-style='display:none' data-hidden aria-hidden=true style=visibility:hidden>b</div>", "a|b"},
		{"a<dialog>x</dialog>b<dialog open>c</dialog>d<div popover>y</div>", "a|b|c|d"},
		{"a<details><summary>b</summary>c<p hidden>x</details>d", "a|b|c|d"},
		{"<body style='display:none'>a", "a"},
		{"<ul><li hidden>x<li>a<li hidden>y<ul><li>z</ul><li>b</ul>c", "a|b|c"},
		{"<table><tr hidden><td>x<tr><td hidden>y<td>a</table>b", "a|b"},
		{"<dl><dt hidden>x<dd>a</dl>", "a"},
		{"<select><option hidden>x<option>a</select>b", "a b"},
		{"a<img hidden src=x>b<br hidden>c<input style=display:none>d", "a b|c d"},
		{"a<nav hidden><h1>x</h1></nav>b<nav>c</nav>d", "a|b|navigation:c|d"},
		{"a<h1 hidden>x</h1>b", "a|b"},
		{"a<textarea hidden>x</textarea>b<svg style=display:none><title>x</title></svg>c", "a b c"},
		{"a<div hidden><template><div></template>x<svg><title></title></svg>y</div>b", "a|b"},
		{"a<div hidden><script></div></script>x</div>b", "a|b"},
		{"a<div hidden>x</span>y</div>b", "a|b"},
		{"a<div hidden>" + strings.Repeat("<div>", 1000) + "x" + strings.Repeat("</div>", 1000) + "y</div>b", "a|b"},
		{"a<div hidden><pre>x\ny</pre></div><pre>b</pre>", "a|b"},
		{"a<my-part hidden>x</my-part>b", "a|b"},
		{"a<p hidden>x<a href=l>y</a>", "a"},
		{"a<a href=m hidden>x</a>b", "ab"},
		{"a<noscript><div hidden>x<template></noscript>b<noscript><svg><text></noscript>c", "a|b c"},
		{"a<div hidden>x<noscript><div></noscript>y</div>b", "a|b"},
		{"a<template shadowrootmode=open>b</template>c<template ShadowRootMode=Closed>d</template>e", "abcde"},
		{"a<template>x<template shadowrootmode=open>y</template>z</template>b<template shadowrootmode>x</template>", "ab"},
		{`a<!--$?--><template id="B:0"></template>b<!--/$--><div hidden id="S:0"><p>c</p></div><div hidden id="mine-S:1f">d</div>`, "ab|c|d"},
		{`a<table hidden><tr id="S:2"><td>b</table>c<table hidden><tr><td id="S:2">x</table>d`, "a|b|c|d"},
		{`a<div hidden id="S:">x</div><div hidden id="S:g">y</div><div hidden id="s:1">z</div>b`, "a|b"},
		{"a<div hidden>x", "a"},
	} {
		s := everything()
		s.Scan([]byte(c.in))
		if got := render(&s.Text); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
		}
		if links := scanned(s).links; strings.Contains(c.in, "href") && len(links) != 1 {
			t.Errorf("%q: links %q", c.in, links)
		}
	}
	s := htmltext.Scanner{Options: htmltext.Options{XHTML: true}}
	if s.Scan([]byte("a<div hidden='hidden'/>b<p hidden=''>x</p>")); render(&s.Text) != "a|b" {
		t.Errorf("XHTML: %q", render(&s.Text))
	}
}

// pageWriter writes pages that are well-formed, but leave out what end tags may be left out, with elements that are not
// shown among them.
type pageWriter struct {
	*rand.Rand
	bytes.Buffer
	words int
}

func (w *pageWriter) content(depth int, inline bool) {
	for range w.IntN(4) {
		w.words++
		fmt.Fprintf(w, " w%d ", w.words)
		if depth == 0 {
			continue
		}
		names := []string{"span", "b", "i", "em"}
		if !inline {
			names = append(names, "div", "p", "ul", "dl", "table", "section", "details", "my-card", "dialog")
		}
		w.element(names[w.IntN(len(names))], depth-1, inline)
	}
}

func (w *pageWriter) element(name string, depth int, inline bool) {
	w.WriteString("<" + name)
	if w.IntN(4) == 0 {
		w.WriteString([]string{" hidden", ` style="display: none"`, ` class="x" hidden=""`, " hidden=until-found", " style=display:block popover"}[w.IntN(5)])
	}
	if name == "dialog" && w.IntN(2) == 0 {
		w.WriteString(" open")
	}
	w.WriteString(">")
	parts := map[string][]string{"ul": {"li"}, "dl": {"dt", "dd"}, "table": {"tr"}, "tr": {"td", "th"}}[name]
	for range w.IntN(4) {
		if len(parts) > 0 {
			w.element(parts[w.IntN(len(parts))], depth, false)
		}
	}
	if parts == nil {
		w.content(depth, inline || name == "p" || name == "span" || name == "b" || name == "i" || name == "em")
	}
	mayLack := map[string]bool{"li": true, "dt": true, "dd": true, "tr": true, "td": true, "th": true}[name]
	if !mayLack || w.IntN(2) == 0 {
		w.WriteString("</" + name + ">")
	}
}

// Of pages that are well-formed, the words that are shown are those of the tree.
func TestWhatIsShownIsThatOfTheTree(t *testing.T) {
	t.Parallel()
	hides := func(n *html.Node) bool {
		open := false
		for _, a := range n.Attr {
			if a.Key == "hidden" && a.Val != "until-found" || a.Key == "style" && a.Val == "display: none" || a.Key == "popover" {
				return true
			}
			open = open || a.Key == "open"
		}
		return n.Data == "dialog" && !open
	}
	s := everything()
	all := 0
	for seed := range uint64(2000) {
		w := &pageWriter{Rand: rand.New(rand.NewPCG(seed, 7))}
		w.WriteString("<!DOCTYPE html>")
		for range 5 {
			w.content(4, false)
		}
		root, err := html.Parse(bytes.NewReader(w.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range slices.Collect(root.Descendants()) {
			if n.Type == html.ElementNode && hides(n) {
				for n.FirstChild != nil {
					n.RemoveChild(n.FirstChild)
				}
			}
		}
		var want tree
		want.walk(root, webrace.FieldBody)
		want.enter(webrace.FieldBody, true)
		s.Scan(w.Bytes())
		got := withoutMarks(scanned(s).words)
		if !slices.Equal(got, want.words) {
			t.Fatalf("%s\n got %v\nwant %v", w, got, want.words)
		}
		all += w.words - len(got)
	}
	if all < 5000 {
		t.Errorf("only %d words were not shown", all)
	}
}

func TestTextBesideWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"<ruby>東京<rt>とうきょう</rt></ruby>都", "東京都 とうきょう"},
		{"<ruby>東<rt>とう</rt>京<rt>きょう</rt></ruby>の<ruby>天気<rp>(</rp><rt> てんき </rt><rp>)</rp></ruby>", "東京の天気 とうきょう てんき"},
		{"<ruby>東<rt>とう京<rt>きょう</ruby>", "東 とう京きょう"},
		{"<ruby><rb>東<rb>京<rt>とう<rt>きょう</ruby>!<p>b", "東京! とうきょう|b"},
		{"<ruby>a<rt>b<p>c</ruby>d", "a b|cd"},
		{"<ruby>a<rt hidden>x</rt></ruby>", "a"},
		{"<h1><ruby>a<rt>b</rt></ruby></h1>c", "heading:a b|c"},
		{"<rt>a</rt>", "a"},
		{"ferry<sup>1</sup> leaves", "ferry 1 leaves"},
		{"ferry<sup id=x><a href=#f>1</a></sup>, m<sup>2</sup>, H<sub>2</sub>O, it<sup><a href=#g>2</a></sup>", "ferry 1, m2, H2O, it 2"},
		{"1<sup>st</sup> of 10<sup>6</sup> ferry<sup>1", "1st of 106 ferry 1"},
		{"<p>ferry<p><sup>1</sup>", "ferry|1"},
	} {
		s := everything()
		s.Scan([]byte(c.in))
		if got := render(&s.Text); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.in, got, c.want)
		}
		check(t, s)
	}
}
