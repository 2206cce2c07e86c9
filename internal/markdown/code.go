package markdown

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
)

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
