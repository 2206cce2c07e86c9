// Package mails generates messages for tests, of as many kinds as programs of mail write: plain, HTML, alternatives,
// with files, forwarded; in UTF-8 and older encodings; 7 bit, 8 bit, quoted-printable, base64; with headers of many
// shapes.
package mails

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"math/rand/v2"
	"mime"
	"mime/quotedprintable"
	"net/url"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

// Generator makes messages. Equal seeds make equal ones.
type Generator struct {
	*rand.Rand
	// Words are put here and there into the texts, headings, subjects and names of files of messages: each into some.
	Words []string
	// Size is how many bytes a message has, about; but for the files that some have.
	Size int

	fillers []string
}

// New returns a generator.
func New(seed uint64, size int, words ...string) *Generator {
	g := &Generator{Rand: rand.New(rand.NewPCG(seed, 32)), Words: words, Size: size}
	for range 3000 {
		word := make([]byte, 4+g.IntN(6))
		for i := range word {
			word[i] = "etaoinshrdlucmfwypvbgkxqjz"[min(g.IntN(26), g.IntN(26))]
		}
		g.fillers = append(g.fillers, string(word))
	}
	return g
}

// script is an encoding, and letters that it has and ASCII has not.
type script struct {
	charset string
	encoding.Encoding
	letters string
}

// Of the Cyrillic letters ю is missing: in windows-1251 it makes with я a byte order mark of UTF-16, which the word at
// the beginning of no text does.
var scripts = []script{
	{"us-ascii", nil, ""}, {"UTF-8", nil, ""}, {"utf-8", nil, "äöüéèàçñ"}, {"utf-8", nil, "αβγδεζηθικλμνξοπρστυφχψω"}, {"utf-8", nil, "абвгдежзиклмнопрстуфхцчшщыэя"},
	{"iso-8859-1", charmap.ISO8859_1, "äöüéèàçñ"}, {"windows-1252", charmap.Windows1252, "äöüéèàçñ€"}, {"iso-8859-7", charmap.ISO8859_7, "αβγδεζηθικλμνξοπρστυφχψω"},
	{"koi8-r", charmap.KOI8R, "абвгдежзиклмнопрстуфхцчшщыэя"}, {"windows-1251", charmap.Windows1251, "абвгдежзиклмнопрстуфхцчшщыэя"}, {"iso-8859-2", charmap.ISO8859_2, "čěřšžýáí"},
}

// bytes encodes a text; what the encoding has not is left out.
func (s script) bytes(text string) []byte {
	if s.Encoding == nil {
		return []byte(text)
	}
	encoder := s.NewEncoder()
	var all []byte
	for _, r := range text {
		if b, err := encoder.Bytes([]byte(string(r))); err == nil {
			all = append(all, b...)
		}
	}
	return all
}

// has reports whether a text can be written in the encoding.
func (s script) has(text string) bool {
	if s.charset == "us-ascii" {
		return strings.IndexFunc(text, func(r rune) bool { return r > '~' }) < 0
	}
	if s.Encoding == nil {
		return true
	}
	_, err := s.NewEncoder().String(text)
	return err == nil
}

// Message returns a message with a Message-ID; without one if that is empty. Its lines end as those of Unix do.
func (g *Generator) Message(id string) []byte {
	s := scripts[g.IntN(len(scripts))]
	var b bytes.Buffer
	g.header(&b, s, id)
	g.entity(&b, s, g.Size, 0)
	return b.Bytes()
}

// header writes the fields of a message, but those of its content.
func (g *Generator) header(b *bytes.Buffer, s script, id string) {
	fields := []string{
		fmt.Sprintf("From: %s <%s@%s.example>", g.phrase(s, 2), g.filler(), g.filler()),
		"To: undisclosed-recipients:;",
		fmt.Sprintf("Subject:%s%s", g.one(" ", " ", "\n "), g.phrase(s, 1+g.IntN(8))),
		fmt.Sprintf("Date: %s, %d Nov %d %02d:%02d:%02d %s", g.one("Mon", "Tue"), 1+g.IntN(28), 1999+g.IntN(27), g.IntN(24), g.IntN(60), g.IntN(60), g.one("+0000", "-0730", "+0200 (EET)", "GMT", "+1245")),
		g.one("MIME-Version: 1.0", "Mime-Version: 1.0 (by a program)"),
	}
	if id != "" {
		fields = append(fields, g.one("Message-ID: <", "Message-Id: <", "message-id:<", "Message-ID:\n <")+id+">")
	}
	for range g.IntN(4) {
		fields = append(fields, fmt.Sprintf("Received: from %s.example (%s.example [192.0.2.%d])\n\tby %s.example with ESMTPS id %s\n\tfor <eleni@a.example>; Mon, 2 Nov 2026 10:00:00 +0000",
			g.filler(), g.filler(), g.IntN(256), g.filler(), g.filler()))
	}
	if g.IntN(3) == 0 {
		fields = append(fields, "Reply-To: "+g.filler()+"@"+g.filler()+".example")
	}
	if g.IntN(3) == 0 {
		fields = append(fields, fmt.Sprintf("List-Id: %s\n <%s.%s.example>", g.phrase(s, 2), g.filler(), g.filler()))
	}
	if g.IntN(3) == 0 {
		signature := make([]byte, 96)
		for i := range signature {
			signature[i] = byte(g.IntN(256))
		}
		fields = append(fields, "DKIM-Signature: v=1; a=rsa-sha256; d=a.example; s=s;\n\tb="+base64.StdEncoding.EncodeToString(signature))
	}
	g.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	for _, field := range fields {
		fmt.Fprintf(b, "%s\n", field)
	}
}

// phrase is a few words as they stand in a header: encoded where they are not of ASCII.
func (g *Generator) phrase(s script, words int) string {
	text := strings.Join(g.words(s, words), " ")
	if !strings.ContainsFunc(text, func(r rune) bool { return r > '~' }) {
		return text
	}
	charset, encoded := s.charset, s.bytes(text)
	if g.IntN(4) == 0 {
		charset, encoded = "utf-8", []byte(text)
	}
	if g.IntN(2) == 0 {
		return fmt.Sprintf("=?%s?B?%s?=", charset, base64.StdEncoding.EncodeToString(encoded))
	}
	var q strings.Builder
	for _, c := range encoded {
		switch {
		case c == ' ':
			q.WriteByte('_')
		case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9':
			q.WriteByte(c)
		default:
			fmt.Fprintf(&q, "=%02X", c)
		}
	}
	return fmt.Sprintf("=?%s?q?%s?=", charset, q.String())
}

// entity writes the fields of a content, and the content behind them.
func (g *Generator) entity(b *bytes.Buffer, s script, size, depth int) {
	if kind := g.IntN(10); kind < 5 && depth < 3 && size > 200 {
		g.multipart(b, s, size, depth)
		return
	}
	if g.IntN(3) == 0 {
		g.text(b, s, "text/html", g.page(s, size))
		return
	}
	g.text(b, s, "text/plain", g.letter(s, size))
}

// multipart writes a content of parts.
func (g *Generator) multipart(b *bytes.Buffer, s script, size, depth int) {
	boundary := g.one("=_", "----=_Part_", "b1_", "=-") + g.filler() + g.filler()
	kind := g.one("mixed", "mixed", "alternative", "alternative", "related", "signed", "forward")
	media := strings.Replace(kind, "forward", "mixed", 1)
	fmt.Fprintf(b, "Content-Type: multipart/%s;%sboundary=\"%s\"\n\n%s", media, g.one(" ", "\n\t"), boundary, g.one("", "This is a message in several parts.\n"))
	part := func(write func()) {
		fmt.Fprintf(b, "\n--%s\n", boundary)
		write()
	}
	switch kind {
	case "alternative":
		part(func() { g.text(b, s, "text/plain", g.letter(s, size/2)) })
		part(func() { g.text(b, s, "text/html", g.page(s, size/2)) })
	case "forward":
		part(func() { g.text(b, s, "text/plain", g.letter(s, size/2)) })
		part(func() {
			b.WriteString("Content-Type: message/rfc822\nContent-Disposition: inline\n\n")
			g.header(b, s, g.filler()+"@forwarded.example")
			g.entity(b, s, size/2, depth+1)
		})
	default:
		part(func() { g.entity(b, s, size*2/3, depth+1) })
		for range 1 + g.IntN(2) {
			part(func() { g.file(b, s, size/4) })
		}
	}
	fmt.Fprintf(b, "\n--%s--\n%s", boundary, g.one("", "\n", "The end.\n"))
}

// file writes a part that is a file, whose name is written in one of the ways there are.
func (g *Generator) file(b *bytes.Buffer, s script, size int) {
	name := strings.Join(g.words(s, 1+g.IntN(2)), " ") + g.one(".pdf", ".png", ".zip")
	media := g.one("application/pdf", "image/png", "application/octet-stream")
	switch g.IntN(4) {
	case 0:
		fmt.Fprintf(b, "Content-Type: %s\nContent-Disposition: attachment;\n filename*=utf-8''%s\n", media, url.PathEscape(name))
	case 1:
		fmt.Fprintf(b, "Content-Type: %s; name=\"%s\"\nContent-Disposition: attachment\n", media, mime.QEncoding.Encode("utf-8", name))
	case 2:
		fmt.Fprintf(b, "Content-Type: %s;\n\tname=\"%s\"\nContent-Disposition: attachment;\n\tfilename=\"%s\"\n", media, mime.BEncoding.Encode("utf-8", name), mime.BEncoding.Encode("utf-8", name))
	case 3:
		half := len(name) / 2
		fmt.Fprintf(b, "Content-Type: %s\nContent-Disposition: inline; filename*0*=utf-8''%s;\n filename*1*=%s\n", media, percent(name[:half]), percent(name[half:]))
	}
	b.WriteString("Content-Transfer-Encoding: base64\n\n")
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(g.IntN(256))
	}
	writeBase64(b, content)
}

// percent encodes the bytes of a name, which may begin in the middle of a letter.
func percent(name string) string {
	var all strings.Builder
	for _, c := range []byte(name) {
		fmt.Fprintf(&all, "%%%02X", c)
	}
	return all.String()
}

// text writes a part of text.
func (g *Generator) text(b *bytes.Buffer, s script, media, text string) {
	body := s.bytes(text)
	charset := s.charset
	ascii := bytes.IndexFunc(body, func(r rune) bool { return r > '~' }) < 0
	transfer := g.one("quoted-printable", "base64", "8bit")
	if ascii {
		transfer = g.one("7bit", "", "quoted-printable", "base64")
	}
	if ascii && media == "text/plain" && g.IntN(3) == 0 {
		charset = ""
	}
	if charset != "" || media != "text/plain" {
		fmt.Fprintf(b, "%s: %s", g.one("Content-Type", "content-type"), media)
		if charset != "" {
			fmt.Fprintf(b, ";%scharset=%s", g.one(" ", "\n "), g.one(charset, `"`+charset+`"`, strings.ToUpper(charset)))
		}
		b.WriteString(g.one("\n", "; format=flowed\n"))
	}
	if transfer != "" {
		fmt.Fprintf(b, "Content-Transfer-Encoding: %s\n", g.one(transfer, strings.ToUpper(transfer)))
	}
	b.WriteByte('\n')
	switch transfer {
	case "quoted-printable":
		var encoded bytes.Buffer
		w := quotedprintable.NewWriter(&encoded)
		w.Write(body) // into memory
		w.Close()
		b.Write(bytes.ReplaceAll(encoded.Bytes(), []byte("\r\n"), []byte("\n")))
		b.WriteByte('\n')
	case "base64":
		writeBase64(b, body)
	default:
		b.Write(body)
		b.WriteByte('\n')
	}
}

func writeBase64(b *bytes.Buffer, content []byte) {
	text := base64.StdEncoding.EncodeToString(content)
	for len(text) > 76 {
		fmt.Fprintf(b, "%s\n", text[:76])
		text = text[76:]
	}
	fmt.Fprintf(b, "%s\n", text)
}

// letter is a plain text of paragraphs.
func (g *Generator) letter(s script, size int) string {
	var b strings.Builder
	for b.Len() < size {
		if g.IntN(5) == 0 {
			b.WriteString("> ")
		}
		for line := 0; line < 60; {
			word := g.words(s, 1)[0]
			line += len(word) + 1
			b.WriteString(word + g.one(" ", " ", " ", ", ", ". "))
		}
		b.WriteString(g.one("\n", "\n", "\n", "\n\n"))
	}
	if g.IntN(3) == 0 {
		b.WriteString("\n-- \n" + strings.Join(g.words(s, 3), " ") + "\n")
	}
	return b.String()
}

// page is a text of HTML.
func (g *Generator) page(s script, size int) string {
	var b strings.Builder
	b.WriteString(g.one("", "<!DOCTYPE html>\n"))
	if g.IntN(2) == 0 {
		fmt.Fprintf(&b, "<html><head><title>%s</title><style>p { color: red }</style></head><body>\n", g.escaped(s, 3))
	}
	for b.Len() < size {
		fmt.Fprintf(&b, g.one("<p>%s</p>\n", "<p>%s</p>\n", "<div>%s</div>\n", "<h2>%s</h2>\n", "<p><b>%s</b></p>\n", "<ul><li>%s</li></ul>\n", "<script>x = 1 < 2</script><p>%s</p>\n", "<!-- c --><p>%s</p>\n"),
			g.escaped(s, 10+g.IntN(8)))
	}
	return b.String()
}

// escaped is a text within HTML. Some letters are written as references.
func (g *Generator) escaped(s script, words int) string {
	text := html.EscapeString(strings.Join(g.words(s, words), " "))
	if g.IntN(3) > 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if r > '~' {
			fmt.Fprintf(&b, "&#%d;", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// words are some, nearly all of which are nothing but fillers.
func (g *Generator) words(s script, n int) (all []string) {
	for range n {
		word := g.filler()
		if letters := []rune(s.letters); len(letters) > 0 && g.IntN(2) == 0 {
			word = ""
			for range 4 + g.IntN(5) {
				word += string(letters[g.IntN(len(letters))])
			}
		}
		if len(g.Words) > 0 && g.IntN(150) == 0 {
			if w := g.Words[g.IntN(len(g.Words))]; s.has(w) {
				word = g.one(w, w, strings.ToUpper(w))
			}
		}
		all = append(all, word)
	}
	return all
}

func (g *Generator) filler() string { return g.fillers[g.IntN(len(g.fillers))] }

func (g *Generator) one(of ...string) string { return of[g.IntN(len(of))] }
