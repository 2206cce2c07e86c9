package warcsource

import (
	"cmp"
	"crypto/sha256"
	"strconv"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/mediatype"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage/objects/warc"
)

// document returns what a record holds, if it holds a document that is asked for.
func (r *reading) document(rec *warc.Record) (*webrace.Document, error) {
	if !holdsDocument(rec) {
		return nil, nil
	}
	url, err := urlnorm.ParseAddress(rec.URL())
	if err != nil {
		return nil, &warc.DamagedError{Reason: err.Error()}
	}
	at, err := rec.Date()
	if err != nil {
		return nil, &warc.DamagedError{Reason: "its WARC-Date: " + err.Error()}
	}
	if at.Before(r.since) || !r.until.IsZero() && !at.Before(r.until) || r.rules.Decide(url) == scope.Denied {
		r.env.Counter("filtered").Add(1)
		return nil, nil
	}
	response, err := r.response(rec)
	if response == nil || err != nil {
		return nil, err
	}
	if !response.HasDocument() {
		r.env.Counter("status_" + strconv.Itoa(response.Status)).Add(1)
		return nil, nil
	}
	if response.Truncated {
		r.env.Counter("truncated").Add(1)
	}
	return &webrace.Document{
		URL: url, Outcome: webrace.Fetched, Status: response.Status, Header: response.Header, Origin: response.Origin, At: at,
		MediaType: cmp.Or(mediatype.Of(response.Header.Get("Content-Type")), mediatype.Of(response.MediaType)), Body: response.Body, Truncated: response.Truncated,
		Digest: sha256.Sum256(response.Body),
	}, nil
}

// holdsDocument reports whether a record is of a kind that holds documents, and has the address of one.
func holdsDocument(rec *warc.Record) bool {
	switch rec.Type {
	case warc.TypeResponse, warc.TypeResource, warc.TypeRevisit:
	default:
		return false
	}
	return urlnorm.HasAddress(rec.URL())
}

// response reads what the server answered; nil if that was nothing new, or is not in the archive.
func (r *reading) response(rec *warc.Record) (*warc.Response, error) {
	limit := int(r.options.MaxBody)
	switch rec.Type {
	case warc.TypeResource:
		return rec.Resource(limit)
	case warc.TypeResponse:
		return rec.Response(limit)
	}
	if rec.NotModified() {
		r.env.Counter("not_modified").Add(1)
		return nil, nil
	}
	own, err := rec.Head()
	if err != nil {
		return nil, err
	}
	original, err := r.originals.of(rec, limit)
	if err != nil {
		return nil, err
	}
	if original == nil {
		r.env.Counter("unresolved").Add(1)
		r.env.Logger.Warn("what a revisit refers to is in none of the files", "file", r.name, "offset", rec.Offset, "url", rec.URL())
		return nil, nil
	}
	r.env.Counter("revisits").Add(1)
	original.Revisit(rec, own)
	return original, nil
}
