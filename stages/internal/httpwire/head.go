package httpwire

import (
	"bytes"
	"fmt"
	"strconv"
)

// framing is where a response ends.
type framing struct {
	informs   bool // 1xx: another head follows
	switches  bool // 101
	bodiless  bool
	chunked   bool
	hasLength bool
	length    uint64
}

// of completes what the fields give with what the status implies.
func (f framing) of(status int) framing {
	switch {
	case status == 101:
		return framing{switches: true}
	case status/100 == 1:
		return framing{informs: true}
	case status == 204 || status == 304:
		return framing{bodiless: true}
	}
	return f
}

// maxBlank is how many carriage returns and line feeds may come before a response: those of an earlier one that said
// a length without them.
const maxBlank = 4

func blank(b []byte) int {
	n := 0
	for n < len(b) && n < maxBlank && (b[n] == '\r' || b[n] == '\n') {
		n++
	}
	return n
}

// maybeResponse reports whether a response may begin so.
func maybeResponse(b []byte) bool {
	const protocol = "HTTP/"
	b = b[blank(b):]
	n := min(len(b), len(protocol))
	return bytes.EqualFold(b[:n], []byte(protocol[:n]))
}

// headEnd returns the length of a head; 0 if its end is not there yet, and then from where to look for it the next
// time.
func headEnd(b []byte, from int) (end, next int) {
	from = max(from, blank(b))
	for {
		n := bytes.IndexByte(b[from:], '\n')
		switch {
		case n < 0:
			return 0, from
		case n == 0 || n == 1 && b[from] == '\r':
			return from + n + 1, 0
		}
		from += n + 1
	}
}

// Classes of bytes.
const (
	inToken byte = 1 << iota // RFC 9110, section 5.6.2
	inValue                  // what net/http takes in the value of a field
)

var classes = func() (t [256]byte) {
	for c := range t {
		if c >= ' ' && c != 0x7f || c == '\t' {
			t[c] = inValue
		}
		if 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c < 0x80 && bytes.IndexByte([]byte("!#$%&'*+-.^_`|~"), byte(c)) >= 0 {
			t[c] |= inToken
		}
	}
	return t
}()

func all(b []byte, class byte) bool {
	for _, c := range b {
		if classes[c]&class == 0 {
			return false
		}
	}
	return true
}

// scan returns the length of a head that is clean, and where its response ends; 0 if it is not, or not all there.
func scan(b []byte) (end int, f framing) {
	const shortest = len("HTTP/1.1 200\n")
	if len(b) < shortest || string(b[:7]) != "HTTP/1." || b[7]&^1 != '0' || b[8] != ' ' {
		return 0, framing{}
	}
	status, ok := parseStatus(b[9:12])
	if !ok || b[12] != ' ' && b[12] != '\r' && b[12] != '\n' {
		return 0, framing{}
	}
	at, value := line(b, 12)
	if at == 0 || !all(value, inValue) {
		return 0, framing{}
	}
	for {
		name := at
		for at < len(b) && classes[b[at]]&inToken != 0 {
			at++
		}
		switch {
		case at == len(b):
			return 0, framing{}
		case at == name:
			next, rest := line(b, at)
			if next == 0 || len(rest) > 0 {
				return 0, framing{}
			}
			return next, f.of(status)
		case b[at] != ':':
			return 0, framing{}
		}
		field := b[name:at]
		at, value = line(b, at+1)
		if at == 0 || !all(value, inValue) || special(field) && !f.take(field, value, b[7] == '1') {
			return 0, framing{}
		}
	}
}

// line returns what is left of a line, and where the next begins; 0 if this one does not end.
func line(b []byte, at int) (next int, rest []byte) {
	n := bytes.IndexByte(b[at:], '\n')
	if n < 0 {
		return 0, nil
	}
	return at + n + 1, bytes.TrimSuffix(b[at:at+n], crlf[:1])
}

// special reports whether a field may tell where the response ends, or what follows it.
func special(name []byte) bool {
	switch len(name) {
	case len(contentLength):
		return is(name, contentLength)
	case len(transferEncoding):
		return is(name, transferEncoding)
	case len(trailer):
		return is(name, trailer)
	}
	return false
}

const (
	contentLength    = "Content-Length"
	transferEncoding = "Transfer-Encoding"
	trailer          = "Trailer"
)

func is(name []byte, field string) bool { return bytes.EqualFold(name, []byte(field)) }

// take notes what a special field gives, if it is of the usual form and the only one.
func (f *framing) take(name, value []byte, chunks bool) bool {
	if f.hasLength || f.chunked {
		return false
	}
	value = trim(value)
	switch {
	case is(name, contentLength):
		f.length, f.hasLength = parseLength(value)
		return f.hasLength
	case is(name, transferEncoding):
		f.chunked = chunks && bytes.EqualFold(value, []byte("chunked"))
		return f.chunked
	}
	return false
}

func trim(b []byte) []byte { return bytes.Trim(b, " \t") }

func parseStatus(b []byte) (status int, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		status = status*10 + int(c-'0')
	}
	return status, len(b) == 3
}

// parseLength reads a length; false is none, or one beyond what numbers hold.
func parseLength(b []byte) (uint64, bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	return uint64(n), err == nil
}

// headError is why a response is refused.
func headError(format string, args ...any) error {
	return fmt.Errorf("malformed HTTP response: "+format, args...)
}
