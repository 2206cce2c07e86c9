package xmltoken

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
)

// Fault returns where a document in UTF-8 is no well-formed XML; nil if it is. It is for parsers that report only that.
func Fault(text []byte) error {
	d := xml.NewDecoder(bytes.NewReader(text))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			line, column := d.InputPos()
			if syntax := new(xml.SyntaxError); errors.As(err, &syntax) {
				err = errors.New(syntax.Msg) // without its line
			}
			return fmt.Errorf("line %d, column %d: %w", line, column, err)
		}
	}
}
