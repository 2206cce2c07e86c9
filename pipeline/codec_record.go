package pipeline

import "reflect"

// Record is a value whose fields are its own: a row, an object of JSON, what was taken out of a page. A
// record is read-only once it has been emitted, as every value is.
type Record = map[string]any

func init() {
	RegisterCodec(Codec[Record, Record]{
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

// KindName returns the name of a value's kind, or "json" if it has no codec.
func KindName(v any) string {
	if k := codecs.of(v); k != nil {
		return k.name
	}
	return jsonKind
}

// open reports whether the fields of the kind are those that each value has.
func (k *codec) open() bool { return k.header == reflect.TypeFor[Record]() }
