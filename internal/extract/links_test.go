package extract

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/urlnorm"
)

// TestRepeatedReferencesAreCountedLikeAnyOther compares what a page of many references gives with what it gives
// when each is resolved for itself.
func TestRepeatedReferencesAreCountedLikeAnyOther(t *testing.T) {
	t.Parallel()
	refs := []string{"a", "a#x", "a #x", "a ", " a", "./a", "#", "#top", "", "b?utm_source=x", "b", "b?utm_source=y#z", "/a", "//h.example/", "http://h.example",
		"mailto:x", "MAILTO:x", "javascript:a#b", "http://[", "http://[#a", "é", "%C3%A9", "../index.html", "../", "c%", "c%25", "q?b&a", "q?a&b"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var page strings.Builder
		var list []string
		for range r.IntN(60) {
			ref := refs[r.IntN(len(refs))]
			nofollow := ""
			if r.IntN(8) == 0 {
				nofollow = " rel=nofollow"
				ref += "!"
			}
			list = append(list, ref)
			fmt.Fprintf(&page, "<a href=\"%s\"%s>", ref, nofollow)
		}
		o := Options{MaxLinks: 6 + r.IntN(20), Rules: urlnorm.Rules{Strip: urlnorm.TrackingParameters(), Index: urlnorm.IndexPages(), Sort: true}}
		got, err := Document([]byte(page.String()), "text/html", "http://example.org/d/e", o)
		if err != nil {
			t.Fatal(err)
		}
		want := each(t, list, o)
		if !slices.Equal(got.Links, want.Links) || got.Refused != want.Refused || got.Repeated != want.Repeated || got.Candidates != want.Candidates {
			t.Fatalf("%q, at most %d:\n got %q %+v, %d repeated\nwant %q %+v, %d repeated", list, o.MaxLinks,
				got.Links, got.Refused, got.Repeated, want.Links, want.Refused, want.Repeated)
		}
	}
}

// each resolves references one by one; those that end in ! are not to be followed.
func each(t *testing.T, refs []string, o Options) Result {
	t.Helper()
	base, err := urlnorm.NewBase("http://example.org/d/e")
	if err != nil {
		t.Fatal(err)
	}
	r := Result{Candidates: len(refs)}
	for _, ref := range refs {
		u, err := base.Resolve([]byte(ref))
		switch {
		case strings.HasSuffix(ref, "!"):
			r.Refused.NoFollow++
		case errors.Is(err, urlnorm.ErrScheme):
			r.Refused.Scheme++
		case err != nil:
			r.Refused.Invalid++
		case slices.Contains(r.Links, o.Rules.Apply(u)):
			r.Repeated++
		case len(r.Links) == o.MaxLinks:
			r.Refused.Limit++
		default:
			r.Links = append(r.Links, o.Rules.Apply(u))
		}
	}
	return r
}
