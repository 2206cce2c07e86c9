package linkfield

import (
	"strings"
	"testing"
)

func TestLinkFields(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		`</a>; rel=canonical`:                                     "/a",
		`</a>;rel="canonical"`:                                    "/a",
		` </a> ; REL = "next Canonical" ; x`:                      "/a",
		`<a,b;c>; rel=canonical`:                                  "a,b;c",
		`</x>; rel=next, </a>; rel=canonical`:                     "/a",
		`</x>; title="a, <b>; rel=canonical", </y>`:               "",
		`</x>; title="\"; rel=canonical", </a>; rel="\canonical"`: "/a",
		`</x>; rel=next; rel=canonical`:                           "",
		`</x>; rel=canonicals`:                                    "",
		`</x>; rel=canonical; anchor="/other"`:                    "",
		`</x>`:                                                    "",
		`, ,</a>;;rel=canonical`:                                  "/a",
		`</x; rel=canonical`:                                      "",
		`/x; rel=canonical`:                                       "",
		`</x>; rel=next junk <, </a>; rel=canonical`:              "/a",
		`</x> junk, </a>; rel=canonical`:                          "",
		`</x>; rel="canonical`:                                    "/x",
		``:                                                        "",
	} {
		if got, _ := First(field, "canonical", ""); got != want {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
	}
}

func TestLinksOfAType(t *testing.T) {
	t.Parallel()
	const rsl = "application/rsl+xml"
	for field, want := range map[string]string{
		`<https://example.com/license.xml>; rel="license"; type="application/rsl+xml"`: "https://example.com/license.xml",
		`</cc>; rel=license, </rsl>; type="Application/RSL+xml"; rel="next license"`:   "/rsl",
		`</cc>; rel=license; type=text/html; type="application/rsl+xml"`:               "",
		`</rsl>; type="application/rsl+xml"`:                                           "",
	} {
		if got, _ := First(field, "license", rsl); got != want {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
	}
}

// What is found stands in the field between angle brackets, and a link that a sender puts first is found
// whatever follows it.
func FuzzLinkField(f *testing.F) {
	f.Add(`</a>; rel=canonical`)
	f.Add(`</x>; title="a, \"<b>"; rel=x, <y>; rel="a canonical"`)
	f.Add(`<x>;=;"";rel`)
	f.Fuzz(func(t *testing.T, field string) {
		if target, ok := First(field, "canonical", ""); ok && !strings.Contains(field, "<"+target+">") {
			t.Errorf("%q has the target %q", field, target)
		}
		first := `</first>; title="\"a,"; rel="canonical"`
		if target, ok := First(first+", "+field, "canonical", ""); !ok || target != "/first" {
			t.Errorf("before %q stands %q, %v", field, target, ok)
		}
		if strings.Contains(field, ">") {
			return
		}
		if target, ok := First("<"+field+">; rel=canonical", "canonical", ""); !ok || target != field {
			t.Errorf("%q as a target is %q, %v", field, target, ok)
		}
	})
}
