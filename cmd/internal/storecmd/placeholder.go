package storecmd

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/storage/objects"
)

// placeholders tells, of the versions of a document as they came, which stood in its place, and were shown to nobody.
type placeholders struct {
	accepted []int // those that were taken for it in the end, by what visits remember
	last     extract.Kind
	any      bool
}

func (r *reach) placeholders() *placeholders {
	p := new(placeholders)
	for _, s := range r.statuses {
		if s.Visit != nil {
			p.accepted = append(p.accepted, s.Visit.Placeholder.Accepted)
		}
	}
	return p
}

// next reports whether the next version is one.
func (p *placeholders) next(d *stored) bool {
	kind := d.kind()
	if p.any && kind.StandsInFor(p.last) && !slices.Contains(p.accepted, d.version.Number) {
		return true
	}
	p.last, p.any = kind, true
	return false
}

func (s *stored) kind() extract.Kind { return extract.KindOf(s.MediaType, s.body, s.Text) }

// placeholder returns what a visit remembers of a version that stands in the place of the document; of no rounds if it
// does not.
func (r *reach) placeholder(version int) (p webrace.Placeholder) {
	for _, s := range r.statuses {
		if s.Visit.IsPlaceholder() && s.Visit.Version == version {
			return s.Visit.Placeholder
		}
	}
	return p
}

// standsIn notes that the version at hand stands in the place of the document; empty if it does not.
func (p *page) standsIn() string {
	is := p.placeholder(p.version.Number)
	if is.Rounds == 0 {
		return ""
	}
	was := ""
	if v, err := p.cache.Get(p.version.View(), is.Whole); err == nil {
		was = " instead of " + typeOf(v)
	}
	return fmt.Sprintf("version %d stands in the place of the document, for %s so far: %s%s. What comes next is compared with version %d",
		p.version.Number, cli.Count(is.Rounds, "round"), typeOf(p.version), was, is.Whole)
}

// typeOf returns of which type a version is.
func typeOf(v objects.Version) string {
	if v.Size == 0 {
		return "nothing (0 bytes)"
	}
	return cmp.Or(v.MediaType, "an unknown type")
}
