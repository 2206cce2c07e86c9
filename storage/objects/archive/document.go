package archive

import (
	"errors"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/internal/warc"
)

// document makes of a record what is to be stored; nil when nothing is, because it is not to be or, with
// a reason, because it cannot be. The error is of reading a file.
func (im *importer) document(rec *warc.Record, c capture) (d *webrace.Document, reason string, err error) {
	url, err := urlnorm.Parse(rec.URL())
	if err != nil {
		return nil, err.Error(), nil
	}
	if c.kind == revisit && notModified(rec) {
		im.documents++
		reason, err := im.writer.touch(url, c.time())
		return nil, reason, err
	}
	r, err := im.response(rec, c)
	var damaged *damagedError
	if errors.As(err, &damaged) {
		return nil, damaged.reason, nil
	}
	if err != nil {
		return nil, "", err
	}
	if reason := leftOut(r.status); reason != "" {
		im.left[reason]++
		return nil, "", nil
	}
	return im.extracted(url, r, c.time())
}

// extracted completes a response as the crawl's normalize stage does.
func (im *importer) extracted(url string, r *response, at time.Time) (*webrace.Document, string, error) {
	x, err := extract.Document(r.body, extract.ContentType(r.header, r.mediaType), url, im.options.Extract)
	if err != nil {
		return nil, err.Error(), nil
	}
	if !im.options.IgnoreRobots {
		noIndex, noFollow := x.Robots(r.header)
		if noIndex {
			im.left["pages that ask not to be indexed"]++
			return nil, "", nil
		}
		if noFollow {
			x.Links = nil
		}
	}
	return &webrace.Document{
		URL: url, Outcome: webrace.Fetched, Status: r.status, Header: r.header, Origin: r.origin, At: at,
		MediaType: x.MediaType, Body: r.body, Truncated: r.truncated,
		Charset: x.Charset, Language: x.Language, Title: x.Title, Text: x.Text, Links: x.Links,
	}, "", nil
}

// notModified reports whether a revisit stands for a 304: it names what was confirmed, if at all, by its
// URL, and has no payload.
func notModified(rec *warc.Record) bool {
	return strings.HasSuffix(rec.Field("WARC-Profile"), "/server-not-modified")
}

// response reads what a record says the server answered.
func (im *importer) response(rec *warc.Record, c capture) (*response, error) {
	switch c.kind {
	case resource:
		return readResource(rec, im.options.MaxBody)
	case whole:
		return readResponse(rec, im.options.MaxBody)
	}
	own, err := readHead(rec)
	if err != nil {
		return nil, err
	}
	first, err := im.original(rec, c)
	if err != nil {
		return nil, err
	}
	if own != nil { // what the server said this time
		first.status, first.header = own.status, own.header
	}
	first.origin = origin(rec)
	return first, nil
}

// original reads the response that a revisit refers to: from the files, or else from the store.
func (im *importer) original(rec *warc.Record, c capture) (*response, error) {
	if index, ok := im.originals.of(c); ok {
		first, err := im.side.record(im.captures[index])
		if err != nil {
			return nil, err
		}
		if digest := rec.Field("WARC-Payload-Digest"); digest == "" || strings.EqualFold(digest, first.Field("WARC-Payload-Digest")) || first.ID() == refersTo(rec) {
			return im.response(first, im.captures[index])
		}
	}
	url, at := strings.Trim(rec.Field("WARC-Refers-To-Target-URI"), "<>"), rec.Field("WARC-Refers-To-Date")
	if normalized, err := urlnorm.Parse(url); err == nil {
		url = normalized
	}
	if r, err := im.writer.stored(url, at); r != nil || err != nil {
		return r, err
	}
	return nil, damagedf("what this revisit refers to is in none of the files, and not in the object cache")
}

func refersTo(rec *warc.Record) string { return strings.Trim(rec.Field("WARC-Refers-To"), "<>") }
