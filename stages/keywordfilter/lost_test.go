package keywordfilter

import (
	"fmt"
	"slices"
	"testing"

	"github.com/webrace/webrace/xmlschema"
)

// A request dies when annotations of its version are stored, and the document has changed again when it is repeated:
// what was told is not told again with what came since, and the visit is as if no request had died.
func TestWhatWasToldOfALostVersionIsNotToldAgain(t *testing.T) {
	for _, missing := range []int{0, 1, 3} { // annotations of the lost version that were not stored when the process died
		t.Run(fmt.Sprint(missing), func(t *testing.T) {
			f := newFixture(t)
			eleni := f.urd("eleni", start, "ferry")
			f.urd("any", start, "", process(xmlschema.ProcessNonFilter))
			f.urd("page", start, "ferry", scope("page"))
			f.urd("part", start, "ferry", func(u *xmlschema.URD) { u.Select = []xmlschema.Rule{{Language: xmlschema.RuleCSS, Text: "p"}} })
			other := f.urd("other", "http://other.example/", "ferry")
			reach := reached(0, eleni)
			all := []string{"any", "eleni", "page", "part"}
			first := f.mustTell(f.match(f.fetched(html("a ferry"), nil, reach)), all...)
			lost := f.mustTell(f.match(f.fetched(html("a ferry", "the second ferry"), &first.visit, reach)), all...)
			if _, err := f.control.PutACIs(f.Context(), lost.acis[missing:]); err != nil {
				t.Fatal(err)
			}
			d := f.fetched(html("a ferry", "the second ferry", "the third ferry"), &first.visit, reach)
			got := f.match(d)
			undisturbed := *d
			undisturbed.Visit = &lost.visit
			want := f.mustTell(f.match(&undisturbed), all...)
			if both := slices.Sorted(slices.Values(slices.Concat(lost.ids(), want.ids()))); !slices.Equal(got.ids(), both) || got.Counters["lost_versions"] != 1 {
				t.Errorf("told %q, want %q; %v", got.ids(), both, got.Counters)
			}
			if fmt.Sprintf("%+v", got.visit) != fmt.Sprintf("%+v", want.visit) {
				t.Errorf("it remembers\n%+v, want\n%+v", got.visit, want.visit)
			}
			for _, a := range got.acis {
				for _, as := range slices.Concat(lost.acis, want.acis) {
					if as.ID == a.ID && as.Summary != a.Summary {
						t.Errorf("%s is told %q of version %d, want %q", a.Owner, a.Summary, a.Docbase.Version, as.Summary)
					}
				}
			}
			d.Reach = reached(0, other) // who was told of nothing
			if got := f.mustTell(f.match(d), "other"); got.Counters["lost_versions"] != 0 {
				t.Errorf("counters %v", got.Counters)
			}
		})
	}
}
