package extract

import (
	"bytes"
	"math"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/internal/plaintext"
)

const space = " \t\n\f\r"

// plain reads plain text: a block is a paragraph, or a line where lines are records.
func (x *extraction) plain(body []byte) {
	x.paragraphs(body)
	x.take(&x.text)
}

func (x *extraction) paragraphs(body []byte) {
	plaintext.Blocks(body, func(start, end int) bool { return x.block(body[start:end], webrace.FieldBody) })
}

// block adds a block of text, trimmed and without NUL, unless it is empty. It reports whether there is place for more.
func (x *extraction) block(text []byte, field webrace.Field) bool {
	if bytes.IndexByte(text, 0) >= 0 {
		text = bytes.ReplaceAll(text, []byte{0}, nil)
	}
	text = bytes.Trim(text, space)
	if len(x.text.Blocks) > formats.Default.Blocks { // one beyond the limit tells that there is more
		return false
	}
	if len(text) == 0 || len(x.text.Bytes)+len(text) >= math.MaxInt32 {
		return true
	}
	if len(x.text.Bytes) > 0 {
		x.text.Bytes = append(x.text.Bytes, '\n')
	}
	start := len(x.text.Bytes)
	x.text.Bytes = append(x.text.Bytes, text...)
	x.text.Blocks = append(x.text.Blocks, webrace.Block{Start: int32(start), End: int32(len(x.text.Bytes)), Field: field})
	return true
}
