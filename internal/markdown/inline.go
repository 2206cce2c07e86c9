package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/webrace/webrace/internal/htmltree"
)

// inline is the running text that is collected.
type inline struct {
	runs   []run
	buffer []byte // of the runs
	space  bool   // white space was read
	marks  *mark
	code   *html.Node // the element of code that is open; nil for none
}

// run is text of which all is marked alike.
type run struct {
	kind       runKind
	space      bool // there is white space in front of it
	marks      *mark
	code       *html.Node
	start, end int32 // of its text, or that which stands for the image
	urlEnd     int32 // of the address of an image, which begins where the text ends
}

type runKind uint8

const (
	textRun runKind = iota
	imageRun
	breakRun
)

// mark is what text is marked as, within another mark. Each kind is there at most once.
type mark struct {
	kind   kind
	url    string // of a link
	around *mark
}

// with returns the marks with another. There is no link within a link, so that the inner one counts.
func (m *mark) with(k kind, url string) *mark {
	if m.has(k) {
		if k != link {
			return m
		}
		m = m.without(k)
	}
	return &mark{k, url, m}
}

func (m *mark) has(k kind) bool {
	for ; m != nil; m = m.around {
		if m.kind == k {
			return true
		}
	}
	return false
}

func (m *mark) without(k kind) *mark {
	switch {
	case m == nil:
		return nil
	case m.kind == k:
		return m.around
	}
	return &mark{m.kind, m.url, m.around.without(k)}
}

// same reports whether two texts are marked alike.
func (m *mark) same(other *mark) bool {
	for m != other {
		if m == nil || other == nil || m.kind != other.kind || m.url != other.url {
			return false
		}
		m, other = m.around, other.around
	}
	return true
}

// link returns the URL of the link that the text is part of; "" for none.
func (m *mark) link() string {
	for ; m != nil; m = m.around {
		if m.kind == link {
			return m.url
		}
	}
	return ""
}

func (w *writer) marked(m *mark, n *html.Node) {
	before := w.marks
	w.marks = m
	w.children(n)
	w.marks = before
}

// hasText reports whether there is running text. White space alone, and line breaks, are none.
func (w *writer) hasText() bool {
	for len(w.runs) > 0 && w.runs[len(w.runs)-1].kind == breakRun {
		w.runs = w.runs[:len(w.runs)-1]
	}
	if len(w.runs) == 0 {
		w.reset()
		return false
	}
	return true
}

// reset forgets the running text.
func (w *writer) reset() { w.runs, w.buffer, w.space = w.runs[:0], w.buffer[:0], false }

// text adds text: its words, and whether there is white space between them.
func (w *writer) text(s string) {
	for len(s) > 0 {
		n := 0
		for n < len(s) && isSpace[s[n]] {
			n++
		}
		w.space = w.space || n > 0
		s = s[n:]
		for n = 0; n < len(s) && isPlain[s[n]]; n++ {
		}
		if n > 0 {
			w.word(s[:n])
			s = s[n:]
			continue
		}
		if len(s) == 0 {
			return
		}
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case unicode.IsSpace(r):
			w.space = true
		case !isDropped(r):
			w.word(string(r)) // not s[:size]: it may be no UTF-8
		}
		s = s[size:]
	}
}

// word adds text without white space.
func (w *writer) word(s string) {
	if n := len(w.runs); n > 0 {
		last := &w.runs[n-1]
		if last.kind == textRun && last.marks.same(w.marks) && (last.code == w.code || last.code != nil && w.code != nil && !w.space) {
			if w.space {
				w.buffer = append(w.buffer, ' ')
			}
			w.buffer = append(w.buffer, s...)
			last.end, w.space = int32(len(w.buffer)), false
			return
		}
		w.space = w.space || w.parts(last, s)
	}
	start := len(w.buffer)
	w.buffer = append(w.buffer, s...)
	w.add(run{marks: w.marks, code: w.code, start: int32(start), end: int32(len(w.buffer))})
}

// parts reports whether the text of another link than that of the last run is another word, as package htmltext has
// it.
func (w *writer) parts(last *run, s string) bool {
	before, after := last.marks.link(), w.marks.link()
	if before == "" || after == "" || before == after || last.kind != textRun {
		return false
	}
	end, _ := utf8.DecodeLastRune(w.buffer[:last.end])
	begin, _ := utf8.DecodeRuneInString(s)
	return isWord(end) && isWord(begin)
}

func (w *writer) add(r run) {
	r.space = w.space && len(w.runs) > 0
	w.runs = append(w.runs, r)
	w.space = false
}

// maxRuns is of how many runs a paragraph may be if it has line breaks, for the memory that they take.
const maxRuns = 1 << 14

// lineBreak adds a line break. Two of them end a paragraph.
func (w *writer) lineBreak() {
	switch n := len(w.runs); {
	case w.context == inHeading:
		w.space = true
	case n == 0 || w.runs[n-1].kind == breakRun || n > maxRuns:
		if w.context == inFlow {
			w.flush()
		}
		w.space = false
	default:
		w.space = false
		w.add(run{kind: breakRun})
	}
}

// link adds the text of a link. What leads nowhere, or where Markdown must not lead, is text.
func (w *writer) link(n *html.Node) {
	href, url := attribute(n, "href"), ""
	if (w.context == inHeading || w.term) && isPermalink(n, href) {
		return
	}
	if htmltree.Value(n.Attr, "href") != nil { // without, it is a place to lead to
		url = w.links.resolve(href)
	}
	if url == "" {
		w.children(n)
		return
	}
	w.marked(w.marks.with(link, url), n)
}

// isPermalink reports whether a link in a heading or term is that to itself, which generators add: a sign alone.
func isPermalink(n *html.Node, href string) bool {
	if !strings.HasPrefix(href, "#") {
		return false
	}
	c := n.FirstChild
	if c == nil || c.NextSibling != nil || c.Type != html.TextNode {
		return false
	}
	switch strings.TrimSpace(c.Data) {
	case "¶", "#", "§", "🔗", "\uf0c1":
		return true
	}
	return false
}

// image adds an image, unless it shows nothing of its own, as those that count readers.
func (w *writer) image(n *html.Node) {
	url := w.links.resolveImage(n)
	if url == "" || len(w.buffer) > MaxOutput || attribute(n, "width") == "1" && attribute(n, "height") == "1" {
		return
	}
	start := len(w.buffer)
	space := w.space
	for word := range strings.FieldsSeq(attribute(n, "alt")) {
		if len(w.buffer) > start {
			w.buffer = append(w.buffer, ' ')
		}
		w.buffer = appendShown(w.buffer, word)
	}
	w.space = space
	end := len(w.buffer)
	w.buffer = append(w.buffer, url...)
	w.add(run{kind: imageRun, marks: w.marks, start: int32(start), end: int32(end), urlEnd: int32(len(w.buffer))})
}

// appendShown appends text as it is, without what must not stand in Markdown.
func appendShown(dst []byte, s string) []byte {
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t':
			dst = append(dst, byte(r))
		case unicode.IsSpace(r):
			dst = append(dst, ' ')
		case !isDropped(r):
			dst = utf8.AppendRune(dst, r)
		}
	}
	return dst
}

// isDropped reports whether a character is left out: those that control something, that change the direction of the
// text behind them, that mark text for programs alone, and byte order marks.
func isDropped(r rune) bool {
	switch {
	case r < ' ', 0x7F <= r && r <= 0x9F:
		return true
	case 0x202A <= r && r <= 0x202E, 0x2066 <= r && r <= 0x2069: // bidirectional embeddings, overrides and isolates
		return true
	case 0xFFF9 <= r && r <= 0xFFFB, r == 0xFEFF:
		return true
	}
	return 0xE0000 <= r && r <= 0xE0FFF // tags, and what is reserved beside them
}

// isPlain are the bytes of which each is a character that is kept, isSpace those that are white space.
var isPlain, isSpace = func() (plain, space [256]bool) {
	for c := range 0x7F {
		plain[c] = c > ' '
	}
	for _, c := range "\t\n\v\f\r " {
		space[c] = true
	}
	return plain, space
}()

func isAlphanumeric(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}

// isWord reports whether a character is part of words to who reads Markdown.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
