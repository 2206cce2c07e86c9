package codec

import "encoding/json"

// The kinds that belong to no stage.
func init() {
	Register(Codec[string, struct{}]{
		Name: "text", Doc: "a text in UTF-8", Body: "the text",
		Encode: func(text string) (struct{}, []byte) { return struct{}{}, []byte(text) },
		Decode: func(_ struct{}, body []byte) (string, error) { return string(body), nil },
	})
	Register(Codec[[]byte, struct{}]{
		Name: "bytes", Doc: "bytes of any meaning", Body: "the bytes",
		Encode: func(b []byte) (struct{}, []byte) { return struct{}{}, b },
		Decode: func(_ struct{}, body []byte) ([]byte, error) { return body, nil },
		Own:    ownBytes,
	})
}

// List is several values as one, as a batch is.
type List = []any

type listHeader struct {
	Items []listItem `json:"items,omitzero" doc:"each with its kind, its header as value, and its body in base64"`
}

type listItem struct {
	Kind  string          `json:"kind"`
	Value json.RawMessage `json:"value,omitzero"`
	Body  []byte          `json:"body,omitzero"`
}

func init() {
	Register(Codec[List, listHeader]{
		Name: "list", Doc: "several values, as a batch has them", Encode: encodeList, Decode: decodeList, Own: ownList,
	})
}

// encodeList leaves a value that cannot be written as null.
func encodeList(l List) (listHeader, []byte) {
	var h listHeader
	for _, v := range l {
		kind, value, body, err := Encode(v)
		if err != nil {
			kind, value, body = JSON, json.RawMessage("null"), nil
		}
		h.Items = append(h.Items, listItem{kind, value, body})
	}
	return h, nil
}

func decodeList(h listHeader, _ []byte) (List, error) {
	l := make(List, 0, len(h.Items))
	for _, item := range h.Items {
		v, err := Decode(item.Kind, item.Value, item.Body)
		if err != nil {
			return nil, err
		}
		l = append(l, v)
	}
	return l, nil
}

// Record is a value whose fields are its own: a row, an object of JSON, what was taken out of a page. A
// record is read-only once it has been emitted, as every value is.
type Record = map[string]any

func init() {
	Register(Codec[Record, Record]{
		Name: "record", Doc: "a row, or an object: its fields are its own",
		Encode: func(r Record) (Record, []byte) { return r, nil },
		Decode: func(r Record, _ []byte) (Record, error) {
			if r == nil {
				r = Record{}
			}
			return r, nil
		},
		Own: ownRecord,
	})
}
