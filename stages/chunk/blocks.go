package chunk

import (
	"bytes"
	"hash/fnv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"golang.org/x/net/html"
)

// block is a paragraph, list, table, quotation or block of code.
type block struct {
	kind    blockKind
	prefix  string // the headings in front of it, if it is the first of its section
	text    string
	section int      // counted from 0
	heading []string // what it is under, the outermost first
}

// whole returns the text with the headings in front of it.
func (b *block) whole() string {
	if b.prefix == "" {
		return b.text
	}
	return b.prefix + "\n\n" + b.text
}

type blockKind uint8

const (
	paragraph blockKind = iota
	listBlock
	tableBlock
	quotationBlock
	codeBlock
)

// hash is what a block is known by in other versions: its text and what it is under.
func (b *block) hash() uint64 {
	h := fnv.New64a()
	for _, s := range b.heading {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	h.Write([]byte(b.whole()))
	return h.Sum64()
}

// blocksOf takes Markdown, as package markdown writes it, apart.
func blocksOf(text string) []block {
	r := reader{headings: true}
	r.read(text)
	r.flushHeadings()
	return r.blocks
}

// reader reads the blocks of a text. Headings begin sections.
type reader struct {
	headings bool // they count; else they are paragraphs
	blocks   []block
	section  int
	path     []level
	names    []string // of the path
	pending  []string // headings that no other block has followed yet
}

type level struct {
	depth int
	name  string
}

func (r *reader) read(text string) {
	for len(text) > 0 {
		var b block
		b, text = nextBlock(text)
		if b.text == "" {
			return
		}
		if depth := headingDepth(b.text); depth > 0 && r.headings {
			r.heading(b.text, depth)
			continue
		}
		r.add(b)
	}
}

func (r *reader) add(b block) {
	b.prefix = strings.Join(r.pending, "\n\n")
	r.pending = nil
	b.section, b.heading = r.section, r.names
	r.blocks = append(r.blocks, b)
}

// flushHeadings makes headings a block that no other follows.
func (r *reader) flushHeadings() {
	if len(r.pending) > 0 {
		headings := strings.Join(r.pending, "\n\n")
		r.pending = nil
		r.add(block{text: headings})
	}
}

func (r *reader) heading(line string, depth int) {
	for len(r.path) > 0 && r.path[len(r.path)-1].depth >= depth {
		r.path = r.path[:len(r.path)-1]
	}
	r.path = append(r.path, level{depth, plain(line[depth:])})
	r.names = make([]string, len(r.path))
	for i, l := range r.path {
		r.names[i] = l.name
	}
	r.section++
	r.pending = append(r.pending, line)
}

// nextBlock cuts the first block off a text. One of an empty text is empty.
func nextBlock(text string) (b block, rest string) {
	text = strings.TrimLeft(text, "\n")
	if text == "" {
		return b, ""
	}
	b.kind = kindOf(text)
	end := 0
	switch b.kind {
	case codeBlock:
		end = codeEnd(text)
	case listBlock: // what is indented belongs to it
		end = lineEnd(text, 0)
		for end < len(text) {
			next := end + len(text[end:]) - len(strings.TrimLeft(text[end:], "\n"))
			if next == len(text) || next > end && text[next] != ' ' {
				break
			}
			end = lineEnd(text, next)
		}
	default:
		end = lineEnd(text, 0)
		for headingDepth(text) == 0 && end < len(text) && text[end] != '\n' && (b.kind != paragraph || markerLength(text[end:]) == 0) {
			end = lineEnd(text, end)
		}
	}
	b.text = strings.TrimRight(text[:end], "\n")
	return b, text[end:]
}

// lineEnd returns where the line after the one at i begins.
func lineEnd(text string, i int) int {
	if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}

// codeEnd returns where a block of code ends that a text begins with.
func codeEnd(text string) int {
	fence := text[:fenceLength(text)]
	for end := lineEnd(text, 0); end < len(text); {
		next := lineEnd(text, end)
		if strings.TrimRight(text[end:next], "\n") == fence {
			return next
		}
		end = next
	}
	return len(text)
}

func fenceLength(text string) int { return len(text) - len(strings.TrimLeft(text, "`")) }

func kindOf(text string) blockKind {
	switch {
	case isFence(text):
		return codeBlock
	case text[0] == '|':
		return tableBlock
	case text[0] == '>':
		return quotationBlock
	case markerLength(text) > 0:
		return listBlock
	}
	return paragraph
}

// isFence reports whether a text begins with the fence of a block of code: not with a code span of many backticks.
func isFence(text string) bool {
	n := fenceLength(text)
	line := text[:lineEnd(text, 0)]
	return n >= 3 && strings.IndexByte(line[n:], '`') < 0
}

// markerLength returns the length of the marker of an item that a text begins with; 0 if it does not.
func markerLength(text string) int {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	rest := text[digits:]
	if len(rest) < 2 || rest[1] != ' ' {
		return 0
	}
	if digits == 0 && (rest[0] == '-' || rest[0] == '+') || digits > 0 && digits < 10 && (rest[0] == '.' || rest[0] == ')') {
		return digits + 2
	}
	return 0
}

// headingDepth returns the level of a heading; 0 if a text does not begin with one.
func headingDepth(text string) int {
	depth := len(text) - len(strings.TrimLeft(text, "#"))
	if depth > 6 || depth >= len(text) || text[depth] != ' ' {
		return 0
	}
	return depth
}

// longestPlain is how many bytes of a heading are read.
const longestPlain = 1 << 10

var inline = goldmark.New(goldmark.WithExtensions(extension.GFM))

// plain returns the words of a heading, without markup.
func plain(line string) string {
	line = strings.ToValidUTF8(line[:min(len(line), longestPlain)], "")
	if !strings.ContainsAny(line, "\\*_[]<&~`") { // as mostly
		return strings.Join(strings.Fields(line), " ")
	}
	var page bytes.Buffer
	if err := inline.Convert([]byte("# "+strings.TrimSpace(line)), &page); err != nil {
		return line
	}
	var text strings.Builder
	for tokens := html.NewTokenizer(&page); tokens.Next() != html.ErrorToken; {
		if token := tokens.Token(); token.Type == html.TextToken {
			text.WriteString(token.Data)
		}
	}
	return strings.Join(strings.Fields(text.String()), " ")
}
