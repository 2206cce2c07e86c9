// Package charsets finds out in which encoding a document is written, turns it into UTF-8, and writes the queries of
// its links as browsers do.
//
// The evidence is asked in this order, and the first that speaks decides: a byte order mark, the charset
// of the Content-Type header, being valid UTF-8 with more than ASCII, what the document declares (a meta element in
// the head of a page, an XML declaration), its form, and the frequency of letters. If all are silent it is
// windows-1252, as in browsers, or UTF-8 where there is nothing but ASCII. Names and labels are those of the WHATWG
// Encoding standard, where "iso-8859-1" means windows-1252.
//
// Browsers believe a meta element before the bytes: a page in UTF-8 that declares another encoding, left over from
// before it was converted, has no readable text there. Here it has.
package charsets

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
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
	Wrong   bool   // the label that was asked names what the bytes are not
}

// Decode returns the document in UTF-8. A body that is valid UTF-8 is returned as it is, not copied; the
// result must then not outlive it. Bytes that mean nothing in the encoding, a last character that is cut off
// among them, become U+FFFD: no content is an error. The error is for a decoder that fails for a reason of its
// own.
func Decode(body []byte, contentType string) (d Decoded, err error) {
	body, found := detect(body, contentType)
	d = Decoded{Name: found.name, Guessed: found.by == letters, Wrong: found.contradicts}
	switch {
	case keepsASCII(d.Name) && found.ascii == len(body) || d.Name == "utf-8" && utf8.Valid(body[found.ascii:]):
		d.Text = body
	case d.Name == "utf-8":
		d.Text, err = unicode.UTF8.NewDecoder().Bytes(body)
		d.Wrong = d.Wrong || found.by == label && !utf8.Valid(body[:len(body)-cutOff(body)])
	default:
		d.Text, err = decode(body, d.Name)
		d.Wrong = d.Wrong || found.by == label && broken(d.Text)
	}
	if err != nil {
		return d, fmt.Errorf("decode document as %s: %w", d.Name, err)
	}
	return d, nil
}

// keepsASCII reports whether bytes of ASCII mean themselves, whatever comes before them.
func keepsASCII(name string) bool {
	return name != "utf-16le" && name != "utf-16be" && name != "iso-2022-jp"
}

// broken reports whether a text was in another encoding than it was decoded from: characters are missing, and
// not only the last, which may be cut off.
func broken(text []byte) bool {
	const missing = "\ufffd"
	return bytes.Contains(bytes.TrimSuffix(text, []byte(missing)), []byte(missing))
}

func decode(body []byte, name string) ([]byte, error) {
	if name == "gbk" { // is read as what it is a part of, by the standard
		name = "gb18030"
	}
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

// finding is an encoding, what told it, and whether the header names another.
type finding struct {
	name        string
	by          evidence
	contradicts bool
	ascii       int // how many bytes of ASCII the body begins with
}

// detect returns the body's encoding, and the body without its byte order mark.
func detect(body []byte, contentType string) ([]byte, finding) {
	said := standardName(parameter(contentType))
	for _, m := range marks {
		if rest, ok := bytes.CutPrefix(body, m.mark); ok {
			// The label "utf-16" leaves the order of bytes to the mark.
			contradicts := said != "" && strings.TrimRight(said, "lbe") != strings.TrimRight(m.name, "lbe")
			return rest, finding{m.name, form, contradicts, ascii(rest)}
		}
	}
	f := finding{ascii: ascii(body)}
	if f.name, f.by = said, label; f.name != "" {
		return body, f
	}
	if f.name, f.by = byForm(body, f.ascii), form; f.name != "" {
		return body, f
	}
	if f.name, f.by = byDeclaration(body, contentType), label; f.name != "" {
		return body, f
	}
	switch {
	case hasJIS(body):
		f.name, f.by = "iso-2022-jp", form
	case f.ascii == len(body):
		f.name, f.by = "utf-8", form
	default:
		f.name, f.by = byLetters(body), letters
	}
	return body, f
}

// hasJIS reports whether a text changes to Japanese in seven bits.
func hasJIS(body []byte) bool {
	i := bytes.IndexByte(body, '\x1b')
	return i >= 0 && (bytes.Contains(body[i:], []byte("\x1b$B")) || bytes.Contains(body[i:], []byte("\x1b$@")))
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
	if ascii([]byte(label)) < len(label) { // of which some turn into ASCII in lower case
		return ""
	}
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

// byForm knows the encodings whose form no other text has by accident: UTF-16, and UTF-8 with more than the ASCII
// that the body begins with.
func byForm(body []byte, ascii int) string {
	switch {
	case bytes.HasPrefix(body, []byte("<\x00")):
		return "utf-16le"
	case bytes.HasPrefix(body, []byte("\x00<")):
		return "utf-16be"
	}
	beyond := body[ascii:]
	// A body that was cut may end within a character. One lone byte beyond ASCII proves nothing though:
	// it takes a whole character before it.
	if beyond = beyond[:len(beyond)-cutOff(beyond)]; len(beyond) > 0 && utf8.Valid(beyond) {
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

// ascii returns how many bytes of ASCII a body begins with.
func ascii(b []byte) (n int) {
	const upper = 0x8080808080808080
	for len(b)-n >= 8 && binary.LittleEndian.Uint64(b[n:])&upper == 0 {
		n += 8
	}
	for n < len(b) && b[n] < utf8.RuneSelf {
		n++
	}
	return n
}

// byDeclaration returns what a document declares of itself: as a page, or as XML. Text of other types does not.
func byDeclaration(body []byte, contentType string) string {
	media, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	switch media = strings.TrimSpace(media); {
	case media == "text/html" || media == "":
		return cmp.Or(byMeta(body), byXMLDeclaration(body))
	case media == "application/xhtml+xml":
		return cmp.Or(byXMLDeclaration(body), byMeta(body))
	case strings.HasSuffix(media, "/xml") || strings.HasSuffix(media, "+xml"):
		return byXMLDeclaration(body)
	}
	return ""
}
