package warc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxHeader is the most bytes of a record's header.
const maxHeader = 64 << 10

// readHeader reads the version and the named fields of the record that the stream is at.
func (rec *Record) readHeader(s *stream) error {
	head := &headReader{stream: s, left: maxHeader}
	version, err := head.line()
	if err != nil {
		return err
	}
	if !strings.HasPrefix(version, magic+"1.") && !strings.HasPrefix(version, magic+"0.1") {
		return fmt.Errorf("%.20q is not a version of WARC", version)
	}
	rec.fields = map[string]string{}
	var last folded
	for {
		line, err := head.field()
		if err != nil {
			return err
		}
		if last.goesOn(line) {
			continue
		}
		if _, twice := rec.fields[last.name]; !twice && last.name != "" {
			rec.fields[last.name] = string(last.value)
		}
		if line == "" {
			break
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return fmt.Errorf("the header line %.40q has no colon", line)
		}
		last.begin(strings.ToLower(strings.TrimSpace(name)), value)
	}
	rec.Type = strings.ToLower(rec.fields["warc-type"])
	if rec.Type == "" {
		return errors.New("the record has no type")
	}
	length, err := strconv.ParseUint(rec.fields["content-length"], 10, 62)
	if err != nil {
		return fmt.Errorf("the record's length %.40q is no number", rec.fields["content-length"])
	}
	rec.Length = int64(length)
	return nil
}

// folded is a field that may go on in further lines, however many.
type folded struct {
	name  string
	value []byte
}

func (f *folded) begin(name, value string) {
	f.name, f.value = name, append(f.value[:0], strings.TrimSpace(value)...)
}

// goesOn takes a line that continues the one before, and reports whether it is one.
func (f *folded) goesOn(line string) bool {
	if line == "" || line[0] != ' ' && line[0] != '\t' {
		return false
	}
	f.value = append(append(f.value, ' '), strings.TrimSpace(line)...)
	return true
}

// headReader reads the lines of a header, which may continue in another gzip member.
type headReader struct {
	stream *stream
	left   int
}

// errNested means that a header has no end before the next record.
var errNested = fmt.Errorf("%w: the next record begins within the header", io.ErrUnexpectedEOF)

// field returns the next line, which must not begin a record.
func (h *headReader) field() (string, error) {
	if head, _ := h.stream.peek(len(magic)); string(head) == magic {
		return "", errNested
	}
	return h.line()
}

// line returns the next line without its end.
func (h *headReader) line() (string, error) {
	var line []byte
	for {
		part, err := h.stream.data.ReadSlice('\n')
		h.stream.skip += int64(len(part))
		if h.left -= len(part); h.left < 0 {
			return "", fmt.Errorf("the header has more than %d bytes", maxHeader)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return strings.TrimSuffix(string(line[:len(line)-1]), "\r"), nil
		case err == io.EOF:
			if h.stream.next() != nil {
				return "", fmt.Errorf("%w within the header", io.ErrUnexpectedEOF)
			}
			if head, _ := h.stream.peek(len(magic)); string(head) == magic {
				return "", errNested
			}
		case err != bufio.ErrBufferFull:
			return "", err
		}
	}
}
