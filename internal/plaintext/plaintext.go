// Package plaintext cuts text without markup into blocks: what a reader takes for one thing, which is new, or old, as a
// whole. An empty line parts paragraphs. In a paragraph, lines that were broken at a margin run on, and are one block;
// otherwise each line is a record, and a block: those of a log, a list, a table, an address.
//
// The rule looks at the paragraph alone, so that what comes in front or behind changes no other. Its lines run on if
//
//   - the longest has 40 to 132 columns: what is shorter was not broken, and neither was what is longer;
//   - some go on with a small letter, or one that has no case, and for two that do at most one had room for the first
//     word of the next one;
//   - they have four words on average, unless their script has no blanks.
//
// A line that begins with a date, a time of day or the sign of a list begins a block everywhere but alone in lines that
// run on. Lines that are indented below it, or for whose first word it had no room, belong to it.
//
// It takes time linear in the length of the text, and memory for the lines of a paragraph. Of one with more than 65,536
// lines, so many at a time are looked at.
package plaintext

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace/internal/swar"
)

const (
	// narrowest and widest are the columns of lines that may have been broken at a margin.
	narrowest, widest = 40, 132
	// leastWords is how many words a line of prose has on average.
	leastWords = 4
	// longestWord is how many columns of a word are asked whether there was room for it: what is longer is an address.
	longestWord = 12
)

// mostLines is how many lines of a paragraph are looked at together.
const mostLines = 1 << 16

// Blocks calls yield with where each block of the text begins and ends, in order. None is empty, and none begins or
// ends with white space. It stops when yield returns false.
func Blocks(text []byte, yield func(start, end int) bool) { new(Cutter).Blocks(text, yield) }

// Cutter cuts one text after another, with the same memory.
type Cutter struct{ paragraph []line }

// Blocks is the function of that name.
func (c *Cutter) Blocks(text []byte, yield func(start, end int) bool) {
	paragraph := c.paragraph[:0]
	defer func() { c.paragraph = paragraph }()
	ends := lineEnds{text: text, feed: -1, carriageReturn: -1}
	for i := 0; i < len(text); {
		end, plain := plainEnd(text, i)
		if !plain {
			end = ends.after(i)
		}
		paragraph = append(paragraph, line{})
		isEmpty := !paragraph[len(paragraph)-1].read(text, i, end, plain)
		if isEmpty {
			paragraph = paragraph[:len(paragraph)-1]
		}
		i = end
		if ends := isEmpty || i == len(text) || len(paragraph) == mostLines; ends && len(paragraph) > 0 {
			if !cut(text, paragraph, yield) {
				return
			}
			paragraph = paragraph[:0]
		}
	}
}

// plainEnd returns where the line that begins at i ends, with its end, if it has no other control character and ASCII
// alone.
func plainEnd(text []byte, i int) (end int, plain bool) {
	for ; i+8 <= len(text); i += 8 {
		x := binary.LittleEndian.Uint64(text[i:])
		if other := (x | (x - ' '*swar.Each)) & swar.Upper; other != 0 {
			i += bits.TrailingZeros64(other) / 8
			return i + 1, text[i] == '\n'
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf {
			return i + 1, c == '\n'
		}
	}
	return i, true
}

// lineEnds finds the ends of lines one after the other. It looks for each kind of end once, so that a text which has
// but one kind is not read again for each line.
type lineEnds struct {
	text                 []byte
	feed, carriageReturn int // the next of each, from the line on that is looked at; the text's length where there is none
}

// after returns where the line that begins at i ends, with its end, however it ends.
func (e *lineEnds) after(i int) int {
	e.feed, e.carriageReturn = e.next('\n', e.feed, i), e.next('\r', e.carriageReturn, i)
	end := min(e.feed, e.carriageReturn)
	if end == e.carriageReturn && end+1 == e.feed {
		end++
	}
	return min(end+1, len(e.text))
}

func (e *lineEnds) next(c byte, known, i int) int {
	if known >= i {
		return known
	}
	if n := bytes.IndexByte(e.text[i:], c); n >= 0 {
		return i + n
	}
	return len(e.text)
}

// line is a line of a paragraph, in columns and bytes. What is asked of few lines is read when it is: see opening.
type line struct {
	start, end int // in the text, without white space at its ends
	indent     int // columns in front of it
	width      int // of it, with these
	marked     bool
}

// read reads a line, and reports whether it has any text.
func (l *line) read(text []byte, start, end int, plain bool) bool {
	for end > start && isSpace(text[end-1]) {
		end--
	}
	begin := start
	for begin < end && isSpace(text[begin]) {
		begin++
	}
	if begin == end {
		return false
	}
	trimmed := text[begin:end]
	l.start, l.end, l.marked = begin, end, isMarked(trimmed)
	if plain {
		l.indent, l.width = begin-start, end-start
	} else {
		l.indent = columns(text[start:begin])
		l.width = l.indent + columns(trimmed)
	}
	return true
}

// of returns the text of the line.
func (l *line) of(text []byte) []byte { return text[l.start:l.end] }

// opening is the first word of a line that has a letter or digit.
type opening struct {
	initial rune // the letter or digit; 0 if no word has one
	columns int  // of the word, as far as is asked
}

func openingOf(content []byte) opening {
	begins := 0 // the word
	for i, c := range content {
		switch {
		case isSpace(c):
			begins = i + 1
		case c >= utf8.RuneSelf:
			return slowOpeningOf(content)
		case isLetter(c) || isDigit(c):
			end := i
			for end < len(content) && end-begins < longestWord && !isSpace(content[end]) {
				if content[end] >= utf8.RuneSelf {
					return slowOpeningOf(content)
				}
				end++
			}
			return opening{rune(c), min(end-begins, longestWord)}
		}
	}
	return opening{}
}

// slowOpeningOf does the same with any characters.
func slowOpeningOf(content []byte) opening {
	for word := range bytes.FieldsSeq(content) {
		if i := bytes.IndexFunc(word, isInitial); i >= 0 {
			initial, _ := utf8.DecodeRune(word[i:])
			return opening{initial, min(columns(word), longestWord)}
		}
	}
	return opening{}
}

func isInitial(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// hasWords reports whether a text has so many words.
func hasWords(text []byte, many int) bool {
	left, within := many, false
	for _, c := range text {
		switch {
		case c >= utf8.RuneSelf:
			return slowHasWords(text, many)
		case isSpace(c):
			within = false
		case !within:
			if left--; left == 0 {
				return true
			}
			within = true
		}
	}
	return false
}

// slowHasWords does the same with any characters.
func slowHasWords(text []byte, many int) bool {
	for range bytes.FieldsSeq(text) {
		if many--; many == 0 {
			return true
		}
	}
	return false
}

func isSpace(c byte) bool  { return c == ' ' || '\t' <= c && c <= '\r' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

// isUncased reports whether a letter is of a script without capitals.
func isUncased(r rune) bool { return r >= utf8.RuneSelf && unicode.Is(unicode.Lo, r) }

// firstWide is the first of the characters that are two columns wide, as far as it matters here.
const firstWide = '\u1100'

func columns(text []byte) (n int) {
	for len(text) > 0 {
		r, size := rune(text[0]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text)
		}
		switch {
		case r == '\t':
			n += 8 - n%8
		case r >= firstWide:
			n += 2
		default:
			n++
		}
		text = text[size:]
	}
	return n
}

// cut cuts a paragraph into blocks.
func cut(text []byte, lines []line, yield func(start, end int) bool) bool {
	if len(lines) == 1 {
		return yield(lines[0].start, lines[0].end)
	}
	margin, marks := marginOf(text, lines), countMarked(lines)
	runOn := runsOn(text, lines, margin)
	begins := 0
	for i := 1; i < len(lines); i++ {
		l, before, head := &lines[i], &lines[i-1], &lines[begins]
		var goesOn bool
		switch {
		case runOn:
			goesOn = !l.marked || marks == 1
		case !l.marked && head.marked:
			goesOn = l.indent > head.indent || !before.hadRoom(openingOf(l.of(text)), margin)
		}
		if !goesOn {
			if !yield(lines[begins].start, before.end) {
				return false
			}
			begins = i
		}
	}
	return yield(lines[begins].start, lines[len(lines)-1].end)
}

// marginOf returns the columns of the widest line of a paragraph. One word that was too long for the margin tells
// nothing of it.
func marginOf(text []byte, lines []line) (margin int) {
	says := func(l *line) bool { return hasWords(l.of(text), 2) || isUncased(openingOf(l.of(text)).initial) }
	widest := &lines[0]
	for i := range lines {
		if l := &lines[i]; l.width > widest.width {
			widest = l
		}
	}
	if widest.width < narrowest || says(widest) {
		return widest.width // no other matters
	}
	for i := range lines {
		if l := &lines[i]; l.width > margin && says(l) {
			margin = l.width
		}
	}
	return margin
}

// runsOn reports whether the lines were broken at a margin.
func runsOn(text []byte, lines []line, margin int) bool {
	if margin < narrowest || margin > widest {
		return false
	}
	roomy, small, most := 0, 0, len(lines)-1
	for i := range lines[:most] {
		if lines[i].width+1+longestWord <= margin { // whatever the next one begins with
			roomy++
		}
	}
	if 2*roomy > most {
		return false
	}
	roomy = 0
	unspaced := isUncased(openingOf(lines[0].of(text)).initial)
	for i := 1; i < len(lines); i++ {
		next := openingOf(lines[i].of(text))
		uncased := isUncased(next.initial)
		unspaced = unspaced || uncased
		if uncased || unicode.IsLower(next.initial) {
			small++
		}
		if lines[i-1].hadRoom(next, margin) {
			roomy++
		}
	}
	return small > 0 && 2*roomy <= small && (unspaced || hasWords(text[lines[0].start:lines[len(lines)-1].end], leastWords*len(lines)))
}

// hadRoom reports whether the first word of the next line had room behind a line.
func (l *line) hadRoom(next opening, margin int) bool {
	return margin < narrowest || margin > widest || l.width+1+max(next.columns, 1) <= margin
}

func countMarked(lines []line) (n int) {
	for i := range lines {
		if lines[i].marked {
			n++
		}
	}
	return n
}
