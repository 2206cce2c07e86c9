package htmltext_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
)

// tokenCases are what a tokenizer gets wrong, by the states of section 13.2.5. Text and links are what the
// standard makes of the input; the blocks are this package's.
var tokenCases = []struct{ name, in, text, links string }{
	// Data, and the states of tags.
	{"data: < at the end", "a<", "a<", ""},
	{"data: < before a digit, a space, an equals sign, itself", "a<1>b< p>c<=d<<i>e", "a<1>b< p>c<=d<e", ""},
	{"data: < before NUL", "a<\x00b>c", "a<b>c", ""},
	{"data: NUL and line ends", "a\x00b\rc\r\nd\n\re", "ab c d  e", ""},
	{"tag open: ? begins a bogus comment", "a<?xml version='1.0'?>b<?>c<??>d", "abcd", ""},
	{"tag open: ? at the end", "a<?php b", "a", ""},
	{"end tag open: a digit, a space, NUL, a dash", "a</3>b</ p>c</\x00>d</->e", "abcde", ""},
	{"end tag open: > is nothing at all", "a</>b", "ab", ""},
	{"end tag open: at the end", "a</", "a</", ""},
	{"tag name: every white space ends it", "<a\thref=1>x</a\f><a\nhref=2></a\r\n><a\fhref=3></a><a\rhref=4>", "x", "1 2 3 4"},
	{"tag name: < belongs to it", "a<b<i>c", "a|c", ""},
	{"tag name: a quotation mark belongs to it", "a<b\">c", "a|c", ""},
	{"tag name: NUL belongs to it", "a<\x00b>c<i\x00>d", "a<b>c|d", ""},
	{"tag name: not ended", "a<p", "a", ""},
	{"end tag: attributes and a slash", "a<b>c</b x='>' y=1/>d", "acd", ""},
	{"end tag: not ended", "a</p x='>'", "a", ""},
	{"slash: not before >", "a<i/ >b<i / x>c<a/href=u>d", "abcd", "u"},

	// Attributes.
	{"attribute name: = begins one", "<a =href=x href=y>z", "z", "y"},
	{"attribute name: quotation marks and < belong to it", "<a href\"=1 'href=2 <href=3 href=4>x", "x", "4"},
	{"attribute name: NUL belongs to it", "<a hr\x00ef=1 href\x00=2 \x00href=3 href=4>x", "x", "4"},
	{"attribute name: upper case", "<A HREF=x hReF=y>z", "z", "x"},
	{"attribute: given twice", "<a href=1 href='2' HREF=3>x<img src src=4>", "x", "1 "},
	{"attribute: the second is quoted and holds >", "<a href=1 href='>'>x", "x", "1"},
	{"attribute: white space around =", "<a href \n=\t\r\n 'x' \n>y<a href = >z", "yz", "x "},
	{"attribute: > right after =", "<a href=>x", "x", ""},
	{"attribute value: \" within ' and ' within \"", "<a href='\"'>x<a href=\"'\">y", "xy", "\" '"},
	{"attribute value: > and < and line ends within quotes", "<a href=\"a>b<c\r\nd\re\">x", "x", "a>b<c\nd\ne"},
	{"attribute value: NUL quoted and not", "<a href='a\x00'>x<a href=b\x00>y", "xy", "a\ufffd b\ufffd"},
	{"attribute value: not quoted, with everything odd", "<a href=a\"b'c<d=e`f/g>x", "x", "a\"b'c<d=e`f/g"},
	{"attribute value: a slash before > belongs to it", "<a href=u/>x", "x", "u/"},
	{"attribute value: no space after the closing mark", "<a href='x'rel='y'>z", "z", "x"},
	{"attribute value: = after the closing mark", "<a title='x'=href=y>z", "z", ""},
	{"attribute value: the mark is missing", "a<a href='x>y</a><p>z", "a", ""},
	{"attribute value: the mark closes far below", "a<a title='x>y</a><p>z' href=u>b", "ab", "u"},
	{"attribute value: references", "<a href='?a&amp;b&lt=c&ltd&lt;e&#38;f&#x26g&unknown;'>x", "x", "?a&b&lt=c&ltd<e&f&g&unknown;"},
	{"attribute value: reference at the end of a value that is not quoted", "<a href=x&lt>y<a href=x&amp;>z", "yz", "x< x&"},

	// Comments, doctypes, CDATA.
	{"comment: ended with a bang", "a<!--x--!>b<!----!>c<!--x--!-->d", "abcd", ""},
	{"comment: ended at once", "a<!-->b<!--->c<!---->d<!----->e", "abcde", ""},
	{"comment: one dash, a dash and a bang, two bangs do not end it", "a<!--x->b--!x>c--!!>d-->e", "ae", ""},
	{"comment: <!-- within", "a<!--x<!--y-->b<!--<!-->c<!--<!--->d<!--x<!-y-->e", "abcde", ""},
	{"comment: NUL and tags within", "a<!--\x00<p>\x00--\x00>--\x00-->b", "ab", ""},
	{"comment: not ended, by so much", "a<!--x", "a", ""},
	{"comment: not ended after --", "a<!--x--", "a", ""},
	{"comment: not ended after --!", "a<!--x--!", "a", ""},
	{"comment: space before >", "a<!--x-- >b-->c", "ac", ""},
	{"declaration: one dash", "a<!-x-->b<!->c<!-", "abc", ""},
	{"declaration: unknown, empty, NUL", "a<!ELEMENT b>c<!>d<!\x00>e", "acde", ""},
	{"doctype: > ends it even within quotes", "<!DOCTYPE html PUBLIC \"a>b\">c", "b\">c", ""},
	{"doctype: NUL and odd case", "<!dOcTyPe \x00html\x00>a", "a", ""},
	{"CDATA outside of foreign content", "a<![CDATA[b>c]]>d", "ac]]>d", ""},
	{"CDATA in MathML", "a<math><mtext></mtext><![CDATA[b>&amp;<i>]]c]]></math>d", "a b>&amp;<i>]]c d", ""},
	{"CDATA: brackets before its end", "<math><![CDATA[a]]]>b<![CDATA[]]>c<![CDATA[]]]]>d</math>", "a]bc]]d", ""},
	{"CDATA: not ended", "<math><![CDATA[a]]</math>", "a]]</math>", ""},
	{"CDATA: in lower case it is none", "<math>a<![cdata[b>c]]></math>", "ac]]>", ""},
	{"CDATA: NUL and line ends", "<math><![CDATA[a\x00b\r\nc]]></math>", "a\ufffdb c", ""},
	{"CDATA after foreign content", "<math></math>a<![CDATA[b>c]]>", "ac]]>", ""},
	{"CDATA in what holds HTML, but not in that HTML", "<math><mi><![CDATA[a>]]><b><![CDATA[c>d]]></b></mi><![CDATA[e>]]></math>", "a>d]]>e>", ""},

	// Raw text.
	{"title and textarea: references, no tags", "<title>a&amp;&lt;b<i></title>c<textarea>&eacute;<p>&#0;</textarea>d", "title:a&<b<i>|c é<p>\ufffd d", ""},
	{"title: NUL and line ends", "<title>a\x00b\r\nc</title>d", "title:a\ufffdb c|d", ""},
	{"title: other end tags, and its own cut short", "<title>a</b></titlex></title\x00</title>b", "title:a</b></titlex></title\ufffd|b", ""},
	{"title: not ended", "<title>a<p>b</titl", "title:a<p>b</titl", ""},
	{"textarea: its end tag in any case, with attributes", "a<textarea>b</TextArea x='>'>c", "a b c", ""},
	{"textarea: its end tag with a slash", "a<textarea>b</textarea/>c", "a b c", ""},
	{"textarea: comment within is text", "a<textarea><!--</textarea>b-->", "a <!-- b-->", ""},
	{"style: a comment hides nothing", "a<style><!--</style>b-->", "ab-->", ""},
	{"style: references and NUL", "a<style>&lt;\x00</style>b", "ab", ""},
	{"xmp: tags are text", "<xmp><p>&amp;\x00</xm></xmp>a", "<p>&amp;\ufffd</xm>|a", ""},
	{"noscript: its content has tags", "a<noscript>b<i>c</i></noscript>d<noscript><noembed><b></noembed></noscript>e", "abcde", ""},
	{"noscript: what begins in it ends with it", "a<noscript><iframe/></noscript>b<noscript><!--</noscript>c<noscript><a b='</noscript>d<noscript><style><svg></noscript>e", "a bcde", ""},
	{"noembed, noframes, iframe", "ab<noembed><p></noembed>c<noframes><p></noframes>d<iframe><p></iframe>e", "abcd e", ""},
	{"plaintext: to the end, references and all", "a<plaintext>b&amp;\x00</plaintext><p>c", "a|b&amp;\ufffd</plaintext><p>c", ""},
	{"plaintext: as an end tag it is a tag", "a</plaintext>b", "a|b", ""},

	// Scripts.
	{"script: less-than signs and an end tag cut short", "a<script>b<c</d></scripty></script\f>e", "ae", ""},
	{"script: escaped, its end tag ends it", "a<script><!--b</script>c-->d", "ac-->d", ""},
	{"script: escaped and closed", "a<script><!--b--><script></script>c", "ac", ""},
	{"script: double escaped", "a<script><!--<script>b</script>c--></script>d", "ad", ""},
	{"script: double escaped, dashes within", "a<script><!--<script>-</script>-</script>b", "ab", ""},
	{"script: double escaped and closed by -->", "a<script><!--<script>b--></script>c", "ac", ""},
	{"script: double escaped twice is once", "a<script><!--<script><script></script></script>b", "ab", ""},
	{"script: double escaped again after its end", "a<script><!--<script></script><script></script></script>b", "ab", ""},
	{"script: every white space, a slash and > begin double escaping", "a<script><!--<script/</script/</script>b<script><!--<script\t</script\n</script>c", "abc", ""},
	{"script: another name does not", "a<script><!--<scriptx></script>b<script><!--<script-></script>c<script><!--<scrip></script>d", "abcd", ""},
	{"script: upper case does", "a<script><!--<SCRIPT></ScRiPt></script>b", "ab", ""},
	{"script: escaping begins with <!-- alone", "a<script><!-<script></script>b<script><! --<script></script>c", "abc", ""},
	{"script: escaped by <!--> for no time", "a<script><!--><script></script>b<script><!---><script></script>c", "abc", ""},
	{"script: --!> closes no escape", "a<script><!--<script>--!></script></script>b", "ab", ""},
	{"script: NUL within names", "a<script><!--<script\x00></script>b<script>\x00</script\x00></script>c", "abc", ""},
	{"script: not ended", "a<script><!--<script></script>b", "a", ""},
	{lostInScript, "a<sCript><!--<<sCript </sCript>b</script>c</script>d<script><!--<!<script></script>e", "acd", ""},

	// Character references.
	{"reference: cut off", "a&<i>b&#<i>c&#x<i>d&am<i>e&", "a&b&#c&#xd&ame&", ""},
	{"reference: the longest name matches", "&notin;&notinva;&not;in&notit;&amp;lt;", "∉∉¬in¬it;&lt;", ""},
	{"reference: two characters", "&nvlt;&bne;&fjlig;", "<\u20d2=\u20e5fj", ""},
	{"reference: names are by case", "&Aacute;&aacute;&AMP;&LT&GT;&aMp;", "Áá&<>&aMp;", ""},
	{"reference: NUL ends a name and a number", "&am\x00p;&#6\x005;&lt\x00;", "&amp;\x065;<;", ""},
	{"reference: numbers that mean others", "&#0;&#x80;&#130;&#x9f;&#xd800;&#xdfff;&#x110000;&#4294967361;", "\ufffd€‚Ÿ\ufffd\ufffd\ufffd\ufffd", ""},
	{"reference: numbers of controls and noncharacters stay", "a&#1;&#x81;&#xfdd0;&#x10ffff;", "a\x01\u0081\ufdd0\U0010ffff", ""},
	{"reference: a carriage return by number stays", "a&#13;b&#xD;&#10;c", "a\rb\r c", ""},
	{"reference: hexadecimal in any case", "&#x41;&#X4a;&#x4A&#X4a", "AJJJ", ""},
	{"reference: no semicolon, more follows", "&copyright&copy;right&#169right&#xA9;right", "©right©right©right©right", ""},

	// Foreign content.
	{"SVG: title and desc hold HTML", "a<svg><title>b<i>c</i></title><desc><p>d</p></desc>e</svg>f", "a f", ""},
	{"SVG: title is no raw text", "a<svg><title></svg>b</title>c", "a b|c", ""},
	{"SVG: style and script are no raw text", "a<svg><style><a href=x></style><script><a href=y></script></svg>b", "a b", "x y"},
	{"SVG: textarea and plaintext neither", "a<svg><textarea></svg>b<svg><plaintext></svg>c", "a b c", ""},
	{"SVG: style in HTML in foreignObject is", "a<svg><foreignObject><style><a href=x></style><a href=y></a></foreignObject></svg>b", "a b", "y"},
	{"SVG: what closes itself", "a<svg><title/><foreignObject/><style/><![CDATA[b]]></svg>c", "a c", ""},
	{"SVG: left open, HTML ends it", "a<svg><g>b<div>c<![CDATA[d>e]]>", "a|ce]]>", ""},
	{"SVG: font ends it if it is HTML's", "a<svg><font>b</font></svg>c<svg><font COLOR=red>d", "a c d", ""},
	{"SVG: names in any case", "a<SVG><FOREIGNOBJECT><P>b</P></foreignObject></Svg>c", "a c", ""},
	{"MathML: NUL", "<math>a\x00b<mi>c\x00d</mi></math>", "a\ufffdbcd", ""},
	{"MathML: style is no raw text, but in mi it is", "a<math><style>b<mi></mi></style><mi><style><i>c</style></mi></math>d", "a b d", ""},
	{"MathML: HTML in mtext does not end it", "<math><mtext><b>a</b></mtext><style/>b</math>c", "ab c", ""},
	{"MathML: HTML in it does", "<math><b>a</b><textarea>c</textarea>", "a c", ""},
	{"MathML: title is no title", "<math><title>a<mi>b</mi></title></math>", "ab", ""},
	{"MathML: each of mi mn mo ms mtext", "<math><mi><p>a</p></mi><mn><p>b</p></mn><mo><p>c</p></mo><ms><p>d</p></ms><mtext><p>e</p></mtext><![CDATA[f>]]></math>", "a|b|c|d|e|f>", ""},
	{"MathML: annotation-xml is foreign", "<math><annotation-xml><style><mi>a</mi></style></annotation-xml></math>b", "a|b", ""},
	{"MathML: annotation-xml of HTML is not", "<math><annotation-xml encoding=Text/HTML><style><i>a</style>b</annotation-xml><![CDATA[c>]]></math>d", "b|c> d", ""},
	{"MathML: annotation-xml of XHTML is not", "<math><annotation-xml ENCODING='application/xhtml+xml'><p>a<p>b</p></annotation-xml></math>c", "a|b|c", ""},
	{"MathML: annotation-xml of another encoding is", "<math><annotation-xml encoding=text/html5><![CDATA[a>]]></annotation-xml></math>b", "a>|b", ""},
	{"MathML: SVG in annotation-xml", "<math><annotation-xml><svg><title><p>a</p></title></svg></annotation-xml>b</math>c", "b c", ""},
	{"MathML closes itself", "<math/>a<![CDATA[b>c]]>", "ac]]>", ""},
}

const lostInScript = "script: escaped, with a less-than sign that begins no tag"

// otherInTree holds why the tree of some of these has other words.
var otherInTree = map[string]string{
	lostInScript:                                    "the tokenizer of x/net/html loses a less-than sign",
	"CDATA in MathML":                               "x/net/html decodes references in CDATA sections",
	"plaintext: as an end tag it is a tag":          "the tree drops an end tag that ends nothing, after the fact",
	"SVG: title is no raw text":                     "an end tag that crosses others ends the SVG here, nothing there",
	"MathML: style is no raw text, but in mi it is": "the words of the tree leave out every style",
	"MathML: annotation-xml is foreign":             "the same",
	"noscript: what begins in it ends with it":      "the standard has it go on where no scripts run",
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for _, c := range tokenCases {
		s := everything()
		s.Scan([]byte(c.in))
		got := scanned(s)
		if text, links := render(&s.Text), strings.Join(got.links, " "); text != c.text || links != c.links {
			t.Errorf("%s: %q\n got %q, links %q\nwant %q, links %q", c.name, c.in, text, links, c.text, c.links)
		}
		want := expected([]byte(c.in))
		if diff := difference(want, got); (diff != "") != want.lost {
			t.Errorf("%s: %q, lost %v (-tokenizer +scanner):\n%s", c.name, c.in, want.lost, diff)
		}
		words := func(words []word) (texts []string) {
			for _, w := range withoutMarks(words) {
				texts = append(texts, w.text)
			}
			return texts
		}
		if want, got := words(treeWords(t, []byte(c.in))), words(got.words); slices.Equal(got, want) != (otherInTree[c.name] == "") {
			t.Errorf("%s: %q\n got words %q\nthe tree has %q, though %s", c.name, c.in, got, want, cmp.Or(otherInTree[c.name], "it should have the same"))
		}
	}
}
