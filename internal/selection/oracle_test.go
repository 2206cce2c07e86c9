package selection

import (
	"bytes"
	"context"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/cascadia"
	"github.com/antchfx/htmlquery"
	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/xpath"
)

const pythonDocs, postgresDocs = "/usr/share/doc/python3.11/html", "/usr/share/doc/postgresql-doc-15/html"

// realPages yields every so many-th page of Debian's documentation of Python and PostgreSQL.
func realPages(t *testing.T, every int, check func(name string, body []byte)) {
	t.Helper()
	pages := 0
	visit := func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		if pages++; pages%every != 0 {
			return nil
		}
		body, err := os.ReadFile(path)
		if err == nil && len(body) < htmltree.MaxInput {
			check(filepath.Base(path), body)
		}
		return err
	}
	for _, dir := range []string{pythonDocs, postgresDocs} {
		err := filepath.WalkDir(dir, visit)
		if os.IsNotExist(err) {
			t.Skip("real pages are missing: install the Debian packages python3.11-doc and postgresql-doc-15")
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if pages < 1000 {
		t.Fatalf("only %d pages", pages)
	}
}

// outline writes the elements of a tree, with their text.
func outline(root *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		switch n.Type {
		case html.ElementNode:
			b.WriteString("<" + n.Data + ">")
		case html.TextNode:
			b.WriteString(strings.Join(strings.Fields(n.Data), " "))
		}
		for kid := n.FirstChild; kid != nil; kid = kid.NextSibling {
			walk(kid)
		}
		if n.Type == html.ElementNode {
			b.WriteString("</>")
		}
	}
	walk(root)
	return b.String()
}

func standardOutline(t *testing.T, body []byte) string {
	t.Helper()
	root, err := html.ParseWithOptions(bytes.NewReader(body), html.ParseOptionEnableScripting(false))
	if err != nil {
		t.Fatal(err)
	}
	return outline(root)
}

// firstDifference shows where two texts part.
func firstDifference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	from := max(0, i-100)
	return a[from:min(len(a), i+100)] + "\n---\n" + b[from:min(len(b), i+100)]
}

func TestTheTreeIsThatOfTheStandard(t *testing.T) {
	t.Parallel()
	for _, page := range []string{
		"", "x", "<p>a<p>b", "<title>t</title>x", "<table><tr><td>1<td>2<tr><td>3</table>y", "<table><td>1</table>",
		"<table><col><thead><tr><th>h<tbody><tr><td>x<table><tr><td>in</table>y<tfoot><tr><td>f</table>",
		"<ul><li>a<ul><li>b</ul><li>c</ul>", "<dl><dt>a<dd>b<dt>c</dl>", "<h1>a<h2>b</h1>c", "<p>a<div>b</div>c</p>",
		"<a href=x>1<a href=y>2</a>", "<select><option>a<option>b<optgroup><option>c</select>", "<b>x</b></i>y", "<p>x</p></p>y<br/>z</br>",
		"<html lang=a><head><meta><title>x</title></head><body class=b>y</body></html>z", "<svg><g><path/>x</g></svg>y<math><mi>z</mi></math>",
		"<svg><title>x</title><p>y", "<script>a<b></script><style><p></style>c<textarea><p></textarea><noscript><p>", "<button>a<button>b",
		"<ruby>a<rt>b<rt>c</ruby>", "<form>a<input>b</form>c", "<head><script></script></head><link>\n<p>x", "<!-- c --><!doctype html><p>x",
		"<template><td>x</td></template>y", "<li>a<div><li>b</div>", "<address>x<p>y</address>z", "<span><p>x</span>y</p>", "<b><i>x</b>y</i>z", "<a><em><a>x</a></em></a>y",
	} {
		root, err := htmltree.Parse([]byte(page))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := outline(root), standardOutline(t, []byte(page)); got != want {
			t.Errorf("%s\n got %s\nwant %s", page, got, want)
		}
	}
}

func TestTheTreeOfRealPagesIsThatOfTheStandard(t *testing.T) {
	if testing.Short() {
		t.Skip("a lot to compute, and nobody beside it: not in short mode")
	}
	t.Parallel()
	realPages(t, 7, func(name string, body []byte) {
		root, err := htmltree.Parse(body)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := outline(root), standardOutline(t, body); got != want {
			t.Errorf("%s: %s", name, firstDifference(got, want))
		}
	})
}

func TestAllOfARealPageIsThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("a lot to compute, and nobody beside it: not in short mode")
	}
	t.Parallel()
	realPages(t, 9, func(name string, body []byte) {
		d := open(t, string(body), "text/html")
		if got, want := written(apply(t, "css :root", d).Text), written(d.text); got != want {
			t.Errorf("%s: %s", name, firstDifference(got, want))
		}
	})
}

func TestASectionOfARealPage(t *testing.T) {
	t.Parallel()
	body, err := os.ReadFile(pythonDocs + "/library/bisect.html")
	if err != nil {
		t.Skip("real pages are missing: install the Debian package python3.11-doc")
	}
	d := open(t, string(body), "text/html")
	for _, list := range []string{"css #searching-sorted-lists; -css #searching-sorted-lists .headerlink", "xpath //section[@id='searching-sorted-lists']; -css .headerlink"} {
		got := written(apply(t, list, d).Text)
		if !strings.HasPrefix(got, "heading:Searching Sorted Lists|The above bisect() functions are useful") || strings.Contains(got, "¶") ||
			!strings.Contains(got, "def index(a, x):") || strings.Contains(got, "Performance Notes") || strings.Contains(got, "navigation:") {
			t.Errorf("%s: %s", list, got)
		}
	}
	if got := written(apply(t, `css title; regex Python [\d.]+`, d).Text); !strings.HasPrefix(got, "title:Python 3.11") {
		t.Error(got)
	}
}

func TestSelectorsFindWhatTheLibraryFinds(t *testing.T) {
	t.Parallel()
	selectors := []string{
		"p", "*", "div p", "div > p", "section section > p", "h2 + p", "h2 ~ p", "dt ~ dd", "a[href]", "a[href^='#']", "a[href$='.html' i]",
		"a[href*='lib']", "[class~='pre']", "[lang|='en']", ".reference.internal", "#module-bisect p", "li:first-child", "li:last-child",
		"li:nth-child(2n+1)", "li:nth-child(-n+3)", "li:nth-last-child(2)", "p:nth-of-type(2)", "p:nth-last-of-type(1)", "a:only-child",
		"span:only-of-type", "div:not(.body)", "p:not(:first-child)", "div:has(h1)", "section:has(> h2)", "p:is(.first, .last) a", ":root", "p:empty, td, th",
		"body div div section p code span", "div.body > section a.reference, li a", "dl > dt > em + span", "a[title='']", "a[class!=x]", "body > *",
	}
	realPages(t, 60, func(name string, body []byte) {
		root, err := htmltree.Parse(body)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range selectors {
			want, err := cascadia.ParseGroup(strings.NewReplacer(":has(>", ":haschild(", "p:is(.first, .last) a", "p.first a, p.last a").Replace(s))
			list, _, ours := parseCSS(s)
			if ours != nil || err != nil {
				if s != "a[class!=x]" || ours == nil {
					t.Fatal(s, ours, err)
				}
				continue // not of CSS
			}
			var got []*html.Node
			m := (&Document{mediaType: "text/html", root: root}).matcher(&xpath.Budget{Context: context.Background(), Left: 1 << 30})
			m.matching(list).each(func(i int32) { got = append(got, m.nodes[i]) })
			if !slices.Equal(got, cascadia.QueryAll(root, want)) {
				t.Errorf("%s of %s: %d elements, the library finds %d", s, name, len(got), len(cascadia.QueryAll(root, want)))
			}
		}
	})
}

func TestExpressionsFindWhatTheLibraryFinds(t *testing.T) {
	t.Parallel()
	expressions := []string{
		"//p", "//section[@id]/h2", "//a/@href", "//li[2]", "//li[last()]", "//p/text()", "//dt/following-sibling::dd[1]", "//*[@class='body']//a",
		"//code/ancestor::section", "//table | //pre", "//p[contains(., 'list')]", "/html/body/div[2]", "//h2/preceding-sibling::*", "(//p)[3]",
	}
	realPages(t, 90, func(name string, body []byte) {
		if len(body) > 100_000 {
			return
		}
		root, err := htmltree.Parse(body)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range expressions {
			expr, err := parseXPath(s)
			if err != nil {
				t.Fatal(s, err)
			}
			var got, want []string
			all := newPaths(root)
			budget := &xpath.Budget{Context: context.Background(), Left: 1 << 30}
			values := expr.Values(&all.Tree, 0, budget)
			for i, h := range all.evaluate(expr, hit{root, -1}, budget) {
				name := ""
				switch {
				case h.attr >= 0:
					name = h.node.Attr[h.attr].Key
				case h.node.Type == html.ElementNode:
					name = h.node.Data
				}
				got = append(got, name+" "+values[i])
			}
			nodes, err := htmlquery.QueryAll(root, s)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range nodes {
				name := ""
				if n.Type == html.ElementNode {
					name = n.Data
				}
				want = append(want, name+" "+htmlquery.InnerText(n))
			}
			slices.Sort(got) // the library does not order nodes, nor leave out what it found before
			slices.Sort(want)
			if got, want = slices.Compact(got), slices.Compact(want); !slices.Equal(got, want) {
				t.Errorf("%s of %s: %d nodes, the library finds %d", s, name, len(got), len(want))
			}
		}
	})
}

func TestPatternsFindWhatTheLibraryFinds(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	patterns := []string{"a", "a*", "a|ab", "ab|a", "(?i)B+", "^a", "a$", `\ba`, `a\b`, `\Ba`, "[^a]+?b", "(a)(b)?", "a{2,3}", "", "x*", `\Qa.`, "é+", "a.*b|a", "(?m)^b", "(?U)a+", "(?s)."}
	for _, s := range patterns {
		p, err := parseRegex(s)
		if err != nil {
			t.Fatal(s, err)
		}
		library := regexp.MustCompile(s)
		for range 500 {
			var text strings.Builder
			for range random.IntN(12) {
				text.WriteString([]string{"a", "b", "B", " ", ".", "é", "\n"}[random.IntN(7)])
			}
			var got, want []stretch
			p.each(text.String(), &xpath.Budget{Context: context.Background(), Left: 1 << 30}, func(s stretch) { got = append(got, s) })
			for _, m := range library.FindAllStringIndex(text.String(), -1) {
				if m[1] > m[0] {
					want = append(want, stretch{m[0], m[1]})
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q in %q: %v, the library finds %v", s, text.String(), got, want)
			}
		}
	}
}
