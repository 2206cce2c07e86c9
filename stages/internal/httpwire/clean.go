package httpwire

import (
	"bytes"
	"strconv"
)

// cleaner writes a clean head.
type cleaner struct {
	out     []byte
	one     bool // the version is 1.1
	folded  []byte
	lengths [][]byte // what fields of that name say, each with a comma before it
	codings [][]byte
	closes  bool // nothing may follow
}

// clean makes a clean head of one that is all there, or reports why it is refused.
func clean(head []byte) ([]byte, framing, error) {
	if bytes.IndexByte(head, 0) >= 0 {
		return nil, framing{}, headError("there is a NUL in its header")
	}
	c := cleaner{out: make([]byte, 0, len(head)+len("HTTP/1.1 Content-Length: \r\nConnection: close\r\n\r\n"))}
	at, first := line(head, blank(head))
	status, err := c.statusLine(first)
	if err != nil {
		return nil, framing{}, err
	}
	for {
		next, text := line(head, at)
		if len(text) == 0 {
			break
		}
		if at = next; head[at] == ' ' || head[at] == '\t' {
			at, text = c.unfold(head, at, text)
		}
		if err := c.addField(text); err != nil {
			return nil, framing{}, err
		}
	}
	f, err := c.length()
	if err != nil {
		return nil, framing{}, err
	}
	if c.closes {
		c.add([]byte("Connection"), []byte("close"))
	}
	c.out = append(c.out, crlf...)
	c.out[len("HTTP/1.")] = '0'
	if c.one {
		c.out[len("HTTP/1.")] = '1'
	}
	return c.out, f.of(status), nil
}

// statusLine adds the status line with one of the versions that there are. Its reason is left out if it holds what it
// must not.
func (c *cleaner) statusLine(text []byte) (status int, err error) {
	version, rest, _ := bytes.Cut(text, []byte(" "))
	if !all(version, inValue) {
		return 0, headError("its version is %.40q", version)
	}
	code, reason, _ := bytes.Cut(bytes.TrimLeft(rest, " "), []byte(" "))
	status, ok := parseStatus(code)
	if !ok {
		return 0, headError("malformed HTTP status code %.40q", code)
	}
	if number := version[min(len(version), len("HTTP/")):]; len(number) == 3 && number[1] == '.' && '0' <= number[0] && number[0] <= '9' {
		c.one = number[0] > '1' || number[0] == '1' && '1' <= number[2] && number[2] <= '9'
	}
	c.out = append(append(append(c.out, "HTTP/1.? "...), code...), ' ')
	if all(reason, inValue) {
		c.out = append(c.out, reason...)
	}
	c.out = append(c.out, crlf...)
	return status, nil
}

// unfold returns a line with those that continue it, and where the next begins.
func (c *cleaner) unfold(head []byte, at int, text []byte) (int, []byte) {
	c.folded = append(c.folded[:0], text...)
	for head[at] == ' ' || head[at] == '\t' {
		next, more := line(head, at)
		c.folded = append(append(c.folded, ' '), trim(more)...)
		at = next
	}
	return at, c.folded
}

// addField adds a field, or leaves it out if it is none. It is refused if it could have said where the body ends.
func (c *cleaner) addField(text []byte) error {
	name, value, found := bytes.Cut(text, []byte(":"))
	own := bytes.TrimRight(name, " \t")
	if !found || len(own) == 0 || !all(own, inToken) || !all(value, inValue) {
		meant := bytes.TrimFunc(name, func(r rune) bool { return r >= 0x80 || classes[r]&inToken == 0 })
		if is(meant, contentLength) || is(meant, transferEncoding) {
			return headError("%.80q does not say where its body ends", text)
		}
		return nil
	}
	switch value = trim(value); {
	case is(own, contentLength):
		c.lengths = append(c.lengths, bytes.Clone(value))
	case is(own, transferEncoding):
		c.codings = append(c.codings, bytes.Clone(value))
	case is(own, trailer): // which is left out
	default:
		c.add(own, value)
	}
	return nil
}

func (c *cleaner) add(name, value []byte) {
	c.out = append(append(append(append(c.out, name...), ": "...), value...), crlf...)
}

// length adds the field that gives where the body ends, and returns that.
func (c *cleaner) length() (framing, error) {
	chunked, err := c.chunked()
	if err != nil {
		return framing{}, err
	}
	if chunked {
		c.closes = c.closes || len(c.lengths) > 0 || !c.one
		c.one = true // net/http knows no chunks before
		c.add([]byte(transferEncoding), []byte("chunked"))
		return framing{chunked: true}, nil
	}
	if len(c.lengths) == 0 {
		return framing{}, nil
	}
	values := bytes.Split(bytes.Join(c.lengths, []byte(",")), []byte(","))
	first := trim(values[0])
	for _, other := range values[1:] {
		if !bytes.Equal(trim(other), first) {
			return framing{}, headError("it gives more than one Content-Length: %.80q", bytes.Join(c.lengths, []byte(", ")))
		}
	}
	n, ok := parseLength(first)
	if !ok { // the Fetch standard: as if nothing were said
		c.closes = true
		return framing{}, nil
	}
	c.add([]byte(contentLength), strconv.AppendUint(nil, n, 10))
	return framing{hasLength: true, length: n}, nil
}

// chunked reports whether the body comes in chunks, which is the one transfer coding that was asked for.
func (c *cleaner) chunked() (bool, error) {
	said := 0
	for _, field := range c.codings {
		for coding := range bytes.SplitSeq(field, []byte(",")) {
			switch coding = trim(coding); {
			case is(coding, "chunked"):
				said++
			case len(coding) > 0 && !is(coding, "identity"):
				return false, headError("its transfer encoding, %.80q, is not one that was asked for", coding)
			}
		}
	}
	c.closes = c.closes || said > 1 || said == 0 && len(c.codings) > 0
	return said > 0, nil
}
