package keywordfilter

import (
	"cmp"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/storage/control"
)

// asking is URDs that a document is matched with. What is new to those who have seen a version of it is the same for
// all of them: they have all seen the same, and remember the same number of versions.
type asking struct {
	seenVersions      // 0 where they do not matter: all who ask are shown all of it
	whole        bool // there may be some who are shown all of it if its text has changed
	match.Asking
}

func (v seenVersions) compare(w seenVersions) int {
	return cmp.Or(cmp.Compare(v.last, w.last), cmp.Compare(v.remember, w.remember))
}

// questions gathers who asks about a document: those of many crowds that are asked one by one together, in lists by
// what they have seen, and each larger crowd by itself.
type questions struct {
	*audience
	document *webrace.Document
	all      profiles // with the profiles of those who are few
	lists    []asking
	crowds   []asking
}

// ask adds members of a crowd.
func (q *questions) ask(m members, s standing) {
	if m.many != nil {
		q.crowds = append(q.crowds, q.askMany(m.many.view, s)...)
		return
	}
	for _, urd := range m.few.All() {
		if s.asks(urd, q.document.URL) {
			q.askOne(urd, s.seen(urd))
		}
	}
}

// askOne adds a URD that has seen a version, or none (0).
func (q *questions) askOne(urd *control.URD, seen int) {
	to, concerned := recipient(urd, seen, q.document)
	if !concerned {
		return
	}
	var kind asking
	if seen > 0 {
		kind.seenVersions, kind.whole = seenVersions{seen, urd.Remembers(q.remember)}, !to.OnlyAdded
	}
	i := slices.IndexFunc(q.lists, func(l asking) bool { return l.seenVersions == kind.seenVersions && l.whole == kind.whole })
	if i < 0 {
		kind.View = q.all.view
		i, q.lists = len(q.lists), append(q.lists, kind)
	}
	q.lists[i].Recipients = append(q.lists[i].Recipients, to)
}

// askMany returns those with an index of their own; none if that none is concerned is told at a glance.
func (q *questions) askMany(v *match.View, s standing) (all []asking) {
	o := s.options(q.document)
	if !v.MayConcern(o) || o.Unseen && !v.AnyUnseen(o) {
		return nil
	}
	if o.Seen == 0 || o.Unseen {
		return []asking{{Asking: match.Asking{View: v, Options: o}}}
	}
	remembered := v.Remembers()
	for remember := range match.MostBaselineVersions + 1 {
		if o.Remember = remembered & (1 << remember); o.Remember != 0 {
			all = append(all, asking{seenVersions{s.shown.Version, remember}, v.Has(match.ChangePage), match.Asking{View: v, Options: o}})
		}
	}
	return all
}

// sorted returns all who ask, those who know the same one after the other.
func (q *questions) sorted() []asking {
	return slices.SortedStableFunc(slices.Values(append(q.lists, q.crowds...)), func(x, y asking) int { return x.compare(y.seenVersions) })
}

// asked returns who is asked about a document, and who about parts of it: those with the same rules one after the
// other.
func (a *audience) asked(d *webrace.Document) (wholes []asking, glances []*glance) {
	q := questions{audience: a, document: d, all: a.wholes}
	byRules := make(map[string]*questions)
	var all []*selection.Selection
	for crowd, s := range a.crowds(d) {
		q.ask(crowd.members, s)
		if crowd.parts == nil || s.allSeen(d, crowd.parts.newest) {
			continue
		}
		for rules, part := range crowd.parts.byRules.All() {
			if byRules[rules] == nil {
				byRules[rules], all = &questions{audience: a, document: d, all: a.parts}, append(all, part.rules)
			}
			byRules[rules].ask(part.members, s)
		}
	}
	slices.SortFunc(all, func(x, y *selection.Selection) int { return strings.Compare(x.Key(), y.Key()) })
	for _, rules := range all {
		for _, asking := range byRules[rules.Key()].sorted() {
			glances = append(glances, &glance{rules, asking})
		}
	}
	return q.sorted(), glances
}

// look is who is shown a document together, because the same of it is new to them.
type look struct {
	added   []bool
	depends bool // somebody among them is shown only what is new
	asked   []match.Asking
}

// merged finds what is new to each, and puts those together to whom it is the same: most pages have no text
// that comes and goes.
func merged(all []asking, n *novelty) (looks []*look, err error) {
	for _, a := range all {
		concerned, err := a.compareWith(n)
		if err != nil {
			return nil, err
		}
		if !concerned {
			continue
		}
		i := slices.IndexFunc(looks, func(l *look) bool { return !l.depends || !a.depends() || slices.Equal(l.added, a.Added) })
		if i < 0 {
			i, looks = len(looks), append(looks, new(look))
		}
		looks[i].take(a)
	}
	return looks, nil
}

// depends reports whether what is new matters to some who ask.
func (a *asking) depends() bool { return a.seenVersions != seenVersions{} }

// compareWith finds what is new in the document to those who have seen a version, and reports whether it concerns them.
func (a *asking) compareWith(n *novelty) (concerned bool, err error) {
	if !a.depends() {
		return true, nil
	}
	if a.Added, err = n.added(a.last, a.remember); err != nil || !a.whole {
		return err == nil, err
	}
	changed, err := n.changed(a.last)
	a.Unchanged = !changed || a.remember > 1 && !slices.Contains(a.Added, true) // all of the text is known
	return !a.Unchanged || a.Everyone, err
}

// take adds some who ask.
func (l *look) take(a asking) {
	if a.depends() {
		l.depends, l.added = true, a.Added
		for i := range l.asked {
			l.asked[i].Added = a.Added
		}
	}
	a.Added = l.added
	i := slices.IndexFunc(l.asked, func(with match.Asking) bool {
		return with.View == a.View && with.Everyone == a.Everyone && with.Unchanged == a.Unchanged
	})
	if i < 0 {
		l.asked = append(l.asked, a.Asking)
		return
	}
	l.asked[i].Recipients = append(l.asked[i].Recipients, a.Recipients...)
	l.asked[i].Remember |= a.Remember
}
