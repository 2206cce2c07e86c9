// Package warc reads the records of WARC files that others wrote: WARC/1.0 and 1.1, plain, with each
// record a gzip member or zstd frame of its own, or compressed as a whole.
//
// Such files are damaged, cut off, or written by programs with bugs. What it guarantees:
//   - A record is whole: [Record.Verify] accepts it only if its length is right, checksums and the digest of
//     its block are, where there are any, and another record or the end follows.
//   - What is not is reported with its place and reason, and reading goes on with the next record that can
//     be found, also when a wrong length had reached beyond its beginning.
//   - Memory is bounded whatever lengths a file claims, and time by a small multiple of its size.
package warc

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// Types of records.
const (
	TypeInfo     = "warcinfo"
	TypeResponse = "response"
	TypeResource = "resource"
	TypeRevisit  = "revisit"
)

// ErrZstandard means that a file is compressed by zstd with a dictionary, which is not read.
var ErrZstandard = errors.New("WARC files that are compressed by zstd with a dictionary are not read: decompress it first")

// BrokenError tells what could not be read, and where. Reading can go on after it.
type BrokenError struct {
	Offset int64 // in the file, of the record or of what is in its place
	Reason string
}

func (e *BrokenError) Error() string { return fmt.Sprintf("at %d: %s", e.Offset, e.Reason) }

// Place is where a record begins: so many bytes into what the gzip member or zstd frame at that offset holds. In a file
// that is not compressed the member is 0.
type Place struct{ Member, Skip int64 }

// Record is one that is being read.
type Record struct {
	Place  Place
	Offset int64     // in the file, for people
	Type   string    // in lower case
	Length int64     // of the block
	Block  io.Reader // ends with an error where the block is cut off
	fields map[string]string
	reader *Reader
}

// Field returns a named field; the first where there are several, "" where there is none.
func (r *Record) Field(name string) string { return r.fields[strings.ToLower(name)] }

// URL returns the target URI, without the brackets that some programs put around it.
func (r *Record) URL() string { return unbracketed(r.Field("WARC-Target-URI")) }

// ID returns the record's id without its brackets.
func (r *Record) ID() string { return unbracketed(r.Field("WARC-Record-ID")) }

// RefersTo returns the id of the record whose body a revisit repeats; "" where it does not tell.
func (r *Record) RefersTo() string { return unbracketed(r.Field("WARC-Refers-To")) }

// ConcurrentTo returns the id of a record that was made in the same capture; the first, where it names several, and ""
// where it names none.
func (r *Record) ConcurrentTo() string { return unbracketed(r.Field("WARC-Concurrent-To")) }

// NotModified reports whether a revisit stands for a 304: it names what was confirmed, if at all, by its
// URL, and has no payload.
func (r *Record) NotModified() bool {
	return strings.HasSuffix(r.Field("WARC-Profile"), "/server-not-modified")
}

func unbracketed(s string) string {
	if inner, ok := strings.CutPrefix(s, "<"); ok {
		return strings.TrimSuffix(inner, ">")
	}
	return s
}

// dateLayouts are the precisions a WARC-Date can have; [time.RFC3339] also reads fractions of a second.
var dateLayouts = []string{time.RFC3339, "2006-01-02T15:04Z07:00", "2006-01-02", "2006-01", "2006"}

// Date returns when the record was made.
func (r *Record) Date() (time.Time, error) { return ParseDate(r.Field("WARC-Date")) }

// ParseDate reads a date as WARC/1.1 has them.
func ParseDate(s string) (time.Time, error) {
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 0 {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%.40q is not a date", s)
}

// Verify reads what is left of the block and what follows it, and returns a [*BrokenError] unless the
// record is whole. The block cannot be read any more then.
func (r *Record) Verify() error { return r.reader.finish() }
