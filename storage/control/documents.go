package control

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/webrace/webrace/xmlschema"
)

// WriteURDs writes URDs as one XML document with an empty line behind it, and returns how many there were. It stops at
// the first error of the sequence, and returns that.
func WriteURDs(w io.Writer, urds iter.Seq2[URD, error]) (n int, err error) {
	return writeDocument(w, urds, func(u URD) *xmlschema.URD { return u.URD }, xmlschema.WriteURDs)
}

// WriteACIs is [WriteURDs] of annotations.
func WriteACIs(w io.Writer, acis iter.Seq2[ACI, error]) (n int, err error) {
	return writeDocument(w, acis, func(a ACI) *xmlschema.ACI { return a.ACI }, xmlschema.WriteACIs)
}

func writeDocument[T, V any](w io.Writer, all iter.Seq2[T, error], of func(T) V, write func(io.Writer, iter.Seq[V]) (int64, error)) (n int, err error) {
	var failed error
	_, err = write(w, func(yield func(V) bool) {
		for v, err := range all {
			if failed = err; err != nil {
				return
			}
			n++
			if !yield(of(v)) {
				return
			}
		}
	})
	if failed != nil {
		return n, failed
	}
	if err == nil {
		_, err = fmt.Fprintln(w)
	}
	return n, err
}

// Record is the annotation as JSON, with when it was retrieved.
func (a ACI) Record() xmlschema.Record {
	r := a.ACI.Record()
	r.Retrieved = a.Retrieved
	return r
}

// WriteACILines writes the records of annotations as JSON, one a line, up to the first error of the sequence, which it
// returns.
func WriteACILines(w io.Writer, acis iter.Seq2[ACI, error]) error {
	buffer := bufio.NewWriter(w)
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	for aci, err := range acis {
		if err == nil {
			err = encoder.Encode(aci.Record())
		}
		if err != nil {
			buffer.Flush()
			return err
		}
	}
	return buffer.Flush()
}
