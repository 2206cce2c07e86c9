package suggest

import "testing"

func TestSuggestions(t *testing.T) {
	t.Parallel()
	names := []string{"threshold", "match", "owner", "id", "uri"}
	for got, want := range map[string]string{
		"treshold": "threshold", "Match": "match", "onwer": "owner", "ur": "uri", "ID": "", "colour": "", "thresholds": "threshold", "x": "",
	} {
		if hint := Nearest(got, names); hint != want {
			t.Errorf("%s: %q, want %q", got, hint, want)
		}
	}
}
