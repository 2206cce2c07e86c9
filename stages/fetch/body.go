package fetch

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// wireSlack is by how much an encoded body may exceed the limit of the decoded one before it is cut.
const wireSlack = 64 << 10

// maxLayers is how many encodings may lie around a body.
const maxLayers = 3

// read takes the body off the connection and out of its encodings. The error is of the connection; a
// body that makes no sense is not one.
func (a *answer) read(response *http.Response, limit int) error {
	encodings, err := contentEncodings(response.Header["Content-Encoding"])
	if err != nil {
		a.broken = err
		drain(response)
		return nil
	}
	wire := &limitedReader{from: response.Body, left: limit + 1}
	if len(encodings) > 0 {
		wire.left += wireSlack
	}
	layers, err := newLayers(wire, encodings)
	defer layers.release()
	if err == nil {
		a.body = newBuffer(sizeHint(response.ContentLength, len(encodings)))
		a.truncated, err = a.body.fill(layers, limit)
	}
	switch {
	case err == nil:
	case wire.err != nil:
		a.release()
		return fmt.Errorf("body broken off: %w", wire.err)
	case wire.cut() || errors.Is(err, errLayerTooLong):
		a.truncated = true
	default:
		a.release()
		a.broken = fmt.Errorf("decode the body (%s): %w", strings.Join(encodings, ", "), err)
	}
	return nil
}

// sizeHint says how large a buffer to begin with: a length is only believed up to a point, because
// sending a large one costs nothing.
func sizeHint(contentLength int64, layers int) int {
	const believed = 512 << 10
	size := max(0, min(contentLength, believed))
	if layers > 0 {
		size *= 4 // as text mostly grows
	}
	return int(min(size, believed))
}

// drain reads the rest of a small body, so that the connection can be used again.
func drain(response *http.Response) {
	if response.ContentLength <= drainable {
		_, _ = io.CopyN(io.Discard, response.Body, drainable)
	}
}

// contentEncodings returns the encodings around a body, the outermost last. Lists may be spread over
// several fields (RFC 9110, section 8.4).
func contentEncodings(fields []string) ([]string, error) {
	var encodings []string
	for _, field := range fields {
		for name := range strings.SplitSeq(field, ",") {
			name = strings.ToLower(strings.Trim(name, " \t"))
			name = strings.TrimPrefix(name, "x-")
			switch {
			case name == "" || name == "identity":
				continue
			case decoders[name] == nil:
				return nil, fmt.Errorf("content encoding %.40q is not one that was asked for", name)
			case len(encodings) == maxLayers:
				return nil, fmt.Errorf("more than %d content encodings", maxLayers)
			}
			encodings = append(encodings, name)
		}
	}
	return encodings, nil
}

// limitedReader reads up to a limit, where it fails, and remembers how reading ended.
type limitedReader struct {
	from io.Reader
	left int
	err  error // what went wrong below; nil at the end and at the limit
}

// errLayerTooLong ends what is longer than its limit.
var errLayerTooLong = errors.New("longer than allowed")

func (r *limitedReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, errLayerTooLong
	}
	n, err := r.from.Read(p[:min(len(p), r.left)])
	r.left -= n
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

func (r *limitedReader) cut() bool { return r.left <= 0 }

// mediaType returns the type that a Content-Type header names, in lower case and without parameters;
// nothing if it names none.
func mediaType(contentType string) string {
	name, _, _ := strings.Cut(contentType, ";")
	name = strings.ToLower(strings.Trim(name, " \t"))
	top, sub, _ := strings.Cut(name, "/")
	if !isToken(top) || !isToken(sub) {
		return ""
	}
	return name
}

// isToken says whether s is a token (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}
