package archive

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage/objects/warc"
)

// document makes of a record what is to be stored; nil when nothing is, because it is not to be or, with
// a reason, because it cannot be. The error is of reading a file.
func (im *importer) document(rec *warc.Record, c capture) (d *webrace.Document, reason string, err error) {
	url, err := urlnorm.ParseAddress(rec.URL())
	if err != nil {
		return nil, err.Error(), nil
	}
	if c.kind == revisit && rec.NotModified() {
		im.documents++
		reason, err := im.writer.touch(url, c.time())
		return nil, reason, err
	}
	r, err := im.response(rec, c)
	var damaged *warc.DamagedError
	if errors.As(err, &damaged) {
		return nil, damaged.Reason, nil
	}
	if err != nil {
		return nil, "", err
	}
	if !r.HasDocument() {
		im.left[fmt.Sprintf("answers of status %d", r.Status)]++
		return nil, "", nil
	}
	return im.extracted(url, r, c.time())
}

// extracted completes a response as the crawl's normalize stage does.
func (im *importer) extracted(url string, r *warc.Response, at time.Time) (*webrace.Document, string, error) {
	x, err := extract.Document(r.Body, extract.ContentType(r.Header, r.MediaType), url, im.options.Extract)
	if err != nil {
		return nil, err.Error(), nil
	}
	if !im.options.IgnoreRobots {
		asked := x.Robots(r.Header, extract.Robot{Name: im.options.Extract.RobotsName})
		if asked.NoIndex {
			im.left["pages that ask not to be indexed"]++
			return nil, "", nil
		}
		if asked.NoFollow {
			x.Links = nil
		}
	}
	return &webrace.Document{
		URL: url, Outcome: webrace.Fetched, Status: r.Status, Header: r.Header, Origin: r.Origin, At: at,
		MediaType: x.MediaType, Body: r.Body, Truncated: r.Truncated,
		Charset: x.Charset, Language: x.Language, Title: x.Title, Thread: x.Thread, Text: x.Text, Links: x.Links,
	}, "", nil
}

// response reads the server's answer from a record.
func (im *importer) response(rec *warc.Record, c capture) (*warc.Response, error) {
	switch c.kind {
	case resource:
		return rec.Resource(im.options.MaxBody)
	case whole:
		return rec.Response(im.options.MaxBody)
	}
	own, err := rec.Head()
	if err != nil {
		return nil, err
	}
	first, err := im.original(rec, c)
	if err != nil {
		return nil, err
	}
	first.Revisit(rec, own)
	return first, nil
}

// original reads the response that a revisit refers to: from the files, or else from the store.
func (im *importer) original(rec *warc.Record, c capture) (*warc.Response, error) {
	if index, ok := im.originals.of(c); ok {
		first, err := im.side.record(im.captures[index])
		if err != nil {
			return nil, err
		}
		if digest := rec.Field("WARC-Payload-Digest"); digest == "" || strings.EqualFold(digest, first.Field("WARC-Payload-Digest")) || first.ID() == rec.RefersTo() {
			return im.response(first, im.captures[index])
		}
	}
	url, at := strings.Trim(rec.Field("WARC-Refers-To-Target-URI"), "<>"), rec.Field("WARC-Refers-To-Date")
	if normalized, err := urlnorm.ParseAddress(url); err == nil {
		url = normalized
	}
	if r, err := im.writer.stored(url, at); r != nil || err != nil {
		return r, err
	}
	return nil, &warc.DamagedError{Reason: "what this revisit refers to is in none of the files, and not in the object cache"}
}
