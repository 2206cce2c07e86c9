// Package charsets finds out in which encoding a document is written, and turns it into UTF-8.
//
// The evidence is asked in this order, and the first that speaks decides: a byte order mark, the charset
// of the Content-Type header, being valid UTF-8, what the document declares in its first kilobyte (a
// meta element or an XML declaration), and the frequency of letters in its first four kilobytes. If all
// are silent it is windows-1252, as in browsers. Names and labels are those of the WHATWG Encoding
// standard, where "iso-8859-1" means windows-1252.
package charsets

import (
	"bytes"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

const (
	declared = 1024 // bytes searched for a declaration
	sampled  = 4096 // bytes whose letters are counted
)

// ToUTF8 returns the document in UTF-8, without byte order mark, and the standard name of the encoding
// it was in. A body that is valid UTF-8 is returned as it is, not copied; the result must then not
// outlive it. Bytes that mean nothing in the encoding, a last character that is cut off among them,
// become U+FFFD: no content is an error. The error is for a decoder that fails for a reason of its own.
func ToUTF8(body []byte, contentType string) (text []byte, name string, err error) {
	body, name = detect(body, contentType)
	if name == "utf-8" {
		if utf8.Valid(body) {
			return body, name, nil
		}
		text, err = unicode.UTF8.NewDecoder().Bytes(body)
	} else {
		text, err = decode(body, name)
	}
	if err != nil {
		return nil, name, fmt.Errorf("decode document as %s: %w", name, err)
	}
	return text, name, nil
}

func decode(body []byte, name string) ([]byte, error) {
	e, err := htmlindex.Get(name)
	if err != nil {
		return nil, err
	}
	return e.NewDecoder().Bytes(body)
}

// detect returns the name of the body's encoding, and the body without its byte order mark.
func detect(body []byte, contentType string) ([]byte, string) {
	for _, m := range marks {
		if rest, ok := bytes.CutPrefix(body, m.mark); ok {
			return rest, m.name
		}
	}
	if name := standardName(parameter(contentType)); name != "" {
		return body, name
	}
	if name := byForm(body); name != "" {
		return body, name
	}
	if name := byDeclaration(body[:min(len(body), declared)]); name != "" {
		return body, name
	}
	return body, byLetters(body[:min(len(body), sampled)])
}

var marks = []struct {
	mark []byte
	name string
}{
	{[]byte("\xef\xbb\xbf"), "utf-8"},
	{[]byte("\xfe\xff"), "utf-16be"},
	{[]byte("\xff\xfe"), "utf-16le"},
}

// parameter returns the charset of a Content-Type header, also of one that is not quite well-formed.
func parameter(contentType string) string {
	if _, params, err := mime.ParseMediaType(contentType); err == nil {
		return params["charset"]
	}
	_, after, _ := strings.Cut(strings.ToLower(contentType), "charset=")
	after, _, _ = strings.Cut(after, ";")
	return strings.Trim(after, " \t\"'")
}

// standardName returns the name of the encoding that a label means; empty if it means none.
func standardName(label string) string {
	e, err := htmlindex.Get(label)
	if err != nil || e == encoding.Replacement {
		return ""
	}
	name, err := htmlindex.Name(e)
	if err != nil {
		return ""
	}
	return name
}

// byForm knows the encodings whose form no other text has by accident.
func byForm(body []byte) string {
	switch {
	case bytes.HasPrefix(body, []byte("<\x00")):
		return "utf-16le"
	case bytes.HasPrefix(body, []byte("\x00<")):
		return "utf-16be"
	case bytes.Contains(body, []byte("\x1b$B")) || bytes.Contains(body, []byte("\x1b$@")):
		return "iso-2022-jp"
	case utf8.Valid(body):
		return "utf-8"
	}
	// A body that was cut may end within a character. One lone byte beyond ASCII proves nothing though:
	// it takes a whole character before it.
	whole := body[:len(body)-cutOff(body)]
	if len(whole) < len(body) && utf8.Valid(whole) && !isASCII(whole) {
		return "utf-8"
	}
	return ""
}

// cutOff returns the length of an incomplete character at the end of the body.
func cutOff(body []byte) int {
	for n := 1; n <= min(len(body), utf8.UTFMax-1); n++ {
		if tail := body[len(body)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return n
			}
			break
		}
	}
	return 0
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// byDeclaration returns what the head of a document says of itself.
func byDeclaration(head []byte) string {
	if name := standardName(xmlEncoding(head)); name != "" && !strings.HasPrefix(name, "utf-16") {
		return name
	}
	// The standard library's prescan falls back to windows-1252; only a mention makes that a declaration.
	if !bytes.Contains(bytes.ToLower(head), []byte("charset")) {
		return ""
	}
	_, name, _ := charset.DetermineEncoding(head, "")
	return name
}

// xmlEncoding returns the encoding of an XML declaration at the beginning of head.
func xmlEncoding(head []byte) string {
	if !bytes.HasPrefix(head, []byte("<?xml")) {
		return ""
	}
	declaration, _, _ := bytes.Cut(head, []byte("?>"))
	_, value, found := bytes.Cut(declaration, []byte("encoding"))
	value = bytes.TrimLeft(value, " \t\r\n=")
	if !found || len(value) == 0 || value[0] != '"' && value[0] != '\'' {
		return ""
	}
	value, _, _ = bytes.Cut(value[1:], value[:1])
	return string(value)
}
