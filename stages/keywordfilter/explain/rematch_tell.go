package explain

import (
	"context"
	"fmt"
	"slices"

	"github.com/webrace/webrace/internal/simhash"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// What the owner was told already.
const (
	ToldNothing = "new"
	ToldOfPage  = "page told"
	ToldSame    = "told"
)

// WouldTell is an annotation that there would be, and what its owner was told already.
type WouldTell struct {
	*xmlschema.ACI
	Told   string
	Before *control.ACI // the latest that the owner was told; nil for none
}

// tell returns what an annotation would tell; nothing if it would be listed in one that was found before.
func (r *Rematch) tell(ctx context.Context, i *Rematched, aci *xmlschema.ACI) (*WouldTell, error) {
	way := fmt.Sprint(i.InterestHash(), aci.Docbase.Version, aci.URI)
	crawl := i.Request.Crawl.ID
	if other := r.ways[way]; other != "" && crawl != "" && crawl != other || i.told.Add(aci) {
		return nil, nil
	}
	if r.ways == nil {
		r.ways = make(map[string]string)
	}
	r.ways[way] = crawl
	r.Found++
	t := &WouldTell{ACI: aci, Told: ToldNothing}
	for _, question := range []struct {
		filter control.Filter
		told   string
	}{
		{control.Filter{Owner: r.Owner, XPath: fmt.Sprintf("/aci[@id='%s']", aci.ID)}, ToldSame},
		{control.Filter{Owner: r.Owner, URL: aci.URI}, ToldOfPage},
	} {
		for before, err := range r.Control.ACIs(ctx, question.filter) {
			if err != nil {
				return nil, err
			}
			t.Told, t.Before = question.told, &before
		}
		if t.Before != nil {
			break
		}
	}
	if t.Told == ToldSame {
		return t, nil
	}
	first, isMirror, err := r.Control.MirrorOf(ctx, aci.ID)
	if err != nil {
		return nil, err
	}
	if isMirror {
		t.Told, t.Before = ToldSame, &first
	}
	return t, nil
}

// Mirrors finds which of the documents that a URD would be told of have the same text, as the control store does
// for those that it is told of.
type Mirrors struct{ text, matched map[uint64][]*firstOf }

// firstOf is the document that is told of, and those that are listed there.
type firstOf struct {
	uri      string
	likeness uint64
	listed   map[string]bool
}

// Add reports whether an annotation is of a mirror.
func (m *Mirrors) Add(aci *xmlschema.ACI) bool {
	d := aci.Docbase
	if d.Shown == 0 {
		return false
	}
	for _, first := range m.text[d.Shown] {
		if first.lists(aci) {
			return true
		}
	}
	for _, first := range m.matched[d.Matched] {
		if simhash.Alike(first.likeness, d.Likeness) && first.lists(aci) {
			return true
		}
	}
	if m.text == nil {
		m.text, m.matched = make(map[uint64][]*firstOf), make(map[uint64][]*firstOf)
	}
	first := &firstOf{aci.URI, d.Likeness, make(map[string]bool)}
	m.text[d.Shown], m.matched[d.Matched] = append(m.text[d.Shown], first), append(m.matched[d.Matched], first)
	return false
}

// lists adds a document, unless it is the first, moved from there, or was added in an earlier version.
func (f *firstOf) lists(aci *xmlschema.ACI) bool {
	if f.uri == aci.URI || slices.Contains(aci.Former, f.uri) || f.listed[aci.URI] {
		return false
	}
	f.listed[aci.URI] = true
	return true
}
