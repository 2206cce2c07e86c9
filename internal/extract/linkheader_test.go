package extract

import (
	"net/http"
	"testing"

	"github.com/webrace/webrace/internal/urlnorm"
)

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
