package nntp

import (
	"bytes"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/urlnorm"
)

// article is one that a server sent.
type article struct {
	number    int64
	id        string // as the server has it, in angle brackets
	body      []byte
	truncated bool
}

// document returns the document of an article, and whether its writer lets it be kept. Its time is that of the visit,
// by which versions and annotations are kept and expire; the Date of an article may be any.
func document(a article) (d *webrace.Document, archive bool) {
	header := extract.MessageOf(a.body)
	body := withoutTrace(a.body)
	address, err := urlnorm.OfArticle("<" + header.ID + ">")
	if err != nil {
		address, err = urlnorm.OfArticle(a.id)
	}
	if err != nil {
		address = urlnorm.OfBytes(body)
	}
	return &webrace.Document{URL: address, MediaType: "message/rfc822", Body: body, Truncated: a.truncated}, !header.NoArchive
}

// withoutTrace returns an article without the fields that each server writes for itself, Path and Xref (RFC 5536,
// sections 3.1.5 and 3.2.14): with them, the copy of another server, or of a group that was numbered anew, would be
// another version. The article is changed in its place.
func withoutTrace(body []byte) []byte {
	kept := body[:0]
	drop := false
	for rest := body; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			end = len(rest)
		}
		line := rest[:end]
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			return append(kept, rest...)
		}
		if line[0] != ' ' && line[0] != '\t' { // what is folded goes with its field
			name, _, _ := bytes.Cut(line, []byte(":"))
			drop = strings.EqualFold(string(name), "Path") || strings.EqualFold(string(name), "Xref")
		}
		if !drop {
			kept = append(kept, line...)
		}
		rest = rest[end:]
	}
	return kept
}
