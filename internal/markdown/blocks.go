package markdown

import (
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
)

// node writes a node with all that is within.
func (w *writer) node(n *html.Node) {
	switch {
	case n.Type == html.TextNode:
		w.text(n.Data)
		return
	case n.Type == html.DocumentNode:
		w.children(n)
		return
	case n.Type != html.ElementNode || w.depth >= maxDepth || w.full():
		return
	}
	w.depth++
	w.element(n, w.kindOf(n))
	w.depth--
}

func (w *writer) children(n *html.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c)
	}
}

func (w *writer) element(n *html.Node, k kind) {
	if k.isBlock() {
		w.flush()
		w.block(n, k)
		w.flush()
		return
	}
	switch k {
	case skipped:
	case joined:
		w.children(n)
	case spaced:
		w.space = true
		w.children(n)
		w.space = true
	case strong, emphasis, deleted:
		w.marked(w.marks.with(k, ""), n)
	case link:
		w.link(n)
	case code:
		before := w.code
		if w.code == nil {
			w.code = n
		}
		w.children(n)
		w.code = before
	case image:
		w.image(n)
	case lineBreak:
		w.lineBreak()
	}
}

// block writes a block. Within a heading or a cell, where there can be none, its text is part of the running text.
func (w *writer) block(n *html.Node, k kind) {
	if w.context != inFlow {
		if k == preformatted {
			w.codeLines(n)
		} else if k != rule {
			w.children(n)
		}
		return
	}
	switch k {
	case block:
		w.children(n)
	case rule:
		w.begin()
		w.dst = append(w.dst, "***\n"...) // "---" would be a heading's underline, or the beginning of meta data
	case h1, h2, h3, h4, h5, h6:
		w.heading(n, int(k-h1)+1)
	case preformatted:
		w.preformatted(n)
	case quotation:
		w.within(container{first: "> ", rest: "> "}, func() { w.children(n); w.flush() })
	case list:
		w.list(n)
	case definitions:
		w.definitions(n)
	case table:
		w.table(n)
	case summary:
		w.marked(w.marks.with(strong, ""), n)
	}
}

func (w *writer) heading(n *html.Node, level int) {
	w.context = inHeading
	w.children(n)
	w.context = inFlow
	if w.hasText() {
		w.writeHeading(level)
	}
}

// writeHeading writes the running text as a heading.
func (w *writer) writeHeading(level int) {
	w.begin()
	w.dst = append(append(w.dst, "######"[:level]...), ' ')
	w.render(inHeading)
	w.dst = append(w.dst, '\n')
}

// flush ends the running text.
func (w *writer) flush() {
	switch {
	case w.context == inHeading:
		w.space = true
	case w.context == inCell:
		w.lineBreak()
	case w.hasText():
		w.begin()
		w.render(inFlow)
		w.dst = append(w.dst, '\n')
		w.paragraph = true
	}
}

// listEnd is where a list ended: one that follows at once would be part of it, unless it has another marker.
type listEnd struct {
	at, depth int // in dst, and in containers
	marker    byte
}

// list writes a list. What stands in it beside its items belongs to the item before.
func (w *writer) list(n *html.Node) {
	ordered, number := n.Data == "ol", 1
	if start, err := strconv.Atoi(attribute(n, "start")); err == nil && ordered {
		number = start
	}
	items := w.items(ordered)
	for c := n.FirstChild; c != nil; {
		if isElement(c, "li") {
			if value, err := strconv.Atoi(attribute(c, "value")); err == nil && ordered {
				number = value
			}
			items.next(number)
			number++
		}
		c = items.add(c, func(n *html.Node) bool { return isElement(n, "li") })
	}
	items.end()
}

func isElement(n *html.Node, name string) bool { return n.Type == html.ElementNode && n.Data == name }

// definitions writes a list of terms with what they mean: each as an item, the term as its first paragraph.
func (w *writer) definitions(n *html.Node) {
	items := w.items(false)
	defined := true // the term before has a definition
	isPart := func(n *html.Node) bool { return isElement(n, "dt") || isElement(n, "dd") || isElement(n, "div") }
	var add func(n *html.Node)
	add = func(n *html.Node) {
		for c := n.FirstChild; c != nil; {
			switch {
			case isElement(c, "div") && n.Data == "dl" && w.kindOf(c) != skipped:
				add(c)
				c = c.NextSibling
				continue
			case isElement(c, "dt") && defined:
				items.next(0)
				defined = false
			case isElement(c, "dd"):
				defined = true
			}
			c = items.add(c, isPart)
		}
	}
	add(n)
	items.end()
}

// items writes the items of a list.
type items struct {
	w       *writer
	ordered bool
	marker  byte
	first   bool // no item is written yet
	begun   bool // there is an item
	tight   bool // the first item may follow the paragraph before it at once
	item    container
}

func (w *writer) items(ordered bool) *items {
	i := &items{w: w, ordered: ordered, marker: '-', first: true}
	if ordered {
		i.marker = '.'
	}
	if last := w.lastList; last.at == len(w.dst) && last.at > w.start && last.depth == len(w.containers) && last.marker == i.marker {
		i.marker = map[byte]byte{'-': '+', '.': ')'}[i.marker]
	}
	if n := len(w.containers); n > 0 {
		c := &w.containers[n-1]
		i.tight = c.blocks == 1 && !c.blank && w.paragraph
	}
	return i
}

// most is the highest number of an item that CommonMark has.
const most = 999_999_999

// next begins an item, with this number if the list has such.
func (i *items) next(number int) {
	marker := string(i.marker) + " "
	if i.ordered {
		marker = strconv.Itoa(min(max(number, 0), most)) + marker
	}
	switch {
	case i.first && (!i.begun || !i.item.used):
		i.tight = i.tight && (!i.ordered || number == 1) // no other interrupts a paragraph
	default:
		i.tight = !i.item.blank
	}
	i.begun = true
	i.item = container{first: marker, rest: strings.Repeat(" ", len(marker))}
}

// add writes a node, and those behind it up to the next part of the list, as content of an item. It returns that part.
func (i *items) add(n *html.Node, isPart func(*html.Node) bool) (next *html.Node) {
	i.write(func() {
		i.w.node(n)
		for next = n.NextSibling; next != nil && !isPart(next); next = next.NextSibling {
			i.w.node(next)
		}
		i.w.flush()
	})
	return next
}

// write writes what f writes as content of the item that has begun.
func (i *items) write(f func()) {
	if !i.begun {
		f()
		return
	}
	fresh := !i.item.used
	if fresh {
		i.w.tight = i.tight
	}
	i.item = i.w.within(i.item, f)
	if fresh && i.item.used {
		i.first = false
	}
	i.w.tight = false
}

func (i *items) end() {
	if !i.first {
		i.w.lastList = listEnd{len(i.w.dst), len(i.w.containers), i.marker}
	}
}

// preformatted writes a block of code.
func (w *writer) preformatted(n *html.Node) {
	text := preformattedText(w, n)
	if text == "" {
		return
	}
	fence := strings.Repeat("`", max(3, longestRun(text)+1))
	w.begin()
	w.dst = append(append(append(w.dst, fence...), language(n)...), '\n')
	for line := range strings.SplitSeq(text, "\n") {
		if w.full() {
			break
		}
		w.linePrefix(line == "")
		w.dst = append(append(w.dst, line...), '\n')
	}
	w.linePrefix(false)
	w.dst = append(append(w.dst, fence...), '\n')
}

// preformattedText returns the lines of a block of code, without those at its beginning and its end that are empty.
func preformattedText(w *writer, n *html.Node) string {
	c := codeText{w: w}
	c.children(n)
	text := strings.TrimRight(string(c.text), " \t\n")
	for {
		line, rest, ok := strings.Cut(text, "\n")
		if !ok || strings.Trim(line, " \t") != "" {
			return text
		}
		text = rest
	}
}

// codeText collects text as it is written.
type codeText struct {
	w    *writer
	text []byte
}

func (c *codeText) children(n *html.Node) {
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		switch child.Type {
		case html.TextNode:
			c.text = appendShown(c.text, child.Data)
		case html.ElementNode:
			if c.w.depth >= maxDepth {
				continue
			}
			c.w.depth++
			c.element(child)
			c.w.depth--
		}
	}
}

func (c *codeText) element(n *html.Node) {
	switch k := c.w.kindOf(n); {
	case k == skipped:
	case k == lineBreak:
		c.text = append(c.text, '\n')
	case k.isBlock():
		c.newLine()
		c.children(n)
		c.newLine()
	case k == spaced:
		c.text = append(c.text, ' ')
		c.children(n)
		c.text = append(c.text, ' ')
	default:
		c.children(n)
	}
}

// newLine begins a line, unless one has just begun.
func (c *codeText) newLine() {
	if n := len(c.text); n > 0 && c.text[n-1] != '\n' {
		c.text = append(c.text, '\n')
	}
}

// codeLines adds a block of code to running text, each line as code of its own.
func (w *writer) codeLines(n *html.Node) {
	code, marks := w.code, w.marks
	w.marks = w.marks.without(link)
	for line := range strings.SplitSeq(preformattedText(w, n), "\n") {
		w.code = &html.Node{}
		w.text(line)
		w.flush()
	}
	w.code, w.marks = code, marks
}

// language returns the name of the language that a block of code is in, as highlighters have it in the classes of the
// block, what is around it, or what it consists of; "" if there is none.
func language(n *html.Node) string {
	places := []*html.Node{n, n.FirstChild, n.Parent}
	if n.Parent != nil {
		places = append(places, n.Parent.Parent)
	}
	for _, place := range places {
		if place == nil || place.Type != html.ElementNode {
			continue
		}
		for _, name := range []string{"data-lang", "data-language"} {
			if named := htmltree.Value(place.Attr, name); named != nil && isLanguage(*named) {
				return *named
			}
		}
		if named := languageOf(attribute(place, "class")); named != "" {
			return named
		}
	}
	return ""
}

var languagePrefixes = []string{"language-", "lang-", "highlight-source-", "highlight-", "sourceCode-"}

func languageOf(class string) string {
	if len(class) > 1<<10 {
		return ""
	}
	words := strings.Fields(class)
	for i, word := range words {
		if word == "brush:" && i+1 < len(words) {
			word = words[i+1]
		} else if brush, ok := strings.CutPrefix(word, "brush:"); ok {
			word = brush
		} else if !cutPrefixes(&word) {
			continue
		}
		if word = strings.TrimRight(word, ";"); isLanguage(word) {
			return word
		}
	}
	return ""
}

func cutPrefixes(word *string) bool {
	for _, prefix := range languagePrefixes {
		if rest, ok := strings.CutPrefix(*word, prefix); ok {
			*word = rest
			return true
		}
	}
	return false
}

// isLanguage reports whether a word may be the name of one: it stands in Markdown as it is.
func isLanguage(word string) bool {
	const longest = 32
	if word == "" || len(word) > longest || word == "default" || word == "none" || word == "notranslate" {
		return false
	}
	for _, c := range []byte(word) {
		if !isAlphanumeric(c) && strings.IndexByte("+#.-_", c) < 0 {
			return false
		}
	}
	return true
}
