package expression

import (
	"errors"
	"testing"

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
