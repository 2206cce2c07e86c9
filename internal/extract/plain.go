package extract

import (
	"bytes"
	"math"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/formats"
)

const space = " \t\n\f\r"

// plain reads plain text: a block is a paragraph, which ends at an empty line.
func (x *extraction) plain(body []byte) {
	x.paragraphs(body)
	x.take(&x.text)
}

func (x *extraction) paragraphs(body []byte) {
	start := 0
	for i := 0; i < len(body); {
		end := i + lineLength(body[i:])
		if len(bytes.Trim(body[i:end], space)) == 0 {
			x.block(body[start:i], webrace.FieldBody)
			start = end
		}
		i = end
	}
	x.block(body[start:], webrace.FieldBody)
}

// lineLength returns the length of the first line of b, with its end, however it ends.
func lineLength(b []byte) int {
	i := bytes.IndexAny(b, "\r\n")
	switch {
	case i < 0:
		return len(b)
	case b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n':
		return i + 2
	}
	return i + 1
}

// block adds a block of text, trimmed and without NUL, unless it is empty.
func (x *extraction) block(text []byte, field webrace.Field) {
	if bytes.IndexByte(text, 0) >= 0 {
		text = bytes.ReplaceAll(text, []byte{0}, nil)
	}
	text = bytes.Trim(text, space)
	if len(x.text.Blocks) > formats.Default.Blocks { // one beyond the limit tells that there is more
		return
	}
	if len(text) == 0 || len(x.text.Bytes)+len(text) >= math.MaxInt32 {
		return
	}
	if len(x.text.Bytes) > 0 {
		x.text.Bytes = append(x.text.Bytes, '\n')
	}
	start := len(x.text.Bytes)
	x.text.Bytes = append(x.text.Bytes, text...)
	x.text.Blocks = append(x.text.Blocks, webrace.Block{Start: int32(start), End: int32(len(x.text.Bytes)), Field: field})
}
