package pipeline

import (
	"encoding/json"
	"strings"
	"testing"
)

// Whatever is abridged is JSON still, no longer than it was but for what tells how much is missing, and what is
// short is left alone.
func FuzzAbridged(f *testing.F) {
	f.Add(`{"a":["` + strings.Repeat("grün ", 5000) + `"],"n":12345678901234567890}`)
	f.Add(`[` + strings.Repeat("1,", 20_000) + `1]`)
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) {
			return
		}
		short := abridged(json.RawMessage(text))
		if !json.Valid(short) {
			t.Fatalf("%q is no JSON", short)
		}
		if len(text) <= longValue && string(short) != text {
			t.Fatalf("%q became %q", text, short)
		}
	})
}

func TestALongValueIsAbridgedWhereItIsLong(t *testing.T) {
	list := make([]int, 5000)
	value, err := json.Marshal(map[string]any{"text": strings.Repeat("ü", 20_000), "list": list, "n": json.Number("12345678901234567890"), "short": "s"})
	if err != nil {
		t.Fatal(err)
	}
	var short struct {
		Text  string
		List  []any
		N     json.Number
		Short string
	}
	if err := json.Unmarshal(abridged(value), &short); err != nil {
		t.Fatal(err)
	}
	if short.Text != strings.Repeat("ü", 250)+"… 39500 more bytes" || len(short.List) != 21 || short.List[20] != "… 4980 more" || short.N != "12345678901234567890" || short.Short != "s" {
		t.Errorf("%+v", short)
	}
}
