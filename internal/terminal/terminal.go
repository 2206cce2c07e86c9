// Package terminal keeps a terminal from obeying what strangers wrote. Pages, headers and the messages of servers
// may hold characters that move the cursor, change the title of the window, write backwards or hide what stands
// beside them. [Visible] shows these as text, as JSON writes them: \u001b, \u202e.
//
// Shown so are the control characters C0 and C1 but for line feed, tab and the carriage return before a line
// feed; what is not UTF-8, byte by byte (\x9b); the separators of lines and paragraphs; and all characters without
// a glyph of their own (format characters, those of bidirectional text among them, fillers and tags) but for
// joiners and variation selectors where writing needs them: a joiner behind a character of a script that joins,
// one selector behind a character that it can vary.
package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Visible returns a text with all that a terminal would obey shown as text.
func Visible(s string) string {
	if isPlain(s) {
		return s
	}
	var e escaper
	out, rest := e.escape(make([]byte, 0, len(s)+16), []byte(s))
	return string(e.end(out, rest))
}

// Line is [Visible] of a text as one line, with a blank for each stretch of white space.
func Line(s string) string { return Visible(strings.Join(strings.Fields(s), " ")) }

// isPlain reports whether a text is of printable ASCII, line feeds and tabs, as most are.
func isPlain[T string | []byte](s T) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// escaper escapes a text that may come in pieces.
type escaper struct{ before rune } // the character before what is looked at

// escape appends what is visible of a text, and returns what of its end cannot be judged before more is known.
func (e *escaper) escape(out, text []byte) (_, rest []byte) {
	for i := 0; i < len(text); {
		if text[i] == '\r' && i+1 == len(text) || !utf8.FullRune(text[i:]) {
			return out, text[i:]
		}
		r, size := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			out = fmt.Appendf(out, `\x%02x`, text[i])
		case r == '\r' && text[i+1] == '\n', e.isShown(r):
			out = append(out, text[i:i+size]...)
		case r > 0xffff:
			out = fmt.Appendf(out, `\U%08x`, r)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		e.before = r
		i += size
	}
	return out, nil
}

// end appends what is left of a text that has ended.
func (e *escaper) end(out, rest []byte) []byte {
	for _, c := range rest {
		if c == '\r' {
			out = append(out, `\u000d`...)
		} else {
			out = fmt.Appendf(out, `\x%02x`, c)
		}
	}
	return out
}

const (
	nonJoiner = '\u200c'
	joiner    = '\u200d'
	// firstJoining is where the scripts begin whose writing needs joiners (Arabic), and after them emoji.
	firstJoining = '\u0600'
)

// isShown reports whether a terminal may be given a character, behind the one before.
func (e *escaper) isShown(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return true
	case r < 0x7f:
		return r >= ' '
	case r == joiner, r == nonJoiner:
		return e.before >= firstJoining && e.before != joiner && e.before != nonJoiner
	case unicode.Is(unicode.Variation_Selector, r):
		return e.before > ' ' && !unicode.Is(unicode.Variation_Selector, e.before)
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // format characters that have a glyph
		return true
	}
	return !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
}

// Writer writes to a terminal what is visible of what it is given. It may be used by many goroutines at once.
type Writer struct {
	out io.Writer

	mu      sync.Mutex
	escaper escaper
	rest    []byte // the beginning of a character whose end is still to be written
}

// NewWriter returns a writer to a terminal.
func NewWriter(terminal io.Writer) *Writer { return &Writer{out: terminal} }

func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) == 0 && len(p) > 0 && isPlain(p) {
		w.escaper.before = rune(p[len(p)-1])
		return w.out.Write(p)
	}
	out, rest := w.escaper.escape(nil, append(w.rest, p...))
	w.rest = append([]byte(nil), rest...)
	if _, err := w.out.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Unwrap returns the terminal, to be asked what it is.
func (w *Writer) Unwrap() io.Writer { return w.out }

// Exact returns the terminal itself, for the sequences of the program itself. What was written is there before.
func (w *Writer) Exact() io.Writer {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) > 0 {
		w.out.Write(w.escaper.end(nil, w.rest)) // the next write has the error too
		w.rest = nil
	}
	return w.out
}
