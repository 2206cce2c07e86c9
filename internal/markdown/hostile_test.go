package markdown_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/markdown"
	"github.com/webrace/webrace/internal/testutil"
)

// TestHostile writes pages that try to get into Markdown what must not be there, or to make it something else: each
// has the words and links of the page, and is what stands here, if that is given.
func TestHostile(t *testing.T) {
	t.Parallel()
	r := strings.Repeat
	for _, c := range []struct{ name, page, want string }{
		{"script", "<script>alert(1)</script>a<script>", "a\n"},
		{"script as text", "&lt;script&gt;alert(1)&lt;/script&gt;", "&lt;script>alert(1)&lt;/script>\n"},
		{"comment as text", "&lt;!-- a --&gt; &lt;?php ?&gt; &lt;![CDATA[x]]&gt;", "&lt;!-- a --> &lt;?php ?> &lt;!\\[CDATA\\[x\\]\\]>\n"},
		{"script in two elements", "&lt;<b>script</b>&gt;alert(1)", "&lt;**script**>alert(1)\n"},
		{"link to a script", "<a href='javascript:alert(1)'>a</a>", "a\n"},
		{"link to a script in entities", "<a href='&#106;&#x61;va&Tab;script&colon;alert(1)'>a</a>", "a\n"},
		{"link to a script with blanks", "<a href=' \n\x01javascript:alert(1)'>a</a>", "a\n"},
		{"link to a script in large letters", "<a href='JaVaScRiPt:alert(1)'>a</a>", "a\n"},
		{"link to a script behind NUL", "<a href='java\x00script:alert(1)'>a</a>", ""},
		{"link to Visual Basic", "<a href='vbscript:x'>a</a>", "a\n"},
		{"link to data", "<a href='data:text/html,<script>'>a</a><img src='data:image/png;base64,AA'>", "a\n"},
		{"link to a file", "<a href='file:///etc/passwd'>a</a>", "a\n"},
		{"link to a view of source", "<a href='view-source:javascript:x'>a</a><a href=blob:x>b</a><a href=about:blank>c</a>", "abc\n"},
		{"link that ends in Markdown", "<a href='x) [b](javascript:alert(1)'>a</a>", "[a](https://example.org/dir/x\\)%20[b]\\(javascript:alert\\(1\\))\n"},
		{"link with an angle bracket", "<a href='<javascript:x>'>a</a>", "[a](https://example.org/dir/%3Cjavascript:x%3E)\n"},
		{"link with line feeds", "<a href='x\n\n# b\n'>a</a>", "[a](https://example.org/dir/x#%20b)\n"},
		{"link with quotes", "<a href='x \"title\"'>a</a>", "[a](https://example.org/dir/x%20%22title%22)\n"},
		{"link with backticks", "<a href='?`'>a</a>`", "[a](https://example.org/dir/page.html?%60)\\`\n"},
		{"link with backslashes", "<a href='?\\\\)'>a</a>", "[a](https://example.org/dir/page.html?\\\\\\\\\\))\n"},
		{"link with a character reference", "<a href='?a=1&amp;amp;b&amp;copy=2&amp;copy;'>a</a>", "[a](https://example.org/dir/page.html?a=1&amp;amp;b&copy=2&amp;copy;)\n"},
		{"link with the other direction", "<a href='x\u202egpj.exe'>a</a>", "[a](https://example.org/dir/x%E2%80%AEgpj.exe)\n"},
		{"link with a password", "<a href='https://user:secret@example.com/'>a</a>", "[a](https://example.com/)\n"},
		{"link of nine kilobytes", "<a href='" + r("x", 9000) + "'>a</a>", "a\n"},
		{"text that is a link", "[a](javascript:alert(1)) ![b](x) [c][d] [e]: http://y.com/",
			"\\[a\\](javascript:alert(1)) !\\[b\\](x) \\[c\\]\\[d\\] \\[e\\]: http\\://y.com/\n"},
		{"definition of a link", "<p>[a]: /url 'title'<p>[a]", "\\[a\\]: /url 'title'\n\n\\[a\\]\n"},
		{"definition of a link in code", "<a href=x><code>]: y</code></a>", "[\\]: y](https://example.org/dir/x)\n"},
		{"code that defines a link, and so is text, behind what is marked", "<a href=x><b>(a)</b><code>b]: c</code> <b>(a)</b><code>b</code></a>",
			"[(a)b\\]: c **(a)**`b`](https://example.org/dir/x)\n"},
		{"footnote", "[^1] [^1]: text", "\\[^1\\] \\[^1\\]: text\n"},
		{"text of a link with brackets", "<a href=x>a](y) [b</a>", "[a\\](y) \\[b](https://example.org/dir/x)\n"},
		{"link behind an exclamation mark", "a!<a href=x>b</a>\\!<a href=y>c</a>", "a\\![b](https://example.org/dir/x)\\\\\\![c](https://example.org/dir/y)\n"},
		{"links within links", "<a href=x>a<table><tr><td><a href=y>b</a></table>c</a>", ""},
		{"link without text", "<a href=x></a><a href=y> <b> </b></a>a", "a\n"},
		{"addresses in text", "http://y.com https://y.com ftp://y.com www.y.com WWW.Y.COM a@b.com mailto:a@b.com",
			"http\\://y.com https\\://y.com ftp\\://y.com www\\.y.com WWW\\.Y.COM a\\@b.com mailto:a\\@b.com\n"},
		{"addresses in elements", "http<b>:</b>//y.com www<i>.y.com</i> a<code>@b.com</code>", ""},
		{"autolink", "&lt;http://y.com&gt; &lt;a@b.com&gt;", "&lt;http\\://y.com> &lt;a\\@b.com>\n"},
		{"image with a name of markup", "<img src=i alt='](javascript:x) `*[<script>'>", "![\\](javascript:x) \\`\\*\\[&lt;script>](https://example.org/dir/i)\n"},
		{"image that counts readers", "a<img src=i width=1 height=1>", "a\n"},
		{"handlers", "<p onclick='alert(1)' style='color:red'>a<img src=i onerror=alert(1)>", "a![](https://example.org/dir/i)\n"},
		{"hidden", "a<p hidden>b</p><div style='display: none'>c</div><template>d</template><dialog>e</dialog><p popover>f", "a\n"},
		{"frames", "a<iframe src=x>b</iframe><noembed>c</noembed><object data=x>d</object><embed src=y>", "a d\n"},
		{"forms", "<form action=javascript:x><input value=a><textarea># b\n</textarea><select><option>c<option>d</select>", "\\# b c d\n"},
		{"text that is a heading", "<p># a<p>###### b<p>#c<p>#", "\\# a\n\n\\###### b\n\n#c\n\n\\#\n"},
		{"text that underlines", "<p>a<br>===<p>a<br>---<p>a<br>=<p>a<br>-", "a\\\n\\===\n\na\\\n\\---\n\na\\\n\\=\n\na\\\n\\-\n"},
		{"text that is a list", "<p>- a<p>+ a<p>* a<p>1. a<p>1) a<p>123456789. a<p>1234567890. a<p>- <p>-a", "\\- a\n\n\\+ a\n\n\\* a\n\n1\\. a\n\n1\\) a\n\n123456789\\. a\n\n1234567890. a\n\n\\-\n\n-a\n"},
		{"number in two elements", "<p><span>1</span>. a<p><b>1</b>. b<p><i>1</i>2. c", ""},
		{"text that is a task", "<ul><li>[ ] a<li>[x] b</ul>", "- \\[ \\] a\n- \\[x\\] b\n"},
		{"text that is a quotation", "<p>&gt; a<br>&gt; b", "\\> a\\\n\\> b\n"},
		{"text that is a rule", "<p>***<p>---<p>___<p>* * *", "\\*\\*\\*\n\n\\---\n\n\\_\\_\\_\n\n\\* * \\*\n"},
		{"text that is meta data", "---<br>title: a<br>---<p>b", "\\---\\\ntitle: a\\\n\\---\n\nb\n"},
		{"text that is code", "`a` ``b ```<p>~~~ c<p>``` d", "\\`a\\` \\`\\`b \\`\\`\\`\n\n\\~\\~\\~ c\n\n\\`\\`\\` d\n"},
		{"text that is a table", "<p>a | b<br>--- | ---<br>c | d<p>| a |<br>| - |<p>a<br>:-", "a | b\\\n\\--- | ---\\\nc | d\n\n\\| a |\\\n\\| - |\n\na\\\n\\:-\n"},
		{"text that is marked", "*a* **b** _c_ __d__ ~~e~~ ~f~ g_h_i 2 * 3 * 4", "\\*a\\* \\*\\*b\\*\\* \\_c\\_ \\_\\_d\\_\\_ \\~\\~e\\~\\~ ~f\\~ g_h_i 2 * 3 * 4\n"},
		{"text that is a reference", "&amp;amp; &amp;#35; &amp;lt;script&amp;gt; &amp; &amp;x", "\\&amp; \\&#35; \\&lt;script\\&gt; & &x\n"},
		{"reference in two elements", "&amp;<b>amp;</b> &amp;<span>lt;</span>", ""},
		{"backslashes", `\* \\* \a \`, "\\\\\\* \\\\\\\\\\* \\a \\\\\n"},
		{"backslash before a break", `a\<br>b`, "a\\\\ \\\nb\n"},
		{"marks that mark nothing", `a<b>"b"</b>c <b> </b><i></i>d<b>e</b>f`, "a\"b\"c d**e**f\n"},
		{"marks in marks", "<b><b><i><b>a</b></i></b></b><i><i>b</i></i>", "ab\n"},
		{"marks over blocks", "<b>a<p>b<ul><li>c</b>d", ""},
		{"marks beside marks", "<b>a</b><b>b</b><i>c</i><i>d</i><s>e</s><s>f</s>", ""},
		{"fences in code", "<pre>```\n# a\n~~~~\n````\n</pre>", "`````\n```\n# a\n~~~~\n````\n`````\n"},
		{"script in code", "<pre>&lt;script&gt;</pre><code>&lt;script&gt;</code>", "```\n<script>\n```\n\n`<script>`\n"},
		{"runs of backticks", "<code>`</code> <code>``a`</code> <code>```</code>", "`` ` `` ``` ``a` ``` ```` ``` ````\n"},
		{"code beside code", "<code>a</code><code>b</code><i><code>c</code></i>", ""},
		{"code of blanks", "<code> </code>a<pre>\n \n</pre>", "a\n"},
		{"code in lists in quotations", "<blockquote><ul><li>a<pre>b\n\n  c</pre></ul></blockquote>", "> - a\n>\n>   ```\n>   b\n>\n>     c\n>   ```\n"},
		{"language that is none", "<pre class='language-`x'>a</pre><pre class='language-html<b>'>b</pre>", "```\na\n```\n\n```\nb\n```\n"},
		{"language of a kilobyte", "<pre class='language-" + r("x", 1000) + "'>a</pre>", "```\na\n```\n"},
		{"table in a table", "<table><tr><td>a<table><tr><th>b<th>c<tr><td>d<td>e</table><td>f</table>", "a\n\n| b | c |\n| --- | --- |\n| d | e |\n\nf\n"},
		{"table for layout", "<table role=presentation><tr><th>a<th>b<tr><td>c<td>d</table>", "a\n\nb\n\nc\n\nd\n"},
		{"cells with bars", `<table><tr><th>a|b<th><code>c|d\|</code><tr><td>\|<td><a href='?|'>e</a></table>`, ""},
		{"cells with blocks", "<table><tr><th>a<td><ul><li>b<li># c</ul><tr><th>d<td><pre>e\nf|g</pre></table>", ""},
		{"cells over many columns", "<table><tr><th>a<th>b<tr><td colspan=99999999999999999999>c<tr><td colspan=-1>d</table>", ""},
		{"cells over a thousand columns", "<table><tr><th>a<th>b<tr><td colspan=1000>c</table>", "a\n\nb\n\nc\n"},
		{"text in a table", "<table>a<tr>b<td>c<tr><td>d</table>", ""},
		{"list of a strange start", "<ol start=-5><li>a<li value=99999999999>b<li value=x>c</ol><ol start=1000000000><li>d</ol>", "0. a\n999999999. b\n999999999. c\n\n999999999) d\n"},
		{"lists beside lists", "<ul><li>a</ul><ul><li>b</ul><ol><li>c</ol><ol><li>d</ol>", "- a\n\n+ b\n\n1. c\n\n1) d\n"},
		{"lists without items", "<ul>a<b>b</b><ul><li>c</ul></ul>", "a**b**\n\n- c\n"},
		{"list in a paragraph", "<ul><li>a<ol start=2><li>b</ol><li>c<ol><li>d</ol></ul>", ""},
		{"empty items", "<ul><li><li><ul><li></ul><li>a</ul>", "- a\n"},
		{"headings in all", "<ul><li><h2>a<p>b</h2></ul><table><tr><th><h1>c</table><h3><h1>d</h1></h3><h2></h2>", ""},
		{"heading with a closing", "<h2>a #</h2><h2>C#</h2><h2>##</h2>", "## a \\#\n\n## C#\n\n## \\#\\#\n"},
		{"heading of blocks", "<h2>a<br>b<pre>c</pre><ul><li>d</ul></h2>", ""},
		{"NUL", "a\x00b&#0;c", ""},
		{"control characters", "a\x01\x08\x1b[31mb\x7f&#x9b;c", ""},
		{"other direction", "a\u202eb\u202c&#x2066;c&rlo;", ""},
		{"tags of Unicode", "a\U000E0001\U000E0041\U000E007Fb", "ab\n"},
		{"byte order marks", "\ufeffa\ufeffb", "ab\n"},
		{"right to left", "<p dir=rtl>שלום <b>עולם</b>\u200f!", "שלום **עולם**\u200f!\n"},
		{"no UTF-8", "a\xff\xc0\x80b", ""},
		{"line feeds of Unicode", "a\u2028# b\u2029- c\u0085d", "a # b - c d\n"},
		{"white space", "\u00a0\u3000a\u00a0\t\n b<b>\u00a0c\u00a0</b>d", "a b **c** d\n"},
		{"pre without an end", "<pre>a<h1>b</h1><table><tr><td>c", ""},
		{"plaintext", "a<plaintext><b>b</b></plaintext>", ""},
		{"noscript", "<noscript><p>a<img src=i></noscript>b", ""},
		{"drawing", "<svg><title>a</title><a href=x>b</a><foreignobject><p>c</p></foreignobject></svg>d", "d\n"},
		{"ruby", "<ruby>漢<rp>(<rt>kan<rp>)</ruby>", "漢(kan)\n"},
		{"term's own link", "<dl><dt>a<a href='#a'>¶</a><dd>b <a href='#a'>#</a></dl>", "- a\n\n  b [#](https://example.org/dir/page.html#a)\n"},
		{"headline's own link", "<h2 id=a>a<a class=headerlink href='#a'>¶</a></h2><p><a href='#a'>¶</a>", "## a\n\n[¶](https://example.org/dir/page.html#a)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, err := htmltree.Parse([]byte(c.page))
			if err != nil {
				t.Fatal(err)
			}
			md := markdown.Append(nil, []*html.Node{root}, markdown.Options{Base: "https://example.org/dir/page.html"})
			if wrong := check(t, root, md); wrong != "" && !strings.HasPrefix(wrong, "links") {
				t.Errorf("%q is\n%s\n%s", c.page, md, wrong)
			}
			if c.want != "" && string(md) != c.want {
				t.Errorf("%q is\n%q\nnot\n%q", c.page, md, c.want)
			}
		})
	}
}

// TestHostileSizes writes pages of 256 KiB of one construct: Markdown is not much longer than the page, where lines
// name all that they are within, addresses are made absolute and tables are filled up.
func TestHostileSizes(t *testing.T) {
	t.Parallel()
	base := "https://example.org/" + strings.Repeat("d", 200) + "/"
	for _, c := range []struct {
		testutil.Construct
		times int // how much longer it may be
	}{
		{testutil.Repeated("lists in lists", "", "<ul><li>a", ""), 8},
		{testutil.Repeated("quotations in quotations", "", "<blockquote>a", ""), 8},
		{testutil.Repeated("items in deep lists", strings.Repeat("<ol start=999999999><li>", 100), "<li>a", ""), 40},
		{testutil.Repeated("lines of code in deep lists", strings.Repeat("<ol start=999999999><li>", 100)+"<pre>", "a\n", ""), 60},
		{testutil.Repeated("breaks in deep lists", strings.Repeat("<ol start=999999999><li>", 100), "a<br>", ""), 30},
		{testutil.Repeated("tables in tables", "", "<table><tr><td>a<td>", ""), 8},
		{testutil.Repeated("cells", "<table><tr><th>a<th>b", "<td>a", ""), 8},
		{testutil.Repeated("rows of one cell", "<table><tr>"+strings.Repeat("<th>a", 200), "<tr><td>a", ""), 8},
		{testutil.Repeated("cells over columns", "<table><tr><th>a", "<tr><td colspan=250><td>a", ""), 8},
		{testutil.Repeated("links", "", "<a href=x>a</a>b", ""), 20},
		{testutil.Repeated("images", "", "<img src=x>", ""), 30},
		{testutil.Repeated("characters that are escaped", "", "*", ""), 3},
		{testutil.Repeated("less than", "", "<<", ""), 8},
		{testutil.Repeated("marks", "", "<b>a</b>b", ""), 4},
		{testutil.Repeated("backticks", "<code>", "`a", "</code>"), 4},
		{testutil.Repeated("fences", "<pre>", "````````\n", "</pre>"), 4},
		{testutil.Repeated("elements in elements", "", "<div>", ""), 1},
		{testutil.Repeated("attributes", "<p", " a%d", ">a"), 1},
		{testutil.Repeated("definitions", "<dl>", "<dt>a<dd>b", ""), 8},
		{testutil.Repeated("rules in deep lists", strings.Repeat("<ul><li>", 100), "<hr>", ""), 40},
	} {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			page := c.Grow(256 << 10)
			root, err := htmltree.Parse(page)
			if err != nil {
				t.Fatal(err)
			}
			md := markdown.Append(nil, []*html.Node{root}, markdown.Options{Base: base})
			if most := c.times*len(page) + 1<<12; len(md) > most {
				t.Errorf("%d bytes of Markdown of %d of the page: %d times as many", len(md), len(page), len(md)/len(page))
			}
			if wrong := harm(md[:min(len(md), 1<<16)]); wrong != "" && len(md) <= 1<<16 {
				t.Error(wrong)
			}
		})
	}
}

func TestNoMarkdownIsLongerThanTheLimit(t *testing.T) {
	t.Parallel()
	base := "https://example.org/" + strings.Repeat("d", 8000) + "/"
	for name, unit := range map[string]string{
		"paragraphs": "<p><a href=x>a</a>b", "a paragraph": "<a href=x>a</a>b", "other links": "<a href=%d>a</a>b", "images": "<img src=x>",
		"cells": "<table><tr><th><a href=x>a</a>b</table>",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, err := htmltree.Parse(testutil.Repeated("", "", unit, "").Grow(12_000 * len(unit)))
			if err != nil {
				t.Fatal(err)
			}
			md := markdown.Append(nil, []*html.Node{root}, markdown.Options{Base: base})
			if len(md) < markdown.MaxOutput*9/10 || len(md) > markdown.MaxOutput+1<<20 {
				t.Errorf("%d bytes of %d", len(md), markdown.MaxOutput)
			}
		})
	}
}

func TestAmplification(t *testing.T) {
	repeated, times := testutil.Repeated, strings.Repeat
	for _, c := range []testutil.Construct{
		repeated("lists in lists", "", "<ul><li>a", ""),
		repeated("items in deep lists", times("<ul><li>", 100), "<li>a", ""),
		repeated("definitions in definitions", "", "<dl><dt>a<dd>", ""),
		repeated("tables in tables", "", "<table><tr><td>a", ""),
		repeated("cells", "<table>", "<td>a", ""),
		repeated("rows", "<table><tr><th>a<th>b", "<tr><td>a<td>b", ""),
		repeated("links", "", "<a href=x%d>a</a>", ""),
		repeated("one link again and again", "", "<a href=x>a</a> ", ""),
		repeated("emphasis in strong text", "<p><b>", "<i>a</i>b ", ""),
		repeated("links in strong emphasis", "<p><b><i>", "<a href=x%d>a</a>b ", ""),
		repeated("marks that are none", "<p>", `a<b>"</b>`, ""),
		repeated("marks in marks", "", "<b><i>a", ""),
		repeated("breaks", "", "a<br>", ""),
		repeated("code beside code", "", "<code>a</code>", ""),
		repeated("backslashes before links", `\\`, `\\`, "!<a href=x>a</a>"),
		repeated("exclamation marks before links", "", `\\!<a href=x>a</a>`, ""),
		repeated("ampersands", "", "&amp;a", ""),
		repeated("digits", "<p>", "<b>1</b>", ". a"),
		repeated("headings", "", "<h1>a", ""),
		repeated("lines of code", "<pre>", "a\n", ""),
		repeated("code in code", "<pre>", "<b>a", ""),
		repeated("names", "<p", " class%d=x", ">a"),
	} {
		testutil.Amplify(t, c, func(body []byte) bool {
			root, err := htmltree.Parse(body)
			if err != nil {
				return true
			}
			markdown.Append(nil, []*html.Node{root}, markdown.Options{Base: address})
			return false
		})
	}
}

// BenchmarkAppend writes the pages of the Python documentation's library.
func BenchmarkAppend(b *testing.B) {
	var roots []*html.Node
	size := 0
	for _, path := range realPages(b) {
		if strings.Contains(path, "/library/") {
			page := content(b, path)
			root, err := htmltree.Parse(page)
			if err != nil {
				b.Fatal(err)
			}
			roots, size = append(roots, root), size+len(page)
		}
	}
	if len(roots) == 0 {
		b.Skip("install the Debian package python3.11-doc")
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	var md []byte
	for b.Loop() {
		for _, root := range roots {
			md = markdown.Append(md[:0], []*html.Node{root}, markdown.Options{Base: address})
		}
	}
}
