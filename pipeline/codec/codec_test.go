package codec_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
)

func TestValuesWithoutACodecAreJSON(t *testing.T) {
	for _, c := range []struct{ value, want any }{
		{5, 5.0},
		{struct{ A string }{"x"}, map[string]any{"A": "x"}},
		{nil, nil},
	} {
		kind, header, body, err := codec.Encode(c.value)
		if err != nil || kind != "json" || body != nil {
			t.Errorf("%v: kind %q, body %q, %v", c.value, kind, body, err)
		}
		if got, err := codec.Decode(kind, header, body); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v became %v, %v", c.value, got, err)
		}
	}
	if _, _, _, err := codec.Encode(func() {}); err == nil || !strings.Contains(err.Error(), "encode a func()") {
		t.Errorf("a function: %v", err)
	}
}

func TestTextsAndBytesAreTheirBodies(t *testing.T) {
	for _, v := range []any{"", "γειά\x00", []byte("\xff")} {
		kind, header, body, err := codec.Encode(v)
		if err != nil || string(header) != "{}" {
			t.Errorf("%q: header %s, %v", v, header, err)
		}
		if got, err := codec.Decode(kind, header, body); err != nil || !reflect.DeepEqual(got, v) {
			t.Errorf("%q became %q, %v", v, got, err)
		}
	}
}

func TestAFailureCarriesItsValue(t *testing.T) {
	for _, value := range []any{"text", map[string]any{"a": "b"}, nil} {
		f := &pipeline.Failure{Stage: "shout", Value: value, Err: errors.New("hoarse"), Attempts: 3}
		kind, header, body, err := codec.Encode(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := codec.Decode(kind, header, body)
		if err != nil {
			t.Fatal(err)
		}
		back := got.(*pipeline.Failure)
		if back.Error() != f.Error() || back.Attempts != 3 || !reflect.DeepEqual(back.Value, value) {
			t.Errorf("got %+v", back)
		}
	}
	if kind, header, _, err := codec.Encode(&pipeline.Failure{Stage: "s", Value: func() {}, Err: errors.New("e")}); kind != "failure" || err != nil || strings.Contains(string(header), "value") {
		t.Errorf("with a value that cannot be written: %s, %v", header, err)
	}
}

func TestDecodeSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ kind, header, body, want string }{
		{"txt", "{}", "", `there is no kind "txt" (did you mean text?)`},
		{"quux", "{}", "", "there are bytes, failure, list, record, text"},
		{"text", "{", "", "decode text: "},
		{"json", "", "", "decode json: "},
		{"failure", `{"kind":"none"}`, "", `decode failure: there is no kind "none"`},
	} {
		if _, err := codec.Decode(c.kind, json.RawMessage(c.header), []byte(c.body)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %q", c.kind, c.header, err, c.want)
		}
	}
}

func TestFieldsOfWhatHasNoCodec(t *testing.T) {
	row := map[string]any{"a": 1, "b": 2}
	if got := codec.Fields(row, "b"); !reflect.DeepEqual(got, map[string]any{"b": 2}) {
		t.Errorf("got %v", got)
	}
	got := codec.Fields(row)
	got["a"] = 5
	if row["a"] != 1 {
		t.Error("the fields are the value itself")
	}
	if got := codec.Fields(7); got["value"] != 7 {
		t.Errorf("a number: %v", got)
	}
	if got := codec.Fields("hi"); got["body"] != "hi" {
		t.Errorf("a text: %v", got)
	}
	changed, err := codec.SetFields(row, map[string]json.RawMessage{"c": json.RawMessage("[1]")})
	if err != nil || !reflect.DeepEqual(changed, map[string]any{"a": 1, "b": 2, "c": []any{1.0}}) || len(row) != 2 {
		t.Errorf("%v, %v; the original is %v", changed, err, row)
	}
	for _, v := range []any{7, nil} {
		if _, err := codec.SetFields(v, nil); err == nil {
			t.Errorf("%v has fields to set", v)
		}
	}
	if _, err := codec.SetBody(7, nil); err == nil {
		t.Error("a number has a body")
	}
	if text, err := codec.SetBody("a", []byte("b")); err != nil || text != "b" {
		t.Errorf("%v, %v", text, err)
	}
}

func TestACodecThatIsWrongPanics(t *testing.T) {
	type named struct {
		Body string `json:"body"`
	}
	type nameless struct{ A string }
	for name, register := range map[string]func(){
		"a name twice":         func() { codec.Register(codec.Codec[int, struct{}]{Name: "text"}) },
		"a type twice":         func() { codec.Register(codec.Codec[string, struct{}]{Name: "words"}) },
		"no name":              func() { codec.Register(codec.Codec[int, struct{}]{}) },
		"the name of all":      func() { codec.Register(codec.Codec[int, struct{}]{Name: "any"}) },
		"a field without name": func() { codec.Register(codec.Codec[int, nameless]{Name: "i"}) },
		"a field named body":   func() { codec.Register(codec.Codec[int, named]{Name: "i"}) },
		"a header of no kind":  func() { codec.Register(codec.Codec[int, int]{Name: "i"}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: registered", name)
				}
			}()
			register()
		}()
	}
}

// FuzzSetFields holds the rule that a value is never changed in place.
func FuzzSetFields(f *testing.F) {
	f.Add("stage", `"x"`)
	f.Add("value", `[1, {"a": 2}]`)
	f.Add("body", `"b"`)
	f.Fuzz(func(t *testing.T, name, value string) {
		original := &pipeline.Failure{Stage: "s", Value: "v", Err: errors.New("e"), Attempts: 1}
		_, before, _, _ := codec.Encode(original)
		_, _ = codec.SetFields(original, map[string]json.RawMessage{name: json.RawMessage(value)})
		if _, after, _, _ := codec.Encode(original); string(after) != string(before) {
			t.Errorf("%s became %s", before, after)
		}
	})
}

func TestAValueIsAboutWhatItsFieldsSay(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{codec.Record{"from": "f", "uri": "u", "url": "http://a.example/"}, "http://a.example/"},
		{codec.Record{"from": "f", "uri": "u"}, "u"},
		{codec.Record{"url": 7, "from": "f"}, "f"},
		{codec.Record{"name": "tea"}, ""},
		{"text", ""}, {nil, ""}, {5, ""},
	} {
		if got := codec.Subject(c.value); got != c.want {
			t.Errorf("%v is about %q, want %q", c.value, got, c.want)
		}
	}
}

func TestAKindIsKnownByItsTypeInGo(t *testing.T) {
	for _, v := range []any{"text", []byte("bytes"), codec.Record{}, codec.List{}, &pipeline.Failure{}} {
		if got, known := codec.GoType(reflect.TypeOf(v).String()); !known || got != reflect.TypeOf(v) {
			t.Errorf("%T is %v, known %v", v, got, known)
		}
	}
	if _, known := codec.GoType("*nothing.Known"); known {
		t.Error("a type without a codec is known")
	}
}
