package extract

import (
	"net/http"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/urlnorm"
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
		if got, _ := related(field, "canonical"); got != want {
			t.Errorf("%s: %q, want %q", field, got, want)
		}
	}
}

func TestTheHeaderDeclaresWhatTheDocumentDoesNot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		own    string
		header []string
		want   string
	}{
		{"http://a.org/own", []string{`</header>; rel=canonical`}, "http://a.org/own"},
		{"", []string{`</style>; rel=preload`, `<header?utm_source=x#y>; rel=canonical`}, "http://a.org/dir/header"},
		{"", []string{`<http://[>; rel=canonical`}, ""},
		{"", []string{`<mailto:x@y>; rel=canonical`}, ""},
		{"", nil, ""},
	} {
		r := &Result{Canonical: c.own}
		if got := r.CanonicalOf(http.Header{"Link": c.header}, "http://a.org/dir/page", urlnorm.Rules{Strip: urlnorm.TrackingParameters()}); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.own, c.header, got, c.want)
		}
	}
	if got := (&Result{}).CanonicalOf(http.Header{"Link": {`</a>; rel=canonical`}}, "no URL", urlnorm.Rules{}); got != "" {
		t.Errorf("relative to nothing: %q", got)
	}
}

// What is found stands in the field between angle brackets, and a link that a sender puts first is found
// whatever follows it.
func FuzzLinkField(f *testing.F) {
	f.Add(`</a>; rel=canonical`)
	f.Add(`</x>; title="a, \"<b>"; rel=x, <y>; rel="a canonical"`)
	f.Add(`<x>;=;"";rel`)
	f.Fuzz(func(t *testing.T, field string) {
		if target, ok := related(field, "canonical"); ok && !strings.Contains(field, "<"+target+">") {
			t.Errorf("%q has the target %q", field, target)
		}
		first := `</first>; title="\"a,"; rel="canonical"`
		if target, ok := related(first+", "+field, "canonical"); !ok || target != "/first" {
			t.Errorf("before %q stands %q, %v", field, target, ok)
		}
		if strings.Contains(field, ">") {
			return
		}
		if target, ok := related("<"+field+">; rel=canonical", "canonical"); !ok || target != field {
			t.Errorf("%q as a target is %q, %v", field, target, ok)
		}
	})
}
