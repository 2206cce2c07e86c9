package storecmd

import (
	"slices"
	"testing"

	"github.com/webrace/webrace/storage/control"
)

func TestAnErrorIsSaidOnce(t *testing.T) {
	for stored, want := range map[string][]string{
		"a: b: c\nb: c\nc":            {"a: b: c"},
		"deliver: gave up\ntimed out": {"deliver: gave up", "timed out"},
		"broken":                      {"broken"},
	} {
		if got := errorsOf(control.DeadLetter{Error: stored}); !slices.Equal(got, want) {
			t.Errorf("%q is said as %q, want %q", stored, got, want)
		}
	}
}
