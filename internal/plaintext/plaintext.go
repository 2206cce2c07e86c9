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
		end := ends.after(i)
		l := lineOf(text, i, end)
		i = end
		if l.start < l.end {
			paragraph = append(paragraph, l)
		}
		if ends := l.start == l.end || i == len(text) || len(paragraph) == mostLines; ends && len(paragraph) > 0 {
			if !cut(text, paragraph, yield) {
				return
			}
			paragraph = paragraph[:0]
		}
	}
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

// line is a line of a paragraph, in columns and bytes.
type line struct {
	start, end int // in the text, without white space at its ends
	indent     int // columns in front of it
	width      int // of it, with these
	words      int
	first      int  // the columns of the first word that has a letter or digit, as far as is asked
	initial    rune // the first letter or digit
	marked     bool
}

func lineOf(text []byte, start, end int) (l line) {
	for end > start && isSpace(text[end-1]) {
		end--
	}
	l.start, l.end = start, end
	for l.start < end && isSpace(text[l.start]) {
		l.start++
	}
	if l.start == end {
		return l
	}
	l.indent = columns(text[start:l.start])
	trimmed := text[l.start:end]
	if !l.readPlain(trimmed) {
		l.read(trimmed)
	}
	l.width += l.indent
	l.marked = isMarked(trimmed)
	return l
}

// read reads the words of a line, and how wide it is without what it is indented by.
func (l *line) read(content []byte) {
	l.words, l.width = 0, columns(content)
	for word := range bytes.FieldsSeq(content) {
		if l.words++; l.initial != 0 {
			continue
		}
		if i := bytes.IndexFunc(word, isInitial); i >= 0 {
			l.initial, _ = utf8.DecodeRune(word[i:])
			l.first = min(columns(word), longestWord)
		}
	}
}

// readPlain does the same for a line of ASCII without control characters, eight bytes at a time, and reports whether it
// is one.
func (l *line) readPlain(content []byte) bool {
	blank := uint64(1) // in its lowest byte: whether what is before is a blank
	i := 0
	for ; i+8 <= len(content); i += 8 {
		x := binary.LittleEndian.Uint64(content[i:])
		if (x|(x-' '*swar.Each))&swar.Upper != 0 {
			return false
		}
		blanks := swar.ExactZeroes(x^' '*swar.Each) >> 7
		l.words += bits.OnesCount64(^blanks & swar.Each & (blanks<<8 | blank))
		blank = blanks >> 56
	}
	for _, c := range content[i:] {
		if c < ' ' || c >= utf8.RuneSelf {
			return false
		}
		if c != ' ' {
			l.words += int(blank)
		}
		blank = 0
		if c == ' ' {
			blank = 1
		}
	}
	l.width = len(content)
	l.readInitial(content)
	return true
}

// readInitial looks for the first letter or digit, and the word that has it.
func (l *line) readInitial(content []byte) {
	for i, c := range content {
		if isLetter(c) || isDigit(c) {
			start := bytes.LastIndexByte(content[:i], ' ') + 1
			end := bytes.IndexByte(content[i:], ' ')
			if end < 0 {
				end = len(content) - i
			}
			l.initial, l.first = rune(c), min(i+end-start, longestWord)
			return
		}
	}
}

func isSpace(c byte) bool  { return c == ' ' || '\t' <= c && c <= '\r' }
func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

func isInitial(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

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
	margin := 0
	for _, l := range lines {
		if l.words > 1 || isUncased(l.initial) { // one word that was too long for the margin says nothing of it
			margin = max(margin, l.width)
		}
	}
	begins := 0
	runOn, marks := runsOn(lines, margin), countMarked(lines)
	for i := 1; i < len(lines); i++ {
		l, before, head := &lines[i], &lines[i-1], &lines[begins]
		var goesOn bool
		switch {
		case runOn:
			goesOn = !l.marked || marks == 1
		case !l.marked && head.marked:
			goesOn = l.indent > head.indent || !before.hadRoom(l, margin)
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

// runsOn reports whether the lines were broken at a margin.
func runsOn(lines []line, margin int) bool {
	if len(lines) == 1 || margin < narrowest || margin > widest {
		return false
	}
	roomy, small, words := 0, 0, 0
	unspaced := false
	for i := range lines {
		l := &lines[i]
		words += l.words
		unspaced = unspaced || isUncased(l.initial)
		if i > 0 {
			if unicode.IsLower(l.initial) || isUncased(l.initial) {
				small++
			}
			if lines[i-1].hadRoom(l, margin) {
				roomy++
			}
		}
	}
	return small > 0 && 2*roomy <= small && (unspaced || words >= leastWords*len(lines))
}

// hadRoom reports whether the first word of the next line had room behind a line.
func (l *line) hadRoom(next *line, margin int) bool {
	return margin < narrowest || margin > widest || l.width+1+max(next.first, 1) <= margin
}

func countMarked(lines []line) (n int) {
	for _, l := range lines {
		if l.marked {
			n++
		}
	}
	return n
}
