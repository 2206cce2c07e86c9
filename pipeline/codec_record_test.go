package pipeline

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestARecordIsItsOwnHeader(t *testing.T) {
	for _, r := range []Record{{"a": 1.0, "b": []any{"c"}, "odd name": nil}, {}} {
		kind, header, body, err := EncodeValue(r)
		if err != nil || kind != "record" || body != nil {
			t.Errorf("kind %q, body %q, %v", kind, body, err)
		}
		if got, err := DecodeValue(kind, header, body); err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%s became %v, %v", header, got, err)
		}
		if got := Fields(r); !reflect.DeepEqual(got, r) {
			t.Errorf("the fields of %v are %v", r, got)
		}
	}
	if got, err := DecodeValue("record", nil, nil); err != nil || !reflect.DeepEqual(got, Record{}) {
		t.Errorf("nothing became %#v, %v", got, err)
	}
	row := Record{"a": 1.0}
	changed, err := SetFields(row, map[string]json.RawMessage{"b": []byte("2")})
	if err != nil || !reflect.DeepEqual(changed, Record{"a": 1.0, "b": 2.0}) || len(row) != 1 {
		t.Errorf("changed to %v, %v; was %v", changed, err, row)
	}
}

func TestAListCarriesValuesOfAllKinds(t *testing.T) {
	l := List{"text", []byte("\xff"), Record{"a": true}, List{"inner"}, nil}
	kind, header, body, err := EncodeValue(l)
	if err != nil || kind != "list" {
		t.Fatalf("kind %q, %v", kind, err)
	}
	got, err := DecodeValue(kind, header, body)
	if err != nil || !reflect.DeepEqual(got, l) {
		t.Errorf("%s became %#v, %v", header, got, err)
	}
	if _, header, _, err := EncodeValue(List{func() {}}); err != nil || string(header) != `{"items":[{"kind":"json","value":null}]}` {
		t.Errorf("with a value that cannot be written: %s, %v", header, err)
	}
	if _, err := DecodeValue("list", []byte(`{"items":[{"kind":"none"}]}`), nil); err == nil {
		t.Error("an unknown kind is taken")
	}
}

func TestValuesSayTheirKind(t *testing.T) {
	for want, v := range map[string]any{"text": "x", "record": Record{}, "list": List{}, "json": 5} {
		if got := KindName(v); got != want {
			t.Errorf("%v is of kind %q, want %q", v, got, want)
		}
	}
}
