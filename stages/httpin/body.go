package httpin

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/number"
	"github.com/webrace/webrace/pipeline/recordjson"
	"github.com/webrace/webrace/stages/internal/seed"
)

// receive reads the body of a request, and returns what it brings. The bytes of the body are taken from those that may
// be read at once, until release is called.
func (s *stage) receive(ctx context.Context, r *http.Request) (values []any, release func(), a *reply) {
	size := r.ContentLength
	if size < 0 {
		size = int64(s.options.MaxBody)
	}
	if err := s.bodies.Acquire(ctx, size); err != nil {
		return nil, nil, late(r, "there is no room for its body")
	}
	release = func() { s.bodies.Release(size) }
	body, err := readAll(http.MaxBytesReader(nil, r.Body, int64(s.options.MaxBody)), r.ContentLength)
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		a = s.tooLarge()
	case err != nil && r.Context().Err() != nil:
		a = gone
	case err != nil:
		a = refuse(http.StatusBadRequest, "the body ends early: %v", err)
	default:
		if values, err = s.options.values(body); err != nil {
			a = refuse(http.StatusBadRequest, "%v", err)
		}
	}
	if err != nil {
		release()
	}
	return values, release, a
}

// readAll reads a body, into as much memory as its length is if that is known.
func readAll(in io.Reader, length int64) ([]byte, error) {
	var b bytes.Buffer
	if length > 0 {
		b.Grow(int(length) + bytes.MinRead)
	}
	_, err := b.ReadFrom(in)
	return b.Bytes(), err
}

// values makes items of a body: all of them, or none.
func (o Options) values(body []byte) ([]any, error) {
	switch o.Format {
	case "bytes":
		return []any{body}, nil
	case "urls":
		return o.starts(body)
	}
	return records(body)
}

// records reads objects of JSON: one, an array of them, or one after the other.
func records(body []byte) (values []any, err error) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte("\uFEFF"))))
	for {
		var raw json.RawMessage
		err := d.Decode(&raw)
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			values, err = addRecords(values, raw)
		}
		if err != nil {
			return nil, fmt.Errorf("record %d, before byte %d: %w", len(values), d.InputOffset(), err)
		}
	}
	if len(values) == 0 {
		return nil, errors.New("the body holds no record: send an object of JSON, an array of them, or one a line")
	}
	return values, nil
}

// addRecords adds the object, or the objects of an array.
func addRecords(values []any, raw json.RawMessage) ([]any, error) {
	if raw[0] != '[' {
		var record pipeline.Record
		if err := recordjson.Unmarshal(raw, &record); err != nil || record == nil {
			return values, notObject(raw, err)
		}
		return append(values, record), nil
	}
	var several []json.RawMessage
	if err := json.Unmarshal(raw, &several); err != nil {
		return values, err
	}
	for _, one := range several {
		if one[0] == '[' {
			return values, errors.New("an array within an array is no record")
		}
		var err error
		if values, err = addRecords(values, one); err != nil {
			return values, err
		}
	}
	return values, nil
}

// notObject says why what was sent is no record.
func notObject(raw []byte, err error) error {
	if errors.Is(err, number.ErrRange) {
		return err
	}
	return fmt.Errorf("%.40q is no object of JSON", raw)
}

// starts reads a URL a line. Empty lines, and those that begin with #, are left out.
func (o Options) starts(body []byte) (values []any, err error) {
	lines := bufio.NewScanner(bytes.NewReader(body))
	lines.Buffer(nil, len(body)+1)
	for number := 1; lines.Scan(); number++ {
		text := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\uFEFF"))
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		start, err := seed.Of(text, o.Depth, o.Scope)
		if err != nil {
			return nil, fmt.Errorf("line %d: %.200q: %w", number, text, err)
		}
		values = append(values, start)
	}
	if len(values) == 0 {
		return nil, errors.New("the body holds no URL: send one a line")
	}
	return values, lines.Err()
}
