package terminal

import (
	"io"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Columns returns how much of a line a text takes. Sequences that change how it looks take nothing.
func Columns(text string) (n int) {
	if strings.Contains(text, "\x1b[") {
		text = looks.ReplaceAllString(text, "")
	}
	for _, c := range text {
		n += ColumnsOf(c)
	}
	return n
}

var looks = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// ColumnsOf returns how much of a line a character takes.
func ColumnsOf(c rune) int {
	if c < 0x300 {
		return 1
	}
	if unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	if kind := width.LookupRune(c).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
		return 2
	}
	return 1
}

// Wrap breaks the lines of a text between words, so that each fits into so many columns. A word is never cut, so that
// a URL or a path can be copied: one that is longer stands on a line of its own. What is broken goes on below the text
// of its line: behind its indentation, behind a label that two blanks or more set apart, and a little to the right
// where it has neither. A width of 0 breaks nothing.
func Wrap(text string, columns int) string {
	if columns <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		content, ended := strings.CutSuffix(line, "\n")
		if Columns(content) > columns {
			content = fill(content, columns)
		}
		b.WriteString(content)
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// fill breaks one line that is too long.
func fill(line string, columns int) string {
	label, text, hanging := labelled(line, columns)
	return label + strings.Join(Fill(text, columns-Columns(label), columns-hanging), "\n"+strings.Repeat(" ", hanging))
}

// labelled takes from a line what stands before its text, and returns at which column the text goes on.
func labelled(line string, columns int) (label, text string, hanging int) {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	body := line[indent:]
	if gap := strings.Index(body, "  "); gap > 0 {
		at := gap + len(body[gap:]) - len(strings.TrimLeft(body[gap:], " "))
		if hanging = indent + Columns(body[:at]); hanging <= columns/2 {
			return line[:indent+at], body[at:], hanging
		}
	}
	if indent == 0 {
		return "", body, min(2, columns/2)
	}
	return line[:indent], body, min(indent, columns/2)
}

// Fill breaks a text between its words into lines: the first of at most so many columns, the others of at most as
// many as the second number. Dots that tell that a text goes on stay with the word before them.
func Fill(text string, first, others int) (lines []string) {
	var words []string
	for word := range strings.FieldsSeq(text) {
		if n := len(words); word == "…" && n > 0 {
			words[n-1] += " …"
			continue
		}
		words = append(words, word)
	}
	return FillWith(words, " ", first, others)
}

// FillWith is Fill for words that may have blanks in them, and what stands between two on a line.
func FillWith(words []string, between string, first, others int) (lines []string) {
	line, used, room := "", 0, first
	for i, word := range words {
		n := Columns(word)
		switch {
		case i == 0:
		case used+len(between)+n > room:
			lines = append(lines, line)
			line, used, room = "", 0, others
		default:
			line, used = line+between, used+len(between)
		}
		line, used = line+word, used+n
	}
	return append(lines, line)
}

// Paragraphs fills a text whose paragraphs are set apart by empty lines. What is indented stays as it is, line by line.
func Paragraphs(text string, columns int) string {
	var out []string
	for paragraph := range strings.SplitSeq(strings.Trim(text, "\n"), "\n\n") {
		if strings.HasPrefix(paragraph, " ") || columns <= 0 {
			out = append(out, Wrap(paragraph, columns))
			continue
		}
		out = append(out, strings.Join(Fill(paragraph, columns, columns), "\n"))
	}
	return strings.Join(out, "\n\n")
}

// Definition is a term, and what is said of it.
type Definition struct{ Term, Text string }

// Definitions lists terms with what is said of each, in two columns within so many. A term that takes more than a
// third of them stands on a line of its own, above its text. A width of 0 breaks nothing.
func Definitions(list []Definition, indent, columns int) string {
	most, longest := columns/3, 0
	for _, d := range list {
		if n := Columns(d.Term); columns <= 0 || indent+n+2 <= most {
			longest = max(longest, n)
		}
	}
	hanging := indent + longest + 2
	if longest == 0 {
		hanging = indent + 4
	}
	var b strings.Builder
	for _, d := range list {
		line := strings.Repeat(" ", indent) + d.Term
		switch n := indent + Columns(d.Term); {
		case d.Text == "":
		case n+2 > hanging:
			line += "\n" + strings.Repeat(" ", hanging)
		default:
			line += strings.Repeat(" ", hanging-n)
		}
		for i, part := range strings.Split(d.Text, "\n") {
			if i > 0 {
				line += "\n" + strings.Repeat(" ", hanging)
			}
			if columns > 0 {
				part = strings.Join(Fill(part, columns-hanging, columns-hanging), "\n"+strings.Repeat(" ", hanging))
			}
			line += part
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// Wrapper writes lines to a terminal within its width. What is written at once is whole lines.
type Wrapper struct {
	Out     io.Writer
	Columns int
}

func (w *Wrapper) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.Out, Wrap(Visible(string(p)), w.Columns)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Unwrap returns what it writes to.
func (w *Wrapper) Unwrap() io.Writer { return w.Out }
