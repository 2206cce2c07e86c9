package xmltoken

import (
	"bytes"
	"html"
	"regexp"
	"strings"
)

// longest is the length of the longest name of an entity of HTML, with its semicolon.
const longest = len("CounterClockwiseContourIntegral;")

// Reference returns what the reference means that b, the bytes after an ampersand, begins with, and how many of them it
// takes; 0 where the ampersand is bare. HTML knows names without a semicolon. XML does not: "?a=1&copy=2&region=3" is
// an address whose ampersands were not escaped, and means what is written.
func Reference(b []byte) (meaning string, length int) {
	for _, common := range [...]struct{ written, meaning string }{{"lt;", "<"}, {"gt;", ">"}, {"amp;", "&"}, {"quot;", `"`}, {"#39;", "'"}} {
		if len(b) >= len(common.written) && string(b[:len(common.written)]) == common.written { // feeds have markup written so
			return common.meaning, len(common.written)
		}
	}
	if length = referenceLength(b); length == 0 {
		return "", 0
	}
	written := "&" + string(b[:length])
	meaning = html.UnescapeString(written)
	if meaning == written || len(meaning) > 1 && strings.HasSuffix(meaning, ";") { // of "&notit;" HTML takes "&not"
		return "", 0
	}
	return meaning, length
}

// reference is what is written like one, without its ampersand.
var reference = regexp.MustCompile(`^(?:[a-zA-Z][a-zA-Z0-9]*|#[0-9]+|#[xX][0-9a-fA-F]+);`)

// referenceLength returns the length of what is written like a reference at the beginning of b; 0 if nothing is.
func referenceLength(b []byte) int { return len(reference.Find(b[:min(len(b), longest)])) }

// Decode returns character data, or the value of an attribute, with what its references mean in their place.
func Decode(b []byte) []byte {
	if bytes.IndexByte(b, '&') < 0 {
		return b
	}
	decoded := make([]byte, 0, len(b))
	for {
		text, rest, found := bytes.Cut(b, []byte("&"))
		decoded = append(decoded, text...)
		if !found {
			return decoded
		}
		meaning, length := Reference(rest)
		if length == 0 {
			meaning = "&"
		}
		decoded = append(decoded, meaning...)
		b = rest[length:]
	}
}

// EscapeBare returns a document with its bare ampersands escaped, for parsers that refuse them, or take them for
// references. Lines keep their numbers.
func EscapeBare(document []byte) []byte {
	var escaped []byte
	copied := 0
	for i := 0; i < len(document); i++ {
		n := bytes.IndexAny(document[i:], "&<")
		if n < 0 {
			break
		}
		i += n
		switch rest := document[i:]; {
		case rest[0] == '&' && referenceLength(rest[1:]) == 0:
			escaped = append(append(escaped, document[copied:i]...), "&amp;"...)
			copied = i + 1
		case bytes.HasPrefix(rest, []byte(cdata)): // there an ampersand is one
			_, behind, _ := bytes.Cut(rest, []byte("]]>"))
			i = len(document) - len(behind) - 1
		}
	}
	if copied == 0 {
		return document
	}
	return append(escaped, document[copied:]...)
}
