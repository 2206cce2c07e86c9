package sitemapparse

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/charsets"
	"github.com/webrace/webrace/internal/contentcoding"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/internal/sitemap"
)

// document is a sitemap that is about to be read.
type document struct {
	text []byte // in UTF-8
	list bool   // it is plain text
	cut  bool   // some of it is missing

	damaged error // why the rest of it cannot be read
}

func (d *document) each(f func(sitemap.Entry) bool) {
	if d.list {
		sitemap.List(d.text, f)
	} else {
		sitemap.XML(d.text, f)
	}
}

// open returns the document if it is a sitemap. Nearly all are not, and of these only the media type, and
// perhaps the first bytes, are looked at.
func (s *stage) open(d *webrace.Document) *document {
	if len(d.Body) == 0 || !canBe(d.MediaType, d.Body) {
		return nil
	}
	body, limit := d.Body, int(s.options.MaxSize)
	found := &document{cut: d.Truncated}
	contentType := extract.ContentType(d.Header, d.MediaType)
	if isGzip(body) {
		contentType = "" // that of what it is wrapped in
		if head, _ := inflate(body, sniffed); !s.is(d, head) {
			return nil
		}
		body, found.damaged = inflate(body, limit)
	} else if !s.is(d, body) {
		return nil
	}
	if len(body) > limit {
		body, found.cut = body[:limit], true
	}
	if found.cut { // so its end is missing in any case
		found.damaged = nil
	}
	text, _, err := charsets.ToUTF8(body, contentType)
	if err != nil {
		found.damaged = err
		return found
	}
	found.text, found.list = text, !isXML(body)
	if found.list && (found.cut || found.damaged != nil) {
		found.text = wholeLines(text)
	}
	return found
}

// wholeLines leaves out a last line that does not end: where a text was cut, the address there goes on.
func wholeLines(text []byte) []byte { return text[:bytes.LastIndexByte(text, '\n')+1] }

// sniffed is how much is decompressed to see what it is.
const sniffed = 4 << 10

// canBe reports whether sitemaps are sent as this type, as they should or as they should not.
func canBe(mediaType string, body []byte) bool {
	switch mediaType {
	case "text/xml", "application/xml", "text/plain", "", "application/octet-stream", "binary/octet-stream",
		"application/gzip", "application/x-gzip", "application/x-gunzip", "text/gzip":
		return true
	case "text/html": // by servers that know no other
		return bytes.HasPrefix(body, []byte("<?xml")) || bytes.HasPrefix(body, []byte("<urlset")) || bytes.HasPrefix(body, []byte("<sitemapindex"))
	}
	return strings.HasSuffix(mediaType, "+xml")
}

// is reports whether a document begins as a sitemap.
func (s *stage) is(d *webrace.Document, body []byte) bool {
	return isXML(body) || s.isList(d, body)
}

// isXML also knows sitemaps in UTF-16.
func isXML(body []byte) bool {
	if bytes.HasPrefix(body, []byte("\xff\xfe")) || bytes.HasPrefix(body, []byte("\xfe\xff")) {
		body, _, _ = charsets.ToUTF8(body[:min(len(body), 2*sniffed)&^1], "")
	}
	return sitemap.IsXML(body)
}

// isList reports whether a plain text is a sitemap: named .txt, as it has to be, and with nothing but
// addresses, the first of which is of the same host. Other lists of addresses are texts for readers.
func (s *stage) isList(d *webrace.Document, body []byte) bool {
	address, _, _ := strings.Cut(d.URL, "?")
	if !strings.HasSuffix(strings.TrimSuffix(address, ".gz"), ".txt") {
		return false
	}
	if d.Truncated || len(body) >= sniffed && isGzip(d.Body) {
		body = wholeLines(body)
	}
	if !sitemap.IsList(body) {
		return false
	}
	own := false
	sitemap.List(body, func(e sitemap.Entry) bool {
		here, _ := scope.Host(d.URL)
		there, _ := scope.Host(string(e.URL))
		own = strings.EqualFold(here, there)
		return false
	})
	return own || s.options.CrossHost
}

func isGzip(body []byte) bool { return bytes.HasPrefix(body, []byte{0x1f, 0x8b, 8}) }

// inflate returns what a body was before it was compressed, a byte more than the limit at most, and why that is not
// all.
func inflate(body []byte, limit int) ([]byte, error) {
	layers := contentcoding.Open(&contentcoding.Limited{From: bytes.NewReader(body), Left: len(body) + 1}, []string{"gzip"})
	defer layers.Release()
	text, err := io.ReadAll(io.LimitReader(layers, int64(limit)+1))
	if err != nil {
		err = fmt.Errorf("what is compressed is damaged behind byte %d of it: %w", len(text), err)
	}
	return text, err
}
