package extract

import (
	"bytes"
	"math"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/internal/plaintext"
)

const space = " \t\n\f\r"

// textual are types of text beside text/*.
var textual = map[string]bool{
	"application/yaml": true, "application/x-yaml": true, "application/toml": true, "application/javascript": true,
	"application/x-javascript": true, "application/ecmascript": true, "application/sql": true, "application/x-sh": true,
}

// isRDF reports whether documents of a type of text/* are RDF, under any of its names: data, which nobody reads.
func isRDF(subtype string) bool {
	subtype = strings.TrimPrefix(strings.TrimPrefix(subtype, "rdf+"), "x-")
	switch strings.ReplaceAll(subtype, "-", "") {
	case "turtle", "n3", "nt", "ntriples", "nquads", "trig", "rdf":
		return true
	}
	return false
}

// isText reports whether documents of a type that has no reader of its own are plain text, as one of text/* that is not
// known is (RFC 2046, section 4.1.4).
func isText(mediaType string) bool {
	subtype, is := strings.CutPrefix(mediaType, "text/")
	return textual[mediaType] || is && !isRDF(subtype) || strings.HasSuffix(mediaType, "+yaml")
}

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
