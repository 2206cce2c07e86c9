package httpsign

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/webrace/webrace/internal/structured"
)

// Limits of what is read: the bytes of each of the three fields, and the components of a signature.
const (
	maxField      = 8 << 10
	maxComponents = 32
)

// signature is one of a request, before anything of it has been verified.
type signature struct {
	label string
	input structured.Value // the components, and the parameters
	value []byte
}

// parse takes the signatures of a request apart and returns the one that has our tag.
func parse(header http.Header) (*signature, error) {
	if len(header[inputField]) == 0 && len(header[signatureField]) == 0 {
		return nil, ErrUnsigned
	}
	inputs, err := readDictionary(header, inputField)
	if err != nil {
		return nil, err
	}
	values, err := readDictionary(header, signatureField)
	if err != nil {
		return nil, err
	}
	found, err := tagged(inputs)
	if err != nil {
		return nil, err
	}
	return newSignature(found, inputs, values)
}

// readDictionary reads a field, whose lines count together.
func readDictionary(header http.Header, name string) (structured.Dictionary, error) {
	text := strings.Join(header[name], ", ")
	if len(text) > maxField {
		return structured.Dictionary{}, fmt.Errorf("%w: %s has more than %d bytes", ErrMalformed, name, maxField)
	}
	d, err := structured.ParseDictionary(text)
	if err != nil {
		return d, fmt.Errorf("%w: %s is no dictionary: %w", ErrMalformed, name, err)
	}
	return d, nil
}

// tagged returns the label of the one signature with our tag.
func tagged(inputs structured.Dictionary) (found string, err error) {
	for _, name := range inputs.Names {
		tag, _ := inputs.Values[name].Params.Get("tag")
		if tag.Kind != structured.String || tag.Value != Tag {
			continue
		}
		if found != "" {
			return "", ErrAmbiguous
		}
		found = name
	}
	if found == "" {
		return "", ErrTag
	}
	return found, nil
}

// newSignature returns the signature of a label.
func newSignature(label string, inputs, values structured.Dictionary) (*signature, error) {
	s := &signature{label: label, input: inputs.Values[label]}
	signed, given := values.Values[label]
	switch {
	case !s.input.IsList:
		return nil, fmt.Errorf("%w: %s of %s is no list", ErrMalformed, inputField, label)
	case !given || signed.IsList || signed.Kind != structured.Bytes:
		return nil, fmt.Errorf("%w: %s has no bytes for %s", ErrMalformed, signatureField, label)
	case len(s.input.List) > maxComponents:
		return nil, fmt.Errorf("%w: it covers more than %d components", ErrMalformed, maxComponents)
	}
	s.value = []byte(signed.Value)
	seen := make(map[string]bool)
	for _, c := range s.input.List {
		id := c.Serialize()
		switch {
		case c.Kind != structured.String:
			return nil, fmt.Errorf("%w: the component %.100s is not named by a string", ErrMalformed, id)
		case seen[id]:
			return nil, fmt.Errorf("%w: it covers %.100s twice", ErrMalformed, id)
		}
		seen[id] = true
	}
	return s, nil
}

// text returns a parameter that is a string.
func (s *signature) text(name string) (string, error) {
	v, _ := s.input.Params.Get(name)
	if v.Kind != structured.String || v.Value == "" {
		return "", fmt.Errorf("%w: %s", ErrParameter, name)
	}
	return v.Value, nil
}

// seconds returns a parameter that is a time.
func (s *signature) seconds(name string) (int64, error) {
	v, given := s.input.Params.Get(name)
	if !given || v.Kind != structured.Integer || v.Number < 0 {
		return 0, fmt.Errorf("%w: %s", ErrParameter, name)
	}
	return v.Number, nil
}
