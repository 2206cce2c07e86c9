package readfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/recordjson"
)

// errEnd says that a file has been read to its end.
var errEnd = errors.New("end")

// badRecord is an entry that is left out.
type badRecord struct{ error }

// beginningBytes are enough to tell a file from another one.
const beginningBytes = 256

// unpacked returns what a file holds, decompressed if need be, without a byte order mark, and its first bytes.
func unpacked(file io.Reader) (in *bufio.Reader, beginning []byte, err error) {
	in = bufio.NewReaderSize(file, 64<<10)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, nil, err
		}
		in = bufio.NewReaderSize(z, 64<<10)
	}
	if mark, _ := in.Peek(3); string(mark) == "\uFEFF" {
		_, _ = in.Discard(len(mark))
	}
	first, err := in.Peek(1) // waits for no more than there is
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, err
	}
	if len(first) > 0 {
		first, _ = in.Peek(min(in.Buffered(), beginningBytes))
	}
	if end := bytes.IndexByte(first, '\n'); end >= 0 {
		first = first[:end] // what has been added to a short file is no other beginning
	}
	return in, bytes.Clone(first), nil
}

// reader returns a function that gives one entry after the other, and errEnd behind the last.
func (o Options) reader(in *bufio.Reader) func() (any, error) {
	switch o.Format {
	case "csv":
		return o.rows(in)
	case "xml":
		return o.elements(in)
	}
	lines := o.lines(in)
	if o.Format == "text" {
		return func() (any, error) { return orNil(lines()) }
	}
	var d recordjson.Decoder
	return func() (any, error) {
		for {
			line, err := lines()
			if err != nil || strings.TrimSpace(line) != "" {
				return record(&d, line, err)
			}
		}
	}
}

func orNil(line string, err error) (any, error) { return line, err }

// more reports whether the next entry has been read from the file already, so that it can be waited for.
func (o Options) more(in *bufio.Reader) bool {
	if o.Format != "text" && o.Format != "jsonl" {
		return false
	}
	read, _ := in.Peek(in.Buffered())
	if o.Format == "jsonl" {
		read = bytes.TrimLeft(read, " \t\r\n") // lines without anything are no entries
	}
	return bytes.IndexByte(read, '\n') >= 0
}

// lines gives lines without their ends.
func (o Options) lines(in *bufio.Reader) func() (string, error) {
	var line []byte
	return func() (string, error) {
		line = line[:0]
		long := false
		for {
			part, err := in.ReadSlice('\n')
			if long = long || len(line)+len(part) > int(o.MaxLength)+2; long {
				line = line[:0]
			} else {
				line = append(line, part...)
			}
			switch {
			case errors.Is(err, bufio.ErrBufferFull):
				continue
			case errors.Is(err, io.EOF) && len(line) == 0 && !long:
				return "", errEnd
			case err != nil && !errors.Is(err, io.EOF):
				return "", err
			case long:
				return "", &badRecord{fmt.Errorf("the line is longer than %s", o.MaxLength)}
			}
			text := bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			return strings.ToValidUTF8(string(text), "\uFFFD"), nil
		}
	}
}

// record reads a line of JSON.
func record(d *recordjson.Decoder, line string, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	value, err := d.Decode(line)
	if err != nil {
		return nil, &badRecord{err}
	}
	if fields, ok := value.(map[string]any); ok {
		return fields, nil
	}
	return pipeline.Record{"value": value}, nil
}

// rows gives the rows of CSV as records.
func (o Options) rows(in *bufio.Reader) func() (any, error) {
	bound := &bounded{in: in, most: int(o.MaxLength) + in.Size()}
	r := csv.NewReader(bound)
	r.Comma, _ = utf8.DecodeRuneInString(o.Separator)
	r.FieldsPerRecord = -1
	var header []string
	return func() (any, error) {
		for {
			bound.read = 0
			cells, err := r.Read()
			var wrong *csv.ParseError
			switch {
			case errors.Is(err, io.EOF):
				return nil, errEnd
			case errors.As(err, &wrong) && header != nil:
				return nil, &badRecord{err}
			case err != nil:
				return nil, err
			case header == nil:
				header = cells
				continue
			case len(cells) > len(header):
				return nil, &badRecord{fmt.Errorf("the row has %d cells, and the first has %d", len(cells), len(header))}
			}
			fields := make(pipeline.Record, len(header))
			for i, name := range header {
				if i < len(cells) {
					fields[name] = strings.ToValidUTF8(cells[i], "\uFFFD")
				}
			}
			return fields, nil
		}
	}
}

// bounded ends the reading of a row that has no end.
type bounded struct {
	in         io.Reader
	read, most int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.read > b.most {
		return 0, fmt.Errorf("a row is longer than %d bytes: is there a quote without its other half?", b.most)
	}
	n, err := b.in.Read(p)
	b.read += n
	return n, err
}
