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

// ToUTF8 returns the text that [Decode] does, and the standard name of the encoding it was in.
func ToUTF8(body []byte, contentType string) (text []byte, name string, err error) {
	d, err := Decode(body, contentType)
	return d.Text, d.Name, err
}

// Decoded is a document in UTF-8, and how that came about.
type Decoded struct {
	Text    []byte // without byte order mark
	Name    string // of the encoding it was in, the standard's
	Guessed bool   // no label and no form told the encoding, only the frequency of letters, or nothing at all
	Wrong   bool   // the label that was asked says what the bytes are not
}

// Decode returns the document in UTF-8. A body that is valid UTF-8 is returned as it is, not copied; the
// result must then not outlive it. Bytes that mean nothing in the encoding, a last character that is cut off
// among them, become U+FFFD: no content is an error. The error is for a decoder that fails for a reason of its
// own.
func Decode(body []byte, contentType string) (d Decoded, err error) {
	body, found := detect(body, contentType)
	d = Decoded{Name: found.name, Guessed: found.by == letters, Wrong: found.contradicts}
	switch {
	case d.Name != "utf-8":
		d.Text, err = decode(body, d.Name)
		d.Wrong = d.Wrong || found.by == label && broken(d.Text)
	case utf8.Valid(body):
		d.Text = body
	default:
		d.Text, err = unicode.UTF8.NewDecoder().Bytes(body)
		d.Wrong = d.Wrong || found.by == label && !utf8.Valid(body[:len(body)-cutOff(body)])
	}
	if err != nil {
		return d, fmt.Errorf("decode document as %s: %w", d.Name, err)
	}
	return d, nil
}

// broken reports whether a text was in another encoding than it was decoded from: characters are missing, and
// not only the last, which may be cut off.
func broken(text []byte) bool {
	const missing = "\ufffd"
	return bytes.Contains(bytes.TrimSuffix(text, []byte(missing)), []byte(missing))
}

func decode(body []byte, name string) ([]byte, error) {
	e, err := htmlindex.Get(name)
	if err != nil {
		return nil, err
	}
	return e.NewDecoder().Bytes(body)
}

// evidence is what told an encoding.
type evidence uint8

const (
	form    evidence = iota // a byte order mark, or what the bytes look like
	label                   // of the header, or of the document itself
	letters                 // how frequent they are, or else nothing
)

// finding is an encoding, what told it, and whether the header says another.
type finding struct {
	name        string
	by          evidence
	contradicts bool
}

// detect returns the body's encoding, and the body without its byte order mark.
func detect(body []byte, contentType string) ([]byte, finding) {
	said := standardName(parameter(contentType))
	for _, m := range marks {
		if rest, ok := bytes.CutPrefix(body, m.mark); ok {
			// The label "utf-16" leaves the order of bytes to the mark.
			return rest, finding{m.name, form, said != "" && strings.TrimRight(said, "lbe") != strings.TrimRight(m.name, "lbe")}
		}
	}
	if said != "" {
		return body, finding{name: said, by: label}
	}
	if name := byForm(body); name != "" {
		return body, finding{name: name, by: form}
	}
	if name := byDeclaration(body[:min(len(body), declared)]); name != "" {
		return body, finding{name: name, by: label}
	}
	return body, finding{name: byLetters(body[:min(len(body), sampled)]), by: letters}
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
