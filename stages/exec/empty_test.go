package exec

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
	for kind, got := range tables {
		named, err := codec.Named(kind)
		if err != nil {
			t.Fatal(err)
		}
		want := make(map[string]any)
		for _, f := range named.Fields {
			zero, err := json.Marshal(f.Zero)
			if err != nil {
				t.Fatal(err)
			}
			var value any
			if err := json.Unmarshal(zero, &value); err != nil {
				t.Fatal(err)
			}
			if f.Type == "object" && value != nil {
				value = map[string]any{} // its own fields are left out one by one
			}
			if f.Name != "body" && f.Type != "time" && value != nil {
				want[f.Name] = value
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the library has\n%v, and the codec\n%v", kind, got, want)
		}
	}
	if len(tables) < 5 {
		t.Errorf("the library knows %d kinds", len(tables))
	}
}
