package httpout

import (
	"bytes"
	"errors"
	"fmt"
	"text/template"

	"golang.org/x/net/http/httpguts"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/xmlschema"
)

// message is what one request carries.
type message struct {
	key       string // the same whenever it is sent
	items     int
	mediaType string
	body      []byte
}

// template returns the template of the body; nil if there is none.
func (o Options) template() (*template.Template, error) {
	if o.Body == "" {
		return nil, nil
	}
	functions := template.FuncMap{"json": func(v any) (string, error) {
		written, err := delivery.JSON(v)
		return string(written), err
	}}
	return template.New("body").Funcs(functions).Option("missingkey=error").Parse(o.Body)
}

// parcels returns what some items bring, each with its key: what the option key gives, if it is set.
func (s *stage) parcels(its ...*pipeline.Item) ([]delivery.Parcel, error) {
	parcels := delivery.Parcels(its...)
	if s.key == nil {
		return parcels, nil
	}
	for i, p := range parcels {
		key, err := s.key.Text(p.Value, p.Meta)
		switch {
		case err != nil:
			return nil, fmt.Errorf("option key: %w", err)
		case key == "":
			return nil, errors.New("option key: it gives nothing for the item, which cannot be told from others then")
		case s.options.Format != "bulk" && !httpguts.ValidHeaderFieldValue(key):
			return nil, fmt.Errorf("option key: %.100q holds characters that a header field cannot", key)
		}
		parcels[i].Key = key
	}
	return parcels, nil
}

// messages makes of some values what is to be sent.
func (s *stage) messages(parcels []delivery.Parcel) ([]message, error) {
	if s.options.Format != "json" && len(parcels) > 0 {
		m, err := s.message(parcels)
		return []message{m}, err
	}
	all := make([]message, 0, len(parcels))
	for i := range parcels {
		m, err := s.message(parcels[i : i+1])
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

func (s *stage) message(parcels []delivery.Parcel) (m message, err error) {
	values := make([]any, len(parcels))
	for i, p := range parcels {
		values[i] = p.Value
	}
	m.key, m.items = delivery.Together(parcels), len(parcels)
	switch format := s.options.Format; {
	case s.body != nil:
		m.mediaType = "application/json"
		var b bytes.Buffer
		err = s.body.Execute(&b, values[0])
		m.body = b.Bytes()
	case format == "xml":
		m.mediaType = "application/xml"
		m.body, err = xmlOf(values)
	case format == "jsonl":
		m.mediaType = "application/x-ndjson"
		m.body, err = joined(values, "", "\n", "\n")
	case format == "array":
		m.mediaType = "application/json"
		m.body, err = joined(values, "[", ",", "]")
	default:
		m.mediaType = "application/json"
		m.body, err = delivery.JSON(values[0])
	}
	if s.options.ContentType != "" {
		m.mediaType = s.options.ContentType
	}
	return m, err
}

func joined(values []any, before, between, after string) ([]byte, error) {
	b := []byte(before)
	for i, v := range values {
		if i > 0 {
			b = append(b, between...)
		}
		written, err := delivery.JSON(v)
		if err != nil {
			return nil, err
		}
		b = append(b, written...)
	}
	return append(b, after...), nil
}

func xmlOf(values []any) ([]byte, error) {
	list := make(xmlschema.ACIs, len(values))
	for i, v := range values {
		aci, ok := v.(*xmlschema.ACI)
		if !ok {
			return nil, fmt.Errorf("XML takes annotations, got %T; use format = \"json\"", v)
		}
		list[i] = aci
	}
	return list.Canonical(), nil
}
