package channel

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestAnAddressShowsItsHostAlone(t *testing.T) {
	t.Parallel()
	for to, want := range map[string]string{
		"eleni@example.org": "example.org", "https://hooks.example.org:8443/hush?x=hush": "hooks.example.org:8443",
		"https://hush:hush@example.org/": "example.org", "": "no address", "hush": "an address", "http://%zz/hush": "an address",
	} {
		a := NewAddress(to, "hush")
		written, err := json.Marshal(map[string]any{"to": a, "pointer": &a})
		if err != nil {
			t.Fatal(err)
		}
		shown := fmt.Sprintf("%v %+v %#v %s %q %v", a, a, a, a, a, struct{ To Address }{a}) + string(written)
		if strings.Contains(shown, "hush") || a.String() != want {
			t.Errorf("%q shows as %s, want %s", to, shown, want)
		}
		if got, key := a.Reveal(); got != to || key != "hush" {
			t.Errorf("%q reveals %q and %q", to, got, key)
		}
	}
}
