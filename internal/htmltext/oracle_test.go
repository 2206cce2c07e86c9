package htmltext_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/htmltext"
	"github.com/webrace/webrace/internal/plaintext"
)

// word is a word of the text and the field it stands in; a mark ends each block.
type word struct {
	text  string
	field webrace.Field
}

const mark = "\n"

// page is what a page gives, in a form that can be compared.
type page struct {
	words []word
	links []string
	lost  bool // the tokenizer is wrong about where a script ends
}

func scanned(s *htmltext.Scanner) (p page) {
	for _, b := range s.Text.Blocks {
		for _, w := range strings.Fields(string(s.Text.Slice(b))) {
			p.words = append(p.words, word{w, b.Field})
		}
		p.words = append(p.words, word{mark, b.Field})
	}
	for _, l := range s.Links {
		if l.Kind != htmltext.Refresh {
			p.links = append(p.links, string(l.URL))
		}
	}
	p.words = withoutEmpty(p.words)
	return p
}

// withoutEmpty drops the marks of blocks without words: one of non-breaking spaces alone has none.
func withoutEmpty(words []word) (kept []word) {
	for i, w := range words {
		if w.text != mark || i > 0 && words[i-1].text != mark {
			kept = append(kept, w)
		}
	}
	return kept
}

func set(names string) map[string]bool {
	m := make(map[string]bool)
	for n := range strings.FieldsSeq(names) {
		m[n] = true
	}
	return m
}

var (
	joining = set(`a abbr acronym area b base bdi bdo big cite code data del dfn em font i ins kbd label link mark
		meta meter nobr noembed noframes noscript output q rb rp rt rtc ruby s samp script small span strike strong
		style sub sup template time tt u var wbr mi mn mo ms mtext mrow msup msub mfrac msqrt semantics annotation`)
	spacing = set(`audio button canvas embed iframe img input math object picture progress select source svg textarea
		track video`)
	rawNames     = set("script style noembed noframes iframe")
	svgPoints    = set("title desc foreignobject")
	mathPoints   = set("mi mn mo ms mtext")
	sections     = set("nav footer aside")
	headings     = set("h1 h2 h3 h4 h5 h6")
	heads        = set("h1 h2 h3")
	pres         = set("pre listing xmp plaintext")
	endsHeadings = set("article section main blockquote dl hr ol p pre table ul form nav footer aside")
	breakouts    = set(`b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li
		listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var`)
)

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// lostInScripts finds what the tokenizer of x/net/html reads otherwise than the standard: behind a "<" that is followed
// neither by "/" nor by a letter it takes what is escaped in a script for ended, where the script data escaped
// less-than sign state (section 13.2.5.23) goes back to the script data escaped state. So it misses the script data
// double escape start state. The dashes of "<!--" may be those of "-->".
var lostInScripts = regexp.MustCompile(`<!---*(?:[^->](?:[^-]|-[^-]|--+[^->])*-*)?<[^A-Za-z/]`)

// oracle does the same job with the tokenizer of x/net/html, plainly.
type oracle struct {
	page
	buf      strings.Builder
	open     map[string]int
	heading  bool
	field    webrace.Field
	stack    []string
	entered  bool // the innermost of them holds HTML, and has none yet
	rawTag   string
	template int
	pre      int
	tags     string // since the last text: <a></a>
}

// partWords parts the text that follows from the text before it, if that is of another link.
func (o *oracle) partWords(raw string) {
	tags := o.tags
	o.tags = ""
	before, _ := utf8.DecodeLastRuneInString(o.buf.String())
	behind, _ := utf8.DecodeRuneInString(raw)
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	if strings.HasSuffix(tags, "</a><a>") && isWord(before) && isWord(behind) {
		o.buf.WriteByte(' ')
	}
}

func (o *oracle) note(name, slash string) {
	o.tags += "<" + slash + name + ">"
}

func (o *oracle) foreign() bool {
	n := len(o.stack)
	return n > 0 && (o.stack[n-1] == "svg" || o.stack[n-1] == "math")
}

func (o *oracle) hidden() bool {
	return o.template > 0 || strings.Contains(strings.Join(o.stack, " "), "svg")
}

func (o *oracle) flush() {
	text := strings.TrimSpace(o.buf.String())
	o.buf.Reset()
	if o.pre == 0 {
		o.block(text)
		return
	}
	plaintext.Blocks([]byte(text), func(start, end int) bool {
		o.block(text[start:end])
		return true
	})
}

func (o *oracle) block(text string) {
	for w := range strings.FieldsSeq(text) {
		o.words = append(o.words, word{w, o.field})
	}
	o.words = append(o.words, word{mark, o.field})
}

func (o *oracle) refield() {
	f := webrace.FieldBody
	if o.open["nav"]+o.open["footer"]+o.open["aside"] > 0 {
		f = webrace.FieldNavigation
	} else if o.heading {
		f = webrace.FieldHeading
	}
	if f != o.field {
		o.flush()
		o.field = f
	}
}

func (o *oracle) flow(name string) {
	switch {
	case o.hidden() || joining[name]:
	case spacing[name]:
		o.buf.WriteByte(' ')
	default:
		o.flush()
	}
}

func (o *oracle) leave() {
	for o.foreign() {
		o.stack = o.stack[:len(o.stack)-1]
	}
	o.entered = false
}

func expected(src []byte) page {
	o := &oracle{open: make(map[string]int)}
	o.read(src, false)
	o.flush()
	o.words = withoutEmpty(o.words)
	return o.page
}

// read reads a page or, within it, the content of noscript, which is raw text to the library.
func (o *oracle) read(src []byte, within bool) {
	z := html.NewTokenizer(bytes.NewReader(src))
	for {
		z.AllowCDATA(o.foreign() || o.entered)
		tt := z.Next()
		switch tt {
		case html.ErrorToken:
			return
		case html.TextToken:
			if o.rawTag != "noscript" {
				o.text(z)
				continue
			}
			o.rawTag = ""
			template, stack := o.template, slices.Clone(o.stack)
			o.read(slices.Clone(z.Raw()), true)
			o.template = min(o.template, template)
			if len(o.stack) > len(stack) {
				o.stack, o.entered = o.stack[:len(stack)], false
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			if o.start(z, tt == html.SelfClosingTagToken, within) {
				z.NextIsNotRawText()
			}
		case html.EndTagToken:
			o.end(z)
		default:
			o.tags += "<!>"
		}
	}
}

func (o *oracle) text(z *html.Tokenizer) {
	raw := string(z.Raw())
	text := string(z.Text())
	cdata, isCDATA := strings.CutPrefix(raw, "<![CDATA[")
	if isCDATA = isCDATA && (o.foreign() || o.entered); isCDATA {
		text = strings.TrimSuffix(cdata, "]]>")
	}
	if isCDATA || o.foreign() {
		text = strings.ReplaceAll(text, "\x00", "\ufffd")
	}
	tag := o.rawTag
	o.rawTag = ""
	o.lost = o.lost || tag == "script" && lostInScripts.MatchString(raw)
	if o.hidden() || rawNames[tag] {
		return
	}
	if tag == "title" {
		o.flush()
		field := o.field
		o.field = webrace.FieldTitle
		o.buf.WriteString(text)
		o.flush()
		o.field = field
		return
	}
	if !htmltext.IsRaw(tag) && !isCDATA {
		o.partWords(raw)
	}
	o.buf.WriteString(strings.ReplaceAll(text, "\x00", ""))
}

// start reports whether the content of the element is not raw, as in foreign content; that of noscript is, unless it is
// within another.
func (o *oracle) start(z *html.Tokenizer, selfClosing, within bool) bool {
	o.rawTag = ""
	b, more := z.TagName()
	name := string(b)
	o.note(name, "")
	attr := map[string]string{}
	for more {
		var k, v []byte
		k, v, more = z.TagAttr()
		attr[string(k)] = string(v)
	}
	_, color := attr["color"]
	_, face := attr["face"]
	_, size := attr["size"]
	if o.foreign() && (breakouts[name] || name == "font" && (color || face || size)) {
		o.leave()
	} else if o.foreign() {
		top := o.stack[len(o.stack)-1]
		encoding := strings.ToLower(attr["encoding"])
		holdsHTML := top == "svg" && svgPoints[name] || top == "math" && mathPoints[name] ||
			top == "math" && name == "annotation-xml" && (encoding == "text/html" || encoding == "application/xhtml+xml")
		if !selfClosing && (name == "svg" || name == "math" || holdsHTML) {
			o.stack = append(o.stack, name)
			o.entered = holdsHTML
		}
		o.flow(name)
		if name == "a" {
			if _, ok := attr["href"]; !ok && attr["xlink:href"] != "" {
				attr["href"] = attr["xlink:href"]
			}
			o.link(name, attr)
		}
		return true
	}
	o.rawTag = name
	o.entered = false
	o.flow(name)
	o.link(name, attr)
	switch {
	case name == "template":
		o.template++
	case name == "svg" || name == "math":
		if !selfClosing {
			o.stack = append(o.stack, name)
		}
	case o.hidden():
		o.pre += count(pres[name])
	default:
		o.pre += count(pres[name])
		if headings[name] || endsHeadings[name] {
			o.heading = heads[name]
		}
		if sections[name] {
			o.open[name]++
		}
		o.refield()
	}
	if name == "noscript" && within {
		o.rawTag = ""
		return true
	}
	return false
}

func (o *oracle) end(z *html.Tokenizer) {
	o.rawTag = ""
	b, _ := z.TagName()
	name := string(b)
	o.note(name, "/")
	if o.foreign() && (breakouts[name] || headings[name] || endsHeadings[name]) {
		o.leave()
	} else if i := strings.LastIndex(" "+strings.Join(o.stack, " ")+" ", " "+name+" "); i >= 0 {
		o.stack = strings.Fields((" " + strings.Join(o.stack, " "))[:i])
		o.entered = false
	}
	o.flow(name)
	if name == "template" {
		o.template = max(0, o.template-1)
		return
	}
	o.pre = max(0, o.pre-count(pres[name]))
	if o.hidden() {
		return
	}
	if headings[name] {
		o.heading = false
	}
	if sections[name] {
		o.open[name] = max(0, o.open[name]-1)
	}
	o.refield()
}

func (o *oracle) link(name string, attr map[string]string) {
	key := map[string]string{"a": "href", "area": "href", "link": "href", "iframe": "src", "frame": "src", "img": "src", "form": "action"}[name]
	url, ok := attr[key]
	if !ok || o.template > 0 {
		return
	}
	if name == "link" {
		rel := " " + strings.ToLower(strings.Join(strings.FieldsFunc(attr["rel"], func(r rune) bool { return strings.ContainsRune(" \t\r\n\f,", r) }), " ")) + " "
		if strings.Contains(rel, " stylesheet ") || !strings.Contains(rel, " alternate ") {
			return
		}
	}
	o.links = append(o.links, url)
}
