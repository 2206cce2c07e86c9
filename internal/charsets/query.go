package charsets

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// EncodeQuery returns a reference to a URL of the web, as it stands in a document in the encoding of that name, with
// the characters of its query that are not ASCII percent-encoded in that encoding, as the URL standard has it of
// links in documents. A character that the encoding does not have becomes the number that HTML would write, &#N;,
// percent-encoded. Path and fragment stay as they are, and so does everything in a document in UTF-8 or UTF-16.
func EncodeQuery(ref []byte, name string) []byte {
	start := bytes.IndexByte(ref, '?')
	end := bytes.IndexByte(ref, '#')
	if end < 0 {
		end = len(ref)
	}
	if start < 0 || start > end || ascii(ref[start:end]) == end-start {
		return ref
	}
	w := newQueryWriter(name)
	if w == nil {
		return ref
	}
	w.out = append(make([]byte, 0, 2*len(ref)), ref[:start]...)
	for _, r := range string(ref[start:end]) {
		if r != '\t' && r != '\n' && r != '\r' { // which are no part of a URL
			w.write(r)
		}
	}
	w.toState(inASCII)
	return append(w.out, ref[end:]...)
}

// queryWriter writes a query in an encoding. Those of x/text differ from the standard's in some characters of
// Japanese and Chinese, which are mended here.
type queryWriter struct {
	name    string
	encoder *encoding.Encoder
	state   jisState
	out     []byte
}

// jisState is what bytes mean in ISO-2022-JP.
type jisState string

const (
	inASCII jisState = ""
	inRoman jisState = "%1B(J"
	inJIS   jisState = "%1B$B"
)

// newQueryWriter returns none for encodings in which no query is written.
func newQueryWriter(name string) *queryWriter {
	from := name
	switch name {
	case "", "utf-8", "utf-16le", "utf-16be":
		return nil
	case "iso-2022-jp": // has the characters of EUC-JP, without their upper bits
		from = "euc-jp"
	}
	e, err := htmlindex.Get(from)
	if err != nil {
		return nil
	}
	return &queryWriter{name: name, encoder: e.NewEncoder()}
}

func (w *queryWriter) write(r rune) {
	switch {
	case w.name == "iso-2022-jp":
		w.writeJIS(r)
	case r < utf8.RuneSelf: // left to the parser of URLs
		w.out = append(w.out, byte(r))
	default:
		if b, ok := w.encode(r); ok {
			w.escape(b)
		} else {
			w.number(r)
		}
	}
}

// encode returns a character in the encoding, if it is there.
func (w *queryWriter) encode(r rune) (b []byte, ok bool) {
	switch w.name {
	case "shift_jis", "euc-jp", "iso-2022-jp":
		switch r {
		case '¥':
			return []byte{'\\'}, true
		case '‾':
			return []byte{'~'}, true
		case '\u2212': // the minus sign, which the standard's index has as a wide one
			r = '\uff0d'
		}
	case "gb18030", "gbk":
		if r == '\ue5e5' {
			return nil, false
		}
	}
	b, err := w.encoder.Bytes([]byte(string(r)))
	switch {
	case err != nil:
		return nil, false
	case w.name == "euc-jp" && b[0] == 0x8f, w.name == "big5" && b[0] < 0xa1: // JIS X 0212 and Hong Kong's are only read
		return nil, false
	}
	return b, true
}

// writeJIS writes a character in ISO-2022-JP, in which one state follows the other over the whole query.
func (w *queryWriter) writeJIS(r rune) {
	switch {
	case r == 0x0e || r == 0x0f || r == 0x1b: // would be taken for changes of state
		w.toState(inASCII)
		w.number(utf8.RuneError)
	case r < utf8.RuneSelf:
		if w.state != inRoman || r == '\\' || r == '~' {
			w.toState(inASCII)
		}
		w.out = append(w.out, byte(r))
	case r == '¥' || r == '‾':
		w.toState(inRoman)
		b, _ := w.encode(r)
		w.escape(b)
	default:
		b, ok := w.encode(fullWidth(r))
		if !ok || len(b) != 2 {
			w.toState(inASCII)
			w.number(r)
			return
		}
		w.toState(inJIS)
		w.escape([]byte{b[0] &^ 0x80, b[1] &^ 0x80})
	}
}

func (w *queryWriter) toState(s jisState) {
	if w.state == s {
		return
	}
	if w.state = s; s == inASCII {
		s = "%1B(B"
	}
	w.out = append(w.out, s...)
}

// halfWidth are the characters from U+FF61 on, in their usual width.
var halfWidth = []rune("。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン゛゜")

func fullWidth(r rune) rune {
	const first = 0xff61
	if i := int(r - first); i >= 0 && i < len(halfWidth) {
		return halfWidth[i]
	}
	return r
}

// escape writes bytes of the encoding: of ASCII those as they are which the query of a URL may have.
func (w *queryWriter) escape(b []byte) {
	const upper = "0123456789ABCDEF"
	for _, c := range b {
		if c > ' ' && c < 0x7f && c != '"' && c != '#' && c != '<' && c != '>' && c != '\'' {
			w.out = append(w.out, c)
		} else {
			w.out = append(w.out, '%', upper[c>>4], upper[c&15])
		}
	}
}

// number writes what stands for a character that the encoding does not have.
func (w *queryWriter) number(r rune) {
	w.out = append(w.out, "%26%23"...)
	w.out = strconv.AppendInt(w.out, int64(r), 10)
	w.out = append(w.out, "%3B"...)
}
