package codec_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/webrace/webrace/pipeline/codec"
)

func TestARecordIsItsOwnHeader(t *testing.T) {
	for _, r := range []codec.Record{{"a": 1.0, "b": []any{"c"}, "odd name": nil}, {}} {
		kind, header, body, err := codec.Encode(r)
		if err != nil || kind != "record" || body != nil {
			t.Errorf("kind %q, body %q, %v", kind, body, err)
		}
		if got, err := codec.Decode(kind, header, body); err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%s became %v, %v", header, got, err)
		}
		if got := codec.Fields(r); !reflect.DeepEqual(got, r) {
			t.Errorf("the fields of %v are %v", r, got)
		}
	}
	if got, err := codec.Decode("record", nil, nil); err != nil || !reflect.DeepEqual(got, codec.Record{}) {
		t.Errorf("nothing became %#v, %v", got, err)
	}
	row := codec.Record{"a": 1.0}
	changed, err := codec.SetFields(row, map[string]json.RawMessage{"b": []byte("2")})
	if err != nil || !reflect.DeepEqual(changed, codec.Record{"a": 1.0, "b": 2.0}) || len(row) != 1 {
		t.Errorf("changed to %v, %v; was %v", changed, err, row)
	}
}

func TestAListCarriesValuesOfAllKinds(t *testing.T) {
	l := codec.List{"text", []byte("\xff"), codec.Record{"a": true}, codec.List{"inner"}, nil}
	kind, header, body, err := codec.Encode(l)
	if err != nil || kind != "list" {
		t.Fatalf("kind %q, %v", kind, err)
	}
	got, err := codec.Decode(kind, header, body)
	if err != nil || !reflect.DeepEqual(got, l) {
		t.Errorf("%s became %#v, %v", header, got, err)
	}
	if _, header, _, err := codec.Encode(codec.List{func() {}}); err != nil || string(header) != `{"items":[{"kind":"json","value":null}]}` {
		t.Errorf("with a value that cannot be written: %s, %v", header, err)
	}
	if _, err := codec.Decode("list", []byte(`{"items":[{"kind":"none"}]}`), nil); err == nil {
		t.Error("an unknown kind is taken")
	}
}

func TestValuesSayTheirKind(t *testing.T) {
	for want, v := range map[string]any{"text": "x", "record": codec.Record{}, "list": codec.List{}, "json": 5} {
		if got := codec.Kind(v); got != want {
			t.Errorf("%v is of kind %q, want %q", v, got, want)
		}
	}
}
