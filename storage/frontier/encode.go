package frontier

import (
	"errors"

	"github.com/webrace/webrace/storage/internal/values"
)

// schema is the first byte of every value. A later layout of a value takes another, and the reader of
// that value still reads the earlier ones.
const schema = 1

var errCorrupt = errors.New("value is damaged or of an unknown schema")

type writer = values.Writer

func newWriter(size int) writer { return newWriterOf(schema, size) }

func newWriterOf(schema byte, size int) writer { return append(make(writer, 0, size), schema) }

type reader struct {
	values.Reader
	schema byte
}

func newReader(value []byte) *reader { return newReaderUpTo(schema, value) }

// newReaderUpTo reads a value of any schema up to latest.
func newReaderUpTo(latest byte, value []byte) *reader {
	r := &reader{Reader: values.Reader{Rest: value}}
	if b := r.Fixed(1); b != nil {
		if r.schema = b[0]; r.schema < schema || r.schema > latest {
			r.Fail()
		}
	}
	return r
}

// done reports what went wrong, bytes left over included.
func (r *reader) done() error {
	if !r.End() {
		return errCorrupt
	}
	return nil
}
