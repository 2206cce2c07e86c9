package fetch

import (
	"net/http"
	"strings"
	"time"

	"github.com/webrace/webrace"
)

// conditions returns the fields that let the server confirm what is stored instead of sending it.
func (x *exchange) conditions() http.Header {
	v := x.req.Visit
	if v == nil || !x.isGet() || v.Version == 0 || v.ETag == "" && v.LastModified == "" {
		return nil
	}
	fields := make(http.Header, 2)
	if v.ETag != "" {
		fields["If-None-Match"] = []string{v.ETag}
	}
	if v.LastModified != "" {
		fields["If-Modified-Since"] = []string{v.LastModified}
	}
	return fields
}

// receive notes the validators that came with a document. A Last-Modified that is not before the answer is
// left out (RFC 9110, section 8.8.2): until that time comes, the server would confirm what has changed since.
func receive(v *webrace.Visit, header http.Header, at time.Time) {
	v.ETag, v.LastModified = header.Get("ETag"), header.Get("Last-Modified")
	if date, err := http.ParseTime(header.Get("Date")); err == nil && date.Before(at) {
		at = date
	}
	if modified, err := http.ParseTime(v.LastModified); err == nil && !modified.Before(at.Truncate(time.Second)) {
		v.LastModified = ""
	}
}

// confirm notes the validators that came with a 304. Another ETag than the one that was sent names a
// document that never came: were it sent next, the server could confirm what is not stored.
func confirm(v *webrace.Visit, header http.Header) {
	if tag := header.Get("ETag"); tag != "" && (v.ETag == "" || opaque(tag) == opaque(v.ETag)) {
		v.ETag = tag
	}
}

// opaque is what two ETags are compared by, one of which may be weak.
func opaque(etag string) string { return strings.TrimPrefix(etag, "W/") }
