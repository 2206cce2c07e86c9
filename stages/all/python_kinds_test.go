package all

import (
	"encoding/json"
	osexec "os/exec"
	"reflect"
	"testing"

	"github.com/webrace/webrace/pipeline/codec"
)

// TestPythonKnowsWhatIsLeftOut holds the table of zero values of the Python library against the codecs.
func TestPythonKnowsWhatIsLeftOut(t *testing.T) {
	program, err := osexec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here")
	}
	c := osexec.Command(program, "-B", "-c", "import json, webrace_stage; print(json.dumps(webrace_stage.EMPTY))")
	c.Dir = "../../cmd/internal/scaffold/python"
	text, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var tables map[string]map[string]any
	if err := json.Unmarshal(text, &tables); err != nil {
		t.Fatal(err)
	}
	for _, kind := range codec.All() {
		got, known := tables[kind.Name]
		if kind.Name == "record" { // its fields are its own
			continue
		}
		if want := zeroes(t, kind); !known || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the library has\n%v, and the codec\n%v", kind.Name, got, want)
		}
		delete(tables, kind.Name)
	}
	if len(tables) > 0 {
		t.Errorf("the library knows kinds that there are not: %v", tables)
	}
}

// zeroes returns what the fields of a kind are where they are left out, but for its body.
func zeroes(t *testing.T, kind codec.Info) map[string]any {
	t.Helper()
	want := make(map[string]any)
	for _, f := range kind.Fields {
		zero, err := json.Marshal(f.Zero)
		if err != nil {
			t.Fatal(err)
		}
		var value any
		if err := json.Unmarshal(zero, &value); err != nil {
			t.Fatal(err)
		}
		switch {
		case f.Type == "object" && value != nil:
			value = map[string]any{} // its own fields are left out one by one
		case f.Type == "time":
			value = nil
		}
		if f.Name != codec.Body {
			want[f.Name] = value
		}
	}
	return want
}
