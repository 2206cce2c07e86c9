package pipeline

import "encoding/json"

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
	RegisterCodec(Codec[List, listHeader]{
		Name: "list", Doc: "several values, as a batch has them", Encode: encodeList, Decode: decodeList, Own: ownList,
	})
}

// encodeList leaves a value that cannot be written as null.
func encodeList(l List) (listHeader, []byte) {
	var h listHeader
	for _, v := range l {
		kind, value, body, err := EncodeValue(v)
		if err != nil {
			kind, value, body = jsonKind, json.RawMessage("null"), nil
		}
		h.Items = append(h.Items, listItem{kind, value, body})
	}
	return h, nil
}

func decodeList(h listHeader, _ []byte) (List, error) {
	l := make(List, 0, len(h.Items))
	for _, item := range h.Items {
		v, err := DecodeValue(item.Kind, item.Value, item.Body)
		if err != nil {
			return nil, err
		}
		l = append(l, v)
	}
	return l, nil
}
