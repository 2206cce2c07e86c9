package expression

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

func TestKeyTellsItemsApartByItsExpressionOrNotAtAll(t *testing.T) {
	for text, want := range map[string]string{"": "", "value % 2": "1", `meta["a"]`: "b"} {
		key, err := CompileKey(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := key.Of(&pipeline.Item{Value: 3, Meta: map[string]string{"a": "b"}})
		if err != nil || got != want {
			t.Errorf("%q gives %q, %v; want %q", text, got, err, want)
		}
	}
	var fault *pipeline.OptionError
	if _, err := CompileKey("value %"); !errors.As(err, &fault) || fault.Option != "key" {
		t.Errorf("got %v, want a fault of key", err)
	}
	key, err := CompileKey("value % 2")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := key.Of(&pipeline.Item{Value: "x"}); err == nil {
		t.Error("a key that cannot be evaluated is no error")
	}
}

func TestPartsAreThoseThatTheFieldsTellOf(t *testing.T) {
	for text, want := range map[string]string{
		"url":                    "",
		"title":                  "text",
		"len(body) + len(links)": "body links",
		"text contains 'a'":      "text",
		"version > 1":            "version",
		"media_type":             "body",
		"value":                  "*",
		"meta.x":                 "",
		"let title = url; title": "",
		"outcome + title":        "", // it asks how the document was obtained, and decides
		"outcome == 'fetched' and text contains 'a' or false": "",
	} {
		if got := strings.Join(KeyParts(text), " "); got != want {
			t.Errorf("%s needs %q, want %q", text, got, want)
		}
	}
	if got := KeyParts(""); got == nil || len(got) != 0 {
		t.Errorf("no key needs %#v", got)
	}
}

func TestKeysOfWhatIsAlike(t *testing.T) {
	t.Parallel()
	key, err := CompileKey("a.b")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]any{}
	for _, value := range []any{nil, "", 7, "7", true, "true", "null", "\x00null", "\x00", "\x00\"7", []any{}, "[]", map[string]any{}, time.Unix(7, 0)} {
		identity, got, err := key.Value(&pipeline.Item{Value: pipeline.Record{"a": map[string]any{"b": value}}})
		if err != nil || !reflect.DeepEqual(got, value) {
			t.Errorf("%#v is %#v, %v", value, got, err)
		}
		if before, known := seen[identity]; known {
			t.Errorf("%#v and %#v have the same key %q", before, value, identity)
		}
		seen[identity] = value
	}
	identity, got, err := key.Value(&pipeline.Item{Value: pipeline.Record{"a": map[string]any{"c": 1}}})
	if before, known := seen[identity]; err != nil || got != any(Missing{}) || known {
		t.Errorf("what is missing has the key %q, as %#v; it is %#v, %v", identity, before, got, err)
	}
}
