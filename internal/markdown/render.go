package markdown

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Marks of running text are written only where they are read as such. By CommonMark (section 6.2) "**" begins a mark
// if it is left-flanking, and ends one if it is right-flanking, which depends on the characters beside it:
// foo**"bar"**baz marks nothing. "_" does so only beside words, and is what marks emphasis here: so that marks of
// one character never touch. Where a mark would be none, it is left out.

// openMark is a mark that has begun.
type openMark struct {
	*mark
	written bool
}

// renderer writes the runs of a block.
type renderer struct {
	*writer
	context context
	open    []openMark
	codeEnd int // where the last code span ended
	at      int // the run that is written
}

// render writes the running text that was collected, without white space around it.
func (w *writer) render(in context) {
	var room [4]openMark
	r := renderer{writer: w, context: in, open: room[:0], codeEnd: -1}
	for i := range w.runs {
		if w.full() {
			break
		}
		r.at = i
		r.run(&w.runs[i])
	}
	r.close(0)
	w.reset()
}

func (r *renderer) run(n *run) {
	if n.kind == breakRun {
		r.close(0)
		r.lineBreak()
		return
	}
	var room [4]*mark
	chain := n.chain(room[:0])
	common := 0
	for common < len(r.open) && common < len(chain) && isSame(r.open[common].mark, chain[common]) {
		common++
	}
	r.close(common)
	if n.space && r.runs[r.at-1].kind != breakRun {
		r.dst = append(r.dst, ' ')
	}
	for depth := common; depth < len(chain); depth++ {
		r.begin(chain, depth)
	}
	switch {
	case n.kind == imageRun:
		r.image(n)
	case n.code != nil && r.isCode(n):
		r.codeSpan(n)
	default:
		r.escape(r.buffer[n.start:n.end], r.following())
	}
}

// isCode reports whether code can be written as such: not where its backticks would be those of the code in front,
// where it would make a link the definition of one, nor where it is part of what GitHub takes for an address of
// mail.
func (r *renderer) isCode(n *run) bool {
	text := r.buffer[n.start:n.end]
	switch {
	case r.codeEnd == len(r.dst):
		return false
	case n.marks.link() != "":
		return !r.definesLink(n)
	}
	return bytes.IndexByte(text, '@') < 0 || strings.ContainsRune(" (*_~", r.before())
}

// definesLink reports whether code would make the link that it is in the definition of one.
func (r *renderer) definesLink(n *run) bool {
	return n.marks.link() != "" && bytes.Contains(r.buffer[n.start:n.end], []byte("]:"))
}

func isSame(a, b *mark) bool { return a == b || a.kind == b.kind && a.url == b.url }

// chain returns the marks of a run, the outermost first.
func (n *run) chain(room []*mark) []*mark {
	for m := n.marks; m != nil; m = m.around {
		room = append(room, m)
	}
	for i, j := 0, len(room)-1; i < j; i, j = i+1, j-1 {
		room[i], room[j] = room[j], room[i]
	}
	return room
}

func (r *renderer) lineBreak() {
	switch r.context {
	case inCell:
		r.dst = append(r.dst, " <br> "...)
	default:
		if r.follows('\\') { // which goldmark takes for escaped twice
			r.dst = append(r.dst, ' ')
		}
		r.dst = append(r.dst, "\\\n"...)
		r.linePrefix(false)
	}
}

var delimiters = [...]string{strong: "**", emphasis: "_", deleted: "~~"}

// begin writes the beginning of a mark.
func (r *renderer) begin(chain []*mark, depth int) {
	m := chain[depth]
	if m.kind == link {
		if n := len(r.dst); n > r.lineStart && r.dst[n-1] == '!' && !r.isEscaped(n-1) { // or it would be an image
			r.dst = append(r.dst[:n-1], "\\!"...)
		}
		r.dst = append(r.dst, '[')
		r.open = append(r.open, openMark{m, true})
		return
	}
	delimiter := delimiters[m.kind]
	touches := r.follows(delimiter[0]) && !r.isEscaped(len(r.dst)-1) // the end of another
	ok := !touches && r.canOpen(m, chain, depth) && r.canClose(m, depth)
	if ok {
		r.dst = append(r.dst, delimiter...)
	}
	r.open = append(r.open, openMark{m, ok})
}

// isEscaped reports whether an odd number of backslashes is in front of what stands at i.
func (r *renderer) isEscaped(i int) bool {
	n := 0
	for i-1-n >= r.lineStart && r.dst[i-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// canOpen reports whether a mark is read as one if it begins here, whichever of those within it is written.
func (r *renderer) canOpen(m *mark, chain []*mark, depth int) bool {
	before := ' '
	if len(r.dst) > r.lineStart {
		before, _ = utf8.DecodeLastRune(r.dst)
	}
	if parts(before) {
		return before != '~' || m.kind != deleted // "~~~" is no mark
	}
	n := &r.runs[r.at]
	return m.kind != emphasis && depth == len(chain)-1 && n.kind == textRun && n.code == nil && isWord(first(r.buffer[n.start:n.end]))
}

// canClose does the same for its end.
func (r *renderer) canClose(m *mark, depth int) bool {
	end := r.at + 1
	for end < len(r.runs) && r.runs[end].isWithin(m, depth) {
		end++
	}
	last := &r.runs[end-1]
	lastRune, _ := utf8.DecodeLastRune(r.buffer[last.start:last.end])
	if m.kind == deleted && lastRune == '~' {
		return false
	}
	if end == len(r.runs) {
		return true
	}
	switch next := &r.runs[end]; {
	case next.space, next.kind != textRun, next.code != nil && !r.definesLink(next), parts(first(r.buffer[next.start:next.end])):
		return true
	}
	return m.kind != emphasis && last.kind == textRun && last.code == nil && last.marks.depth() == depth+1 && isWord(lastRune)
}

// isWithin reports whether a run goes on with a mark at this depth.
func (n *run) isWithin(m *mark, depth int) bool {
	if n.kind == breakRun {
		return false
	}
	at := n.marks
	for d := at.depth(); d > depth+1; d-- {
		at = at.around
	}
	return at.depth() == depth+1 && at.same(m)
}

func (m *mark) depth() (depth int) {
	for ; m != nil; m = m.around {
		depth++
	}
	return depth
}

// parts reports whether a character is white space or punctuation by each version of CommonMark.
func parts(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsPunct(r) || r < utf8.RuneSelf && !isAlphanumeric(byte(r))
}

func first(b []byte) rune {
	r, _ := utf8.DecodeRune(b)
	return r
}

// close writes the ends of all open marks but the first n.
func (r *renderer) close(n int) {
	for len(r.open) > n {
		last := r.open[len(r.open)-1]
		r.open = r.open[:len(r.open)-1]
		switch {
		case last.kind == link:
			r.dst = append(appendDestination(append(r.dst, "]("...), last.url), ')')
		case last.written:
			r.dst = append(r.dst, delimiters[last.kind]...)
		}
	}
}

func (r *renderer) image(n *run) {
	r.dst = append(r.dst, "!["...)
	before := r.open
	r.open = append(r.open, openMark{&mark{kind: link}, true})
	r.escape(r.buffer[n.start:n.end], unknown)
	r.open = before
	r.dst = append(appendDestination(append(r.dst, "]("...), string(r.buffer[n.end:n.urlEnd])), ')')
}

// codeSpan writes text as code, between more backticks than there are in it.
func (r *renderer) codeSpan(n *run) {
	text := r.buffer[n.start:n.end]
	fence := strings.Repeat("`", longestRun(text)+1)
	pad := text[0] == '`' || text[len(text)-1] == '`'
	r.dst = append(r.dst, fence...)
	if pad {
		r.dst = append(r.dst, ' ')
	}
	if r.context == inCell {
		text = bytes.ReplaceAll(text, []byte("|"), []byte("\\|"))
	}
	r.dst = append(r.dst, text...)
	if pad {
		r.dst = append(r.dst, ' ')
	}
	r.dst = append(r.dst, fence...)
	r.codeEnd = len(r.dst)
}

// longestRun returns how many backticks there are in a row at most.
func longestRun[T string | []byte](text T) (longest int) {
	n := 0
	for i := range len(text) {
		if text[i] != '`' {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}

// What follows a text where it is no text: nothing may be known of it.
const (
	unknown = 0
	lineEnd = '\n'
)

// following returns the byte that follows the run which is written.
func (r *renderer) following() byte {
	switch next := r.at + 1; {
	case len(r.open) > 0:
	case next < len(r.runs) && r.runs[next].space:
		return ' '
	case next < len(r.runs) && r.runs[next].kind != breakRun:
	case r.context == inCell:
		return ' '
	default:
		return lineEnd
	}
	return unknown
}
