package readfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"unicode/utf8"
)

// mark is a place between two entries of a file, with what stands before it.
type mark struct {
	Offset  int64  `json:"offset"`  // bytes of the content, which is decompressed
	Sum     uint32 `json:"sum"`     // of these bytes: a fingerprint that grows with the file
	Lines   int64  `json:"lines"`   // lines that have ended
	Records uint64 `json:"records"` // entries, those that are bad included
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// pass moves the mark over some of the content.
func (m *mark) pass(some []byte) {
	m.Offset += int64(len(some))
	m.Sum = crc32.Update(m.Sum, castagnoli, some)
	m.Lines += int64(bytes.Count(some, []byte("\n")))
}

// content is what a file holds, decompressed if need be, from the mark on.
type content struct {
	*bufio.Reader
	mark
	zipped     bool
	invalid    int64 // entries with bytes that are no Unicode, in whose place they have U+FFFD
	duplicates int64 // entries of JSON with a name that is given twice
	noting     bool
	passed     []byte // if noting, the end of what stands before the mark
}

const (
	bufferBytes = 64 << 10
	passedBytes = 4 << 10
)

// pass moves the mark over some of the content.
func (c *content) pass(some []byte) {
	c.mark.pass(some)
	if !c.noting {
		return
	}
	c.passed = append(c.passed, some...)
	if tooMany := len(c.passed) - passedBytes; tooMany > passedBytes {
		c.passed = append(c.passed[:0], c.passed[tooMany:]...)
	}
}

// back moves the mark back.
func (c *content) back(to mark) {
	c.passed = c.passed[:max(0, int64(len(c.passed))-(c.Offset-to.Offset))]
	c.mark = to
}

// contentOf returns what a file holds, behind a byte order mark.
func contentOf(file io.Reader) (*content, error) {
	c := &content{Reader: bufio.NewReaderSize(file, bufferBytes)}
	if magic, _ := c.Peek(len(gzipMagic)); string(magic) == gzipMagic {
		z, err := gzip.NewReader(c.Reader)
		if err != nil {
			return nil, err
		}
		c.Reader, c.zipped = bufio.NewReaderSize(z, bufferBytes), true
	}
	if some, _ := c.Peek(len(byteOrderMark)); string(some) == byteOrderMark {
		c.pass(some)
		_, _ = c.Discard(len(some))
	}
	if _, err := c.Peek(1); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return c, nil
}

const (
	gzipMagic     = "\x1f\x8b"
	byteOrderMark = "\uFEFF"
)

// text returns some of the content, without what is no UTF-8.
func (c *content) text(some []byte) string {
	if utf8.Valid(some) {
		return string(some)
	}
	c.invalid++
	return string(bytes.ToValidUTF8(some, []byte("\uFFFD")))
}

// errReplaced means that the content before a mark is not what it was.
var errReplaced = errors.New("another file has taken its place")

// advance goes on to a mark of the same content, if it is the same.
func (c *content) advance(to mark) error {
	for c.Offset < to.Offset {
		_, err := c.Peek(1)
		if err == nil {
			some, _ := c.Peek(int(min(int64(c.Buffered()), to.Offset-c.Offset)))
			c.pass(some)
			_, err = c.Discard(len(some))
		}
		if err != nil {
			return asReplaced(err)
		}
	}
	if c.Offset != to.Offset || c.Sum != to.Sum {
		return errReplaced
	}
	c.mark = to
	return nil
}

// begins reports whether the content, of which nothing has been read, begins so.
func (c *content) begins(so beginning) bool {
	m := c.mark
	some, _ := c.Peek(int(max(0, so.Offset-m.Offset)))
	m.pass(some)
	return so.Offset == 0 || m.Offset == so.Offset && m.Sum == so.Sum
}

// lines gives one line of content after the other.
type lines struct {
	in   *content
	most int  // bytes of a line
	wait bool // a last line without an end is not taken
	line []byte
}

// next returns a line with its end, which is valid until the next call: errEnd behind the last one, errUnfinished if
// that waits for its end. Of a line that is too long it returns the beginning, and an error that reports it.
func (l *lines) next() ([]byte, error) {
	l.line = l.line[:0]
	long := false
	before := l.in.mark
	for {
		part, err := l.in.ReadSlice('\n')
		l.in.pass(part)
		if long = long || len(l.line)+len(part) > l.most+len("\r\n"); !long {
			l.line = append(l.line, part...)
		} else if len(l.line) < mostShown {
			l.line = append(l.line, part[:min(len(part), mostShown-len(l.line))]...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && l.in.Offset == before.Offset:
			return nil, errEnd
		case errors.Is(err, io.EOF) && l.waits():
			l.in.back(before)
			return nil, errUnfinished
		case err != nil && !errors.Is(err, io.EOF):
			l.in.back(before)
			return nil, err
		case long:
			return l.line[:min(len(l.line), mostShown)], tooLong(l.most)
		}
		return l.line, nil
	}
}

// waits reports whether a last line waits for its end. That of a compressed file will not come.
func (l *lines) waits() bool { return l.wait && !l.in.zipped }

// mostShown is how many bytes are kept of a line that is too long.
const mostShown = 1000

func tooLong(most int) error { return fmt.Errorf("the line is longer than max_length, %d bytes", most) }

// withoutEnd returns a line without its end.
func withoutEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}
