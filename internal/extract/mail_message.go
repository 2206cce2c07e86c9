package extract

import (
	"cmp"
	"mime"
	"strings"
)

// Message is what the header of a message tells of it as a whole.
type Message struct {
	ID        string // without angle brackets; empty if it has none
	Thread    string // the ID of the message that began what it belongs to; its own if it answers none
	NoArchive bool   // its writer asks that it is not kept (X-No-Archive, or Archive of RFC 5536, section 3.2.2)
}

// MessageOf reads the header of a message (RFC 5322, section 3.6.4).
func MessageOf(message []byte) Message {
	fields, _ := splitFields(message)
	text := func(field int) string { return string(fields[field]) }
	h := mailHeader{ID: text(fieldID), References: text(fieldReferences), InReplyTo: text(fieldInReplyTo)}
	return Message{ID: firstID(h.ID), Thread: h.thread(), NoArchive: fieldIs(text(fieldNoArchive), "yes") || fieldIs(text(fieldArchive), "no")}
}

// thread is the ID of the message that began what one belongs to, as far as it is known: a program that writes no
// References may write what it answers.
func (h mailHeader) thread() string {
	return cmp.Or(firstID(h.References), firstID(h.InReplyTo), firstID(h.ID))
}

// fieldIs reports whether the value of a field is a word, behind which comments and parameters may stand.
func fieldIs(field, word string) bool {
	field, _, _ = strings.Cut(field, ";")
	field, _, _ = strings.Cut(field, "(")
	return strings.EqualFold(strings.TrimSpace(field), word)
}

// firstID returns the first ID of a field, without its angle brackets. Where there are none, as broken programs write
// it, its first word is the ID.
func firstID(field string) string {
	if _, inner, ok := strings.Cut(field, "<"); ok {
		if id, _, ok := strings.Cut(inner, ">"); ok {
			return strings.Join(strings.Fields(id), "")
		}
	}
	if words := strings.Fields(field); len(words) > 0 {
		return strings.Trim(words[0], "<>")
	}
	return ""
}

// fileName is the name of the file that a part is; empty if it is none.
func (h mailHeader) fileName() string {
	name := ""
	for _, of := range []struct{ field, parameter string }{{h.Disposition, "filename"}, {h.ContentType, "name"}} {
		if _, parameters, err := mime.ParseMediaType(of.field); err == nil && name == "" {
			name = parameters[of.parameter]
		}
	}
	name = mailText([]byte(name)) // first: words in base64 may have a slash
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	return strings.Join(strings.Fields(strings.ReplaceAll(name, "\x00", "")), " ")
}
