package extract

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"

	"github.com/webrace/webrace"
)

// isRTF reports whether a document is read as RTF.
func isRTF(mediaType string, body []byte) bool {
	return (mediaType == "application/rtf" || mediaType == "text/rtf" || mediaType == "application/msword") && bytes.HasPrefix(body, []byte(`{\rtf`))
}

// rtf reads the paragraphs of a document in Rich Text Format (specification 1.9.1): what is beside them, as fonts,
// pictures and fields' codes, is passed.
func (x *extraction) rtf(body []byte) {
	r := rtfReader{x: x, rest: body, bytes: charmap.Windows1252, group: rtfGroup{fallback: 1}}
	for len(r.rest) > 0 && r.step() {
	}
	r.endParagraph()
	x.take(&x.text)
}

// rtfReader goes through the tokens of a document.
type rtfReader struct {
	x         *extraction
	rest      []byte
	bytes     encoding.Encoding // of characters that are given as bytes
	group     rtfGroup
	outer     []rtfGroup
	paragraph []byte
	pending   []byte // bytes of it, in the encoding
	fallback  int    // characters that stand for one of Unicode, and are still to be passed
}

// rtfGroup is what holds within braces.
type rtfGroup struct {
	passed   bool // what is no text
	fallback int  // how many characters stand behind one of Unicode, for readers who have none
	began    bool // a token has been read, so that a destination does not begin here
}

// rtfPassed are destinations that hold no text of the document.
var rtfPassed = map[string]bool{
	"fonttbl": true, "colortbl": true, "stylesheet": true, "info": true, "pict": true, "object": true, "header": true, "headerl": true,
	"headerr": true, "headerf": true, "footer": true, "footerl": true, "footerr": true, "footerf": true, "fldinst": true, "filetbl": true,
	"listtable": true, "listoverridetable": true, "revtbl": true, "rsidtbl": true, "generator": true, "themedata": true, "datastore": true,
	"xmlnstbl": true, "latentstyles": true, "bkmkstart": true, "bkmkend": true, "xe": true, "tc": true, "annotation": true,
}

// rtfCharacters are control words that are characters.
var rtfCharacters = map[string]string{
	"tab": " ", "cell": " ", "nestcell": " ", "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“",
	"rdblquote": "”", "emspace": " ", "enspace": " ", "qmspace": " ",
}

// rtfEnds are control words that end a paragraph.
var rtfEnds = map[string]bool{"par": true, "line": true, "sect": true, "page": true, "row": true, "nestrow": true, "column": true}

// step reads a token. It reports whether there is place for more text.
func (r *rtfReader) step() bool {
	c := r.rest[0]
	r.rest = r.rest[1:]
	switch c {
	case '{':
		r.outer = append(r.outer, r.group)
		r.group.began = false
		return true
	case '}':
		if n := len(r.outer); n > 0 {
			r.group, r.outer = r.outer[n-1], r.outer[:n-1]
		}
		r.fallback = 0
		return true
	case '\r', '\n':
		return true
	case '\\':
		if len(r.rest) == 0 {
			return true
		}
		more := r.control()
		r.group.began = true
		return more
	}
	r.add(c)
	r.group.began = true
	return true
}

// control reads what stands behind a backslash.
func (r *rtfReader) control() bool {
	c := r.rest[0]
	if !isASCIILetter(c) {
		r.rest = r.rest[1:]
		return r.symbol(c)
	}
	n := 0
	for n < len(r.rest) && isASCIILetter(r.rest[n]) {
		n++
	}
	word := string(r.rest[:min(n, 32)])
	r.rest = r.rest[n:]
	return r.word(word, r.parameter())
}

// parameter reads the number behind a control word, 0 if there is none, and the blank that ends both.
func (r *rtfReader) parameter() int {
	n := 0
	for n < len(r.rest) && (r.rest[n] >= '0' && r.rest[n] <= '9' || n == 0 && r.rest[n] == '-') {
		n++
	}
	number, err := strconv.Atoi(string(r.rest[:min(n, 12)]))
	if err != nil {
		number = 0
	}
	if r.rest = r.rest[n:]; len(r.rest) > 0 && r.rest[0] == ' ' {
		r.rest = r.rest[1:]
	}
	return number
}

func isASCIILetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func (r *rtfReader) symbol(c byte) bool {
	switch c {
	case '\'':
		n := min(2, len(r.rest))
		if b, err := strconv.ParseUint(string(r.rest[:n]), 16, 8); err == nil {
			r.add(byte(b))
		}
		r.rest = r.rest[n:]
	case '~':
		r.character("\u00a0")
	case '_':
		r.character("-")
	case '\\', '{', '}':
		r.add(c)
	case '*': // a destination that not every reader knows
		r.group.passed = true
	case '\r', '\n':
		return r.endParagraph()
	}
	return true
}

func (r *rtfReader) word(word string, parameter int) bool {
	switch {
	case rtfPassed[word] && !r.group.began:
		r.group.passed = true
	case word == "bin": // bytes that follow as they are
		r.rest = r.rest[min(max(parameter, 0), len(r.rest)):]
	case word == "ansicpg":
		if e, err := htmlindex.Get("windows-" + strconv.Itoa(parameter)); err == nil {
			r.bytes = e
		}
	case word == "uc":
		r.group.fallback = min(max(parameter, 0), 100)
	case word == "u":
		r.fallback = 0
		r.character(string(rune(uint16(parameter))))
		r.fallback = r.group.fallback
	case rtfEnds[word]:
		return r.endParagraph()
	default:
		if text := rtfCharacters[word]; text != "" {
			r.character(text)
		}
	}
	return true
}

// add adds a character that is given as a byte.
func (r *rtfReader) add(c byte) {
	switch {
	case r.fallback > 0:
		r.fallback--
	case !r.group.passed:
		r.pending = append(r.pending, c)
	}
}

// character adds text that is given by a name or number.
func (r *rtfReader) character(text string) {
	if r.fallback > 0 {
		r.fallback--
		return
	}
	if !r.group.passed && utf8.ValidString(text) {
		r.decode()
		r.paragraph = append(r.paragraph, text...)
	}
}

// decode adds the bytes that were given.
func (r *rtfReader) decode() {
	if len(r.pending) == 0 {
		return
	}
	if text, err := r.bytes.NewDecoder().Bytes(r.pending); err == nil {
		r.paragraph = append(r.paragraph, text...)
	}
	r.pending = r.pending[:0]
}

func (r *rtfReader) endParagraph() bool {
	if r.group.passed {
		return true
	}
	r.decode()
	more := r.x.block(r.paragraph, webrace.FieldBody)
	r.paragraph = r.paragraph[:0]
	return more
}
