package explain

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage/objects"
)

// placeholders tells, of the versions of a document as they came, which stood in its place, and were shown to nobody.
type placeholders struct {
	accepted []int // those that were taken for it in the end, by what visits remember
	last     extract.Kind
	any      bool
}

func (r *Reach) placeholders() *placeholders {
	p := new(placeholders)
	for _, s := range r.Statuses {
		if s.Visit != nil {
			p.accepted = append(p.accepted, s.Visit.Placeholder.Accepted)
		}
	}
	return p
}

// next reports whether the next version is one.
func (p *placeholders) next(d *Stored) bool {
	kind := d.kind()
	if p.any && kind.StandsInFor(p.last) && !slices.Contains(p.accepted, d.Version.Number) {
		return true
	}
	p.last, p.any = kind, true
	return false
}

func (s *Stored) kind() extract.Kind { return extract.KindOf(s.MediaType, s.Body, s.Text) }

// placeholder returns what a visit remembers of a version that stands in the place of the document; of no rounds if it
// does not.
func (r *Reach) placeholder(version int) (p webrace.Placeholder) {
	for _, s := range r.Statuses {
		if s.Visit.IsPlaceholder() && s.Visit.Version == version {
			return s.Visit.Placeholder
		}
	}
	return p
}

// standsIn notes that the version at hand stands in the place of the document; empty if it does not.
func (p *Page) standsIn() string {
	is := p.placeholder(p.Version.Number)
	if is.Rounds == 0 {
		return ""
	}
	was := ""
	if v, err := p.cache.Get(p.Version.View(), is.Whole); err == nil {
		was = " instead of " + TypeOf(v)
	}
	return fmt.Sprintf("version %d stands in the place of the document, for %s so far: %s%s. What comes next is compared with version %d",
		p.Version.Number, wording.Count(is.Rounds, "round"), TypeOf(p.Version), was, is.Whole)
}

// TypeOf returns of which type a version is.
func TypeOf(v objects.Version) string {
	if v.Size == 0 {
		return "nothing (0 bytes)"
	}
	return cmp.Or(v.MediaType, "an unknown type")
}
