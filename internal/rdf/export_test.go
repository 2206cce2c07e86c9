package rdf

import (
	"bytes"
	"context"
)

// WellFormed reads a document as XML, whatever it states, and returns what is wrong with it.
func WellFormed(body []byte) error {
	r, err := newReader(context.Background(), bytes.NewReader(body), Options{})
	if err != nil {
		return err
	}
	x := newXMLReader(r)
	for {
		if kind, err := x.next(); err != nil || kind == xmlDone {
			return err
		}
		x.chars = x.chars[:0]
	}
}
