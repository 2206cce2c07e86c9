package suggest

import (
	"strings"
	"testing"
)

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

func TestNearestIsWhatWasMeant(t *testing.T) {
	t.Parallel()
	names := []string{"fetch", "frontier", "follow", "max", "may", "on_error", "x"}
	for typo, want := range map[string]string{
		"fecth": "fetch", "ftch": "fetch", "fetchh": "fetch", "forntier": "frontier", "mx": "max", "mya": "may",
		"onerror": "on_error", "front": "frontier", "fro": "frontier", "on-error": "on_error", "completely": "", "": "", "y": "", "ab": "",
	} {
		if got := Nearest(typo, names); got != want {
			t.Errorf("nearest to %q is %q, want %q", typo, got, want)
		}
	}
}

func TestALongListOfChoicesIsOfThoseThatAreNear(t *testing.T) {
	t.Parallel()
	if got := Choices("x", []string{"b", "a"}); got != "b, a" {
		t.Errorf("of two: %q", got)
	}
	options := []string{"adaptive_delay", "allow_networks", "delay", "fresh", "headers", "max_body", "max_delay", "per_host", "proxies", "retries", "timeout"}
	if got := Choices("mxbdy", options); !strings.HasPrefix(got, "max_body, ") || !strings.HasSuffix(got, " and 6 more") || strings.Count(got, ",") != 4 {
		t.Errorf("of many: %q", got)
	}
}

// slowDistance is the definition of optimal string alignment, without a table.
func slowDistance(a, b []rune) int {
	if len(a) == 0 || len(b) == 0 {
		return len(a) + len(b)
	}
	least := min(slowDistance(a[1:], b), slowDistance(a, b[1:])) + 1
	if a[0] == b[0] {
		least = min(least, slowDistance(a[1:], b[1:]))
	} else {
		least = min(least, slowDistance(a[1:], b[1:])+1)
	}
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		least = min(least, slowDistance(a[2:], b[2:])+1)
	}
	return least
}

func FuzzDistance(f *testing.F) {
	f.Add("abcd", "badc")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a) > 6 || len(b) > 6 {
			return
		}
		if got, want := editDistance(a, b), slowDistance([]rune(a), []rune(b)); got != want {
			t.Errorf("distance of %q and %q is %d, want %d", a, b, got, want)
		}
	})
}
