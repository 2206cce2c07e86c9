package httpin

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/recordjson"
	"github.com/webrace/webrace/stages/internal/seed"
)

// receive reads the body of a request, and returns what it brings, or the answer if that is nothing. The bytes of the
// body are taken from those that may be read at once, until the delivery is released.
func (s *stage) receive(ctx context.Context, w *http.ResponseController, r *http.Request) (*delivery, *reply) {
	most := int64(s.options.MaxBody)
	size := r.ContentLength
	coding := strings.ToLower(r.Header.Get("Content-Encoding"))
	if size < 0 || coding != "" {
		size = most
	}
	if err := s.bodies.Acquire(ctx, size); err != nil {
		return nil, late(r, "there is no room for its body")
	}
	release := func() { s.bodies.Release(size) }
	if until, has := ctx.Deadline(); has {
		_ = w.SetReadDeadline(until)
	}
	body, err := readBody(r, coding, most)
	if err != nil {
		release()
		return nil, s.unread(r, err)
	}
	_ = w.SetReadDeadline(time.Time{}) // from now on the connection is watched for its end
	values, err := s.options.values(body)
	if err != nil && !s.env.Leads("errors") {
		release()
		return nil, refuse(http.StatusBadRequest, "%v", err)
	}
	if err != nil {
		values = []any{body}
	}
	d := newDelivery(values, s.nameOf(r), r.Header.Get("Content-Type"), release)
	d.wrong, d.accepted = err, s.options.Answer == "accepted" && !s.env.Dry
	return d, nil
}

// errCoding means that a body is compressed in a way that is not read.
var errCoding = errors.New("bodies are taken as they are, or compressed with gzip")

// readBody reads a body, which has so many bytes at most, compressed and not.
func readBody(r *http.Request, coding string, most int64) ([]byte, error) {
	wire := http.MaxBytesReader(nil, r.Body, most)
	switch coding {
	case "", "identity":
		return readAll(wire, r.ContentLength)
	case "gzip", "x-gzip":
		plain, err := gzip.NewReader(wire)
		if err != nil {
			return nil, fmt.Errorf("as gzip: %w", err)
		}
		body, err := readAll(io.LimitReader(plain, most+1), 0)
		if err == nil && int64(len(body)) > most {
			err = &http.MaxBytesError{Limit: most}
		}
		return body, err
	}
	return nil, fmt.Errorf("Content-Encoding %.40q: %w", coding, errCoding)
}

// unread is the answer to a request whose body could not be read.
func (s *stage) unread(r *http.Request, err error) *reply {
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return s.tooLarge()
	case errors.Is(err, errCoding):
		return refuse(http.StatusUnsupportedMediaType, "%v", err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refuse(http.StatusRequestTimeout, "the body has not come in %v (option timeout)", s.options.Timeout)
	case r.Context().Err() != nil:
		return gone
	}
	return refuse(http.StatusBadRequest, "the body cannot be read: %v", err)
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
	text := bytes.TrimPrefix(body, []byte("\uFEFF"))
	before := len(body) - len(text)
	for d := json.NewDecoder(bytes.NewReader(text)); err == nil; {
		var raw json.RawMessage
		if err = d.Decode(&raw); err == nil {
			values, err = addRecords(values, raw, before+int(d.InputOffset())-len(raw))
		} else if !errors.Is(err, io.EOF) {
			err = fmt.Errorf("record %d, before byte %d: %w", len(values), before+int(d.InputOffset()), err)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(values) == 0 {
		return nil, errors.New("the body holds no record: send an object of JSON, an array of them, or one a line")
	}
	return values, nil
}

// addRecords adds the object, or the objects of an array, that stands at a byte of the body.
func addRecords(values []any, raw json.RawMessage, at int) ([]any, error) {
	if raw[0] != '[' {
		record, err := recordOf(raw, at)
		if err != nil {
			return values, fmt.Errorf("record %d, %w", len(values), err)
		}
		return append(values, record), nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	_, err := d.Token()
	for err == nil && d.More() {
		var one json.RawMessage
		if err = d.Decode(&one); err != nil {
			break
		}
		from := at + int(d.InputOffset()) - len(one)
		if one[0] == '[' {
			return values, fmt.Errorf("record %d, at byte %d: an array within an array is no record", len(values), from)
		}
		values, err = addRecords(values, one, from)
	}
	return values, err
}

// recordOf reads an object that a record can hold as it is.
func recordOf(raw []byte, at int) (pipeline.Record, error) {
	d := recordjson.Decoder{Strict: true}
	value, err := d.Decode(string(raw))
	var wrong *recordjson.Error
	if errors.As(err, &wrong) {
		return nil, fmt.Errorf("at byte %d: %w: %.200q", at+wrong.Offset, wrong.Err, raw)
	}
	record, isObject := value.(map[string]any)
	if err != nil || !isObject {
		return nil, fmt.Errorf("at byte %d: %.40q is no object of JSON", at, raw)
	}
	return record, nil
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
