package readfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/recordjson"
)

var (
	errEnd        = errors.New("end")        // a file has been read to its end
	errUnfinished = errors.New("unfinished") // to the beginning of a last entry that is being written
)

// badRecord is an entry that is left out.
type badRecord struct {
	error
	at   mark
	text string // of it, if it is not too long
}

// columnError is what is wrong at a place within a line, and names that place where otherwise only that of the entry is
// known.
type columnError struct {
	line   int64 // from 1
	column int   // in bytes, from 1
	err    error
}

func (e *columnError) Error() string { return e.err.Error() }
func (e *columnError) Unwrap() error { return e.err }

// inLine places an error of JSON that begins with the line.
func inLine(line int64, err error) error {
	var wrong *recordjson.Error
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrong):
		return &columnError{line, wrong.Offset + 1, wrong.Err}
	case errors.As(err, &syntax):
		return &columnError{line, int(syntax.Offset), err}
	}
	return err
}

// reader gives one entry after the other, and errEnd behind the last. An error that is no *badRecord ends the file.
type reader func() (any, error)

func (o Options) reader(in *content, from *opened, wait bool) reader {
	lines := &lines{in: in, most: int(o.MaxLength), wait: wait}
	switch o.Format {
	case "csv":
		return o.rows(lines, from)
	case "xml":
		return o.elements(in)
	case "jsonl":
		return records(lines)
	}
	return func() (any, error) {
		at := in.mark
		line, err := lines.next()
		if err != nil {
			return nil, bad(at, line, err)
		}
		return in.text(withoutEnd(line)), nil
	}
}

// bad is the error of a line that cannot be taken where it stands; an error that is none of a line ends the file.
func bad(at mark, line []byte, err error) error {
	if line == nil {
		return err
	}
	return &badRecord{err, at, strings.ToValidUTF8(string(withoutEnd(line)), "\uFFFD")}
}

// more reports whether the next entry has been read from the file already, so that it can be waited for.
func (o Options) more(in *content) bool {
	if o.Format == "xml" {
		return false
	}
	read, _ := in.Peek(in.Buffered())
	if o.Format != "text" {
		read = bytes.TrimLeft(read, " \t\r\n") // lines without anything are no entries
	}
	end := bytes.IndexByte(read, '\n')
	return end >= 0 && (o.Format != "csv" || bytes.IndexByte(read[:end], '"') < 0)
}

// records gives JSON, a line each.
func records(lines *lines) reader {
	var d recordjson.Decoder
	return func() (any, error) {
		for {
			at := lines.in.mark
			line, err := lines.next()
			if err != nil {
				return nil, bad(at, line, err)
			}
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			value, err := d.Decode(string(withoutEnd(line)))
			if err != nil {
				return nil, bad(at, line, inLine(at.Lines+1, err))
			}
			if d.InvalidText {
				lines.in.invalid++
			}
			if d.DuplicateNames {
				lines.in.duplicates++
			}
			if fields, ok := value.(map[string]any); ok {
				return fields, nil
			}
			return pipeline.Record{"value": value}, nil
		}
	}
}
