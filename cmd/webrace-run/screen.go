package main

import (
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/terminal"
)

// screen writes text for a person: on a terminal in lines of its width and in colours, unless NO_COLOR is
// set, and elsewhere as it comes. Of what pages hold, a terminal obeys nothing.
type screen struct {
	w       io.Writer
	width   int // 0 if lines have no end
	colours bool
	err     error // the first one; nothing is written after it
}

func newScreen(w io.Writer) *screen {
	s := &screen{w: w}
	if !cli.IsTerminal(w) {
		return s
	}
	s.colours, s.width = os.Getenv("NO_COLOR") == "", cli.Columns(w)
	return s
}

// style is how text looks: the parameters of a terminal's SGR sequence.
type style string

const (
	plain style = ""
	bold  style = "1"
	dim   style = "2"
	good  style = "1;32"
	bad   style = "33"
)

// run is text of one style.
type run struct {
	text  string
	style style
}

// line writes runs as one paragraph, which begins with a label and goes on under its end.
func (s *screen) line(label run, runs ...run) {
	label.text = terminal.Visible(label.text)
	indent := terminal.Columns(label.text)
	p := paragraph{screen: s, indent: strings.Repeat(" ", indent), column: indent}
	p.put(label)
	for _, r := range runs {
		p.add(r)
	}
	p.endWord()
	p.wear(plain)
	p.out.WriteByte('\n')
	if s.err == nil {
		_, s.err = io.WriteString(cli.Exact(s.w), p.out.String())
	}
}

// paragraph is text that is being broken into lines.
type paragraph struct {
	*screen
	out    strings.Builder
	indent string
	column int
	begun  bool  // a word stands on the line
	word   []run // being collected
	worn   style // what the terminal was last told
	space  bool  // white space stands before the word
}

func (p *paragraph) add(r run) {
	for len(r.text) > 0 {
		c, size := utf8.DecodeRuneInString(r.text)
		if unicode.IsSpace(c) {
			if r.text[size:] == "…" && len(p.word) > 0 { // no line of its own for the dots
				p.word = append(p.word, run{" …", r.style})
				return
			}
			p.endWord()
			p.space = true
			r.text = r.text[size:]
			continue
		}
		end := strings.IndexFunc(r.text, unicode.IsSpace)
		if end < 0 {
			end = len(r.text)
		}
		p.word = append(p.word, run{terminal.Visible(r.text[:end]), r.style})
		r.text = r.text[end:]
	}
}

// endWord writes the word, on a new line if this one has no room for it.
func (p *paragraph) endWord() {
	if len(p.word) == 0 {
		return
	}
	long := 0
	for _, r := range p.word {
		long += terminal.Columns(r.text)
	}
	if p.begun && p.space {
		if p.width > 0 && p.column+1+long > p.width {
			p.breakLine()
		} else {
			if p.worn != p.word[0].style {
				p.wear(plain)
			}
			p.out.WriteByte(' ')
			p.column++
		}
	}
	for _, r := range p.word {
		p.fit(r)
	}
	p.word, p.space, p.begun = p.word[:0], false, true
}

// fit writes part of a word, which is cut where it is longer than what is left of the line.
func (p *paragraph) fit(r run) {
	for p.width > 0 && p.column+terminal.Columns(r.text) > p.width {
		end, room := 0, p.width-p.column
		for end < len(r.text) {
			c, size := utf8.DecodeRuneInString(r.text[end:])
			if room -= terminal.ColumnsOf(c); room < 0 {
				break
			}
			end += size
		}
		if end == 0 && p.column == len(p.indent) {
			break // not even one character fits
		}
		p.put(run{r.text[:end], r.style})
		p.breakLine()
		r.text = r.text[end:]
	}
	p.put(r)
	p.column += terminal.Columns(r.text)
}

func (p *paragraph) breakLine() {
	p.wear(plain)
	p.out.WriteString("\n" + p.indent)
	p.column = len(p.indent)
}

func (p *paragraph) put(r run) {
	if r.text != "" {
		p.wear(r.style)
		p.out.WriteString(r.text)
	}
}

// wear makes what follows look like this.
func (p *paragraph) wear(st style) {
	if !p.colours || st == p.worn {
		return
	}
	if p.worn != plain {
		p.out.WriteString("\x1b[0m")
	}
	if st != plain {
		p.out.WriteString("\x1b[" + string(st) + "m")
	}
	p.worn = st
}
