package extract

import (
	"bytes"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/charsets"
	"github.com/webrace/webrace/internal/htmltext"
	"github.com/webrace/webrace/internal/mediatype"
)

const (
	mailNesting = 16    // how deep messages and parts may lie within each other; what is deeper is passed over
	mailParts   = 1_000 // how many parts a message may have, with those of messages within; others are passed over
)

// message is the reading of one message: of its texts, and those of the messages it holds.
type message struct {
	*extraction
	parts int // left to read
}

// isMail reports whether a document of this type is a message or a body of parts.
func isMail(mediaType string) bool {
	return mediaType == "message/rfc822" || mediaType == "message/global" || strings.HasPrefix(mediaType, "multipart/")
}

// mail reads a message, or a body of parts as a server sends it. The subject is the title; then follow who it is from
// and its newsgroups, the parts of plain text and HTML, and the names of those that are files. What is no mail,
// whatever it was sent as, is read as plain text.
func (x *extraction) mail(body []byte, contentType string) {
	m := message{extraction: x, parts: mailParts}
	m.entity(mailHeader{ContentType: contentType}, body, 0)
	x.take(&x.text)
}

// entity reads a message or part whose body is given as it was sent.
func (m *message) entity(h mailHeader, body []byte, depth int) {
	if depth > mailNesting || m.parts == 0 {
		return
	}
	m.parts--
	if m.Language == "" {
		m.Language = language([]byte(h.Language))
	}
	media := mediatype.Of(h.ContentType)
	body = decodeTransfer(body, h.TransferEncoding)
	m.block([]byte(h.fileName()), webrace.FieldBody)
	switch {
	case strings.HasPrefix(media, "multipart/"):
		m.multipart(media, h.ContentType, body, depth)
	case isMail(media):
		h, body := splitMail(body)
		if depth == 0 { // not of a message within
			m.Thread = h.thread()
		}
		m.subject(h.Subject)
		m.senders(h)
		m.entity(h, body, depth+1)
	case media == "" || media == "text/plain":
		m.plainPart(body, h.ContentType)
	case media == "text/html" || media == "application/xhtml+xml":
		m.htmlPart(body, h.ContentType)
	}
}

// multipart reads a body of parts. Of alternatives the last one that can be read is the best, and holds what the others
// hold. A body that has no parts is text.
func (m *message) multipart(media, contentType string, body []byte, depth int) {
	var parts [][]byte
	if boundary := boundaryOf(contentType, body); boundary != "" {
		parts = splitParts(body, boundary, m.parts)
	}
	if len(parts) == 0 {
		m.plainPart(body, "")
		return
	}
	if media == "multipart/alternative" {
		before := len(m.text.Blocks)
		for i := len(parts) - 1; i >= 0 && len(m.text.Blocks) == before; i-- {
			m.part(parts[i], media, depth)
		}
		return
	}
	for _, p := range parts {
		m.part(p, media, depth)
	}
}

func (m *message) part(part []byte, within string, depth int) {
	h, body := splitMail(part)
	if h.ContentType == "" && within == "multipart/digest" {
		h.ContentType = "message/rfc822"
	}
	m.entity(h, body, depth+1)
}

// subject makes the first subject the title; those of messages within are headings.
func (m *message) subject(subject string) {
	text := []byte(strings.Join(strings.Fields(strings.ReplaceAll(subject, "\x00", "")), " "))
	if m.Title == "" {
		m.Title = string(text)
		m.block(text, webrace.FieldTitle)
	} else {
		m.block(text, webrace.FieldHeading)
	}
}

// senders makes blocks of who a message is from, and of where it was posted: what people look for, and what it is not
// about.
func (m *message) senders(h mailHeader) {
	for _, field := range []string{h.From, h.ReplyTo, h.List, strings.ReplaceAll(h.Newsgroups, ",", ", ")} {
		m.block([]byte(strings.Join(strings.Fields(strings.ReplaceAll(field, "\x00", "")), " ")), webrace.FieldNavigation)
	}
}

func (m *message) plainPart(body []byte, contentType string) {
	text, _ := m.inUTF8(body, contentType)
	m.paragraphs(text)
}

// htmlPart reads a part of HTML. Its own title is mostly the subject again, or the name of a program.
func (m *message) htmlPart(body []byte, contentType string) {
	text, charset := m.inUTF8(body, contentType)
	s := m.scan(text, htmltext.Options{})
	m.obey(s)
	if m.Language == "" {
		m.Language = language(s.Language)
	}
	titled := m.Title != ""
	if !titled {
		m.Title = string(s.Title)
	}
	for _, b := range s.Text.Blocks {
		if b.Field == webrace.FieldTitle && titled {
			b.Field = webrace.FieldHeading
		}
		m.block(s.Text.Slice(b), b.Field)
	}
	base := m.base
	m.base = base.InEncoding(charset)
	m.follow(s)
	m.base = base
}

// inUTF8 decodes a part. The encoding of a message is that of its first text.
func (m *message) inUTF8(body []byte, contentType string) (text []byte, charset string) {
	text, charset, err := charsets.ToUTF8(body, contentType)
	if err != nil {
		text = bytes.ToValidUTF8(body, []byte("\ufffd"))
	}
	if m.Charset == "" {
		m.Charset = charset
	}
	return text, charset
}
