// Package contentcoding takes the content codings off the body of an HTTP response (RFC 9110, section
// 8.4): gzip, deflate, br and zstd, one within another if need be, within limits that no body gets round.
package contentcoding

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Accepted lists the codings that are known, as a request asks for them.
const Accepted = "gzip, deflate, br, zstd"

// MaxLayers is how many codings may lie around a body.
const MaxLayers = 3

// Names returns the codings around a body, the outermost last. Lists may be spread over several fields. An error is of
// those that are not known, which are passed over as Firefox does, since most are no codings (utf-8, none); or of too
// many, of which none is returned.
func Names(fields []string) ([]string, error) {
	var codings []string
	var unknown error
	for _, field := range fields {
		for name := range strings.SplitSeq(field, ",") {
			name = strings.ToLower(strings.Trim(name, " \t"))
			name = strings.TrimPrefix(name, "x-")
			switch {
			case name == "" || name == "identity":
			case decoders[name] == nil:
				unknown = fmt.Errorf("content encoding %.40q is not one that was asked for", name)
			case len(codings) == MaxLayers:
				return nil, fmt.Errorf("more than %d content encodings", MaxLayers)
			default:
				codings = append(codings, name)
			}
		}
	}
	return codings, unknown
}

// Limited reads up to a limit, where it fails with [ErrTooLong], and remembers how reading ended.
type Limited struct {
	From io.Reader
	Left int
	Err  error // what went wrong below; nil at the end and at the limit
}

// ErrTooLong ends what is longer than its limit.
var ErrTooLong = errors.New("longer than allowed")

func (r *Limited) Read(p []byte) (int, error) {
	if r.Left <= 0 {
		return 0, ErrTooLong
	}
	n, err := r.From.Read(p[:min(len(p), r.Left)])
	r.Left -= n
	if err != nil && !errors.Is(err, io.EOF) {
		r.Err = err
	}
	return n, err
}

// Cut reports whether the limit was reached.
func (r *Limited) Cut() bool { return r.Left <= 0 }

// HasDocument reports whether a response of this status carries a document in full.
func HasDocument(status int) bool {
	switch status {
	case http.StatusNoContent, http.StatusResetContent, http.StatusPartialContent:
		return false
	}
	return status >= 200 && status < 300
}
