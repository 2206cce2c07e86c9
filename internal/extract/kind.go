package extract

import (
	"bytes"

	"github.com/webrace/webrace"
)

// Kind is what a document is, whatever it declares.
type Kind uint8

// The kinds of documents. Visits remember them by their numbers.
const (
	Data    Kind = iota // all else: JSON, a table, a file
	Nothing             // no bytes
	Page                // of HTML
	Feed                // a list of entries that are published one by one
)

// KindOf returns the kind of a document. A page is one under whatever type it is sent.
func KindOf(mediaType string, body []byte, text *webrace.Text) Kind {
	switch {
	case len(body) == 0:
		return Nothing
	case text != nil && text.Feed:
		return Feed
	case IsPage(mediaType) || beginsPage(body):
		return Page
	}
	return Data
}

// IsPage reports whether documents of a media type are pages of HTML.
func IsPage(mediaType string) bool {
	return mediaType == "text/html" || mediaType == "application/xhtml+xml"
}

// beginsPage reports whether a body begins as pages do, and nothing else does.
func beginsPage(body []byte) bool {
	const longest = len("<!doctype html")
	body = bytes.TrimLeft(bytes.TrimPrefix(body[:min(len(body), 1<<10)], []byte("\ufeff")), space)
	start := bytes.ToLower(body[:min(len(body), longest)])
	return bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html"))
}

// StandsInFor reports whether a document of this kind tells nothing about one that was of another kind so far, but
// stands in its place: a page where there was a feed, or data; anything where there was a feed; or nothing.
func (k Kind) StandsInFor(last Kind) bool {
	return k != last && last != Nothing && (k == Nothing || k == Page || last == Feed)
}
