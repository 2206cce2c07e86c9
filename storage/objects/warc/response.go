package warc

import (
	"bufio"
	"bytes"
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
	"github.com/webrace/webrace/internal/urlnorm"
)

// Response is what a server answered, decoded, or what is stored beside such.
type Response struct {
	Status    int         // 0 for what no HTTP server answered
	Header    http.Header // as received, with [webrace.SetTruncation]
	MediaType string      // where the header has none
	Body      []byte      // empty if the status means that there is no document
	Truncated bool
	Origin    netip.Addr
}

// DamagedError tells why a record that is whole holds no document.
type DamagedError struct{ Reason string }

func (e *DamagedError) Error() string { return e.Reason }

func damagedf(format string, args ...any) error { return &DamagedError{fmt.Sprintf(format, args...)} }

// Origin returns the address that answered; the zero address where the record has none.
func (r *Record) Origin() netip.Addr {
	addr, _ := netip.ParseAddr(r.Field("WARC-IP-Address")) // one that is none means nothing
	return addr.WithZone("")
}

// HasDocument reports whether it carries a document in full.
func (r *Response) HasDocument() bool { return r.Status == 0 || contentcoding.HasDocument(r.Status) }

// Resource reads a record that holds a body alone, at most so much of it. What has the address of a page stands for
// what a server would answer.
func (rec *Record) Resource(limit int) (*Response, error) {
	r := &Response{Header: rec.ownHeader(), Origin: rec.Origin()}
	if rec.isOfTheWeb() {
		r.Status = http.StatusOK
	}
	body, err := io.ReadAll(io.LimitReader(rec.Block, int64(limit)+1))
	rec.truncation(r)
	var long bool
	r.Body, long = cut(body, limit)
	r.Truncated = r.Truncated || long
	return r, err
}

// ownHeader is the header of what no server answered.
func (rec *Record) ownHeader() http.Header {
	header := http.Header{}
	if t := rec.Field("Content-Type"); t != "" {
		header.Set("Content-Type", t)
	}
	if source := rec.Field(webrace.SourceField); source != "" && !rec.isOfTheWeb() {
		header.Set(webrace.SourceField, source)
	}
	return header
}

func (rec *Record) isOfTheWeb() bool {
	scheme, _, _ := urlnorm.CutScheme(strings.ToLower(rec.URL()))
	return scheme == "http" || scheme == "https"
}

// truncation notes why the body was not whole when it was recorded, if it was not.
func (rec *Record) truncation(r *Response) {
	why := rec.Field("WARC-Truncated")
	r.Truncated = why != ""
	webrace.SetTruncation(r.Header, webrace.Truncation(why))
}

func cut(body []byte, limit int) ([]byte, bool) {
	if len(body) > limit {
		return body[:limit], true
	}
	return body, false
}

// Response reads a record that holds an HTTP response, and decodes its body, at most so much of it. A
// [*DamagedError] means that what the record holds makes no sense.
func (rec *Record) Response(limit int) (*Response, error) {
	in := bufio.NewReaderSize(rec.Block, 32<<10)
	r, err := readHTTPHead(in)
	if err != nil {
		return nil, err
	}
	r.Origin = rec.Origin()
	rec.truncation(r)
	r.MediaType = rec.Field("WARC-Identified-Payload-Type")
	if !r.HasDocument() {
		return r, nil
	}
	return r, r.readBody(in, limit)
}

// Head reads what a revisit record keeps of the response; nil where that is nothing.
func (rec *Record) Head() (*Response, error) {
	if rec.Length == 0 {
		return nil, nil
	}
	return readHTTPHead(bufio.NewReaderSize(rec.Block, 32<<10))
}

// Revisit makes the response that of a revisit, which has its body: own is what the server said then, of [Record.Head].
func (r *Response) Revisit(rec *Record, own *Response) {
	if own != nil {
		webrace.SetTruncation(own.Header, webrace.TruncationOf(r.Header))
		r.Status, r.Header = own.Status, own.Header
	} else if !rec.isOfTheWeb() { // the body may be that of a page
		header := rec.ownHeader()
		webrace.SetTruncation(header, webrace.TruncationOf(r.Header))
		r.Status, r.Header = 0, header
	}
	r.Origin = rec.Origin()
}

// maxHTTPHead is the most bytes of a response's header.
const maxHTTPHead = 256 << 10

// readHTTPHead reads the status line and the header. Lines that are no fields are passed over: servers
// send such, and crawlers record what servers send.
func readHTTPHead(in *bufio.Reader) (*Response, error) {
	head := &lineReader{in: in, left: maxHTTPHead}
	line, err := head.line()
	if err != nil {
		return nil, err
	}
	protocol, rest, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	r := &Response{Header: http.Header{}}
	if r.Status, err = strconv.Atoi(code); err != nil || !strings.HasPrefix(protocol, "HTTP/") || r.Status < 100 || r.Status > 999 {
		return nil, damagedf("%.40q is no HTTP status line", line)
	}
	var last folded
	for {
		line, err := head.line()
		if err != nil {
			return nil, err
		}
		if last.goesOn(line) {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if isField := ok && strings.TrimSpace(name) != ""; !isField && line != "" {
			continue
		}
		if last.name != "" {
			r.Header[last.name] = append(r.Header[last.name], string(last.value))
		}
		if line == "" {
			return r, nil
		}
		last.begin(http.CanonicalHeaderKey(strings.TrimSpace(name)), value)
	}
}

type lineReader struct {
	in   *bufio.Reader
	left int
}

func (h *lineReader) line() (string, error) {
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
// under headers that declare otherwise: what does not look encoded is not.
func (r *Response) readBody(in *bufio.Reader, limit int) error {
	const slack = 64 << 10 // by how much an encoded body may exceed the limit of the decoded one
	wire, err := readWire(in, r.Header, limit+slack)
	if err != nil && !r.Truncated {
		return err
	}
	codings, err := contentcoding.Names(r.Header["Content-Encoding"])
	if err != nil {
		return damagedf("%v", err)
	}
	if len(codings) == 0 || isDecoded(wire, codings[len(codings)-1]) {
		var long bool
		r.Body, long = cut(wire, limit)
		r.Truncated = r.Truncated || long
		return nil
	}
	from := &contentcoding.Limited{From: bytes.NewReader(wire), Left: len(wire) + 1}
	layers := contentcoding.Open(from, codings)
	defer layers.Release()
	body, err := io.ReadAll(io.LimitReader(layers, int64(limit)+1))
	var long bool
	if r.Body, long = cut(body, limit); long {
		r.Truncated = true
		return nil
	}
	if err != nil && len(wire) > limit {
		r.Truncated = true
	}
	if err != nil && !r.Truncated {
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
	var broken *BrokenError
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
