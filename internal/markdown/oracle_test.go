package markdown_test

import (
	"bytes"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"golang.org/x/net/html"
)

// reading is what a page tells its reader.
type reading struct {
	words []string
	links []string // and images, in the order in which they stand; those that repeat the one before once
}

// reader reads a tree of x/net/html, plainly: it shares nothing with the package but the rules.
type reader struct {
	reading
	base  *url.URL
	page  bool // it is the page, not what was rendered of Markdown
	text  []byte
	after string // the link of the text that was added last, while nothing parts it
}

func set(names string) map[string]bool {
	m := make(map[string]bool)
	for name := range strings.FieldsSeq(names) {
		m[name] = true
	}
	return m
}

var (
	unseen  = set("script style template noembed noframes iframe svg title head")
	running = set(`a abbr acronym area b base bdi bdo big cite code data del dfn em font html i ins kbd label link mark meta
		meter nobr noscript output q rb rp rt rtc ruby s samp small span strike strong sub sup time tt u var wbr img
		mi mn mo ms mtext mrow msup msub mfrac msqrt semantics annotation`)
	headings = set("h1 h2 h3 h4 h5 h6")
	codes    = set("pre listing xmp plaintext")
	leading  = set("http https ftp mailto tel news nntp")
)

// read reads a page, at this address.
func read(tb testing.TB, page []byte, address string) reading {
	tb.Helper()
	return readTree(tb, page, address, true)
}

// rendered reads what goldmark makes of Markdown.
func rendered(tb testing.TB, markdown []byte) reading {
	tb.Helper()
	return readTree(tb, renderHTML(tb, markdown), "", false)
}

func renderHTML(tb testing.TB, markdown []byte) []byte {
	tb.Helper()
	var out bytes.Buffer
	if err := goldmark.New(goldmark.WithExtensions(extension.GFM)).Convert(markdown, &out); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func readTree(tb testing.TB, page []byte, address string, isPage bool) reading {
	tb.Helper()
	root, err := html.ParseWithOptions(bytes.NewReader(page), html.ParseOptionEnableScripting(false))
	if err != nil {
		tb.Skip(err)
	}
	return readNode(tb, root, address, isPage)
}

func readNode(tb testing.TB, root *html.Node, address string, isPage bool) reading {
	tb.Helper()
	base, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	r := reader{page: isPage, base: base}
	r.node(root, false, false, "")
	r.words = strings.Fields(string(r.text))
	return r.reading
}

func (r *reader) node(n *html.Node, inCode, inHeading bool, link string) {
	switch {
	case n.Type == html.TextNode:
		r.add(n.Data, link, inCode)
		return
	case n.Type != html.ElementNode:
	case unseen[n.Data] || r.page && isUnseen(n):
		return
	case !running[n.Data]:
		r.text = append(r.text, ' ')
		defer func() { r.text = append(r.text, ' ') }()
	}
	inCode, inHeading = inCode || codes[n.Data], inHeading || headings[n.Data] || n.Data == "dt"
	switch n.Data {
	case "a":
		href, ok := value(n, "href")
		if r.page && inHeading && strings.HasPrefix(href, "#") && strings.Contains("¶#§🔗", strings.TrimSpace(textOf(n))) && n.FirstChild != nil {
			return
		}
		if link = ""; ok {
			link = r.absolute(href)
		}
	case "img":
		r.image(n, inCode, link)
		return
	}
	for c := range n.ChildNodes() {
		r.node(c, inCode, inHeading, link)
	}
}

func textOf(n *html.Node) (all string) {
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			all += d.Data
		}
	}
	return all
}

func isUnseen(n *html.Node) bool {
	hidden, is := value(n, "hidden")
	if is && !strings.EqualFold(hidden, "until-found") {
		return true
	}
	style, _ := value(n, "style")
	style = strings.ToLower(strings.Join(strings.Fields(style), ""))
	_, popover := value(n, "popover")
	_, open := value(n, "open")
	return strings.Contains(style, "display:none") || popover || n.Data == "dialog" && !open
}

func value(n *html.Node, key string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val, true
		}
	}
	return "", false
}

func (r *reader) add(text, link string, inCode bool) {
	text = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case unicode.IsControl(c), strings.ContainsRune("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\ufff9\ufffa\ufffb", c), c>>12 == 0xE0:
			return -1
		}
		return c
	}, text)
	if strings.TrimSpace(text) != "" && link != "" && !(inCode && r.page) {
		if last := len(r.words); last == 0 && len(r.text) > 0 && r.after != "" && r.after != link {
			before, after := []rune(string(r.text[max(0, len(r.text)-4):])), []rune(text)
			if isWord(before[len(before)-1]) && isWord(after[0]) {
				r.text = append(r.text, ' ') // two links are two words
			}
		}
		r.link(link)
	}
	if text != "" {
		r.after = link
	}
	r.text = append(r.text, text...)
}

func isWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }

func (r *reader) link(link string) {
	if n := len(r.links); n == 0 || r.links[n-1] != link {
		r.links = append(r.links, link)
	}
}

func (r *reader) image(n *html.Node, inCode bool, link string) {
	src := ""
	for _, name := range []string{"src", "data-src", "data-original", "data-lazy-src"} {
		if v, _ := value(n, name); v != "" && src == "" {
			if v = r.absolute(v); strings.HasPrefix(v, "http") {
				src = v
			}
		}
	}
	width, _ := value(n, "width")
	height, _ := value(n, "height")
	if src == "" || r.page && (inCode || width == "1" && height == "1") {
		return
	}
	r.after = ""
	if link != "" {
		r.link(link)
	}
	r.link("image " + src)
}

// barePercent is a percent sign, with what follows it if that makes it encode something.
var barePercent = regexp.MustCompile(`%([0-9A-Fa-f]{2})?`)

// absolute returns the address that is meant, in a form that can be compared; "" if Markdown must not lead there.
func (r *reader) absolute(href string) string {
	u, err := r.base.Parse(barePercent.ReplaceAllStringFunc(strings.Map(func(c rune) rune {
		if c == '\t' || c == '\n' || c == '\r' {
			return -1
		}
		return c
	}, strings.TrimSpace(href)), func(s string) string {
		if s == "%" {
			return "%25"
		}
		return s
	}))
	if err != nil || !leading[u.Scheme] || u.Host+u.Opaque == "" {
		return ""
	}
	u.User = nil
	u.Host = strings.ToLower(u.Host)
	if u.Path == "" && u.Host != "" {
		u.Path = "/"
	}
	plain, err := url.PathUnescape(strings.ReplaceAll(u.String(), "%25", "%2525"))
	if err != nil {
		return u.String()
	}
	return strings.TrimSuffix(strings.TrimSuffix(plain, "#"), "?")
}
