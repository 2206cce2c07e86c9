package urlnorm

import (
	"bytes"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// TestAmplification resolves references of a page, of which each line is one.
func TestAmplification(t *testing.T) {
	repeated := testutil.Repeated
	base, err := NewBase("http://h/a/b")
	if err != nil {
		t.Fatal(err)
	}
	rules := Rules{Sort: true, Sessions: true, Strip: TrackingParameters(), Index: IndexPages()}
	for _, c := range []testutil.Construct{
		repeated("references", "", "%d\n", ""),
		repeated("hosts", "", "//h%d/\n", ""),
		repeated("names of hosts in other scripts", "", "//ü%d.ö/\n", ""),
		repeated("dots", "", "../", ""),
		repeated("short paths with dots", "", "../../a/./b\n", ""),
		repeated("parameters", "?", "a%d&", ""),
		repeated("empty parameters", "", "?&&&a=&b&utm_source=a\n", ""),
		repeated("escapes", "", "%41", ""),
		repeated("sessions", "", "a;jsessionid=1\n", ""),
		repeated("slashes", "", "/", ""),
		repeated("colons", "", "a:", ""),
		repeated("at signs", "//", "a@", ""),
		repeated("tabs", "", "\t", ""),
	} {
		testutil.Amplify(t, c, func(body []byte) (over bool) {
			for line := range bytes.Lines(body) {
				url, err := base.Resolve(bytes.TrimSuffix(line, []byte("\n")))
				if over = over || err != nil; err == nil {
					Identity(rules.Apply(url))
				}
			}
			return over
		})
	}
}
