package archive

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"strconv"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/contentcoding"
	"github.com/webrace/webrace/internal/warc"
)

// response is what a server answered, decoded.
type response struct {
	status    int
	header    http.Header // as received
	mediaType string      // where the header has none
	body      []byte
	truncated bool
	origin    netip.Addr
}

// damagedError says why a record that is whole holds no document.
type damagedError struct{ reason string }

func (e *damagedError) Error() string { return e.reason }

func damagedf(format string, args ...any) error { return &damagedError{fmt.Sprintf(format, args...)} }

func digestOf(body []byte) webrace.Digest { return sha256.Sum256(body) }

// leftOut says what an answer is that no crawl keeps; "" for one with a document.
func leftOut(status int) string {
	if contentcoding.HasDocument(status) {
		return ""
	}
	return fmt.Sprintf("answers of status %d", status)
}

func origin(rec *warc.Record) netip.Addr {
	addr, _ := netip.ParseAddr(rec.Field("WARC-IP-Address")) // one that is none says nothing
	return addr.WithZone("")
}

// readResource reads a record that holds a body alone.
func readResource(rec *warc.Record, limit int) (*response, error) {
	r := &response{status: http.StatusOK, header: http.Header{}, origin: origin(rec)}
	if t := rec.Field("Content-Type"); t != "" {
		r.header.Set("Content-Type", t)
	}
	body, err := io.ReadAll(io.LimitReader(rec.Block, int64(limit)+1))
	r.body, r.truncated = cut(body, limit)
	r.truncated = r.truncated || rec.Field("WARC-Truncated") != ""
	return r, err
}

func cut(body []byte, limit int) ([]byte, bool) {
	if len(body) > limit {
		return body[:limit], true
	}
	return body, false
}

// readResponse reads a record that holds an HTTP response, and decodes its body.
func readResponse(rec *warc.Record, limit int) (*response, error) {
	in := bufio.NewReaderSize(rec.Block, 32<<10)
	r, err := readHTTPHead(in)
	if err != nil {
		return nil, err
	}
	r.origin, r.truncated = origin(rec), rec.Field("WARC-Truncated") != ""
	r.mediaType = rec.Field("WARC-Identified-Payload-Type")
	if !contentcoding.HasDocument(r.status) {
		return r, nil
	}
	return r, r.readBody(in, limit)
}

// readHead reads what a revisit record keeps of the response; nil where that is nothing.
func readHead(rec *warc.Record) (*response, error) {
	if rec.Length == 0 {
		return nil, nil
	}
	return readHTTPHead(bufio.NewReaderSize(rec.Block, 32<<10))
}

// maxHTTPHead is the most bytes of a response's header.
const maxHTTPHead = 256 << 10

// readHTTPHead reads the status line and the header. Lines that are no fields are passed over: servers
// send such, and crawlers record what servers send.
func readHTTPHead(in *bufio.Reader) (*response, error) {
	head := &headReader{in: in, left: maxHTTPHead}
	line, err := head.line()
	if err != nil {
		return nil, err
	}
	protocol, rest, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	r := &response{header: http.Header{}}
	if r.status, err = strconv.Atoi(code); err != nil || !strings.HasPrefix(protocol, "HTTP/") || r.status < 100 || r.status > 999 {
		return nil, damagedf("%.40q is no HTTP status line", line)
	}
	last := ""
	for {
		line, err := head.line()
		if err != nil {
			return nil, err
		}
		if line == "" {
			return r, nil
		}
		name, value, ok := strings.Cut(line, ":")
		switch {
		case line[0] == ' ' || line[0] == '\t': // continues the line before
			if values := r.header[last]; len(values) > 0 {
				values[len(values)-1] += " " + strings.TrimSpace(line)
			}
		case ok && strings.TrimSpace(name) != "":
			last = http.CanonicalHeaderKey(strings.TrimSpace(name))
			r.header[last] = append(r.header[last], strings.TrimSpace(value))
		}
	}
}

type headReader struct {
	in   *bufio.Reader
	left int
}

func (h *headReader) line() (string, error) {
	var line []byte
	for {
		part, err := h.in.ReadSlice('\n')
		if h.left -= len(part); h.left < 0 {
			return "", damagedf("its HTTP header has more than %d bytes", maxHTTPHead)
		}
		line = append(line, part...)
		switch {
		case err == nil || err == io.EOF && len(line) > 0:
			return strings.TrimRight(string(line), "\r\n"), nil
		case err == io.EOF:
			return "", damagedf("its HTTP header does not end")
		case err != bufio.ErrBufferFull:
			return "", err
		}
	}
}

// readBody reads the body, and takes its codings off. Many archives hold bodies that were decoded already,
// under headers that say otherwise: what does not look encoded is not.
func (r *response) readBody(in *bufio.Reader, limit int) error {
	const slack = 64 << 10 // by how much an encoded body may exceed the limit of the decoded one
	wire, err := readWire(in, r.header, limit+slack)
	if err != nil && !r.truncated {
		return err
	}
	codings, err := contentcoding.Names(r.header["Content-Encoding"])
	if err != nil {
		return damagedf("%v", err)
	}
	if len(codings) == 0 || isDecoded(wire, codings[len(codings)-1]) {
		var long bool
		r.body, long = cut(wire, limit)
		r.truncated = r.truncated || long
		return nil
	}
	from := &contentcoding.Limited{From: bytes.NewReader(wire), Left: len(wire) + 1}
	layers, err := contentcoding.Open(from, codings)
	defer layers.Release()
	var body []byte
	if err == nil {
		body, err = io.ReadAll(io.LimitReader(layers, int64(limit)+1))
	}
	var long bool
	if r.body, long = cut(body, limit); long {
		r.truncated = true
		return nil
	}
	if err != nil && len(wire) > limit {
		r.truncated = true
	}
	if err != nil && !r.truncated {
		return damagedf("decode the body (%s): %v", strings.Join(codings, ", "), err)
	}
	return nil
}

// readWire reads a body as it was sent, at most so much of it, without its transfer coding.
func readWire(in *bufio.Reader, header http.Header, limit int) ([]byte, error) {
	var from io.Reader = in
	chunked := strings.Contains(strings.ToLower(strings.Join(header["Transfer-Encoding"], ",")), "chunked") && looksChunked(in)
	if chunked {
		from = httputil.NewChunkedReader(in)
	}
	wire, err := io.ReadAll(io.LimitReader(from, int64(limit)+1))
	var broken *warc.BrokenError
	if chunked && err != nil && !errors.As(err, &broken) {
		return wire, damagedf("its chunks are damaged: %v", err)
	}
	return wire, err
}

// looksChunked reports whether a body begins as the chunked transfer coding does: a length in base 16, and
// perhaps an extension, on a line.
func looksChunked(in *bufio.Reader) bool {
	const longest = 128
	head, _ := in.Peek(longest)
	line, _, ok := bytes.Cut(head, []byte("\n"))
	digits, _, _ := bytes.Cut(bytes.TrimRight(line, "\r"), []byte(";"))
	_, err := strconv.ParseUint(string(bytes.TrimSpace(digits)), 16, 63)
	return ok && err == nil
}

// isDecoded reports whether a body lacks what begins every body of that coding, where it has such a mark.
func isDecoded(wire []byte, coding string) bool {
	switch coding {
	case "gzip":
		return len(wire) > 0 && !bytes.HasPrefix(wire, []byte{0x1f, 0x8b})
	case "zstd":
		return len(wire) > 0 && !bytes.HasPrefix(wire, []byte{0x28, 0xb5, 0x2f, 0xfd})
	}
	return false
}
