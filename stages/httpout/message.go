package httpout

import (
	"bytes"
	"fmt"
	"text/template"

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

// messages makes of some values what is to be sent.
func (s *stage) messages(values []any) ([]message, error) {
	if s.options.Format != "json" && len(values) > 0 {
		m, err := s.message(values)
		return []message{m}, err
	}
	all := make([]message, 0, len(values))
	for _, v := range values {
		m, err := s.message([]any{v})
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

func (s *stage) message(values []any) (m message, err error) {
	if m.key, err = delivery.Keys(values); err != nil {
		return m, err
	}
	m.items = len(values)
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
