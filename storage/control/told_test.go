package control_test

import (
	"slices"
	"testing"

	"github.com/webrace/webrace/storage/control"
)

// VersionsTold lists the versions of a document between two others, and of no other document.
func TestVersionsTold(t *testing.T) {
	t.Parallel()
	for name, empty := range backends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := empty(t).open(control.Options{})
			ok(t, err)
			defer s.Close()
			for i, version := range []int{3, 1, 2, 5, 4} {
				a := aci(5 * i) // all of one document
				a.Docbase.Version = version
				another := aci(5*i + 1)
				another.Docbase.Version = version
				putACIs(t, s, a, another)
			}
			for _, c := range []struct {
				after, before int
				want          []control.Told
			}{{1, 5, []control.Told{{2, "u2"}, {3, "u0"}, {4, "u0"}}}, {0, 2, []control.Told{{1, "u1"}}}, {5, 9, nil}, {3, 4, nil}} {
				var got []control.Told
				for told, err := range s.VersionsTold(t.Context(), aci(0).URI, c.after, c.before) {
					ok(t, err)
					got = append(got, told)
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("between %d and %d: %v, want %v", c.after, c.before, got, c.want)
				}
			}
		})
	}
}
