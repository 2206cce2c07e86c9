// Package httprequest holds what a request for a document has besides its URL: a method, fields of the header, and a
// body. Values may name secrets, as ${secret:NAME}.
//
// It guarantees: two requests have one [Request.Mark] if they ask the same, whatever the order of their fields and the
// case of their names; and no secret is in a mark, because it stands for the reference and not for what that means.
package httprequest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// The limits of a request.
const (
	MaxFields = 32
	MaxValue  = 8 << 10  // characters of a field's value
	MaxBody   = 64 << 10 // characters of a body
)

// Methods are those that a document may be asked for by. Others change what they name.
var Methods = []string{http.MethodGet, http.MethodPost}

// Request is more than a GET of a URL.
type Request struct {
	Method string  // one of Methods; empty is GET
	Type   string  // the media type of the body, sent as Content-Type; empty sends none
	Header []Field // besides those that the crawler sets
	Body   string
}

// Field is a field of the header.
type Field struct{ Name, Value string }

// Source is where it is known how the starts of crawls are asked, which is storage/control.
type Source interface {
	// RequestOf returns how the start of a crawl is asked, nil by a plain GET.
	RequestOf(ctx context.Context, crawl string) (*Request, error)
}

// Open opens the source when it is first wanted. Programs provide it to the stages of a run.
type Open func() (Source, error)

// Mark names the request among all that could be made of a URL: its method, and a digest of all that it has. It is
// empty for nil, which is a plain GET.
func (r *Request) Mark() string {
	if r == nil {
		return ""
	}
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	fields := make([]Field, len(r.Header))
	for i, f := range r.Header {
		fields[i] = Field{http.CanonicalHeaderKey(f.Name), f.Value}
	}
	slices.SortFunc(fields, func(a, b Field) int { return strings.Compare(a.Name+"\x00"+a.Value, b.Name+"\x00"+b.Value) })
	h := sha256.New()
	add(h, "webrace request", method, r.Type, r.Body)
	for _, f := range fields {
		add(h, f.Name, f.Value)
	}
	return method + "-" + hex.EncodeToString(h.Sum(nil)[:10])
}

// add hashes texts, each with its length before it, so that no two lists run together.
func add(h hash.Hash, texts ...string) {
	for _, text := range texts {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
}

// hopByHop are fields for the next machine on the way (RFC 9110, section 7.6.1), which no host is to see.
var hopByHop = []string{
	"Connection", "Expect", "Http2-Settings", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade",
}

// ours are fields that the crawler sets itself, and what to do in place of setting them.
var ours = map[string]string{
	"Accept-Encoding":     "the crawler says what it can decode",
	"Content-Encoding":    "a body is sent as it stands",
	"Content-Length":      "it follows from the body",
	"Content-Type":        "it is that of the body: type=\"…\" of a request says it",
	"From":                "fetch.from says it",
	"Host":                "it is that of the URL",
	"If-Match":            "the crawler asks conditionally for what it has stored",
	"If-Modified-Since":   "the crawler asks conditionally for what it has stored",
	"If-None-Match":       "the crawler asks conditionally for what it has stored",
	"If-Range":            "documents are asked for whole",
	"If-Unmodified-Since": "the crawler asks conditionally for what it has stored",
	"Range":               "documents are asked for whole",
	"User-Agent":          "fetch.user_agent says who asks",
}

// CheckField returns why a field cannot be sent. The error does not hold the value.
func CheckField(name, value string) error {
	canonical := http.CanonicalHeaderKey(name)
	switch because := ours[canonical]; {
	case !httpguts.ValidHeaderFieldName(name):
		return fmt.Errorf("%.100q is no name of a header field", name)
	case slices.Contains(hopByHop, canonical):
		return fmt.Errorf("the header field %s is for the next machine on the way (hop by hop), and is not sent to a host: leave it out", name)
	case because != "":
		return fmt.Errorf("the header field %s is set by webrace itself, and cannot be given: %s", name, because)
	case !httpguts.ValidHeaderFieldValue(value):
		return fmt.Errorf("the value of %s holds characters that a header field cannot", name)
	case len(value) > MaxValue:
		return fmt.Errorf("the value of %s is longer than %d bytes", name, MaxValue)
	case value != strings.Trim(value, " \t"):
		return fmt.Errorf("the value of %s begins or ends with white space, which no server sees: leave it out", name)
	}
	return nil
}
