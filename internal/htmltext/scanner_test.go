package htmltext_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/net/html"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/htmltext"
)

// difference is empty for equal pages; the slow comparison only explains.
func difference(want, got page) string {
	if slices.Equal(want.words, got.words) && slices.Equal(want.links, got.links) {
		return ""
	}
	return cmp.Diff(want, got, cmp.AllowUnexported(page{}, word{}))
}

func everything() *htmltext.Scanner {
	return &htmltext.Scanner{Options: htmltext.Options{Images: true, Forms: true}}
}

func TestWordsAndLinksOfRealPagesAreThoseOfTheTokenizer(t *testing.T) {
	for _, site := range sites {
		t.Run(site.pkg, func(t *testing.T) {
			t.Parallel()
			s := everything()
			i, words, links := 0, 0, 0
			pages := site.each(t, func(path string, src []byte) {
				if i++; testing.Short() && i%10 != 0 {
					return
				}
				s.Scan(src)
				got, want := scanned(s), expected(src)
				if diff := difference(want, got); diff != "" {
					t.Fatalf("%s (-tokenizer +scanner):\n%s", path, diff)
				}
				words, links = words+len(got.words), links+len(got.links)
			})
			if testing.Short() {
				t.Logf("short: only every tenth of %d pages was compared", pages)
			} else if pages < site.pages || words < site.words || links < site.links {
				t.Errorf("only %d words and %d links of %d pages were compared", words, links, pages)
			}
			t.Logf("%d words and %d links of %d pages", words, links, pages)
		})
	}
}

// A page that has a carriage return is copied piece by piece, and replaced behind that: nothing else may differ.
func TestRealPagesThatAreCopiedSlowlyReadTheSame(t *testing.T) {
	for _, site := range sites {
		t.Run(site.pkg, func(t *testing.T) {
			t.Parallel()
			options := htmltext.Options{Parts: true, Anchors: true}
			fast, slow := &htmltext.Scanner{Options: options}, &htmltext.Scanner{Options: options}
			i, entries := 0, 0
			site.each(t, func(path string, src []byte) {
				if i++; i%10 != 0 {
					return
				}
				fast.Scan(src)
				slow.Scan(append(src[:len(src):len(src)], '\r'))
				got, want := &fast.Text, &slow.Text
				if !bytes.Equal(got.Bytes, want.Bytes) || !slices.Equal(got.Blocks, want.Blocks) || !slices.Equal(got.Entries, want.Entries) {
					t.Fatalf("%s (-slow +fast):\n%s", path, cmp.Diff(want, got))
				}
				if len(fast.Links) != len(slow.Links) {
					t.Fatalf("%s: %d links; slowly %d", path, len(fast.Links), len(slow.Links))
				}
				entries += len(fast.Text.Entries)
				for n, l := range fast.Links {
					if other := slow.Links[n]; string(l.URL) != string(other.URL) || string(fast.TextOf(l)) != string(slow.TextOf(other)) {
						t.Fatalf("%s: link %d is %q, %q; slowly %q, %q", path, n, l.URL, fast.TextOf(l), other.URL, slow.TextOf(other))
					}
				}
			})
			if entries == 0 {
				t.Error("no page has parts")
			}
		})
	}
}

// The tree knows where elements really end; on pages whose tags are balanced the scanner must agree.
func TestWordsAndFieldsOfRealPagesAreThoseOfTheTree(t *testing.T) {
	for _, site := range sites {
		t.Run(site.pkg, func(t *testing.T) {
			t.Parallel()
			s := everything()
			i := 0
			site.each(t, func(path string, src []byte) {
				if i++; i%10 != 0 {
					return
				}
				s.Scan(src)
				got, want := withoutMarks(scanned(s).words), treeWords(t, src)
				if diff := difference(page{words: want}, page{words: got}); diff != "" {
					t.Fatalf("%s (-tree +scanner):\n%s", path, diff)
				}
			})
		})
	}
}

// render writes the blocks of a text as one line: the field, if it is not the body, before each.
func render(t *webrace.Text) string {
	var parts []string
	for _, b := range t.Blocks {
		text := string(t.Slice(b))
		if b.Field != webrace.FieldBody {
			text = b.Field.String() + ":" + text
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "|")
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain text", "  a b  ", "a b"},
		{"blocks", "<p>a<p>b<div>c<ul><li>d<li>e</ul>f<br>g<table><tr><td>h<td>i", "a|b|c|d|e|f|g|h|i"},
		{"inline elements join", "un<b>do</b>able <span>x</span>y", "undoable xy"},
		{"images and buttons separate words", "a<img>b<button>c</button>d", "a b c d"},
		{"unknown elements are blocks", "a<my-card>b</my-card>c", "a|b|c"},
		{"fields", "<title>t</title><h1>h <i>i</i></h1>b<nav>n<h2>m</h2></nav><h4>d</h4><footer>f</footer><aside>s</aside>e",
			"title:t|heading:h i|b|navigation:n|navigation:m|d|navigation:f|navigation:s|e"},
		{"any heading's end tag ends a heading", "<h1>a</h3>b", "heading:a|b"},
		{"a heading left open ends at the next paragraph", "<div><h2>a</div><p>b", "heading:a|b"},
		{"a stray end tag of a section ends nothing", "</nav><nav>a</footer>b</nav>c", "navigation:a|navigation:b|c"},
		{"scripts and styles", "a<script>if(a<b)'</p>'</script>b<style>p{}</style>c", "abc"},
		{"what is for readers without scripts", "a<noscript>b<p>c</p></noscript>d<noscript>e", "ab|c|de"},
		{"links beside each other", "<a>b</a><a>c</a> (<a>1</a><a>2</a>)<a>d</a>e<a>f</a>, <b><a>g</a></b><i><a>h</a></i>", "b c (1 2)def, gh"},
		{"script in upper case with space in its end tag", "a<SCRIPT>x</Script\n>b", "ab"},
		{"script without an end", "a<script>b</scrip", "a"},
		{"script hidden in a comment", "<script><!--<script></script>x--></script>b", "b"},
		{"script comment closed at once", "<script><!--></script>b<!--x-->", "b"},
		{"script comment closed at once with three dashes", "<script><!---><script></script>b", "b"},
		{"script comment left open", "<script><!-- x </script>b", "b"},
		{"nested script left open", "<script><!-- <script> </script> x </script>b", "b"},
		{"script named otherwise in a comment", "<script><!-- <scripty> </script>b", "b"},
		{"templates nest and are dropped", "a<template><p>x<template>y</template>z</template>b", "ab"},
		{"iframe content", "a<iframe><p>x</iframe>b", "a b"},
		{"textarea", "a<textarea><b>&amp;</textarea>b", "a <b>& b"},
		{"xmp", "a<xmp><b>&amp;</xmp>b", "a|<b>&amp;|b"},
		{"plaintext", "a<plaintext><b>&amp;</plaintext>", "a|<b>&amp;</plaintext>"},
		{"comment", "a<!-- <p> -- > -->b", "ab"},
		{"comment ended with a bang", "a<!-- x --!>b", "ab"},
		{"comment ended with a bang and a dash is not", "a<!-- x --!->c-->b", "ab"},
		{"comments ended at once", "a<!-->b<!--->c<!---->d", "abcd"},
		{"comment of dashes", "a<!------>b<!-----!>c", "abc"},
		{"comment not ended", "a<!-- b >", "a"},
		{"bogus comments", "a<?xml version='>'?>b<!x>c<!>d</ x>e</>f<!-x>g", "a'?>bcdefg"},
		{"CDATA in HTML is a bogus comment", "a<![CDATA[x>y]]>b", "ay]]>b"},
		{"CDATA in MathML", "a<math><mi><![CDATA[<x>&amp;]]></mi></math>b", "a <x>&amp; b"},
		{"SVG is dropped", "a<svg><text>x</text></svg>b", "a b"},
		{"SVG: a CDATA section", "a<svg><style><![CDATA[</svg>x]]></style></svg>b", "a b"},
		{"SVG: title is no raw text", "a<svg><title><!--</title></svg>--></title></svg>b", "a b"},
		{"SVG: elements close themselves", "a<svg><style/><title/><script/></svg>b", "a b"},
		{"SVG closes itself", "a<svg/>b", "a b"},
		{"SVG: unquoted value with a slash does not close", "a<svg x=y/>b</svg>c", "a c"},
		{"SVG: HTML within", "a<svg><foreignObject><p>x<style></svg></style></foreignObject></svg>b", "a b"},
		{"SVG left open ends at HTML", "a<svg><g>x<p>b", "a|b"},
		{"SVG left open ends with its parent", "<div>a<svg><g>x</div>b", "a|b"},
		{"no effect of what is hidden", "a<template><h1><nav></template>b<svg><foreignObject><h1></foreignObject></svg>c", "ab c"},
		{"less-than signs", "a < b <3 << <", "a < b <3 << <"},
		{"end of page in a tag", "a<b c='d", "a"},
		{"end of page after </", "a</", "a</"},
		{"quotes hide >", `a<i x=">" y='>' z=">>">b`, "ab"},
		{"a quote in a name or unquoted value opens nothing", `a<i x">b<i z=a'>c`, "abc"},
		{"equals sign begins a name", `a<i =">b">c`, `ab">c`},
		{"references", "&lt;p&gt; &amp;amp; &eacute;&#233;&#xE9;&#XE9 &NotEqualTilde;", "<p> &amp; éééé ≂̸"},
		{"references without semicolon", "&copy2 &notit; &notin; &amp", "©2 ¬it; ∉ &"},
		{"references that are none", "& &; &# &#; &#x; &x &nosuch; &#xg;", "& &; &# &#; &#x; &x &nosuch; &#xg;"},
		{"numeric references of windows-1252 and beyond", "&#150;&#x80;&#x81; &#0; &#xD800; &#x110000; &#99999999999;", "–€\u0081 \ufffd \ufffd \ufffd \ufffd"},
		{"semicolon by name", "a&semi;b", "a;b"},
		{"white space by reference is trimmed", "<p>&#32;a&#10;<p>&#9;<p>b", "a|b"},
		{"NUL is dropped from text, replaced in raw text", "a\x00b<textarea>c\x00d</textarea>", "ab c\ufffdd"},
		{"line ends", "a\r\nb\rc\n\rd", "a b c  d"},
		{"line ends that are seen", "a\nb<pre>c\r\nd\n\ne<i>f\n</i>g</pre><listing>h\ni</listing><xmp>j\nk</xmp>l\nm<plaintext>n\no", "a b|c|d|ef|g|h|i|j|k|l m|n|o"},
		{"prose with its lines", "<pre>the ferry leaves at ten in the morning unless\nthe wind blows, and a ferry is no boat\n\nx</pre>", "the ferry leaves at ten in the morning unless\nthe wind blows, and a ferry is no boat|x"},
		{"names in upper case", "<P>a</P><H1>b</H1><NAV>c</NAV>", "a|heading:b|navigation:c"},
		{"NUL in a tag name makes it another", "a<b\x00>c", "a|c"},
	} {
		s := everything()
		s.Scan([]byte(c.in))
		if got := render(&s.Text); got != c.want {
			t.Errorf("%s: %q\n got %q\nwant %q", c.name, c.in, got, c.want)
		}
		if diff := difference(expected([]byte(c.in)), scanned(s)); diff != "" {
			t.Errorf("%s: %q (-tokenizer +scanner):\n%s", c.name, c.in, diff)
		}
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"forms of attributes", `<a href=x><a href='y z'><a href="z"><A HREF = w ><a class=c href=v/>`, []string{"x", "y z", "z", "w", "v/"}},
		{"the first of two counts", `<a href=x href=y>`, []string{"x"}},
		{"an empty one is a link, a missing one is not", `<a href><a href=""><a name=x>`, []string{"", ""}},
		{"attributes without white space between", `<a x="y"href="z">`, []string{"z"}},
		{"slashes between attributes", `<a/href=x/><a / href = y>`, []string{"x/", "y"}},
		{"references by the rule of attributes", `<a href="?a=1&copy=2&copy3&amp;b&copy;&lt&#x26;&notin">`, []string{"?a=1&copy=2&copy3&b©<&&notin"}},
		{"NUL and line ends", "<a href=\"a\x00b\r\nc\rd\">", []string{"a\ufffdb\nc\nd"}},
		{"all elements", `<area href=a><iframe src=b></iframe><frame src=c><img src=d><form action=e>`, []string{"a", "b", "c", "d", "e"}},
		{"alternates, no style sheets", `<link rel="x Alternate" href=a><link rel="alternate stylesheet" href=b><link rel=stylesheet href=c><link href=d>`, []string{"a"}},
		{"not in comments, scripts, templates", `<!--<a href=a>--><script>"<a href=b>"</script><template><a href=c></template>`, nil},
		{"for readers without scripts", `<noscript><a href=a></noscript><a href=b>`, []string{"a", "b"}},
		{"in drawings", `<a xlink:href=a><svg><a xlink:href=b /><a href=c xlink:href=d /><g xlink:href=e /></svg>`, []string{"b", "c"}},
		{"in SVG", `<svg><a href=x><text>y</text></a></svg>`, []string{"x"}},
		{"a tag cut off is none", `<a href=x><a href="y"`, []string{"x"}},
	} {
		s := everything()
		s.Scan([]byte(c.in))
		got := scanned(s).links
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %s\n got %q\nwant %q", c.name, c.in, got, c.want)
		}
		if want := expected([]byte(c.in)).links; !slices.Equal(got, want) {
			t.Errorf("%s: %s\n got %q\ntokenizer %q", c.name, c.in, got, want)
		}
	}
}

func TestImagesAndFormsAreLeftOutByDefault(t *testing.T) {
	t.Parallel()
	var s htmltext.Scanner
	s.Scan([]byte("<img src=a><form action=b><a href=c>"))
	if len(s.Links) != 1 || string(s.Links[0].URL) != "c" {
		t.Errorf("links %+v", s.Links)
	}
}

func TestLinksBeyondTheLimitAreCounted(t *testing.T) {
	t.Parallel()
	s := htmltext.Scanner{Options: htmltext.Options{MaxLinks: 2}}
	s.Scan(bytes.Repeat([]byte("<a href=x>"), 5))
	if len(s.Links) != 2 || s.Skipped != 3 {
		t.Errorf("%d links, %d skipped", len(s.Links), s.Skipped)
	}
}

func TestXHTMLClosesElementsAndHasCDATA(t *testing.T) {
	t.Parallel()
	const in = `<script src="x"/><title/>a<![CDATA[<b>]]><iframe src="y"/>c`
	s := htmltext.Scanner{Options: htmltext.Options{XHTML: true}}
	s.Scan([]byte(in))
	if got := render(&s.Text); got != "a<b> c" {
		t.Errorf("text %q", got)
	}
	if len(s.Links) != 1 {
		t.Errorf("links %+v", s.Links)
	}
}

func TestHeadOfThePage(t *testing.T) {
	t.Parallel()
	type head struct {
		Title, Language, Base, Canonical string
		NoIndex, NoFollow                bool
		Refresh, Dwells, Unavailable     string
	}
	for _, c := range []struct {
		in   string
		want head
	}{
		{"", head{}},
		{"<title> a\n <b>&amp;  c </title><title>d</title>", head{Title: "a <b>& c"}},
		{"<title></title><title>d</title>", head{}},
		{"<svg><title>a</title></svg><title>b</title>", head{Title: "b"}},
		{"<html lang=en-GB><html lang=de>", head{Language: "en-GB"}},
		{"<html xml:lang=fr>", head{Language: "fr"}},
		{"<base target=x><base href='/b?x&amp;y'><base href=c>", head{Base: "/b?x&y"}},
		{"<link rel='x CANONICAL' href=/c><link rel=canonical href=/d>", head{Canonical: "/c"}},
		{"<meta name=ROBOTS content='NoIndex, nofollow'>", head{NoIndex: true, NoFollow: true}},
		{"<meta name=robots content=none>", head{NoIndex: true, NoFollow: true}},
		{"<meta name=robots content='index,follow'><meta name=description content=noindex>", head{}},
		{"<meta name=robots content=noindex><meta name=robots content=nofollow>", head{NoIndex: true, NoFollow: true}},
		{"<meta name=Our.Bot content=noindex><meta name=googlebot content=nofollow>", head{NoIndex: true}},
		{"<meta name=robots content='nofollow, Unavailable_After: 1 Jan'><meta name=robots content='unavailable_after: 2 Jan'>",
			head{NoFollow: true, Unavailable: "Unavailable_After: 1 Jan"}},
		{"<meta http-equiv=Refresh content='5; URL=x'>", head{Refresh: "x"}},
		{"<meta http-equiv=refresh content=\"0;url = 'a b' c\">", head{Refresh: "a b"}},
		{"<meta http-equiv=refresh content='0.5, x'>", head{Refresh: "x"}},
		{"<meta http-equiv=refresh content='1 urly'>", head{Refresh: "urly"}},
		{"<meta http-equiv=refresh content='15;x'>", head{Refresh: "x"}},
		{"<meta http-equiv=refresh content='15.99;x'>", head{Refresh: "x"}},
		{"<meta http-equiv=refresh content='.;x'>", head{Refresh: "x"}},
		{"<meta http-equiv=refresh content='16;x'>", head{Dwells: "x"}},
		{"<meta http-equiv=refresh content='18446744073709551616;x'>", head{Dwells: "x"}},
		{"<meta http-equiv=refresh content='60;x'><meta http-equiv=refresh content='0;y'>", head{Dwells: "x", Refresh: "y"}},
		{"<meta http-equiv=refresh content='0;x'><meta http-equiv=refresh content='0;y'>", head{Refresh: "x", Dwells: "y"}},
		{"<meta http-equiv=refresh content='5'>", head{}},
		{"<meta http-equiv=refresh content='x;url=y'>", head{}},
		{"<meta http-equiv=refresh content='1x;url=y'>", head{}},
		{"<noscript><meta http-equiv=refresh content='0;url=x'></noscript>", head{Dwells: "x"}},
		{"<noscript></noscript><meta http-equiv=refresh content='0;url=x'>", head{Refresh: "x"}},
		{"<template><base href=x><meta name=robots content=none></template>", head{}},
	} {
		s := everything()
		s.RobotsName = "our.bot"
		s.Scan([]byte(c.in))
		got := head{Title: string(s.Title), Language: string(s.Language), Base: string(s.Base),
			Canonical: string(s.Canonical), Refresh: string(s.Refresh), NoIndex: s.NoIndex, NoFollow: s.NoFollow,
			Unavailable: string(s.Unavailable)}
		for _, l := range s.Links {
			if l.Kind == htmltext.Refresh {
				got.Dwells = string(l.URL)
			}
		}
		if got != c.want {
			t.Errorf("%s\n got %+v\nwant %+v", c.in, got, c.want)
		}
	}
}

func TestNoScriptIsHiddenFromReadersWithScripts(t *testing.T) {
	t.Parallel()
	s := everything()
	s.Scripts = true
	s.Scan([]byte("a<noscript><p>b<a href=c></noscript>d<noscript><meta http-equiv=refresh content='0;url=x'></noscript>"))
	if got := string(s.Text.Bytes); got != "ad" || len(s.Links) > 0 || s.Refresh != nil {
		t.Errorf("%q, %d links, sent to %q", got, len(s.Links), s.Refresh)
	}
}

func TestKindsAndNoFollow(t *testing.T) {
	t.Parallel()
	s := everything()
	s.Scan([]byte(`<a href=a rel="x NOFOLLOW"><area href=b rel=nofollowers><iframe src=c></iframe><img src=d><form action=e><link rel=alternate href=f>`))
	want := []htmltext.Link{
		{URL: []byte("a"), Kind: htmltext.Anchor, NoFollow: true}, {URL: []byte("b"), Kind: htmltext.Anchor},
		{URL: []byte("c"), Kind: htmltext.Frame}, {URL: []byte("d"), Kind: htmltext.Image},
		{URL: []byte("e"), Kind: htmltext.Form}, {URL: []byte("f"), Kind: htmltext.Alternate},
	}
	if diff := cmp.Diff(want, s.Links, cmpopts.IgnoreUnexported(htmltext.Link{})); diff != "" {
		t.Error(diff)
	}
}

func TestScanningAgainAllocatesNothing(t *testing.T) {
	src := []byte(strings.Repeat(`<html lang=en><title>a &amp; b</title><h1>x &mdash; &#8217;</h1><svg><title>y</title></svg>
		<a href="/x?a=1&amp;b=2" rel=nofollow>z &eacute;</a><script>"</p>"</script><p>text</p>`+"\r\n", 50))
	s := everything()
	if n := testing.AllocsPerRun(20, func() { s.Scan(src) }); n > 0 {
		t.Errorf("%v allocations a page", n)
	}
}

func TestNothingIsLeftOverFromThePageBefore(t *testing.T) {
	t.Parallel()
	s := everything()
	s.Scan([]byte(`<html lang=en><title>a</title><base href=x><link rel=canonical href=y><meta http-equiv=refresh content='0;z'><meta name=robots content=none><nav><h1><svg><a href=b>`))
	s.Scan([]byte("c"))
	if got := render(&s.Text); got != "c" || len(s.Links) != 0 || s.Title != nil || s.Language != nil ||
		s.Base != nil || s.Canonical != nil || s.Refresh != nil || s.NoIndex || s.NoFollow {
		t.Errorf("left over: %q %+v", got, s)
	}
}

func TestHostileNestingIsReadInBoundedMemory(t *testing.T) {
	t.Parallel()
	s := everything()
	for _, unit := range []string{"<svg>", "<div>", "<template>", "<math><svg><desc>", "<nav><h1>", "<script><!--", "&", "<!--", "<a href='", "<svg><title>"} {
		s.Scan(bytes.Repeat([]byte(unit), 1<<20/len(unit)))
		check(t, s)
	}
}

// check verifies what is promised of any text.
func check(t *testing.T, s *htmltext.Scanner) {
	t.Helper()
	end := int32(0)
	for i, b := range s.Text.Blocks {
		text := s.Text.Slice(b)
		if b.Start < end || b.End <= b.Start || i > 0 && s.Text.Bytes[b.Start-1] > ' ' {
			t.Fatalf("block %d is %v, the one before ends at %d", i, b, end)
		}
		if len(bytes.Trim(text, " \t\n\f\r")) != len(text) {
			t.Fatalf("block %q has white space at its borders", text)
		}
		if bytes.ContainsAny(text, "\x00") {
			t.Fatalf("block %q holds NUL", text)
		}
		end = b.End
	}
}

// beyond finds what the tokenizer does not know of: what is not shown, and what stands beside the words.
var beyond = regexp.MustCompile(`(?i)hidden|popover|style|<dialog|<r[tp]|<sup`)

func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		"<p>a<b>b</b>c", "<title>a&amp;b</title>", "<a href='?a&copy=2'>x</a>", "<script><!--<script>--></script>", "<!--x--!>y",
		"<svg><title/><a href=x>", "<math><![CDATA[x]]>", "<h1>a<p>b", "<nav><footer>", "<textarea>\x00&lt</textarea>", "&#x80;&notit;\r\n",
		"<svg><foreignObject><style></svg></style>", "<iframe src=x><link rel=alternate href=y>", "<template><a href=x>",
		"<plaintext>", "<noscript><img src=x>", "<a/=href href = \"x\"y='z'>", "<meta name=robots content=none>",
	} {
		f.Add([]byte(seed))
	}
	for _, c := range tokenCases {
		f.Add([]byte(c.in))
	}
	s, xhtml := everything(), &htmltext.Scanner{Options: htmltext.Options{XHTML: true}}
	f.Fuzz(func(t *testing.T, src []byte) {
		kept := bytes.Clone(src)
		s.Scan(src)
		if !bytes.Equal(src, kept) {
			t.Fatal("the page was changed")
		}
		check(t, s)
		if utf8.Valid(src) && !utf8.Valid(s.Text.Bytes) {
			t.Fatalf("text of valid UTF-8 is not: %q", s.Text.Bytes)
		}
		if beyond.Match(src) { // which other tests are about
			return
		}
		want := expected(src)
		if diff := difference(want, scanned(s)); diff != "" && !want.lost {
			t.Fatalf("%q (-tokenizer +scanner):\n%s", src, diff)
		}
		xhtml.Scan(src)
		check(t, xhtml)
	})
}

func BenchmarkScan(b *testing.B) {
	var pages [][]byte
	size := 0
	documentation(b, func(_ string, src []byte) { pages = append(pages, src); size += len(src) })
	b.SetBytes(int64(size))
	b.ReportAllocs()
	s := new(htmltext.Scanner)
	for b.Loop() {
		for _, p := range pages {
			s.Scan(p)
		}
	}
}

func BenchmarkTokenizer(b *testing.B) {
	var pages [][]byte
	size := 0
	documentation(b, func(_ string, src []byte) { pages = append(pages, src); size += len(src) })
	b.SetBytes(int64(size))
	for b.Loop() {
		for _, p := range pages {
			z := html.NewTokenizer(bytes.NewReader(p))
			for z.Next() != html.ErrorToken {
			}
		}
	}
}
