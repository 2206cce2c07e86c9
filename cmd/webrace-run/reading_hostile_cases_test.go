package main

import (
	"fmt"
	"strings"
)

// hostilePaths are links to pages whose addresses would not be the names of files: they lead out of a folder, are the
// same file as others on some system, are none there, or mean something to a shell or to a list of Markdown.
var hostilePaths = []string{
	"/../../up", "/in/../../out", "/%2e%2e/%2e%2e/encoded", "/.%2e/half", "/a%2f..%2f..%2fslashes", "/..%5c..%5cbackslashes", `/..\..\plain`,
	"/%2e", "/%2e%2e%2f", "/...", "/.../three", "/ok/..%00/x", "/a%00b", "/%00", "/a%0Ab", "/a%0D%0Ab", "/a%09b", "/%1b[31m", "/%7f",
	"/" + strings.Repeat("n", 2000), "/" + strings.Repeat("%C3%BC", 200), "/" + strings.Repeat("x", 254), deep(300) + "/", deep(300), deep(301), deep(299) + "/300",
	"/" + strings.Repeat("n", 2000) + "/file", "/" + strings.Repeat("n", 2001),
	"/Case", "/case", "/CASE", "/case/", "/Case/x", "/case/x", "/stra%C3%9Fe", "/strasse", "/STRASSE", "/%C4%B0", "/i%CC%87", "/%C3%A9", "/e%CC%81", "/%EF%AC%81", "/fi",
	"/a", "/a/", "/a/b", "/a/b/", "/a/b/c", "/a.md", "/a.md/b", "/a.md/", "/a_", "/a_/b", "/a.md_", "/a.md_/b", "/a/index", "/a/index.md", "/a/index/", "/index", "/index.md",
	"/index.md.part", "/a.md.part", "/.md", "/.md.part", "/a.part", "/a~2", "/a+80", "/q", "/q?", "/q?x=1", "/q?x=2", "/q?x=/../..", "/q?/../../x", "/q%3Fx=1", "/q?x=%00", "/q?x=a#b",
	"/%E6%97%A5%E6%9C%AC/%E8%AA%9E", "/日本/語2", "/%D7%A9%D7%9C", "/%E2%80%AEdm.txt", "/%EF%BB%BFbom", "/%E2%80%8Bzero", "/%F0%9F%98%80", "/%ff%fe", "/%C0%AE%C0%AE/overlong",
	"/CON", "/con", "/con.txt", "/aux/x", "/nul", "/nul.a.html", "/com1", "/com%C2%B9", "/lpt9.md", "/conin$", "/clock$", "/trailing.", "/trailing%20", "/trailing", "/trailing./x",
	"/.hidden", "/.git/config", "/-rf", "/~user", "/c:%5cx", "/c:/x", "/a:stream", "/a%3A$DATA", "/a*b", "/a%3Cb%3E", "/a%22b", "/a|b", "/$(id)", "/`id`", "/%25", "/%2525", "/%zz", "/100%25",
	"/two//slashes", "/a//b", "/;p=1", "/[x](y)", "/](javascript:alert(1))", "/<b>", "/%3Cscript%3E", "/a b", "/&amp", "/&amp;lt;", "/'quoted'",
}

// deep is a path of so many folders.
func deep(folders int) string {
	var path strings.Builder
	for i := range folders {
		fmt.Fprintf(&path, "/%d", i)
	}
	return path.String()
}

// hostileTitles are what pages are called that would have their front matter be something else.
var hostileTitles = []string{
	"---", "...", "a\n---\nurl: http://evil.example/\n---\n", "--- \n--- ", "\n\n---", "a: b", "url: x", ": ", "- a", "? a", "{a: b}", "[a, b]", "&a b", "*a", "!!js/function x", "! a", "%YAML 1.2", "# no title", "a #b",
	"| ", ">-", "@a", "`a`", `"a"`, `a"b`, `\`, `\"`, `\u0022`, "'a'", "'", `"`, "null", "~", "true", "no", "0x1F", "1e3", "2026-01-01", ".nan", "<<", "=",
	"control \x01\x02\x1b[31mred\x7f", "c1 \u0080\u0085\u009b31m", "lines\u2028of\u2029text", "tabs\tand\vfeeds\fand\rreturns", "left\u202eto right\u202c", "isolated \u2066x\u2069", "\u200eleft\u200f", "\ufeffmark", "zero\u200bwidth", "soft\u00adhyphen",
	"\u202e\u200b", "tags \U000e0041\U000e0042", "joined 👩‍👩‍👧", "\ufffd", "not \ufffe a \uffff character", "<script>alert(1)</script>", "</title><script>alert(1)</script>", "&lt;b&gt;", "[a](javascript:alert(1))", "![a](http://evil.example/)",
	"](b) [a", "**a**", "- [x] a", "| a | b |", "a\\", strings.Repeat("long ", 200), strings.Repeat("ü", 1000), "{{ .Site }}", "{% raw %}", "${x}", "$(id)",
}

// hostileTexts are texts that would be markup of Markdown's, or of a page's, if they were written as they are.
var hostileTexts = []string{
	"# heading", "heading\n===", "heading\n---", "---", "***", "* item", "+ item", "- item", "1. item", "1) item", "> quoted", "    code", "```\nfence\n```", "~~~ fence", "`code`", "`` a ` b ``", "`", "| a | b |\n| --- | --- |\n| c | d |", "a|b",
	"*a* **b** ***c***", "_a_ __b__ a_b_c", "~~a~~ ~b~", "[a](http://evil.example/)", "[a](javascript:alert(1))", "![a](http://evil.example/a.png)", "[a]: http://evil.example/\n[a]", "[^1]: note [^1]", "[ ] [x]", "[a", "](b)",
	"<http://evil.example/>", "<me@evil.example>", "http://evil.example/", "https://evil.example.", "ftp://evil.example/a", "www.evil.example", "me@evil.example", "mailto:me@evil.example", "xhttp://evil.example", "HTTP://EVIL.example",
	"<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!-- comment -->", "<!--", "-->", "<?php ?>", "<!DOCTYPE x>", "<![CDATA[x]]>", "<b", "</b>", "<a href=\"javascript:alert(1)\">", "< b", "a<b", "a <1", "<br>", "<https:x>",
	"&lt;b&gt;", "&amp;", "&#60;script&#62;", "&#x3c;", "&notit;", "& b", "&copy", `\`, `\\`, `\*`, `\<b>`, "a\\", "a  \nb", "a\\\nb", "{#id}", "{{ x }}", "{% x %}", "$x$", "$$", ":smile:", "==a==", "^a^", "#tag", "a#", "a #", "@me", "!", "![", "\t", "1.", "1986. a", "1234567890. a",
}

// textPlaces are where a text can stand on a page, and what is read then: TEXT stands for it.
var textPlaces = []struct{ page, read string }{
	{"<p>TEXT</p>", "TEXT"}, {"<h2>TEXT</h2>", "TEXT"}, {"<ul><li>TEXT<li>b</ul>", "TEXT b"}, {"<ol><li>TEXT</ol>", "TEXT"}, {"<blockquote>TEXT</blockquote>", "TEXT"}, {"<p>a TEXT b</p>", "a TEXT b"}, {"<p>a<br>TEXT<br>b</p>", "a TEXT b"},
	{"<table><tr><th>a<th>b<tr><td>TEXT<td>c</table>", "a b TEXT c"}, {"<table><tr><th>TEXT<th>b<tr><td>a<td>c</table>", "TEXT b a c"}, {"<dl><dt>TEXT<dd>TEXT</dl>", "TEXT TEXT"}, {"<p><a href=/>TEXT</a></p>", "TEXT"}, {"<p>a<b>TEXT</b>b</p>", "aTEXTb"},
	{"<p>(<i>TEXT</i>)</p>", "(TEXT)"}, {"<p><s>TEXT</s></p>", "TEXT"}, {"<pre>TEXT</pre>", "TEXT"}, {"<p><code>TEXT</code></p>", "TEXT"}, {"<p><img src=/a.png alt=\"TEXT\">", ""}, {"<details><summary>TEXT</summary>a</details>", "TEXT a"},
}

// hostileMarkup are bodies that would have a script run, or lead where no reader is to go.
var hostileMarkup = []string{
	"<script>alert(1)</script>", "<SCRIPT SRC=//evil.example/x.js></SCRIPT>", "<scr<script>ipt>alert(1)</scr</script>ipt>", "<style>*{x:expression(alert(1))}</style>", "<img src=x onerror=alert(1)>", "<img src=javascript:alert(1)>", "<img src=data:image/svg+xml,x>",
	"<svg onload=alert(1)><script>alert(1)</script></svg>", "<math><mtext><img src=x onerror=alert(1)></mtext></math>", "<iframe srcdoc='<script>alert(1)</script>'></iframe>", "<object data=javascript:alert(1)>a</object>", "<embed src=javascript:alert(1)>",
	"<form action=javascript:alert(1)><button formaction=javascript:alert(1)>a</button></form>", "<base href=javascript:alert(1)//><a href=x>a</a>", "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>", "<body onload=alert(1)>", "<p onclick=alert(1)>a",
	"<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\"></noscript>", "<textarea><script>alert(1)</script></textarea>", "<xmp><script>alert(1)</script></xmp>", "<plaintext><script>alert(1)</script>", "<template><script>alert(1)</script></template>",
	"<noembed><script>alert(1)</script></noembed>", "<title><script>alert(1)</script></title>", "<select><option><script>alert(1)</script></select>", "<p>a<!-- <script>alert(1)</script> -->b", "<!--><script>alert(1)</script>-->", "<!-- --!><img src=x onerror=alert(1)>",
	"<p><![CDATA[<script>alert(1)</script>]]>", "<?xml version='1.0'?><script>alert(1)</script>", "<pre>```\n<script>alert(1)</script>\n```\n\n<script>alert(1)</script></pre>", "<pre>&lt;/code>&lt;/pre>&lt;script>alert(1)&lt;/script></pre>", "<code>`<img src=x onerror=alert(1)>`</code>",
	"<code>&lt;img src=x onerror=alert(1)>\n\n&lt;script></code>", "<pre><code class='language-js\" onload=\"alert(1)'>a</code></pre>", "<pre class=\"brush: js`<script>\">a</pre>", "<ol start='1\" onload=alert(1)'><li>a</ol>", "<ol start=99999999999><li>a</ol>", "<ol start=-3><li>a</ol>",
	"<a href=javascript:alert(1)>a</a>", "<a href='  javascript:alert(1)'>a</a>", "<a href='java\nscript:alert(1)'>a</a>", "<a href='java&#9;script:alert(1)'>a</a>", "<a href='&#1;javascript:alert(1)'>a</a>", "<a href='JaVaScRiPt&colon;alert(1)'>a</a>", "<a href=javascript&#58;alert(1)>a</a>",
	"<a href='data:text/html,<script>alert(1)</script>'>a</a>", "<a href=vbscript:x>a</a>", "<a href=file:///etc/passwd>a</a>", "<a href=view-source:javascript:x>a</a>", "<a href=blob:x>a</a>", "<a href=about:blank>a</a>", "<a href=intent://x>a</a>", "<a href='feed:javascript:alert(1)'>a</a>",
	"<a href='http://evil.example/)[a](javascript:alert(1)'>a</a>", "<a href='http://evil.example/\"onmouseover=\"alert(1)'>a</a>", "<a href='http://evil.example/> <script>alert(1)</script>'>a</a>", "<a href='http://evil.example/\n\n<script>'>a</a>", "<a href='mailto:a@b.example?x=)[a](javascript:alert(1)'>a</a>",
	"<a href='tel:1\"><script>alert(1)</script>'>a</a>", "<a href='http://javascript:alert(1)@evil.example/'>a</a>", "<a href='#\"><script>'>a</a>", "<a href='?javascript:alert(1)'>a</a>", "<a href='//evil.example\\@good.example'>a</a>", "<a href='http://evil.example/&#x29;&#x5b;a&#x5d;(javascript:alert(1))'>a</a>",
	"<a href=/x title='a\" onclick=\"alert(1)'>a</a>", "<a href=/x>](javascript:alert(1))</a>", "<a href=/x><a href=javascript:alert(1)>a</a></a>", "<img src=/x alt='](javascript:alert(1))'>", "<img src=/x alt='\"><script>alert(1)</script>'>", "<img src=/x alt='\n\n<script>alert(1)</script>'>",
	"<img src='/x)![a](javascript:alert(1)'>", "<img data-src=javascript:alert(1) src=data:image/gif;base64,R0lG>", "<table><td>|<script>alert(1)</script>|<td>&lt;br&gt;&lt;script&gt;</table>", "<table><caption onclick=alert(1)>a</caption><tr><th>a<br><script>alert(1)</script><th>b<tr><td>c<td>d</table>",
	"<h1>a\n\n<script>alert(1)</script></h1>", "<p>&lt;scr<b></b>ipt&gt;alert(1)&lt;/scr<i></i>ipt&gt;", "<p>&lt;<b>script&gt;alert(1)&lt;/script</b>&gt;", "<p>[a]<span>(javascript:alert(1))</span>", "<p>[a](java<b>script</b>:alert(1))", "<p>!<a href=/x>a</a>", "<p>\\<a href=/x>a</a>", "<p>&<span>lt;script&gt;</span>",
	"<p>&lt;<span>!--</span>", "<p>a\x00b<scr\x00ipt>alert(1)</scr\x00ipt>", "<p>\u202e<script>alert(1)</script>\u202c", "<p>-<span>-</span>-", "<p>`<a href=javascript:alert(1)>`</a>", "<x-evil onx=alert(1)>a</x-evil>", "<p is=x-evil><slot name=a>b</slot>", "<marquee onstart=alert(1)>a</marquee>", "<frameset onload=alert(1)><frame src=javascript:alert(1)></frameset>",
	"<p popover>a<p>b", "<dialog open onclose=alert(1)>a</dialog>", "<ruby onclick=alert(1)>a<rt>b</ruby>", "<video src=x onerror=alert(1)><source onerror=alert(1)>a</video>", "<map><area href=javascript:alert(1)></map>", "<input onfocus=alert(1) autofocus>", "<link rel=stylesheet href=javascript:alert(1)>",
}

// nested are elements within one another, many more than any tree has: of one kind 10 MB.
func nested() (bodies []string) {
	size := 10 << 20
	for _, tags := range []string{"<div>", "<b>", "<blockquote>", "<ul><li>", "<table><tr><td>", "<a href=/x>", "<i><p>"} {
		bodies = append(bodies, strings.Repeat(tags, size/len(tags)))
		size = 1 << 20
	}
	return bodies
}
