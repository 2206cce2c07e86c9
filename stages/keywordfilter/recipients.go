package keywordfilter

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// recipientsOf returns the URDs that a whole document is matched with, and those that parts of it are: the ones with
// the same rules one after the other.
func (a *audience) recipientsOf(d *webrace.Document, others *otherPages) (wholes []recipientList, parts []*partGroup) {
	r := recipientLists{audience: a, document: d, others: others, all: a.wholes}
	byRules := make(map[string]*recipientLists)
	var all []*selection.Selection
	for crowd, s := range a.crowds(d) {
		r.ask(crowd.members, s.ofPart(nil, d))
		if crowd.parts == nil || s.allSeen(d, crowd.parts.newest) {
			continue
		}
		for rules, part := range crowd.parts.byRules.All() {
			if byRules[rules] == nil {
				byRules[rules], all = &recipientLists{audience: a, document: d, others: others, all: a.parts}, append(all, part.rules)
			}
			byRules[rules].ask(part.members, s.ofPart(part.rules, d))
		}
	}
	slices.SortFunc(all, func(x, y *selection.Selection) int { return strings.Compare(x.Key(), y.Key()) })
	for _, rules := range all {
		for _, list := range byRules[rules.Key()].sorted() {
			parts = append(parts, &partGroup{rules, list})
		}
	}
	return r.sorted(), parts
}

// crowds yields the crowds that are asked about a document: those whose crawls came to it, and those who watch
// prefixes on its site; or everyone. What was fetched with credentials is for those who gave them.
func (a *audience) crowds(d *webrace.Document) iter.Seq2[crowd, crowdState] {
	return func(yield func(crowd, crowdState) bool) {
		private := a.isPrivate(d)
		if a.everyone && !private {
			yield(a.all, matchedBefore(d.Visit))
			return
		}
		for _, reach := range d.Reach {
			crawl, known := a.crawls.Get(reach.Crawl)
			if !known {
				continue
			}
			if !shownBefore(reach, d.Visit, func(s crowdState) bool { return yield(crawl, s) }) {
				return
			}
		}
		if private {
			return
		}
		for _, site := range slices.Compact([]string{urlnorm.Origin(d.URL), ""}) {
			if watching, known := a.prefixes.Get(site); known && !yield(watching, matchedBefore(d.Visit)) {
				return
			}
		}
	}
}

// crowdState is how a crowd stands to a document: how far it is from the start of their crawl, and what they were shown
// of it last; of those who have no crawl, distances are 0, and all have been shown what was matched last, if that lay
// where they watch.
type crowdState struct {
	crawl    string // empty for none
	distance int
	beyond   int           // whose levels reach as far has another state; 0 for nobody
	shown    webrace.Shown // of version 0 if that was nothing
	lacked   []int64       // the revisions at which one of several rules last found what it has not found since, in order
	former   string        // where that was shown, if the document has moved here since
}

// isPrivate reports whether the document was fetched with credentials, or by a request that may hold some: then it is
// for those who gave them.
func (a *audience) isPrivate(d *webrace.Document) bool {
	return d.Secret != "" || urlnorm.IsMarked(d.URL) || slices.ContainsFunc(d.Reach, func(r webrace.Reach) bool {
		crawl, _ := a.crawls.Get(r.Crawl)
		return crawl.private
	})
}

// matchedBefore returns the state of those with whom every document is matched.
func matchedBefore(v *webrace.Visit) (s crowdState) {
	if v != nil {
		s.shown.Version, s.shown.Revision = v.Version, v.Revision
		if v.IsInherited() {
			s.former = v.Former.URL
		}
	}
	return s
}

// shownBefore yields the states of a crawl: one, mostly. If the document has got farther from its start, who reaches
// only where it lay before has not seen what came later.
func shownBefore(reach webrace.Reach, v *webrace.Visit, yield func(crowdState) bool) bool {
	s := crowdState{crawl: reach.Crawl, distance: reach.Distance}
	if v == nil {
		return yield(s)
	}
	shown := webrace.ShownOf(v.Shown, reach.Crawl)
	for len(shown) > 1 && shown[1].Distance <= reach.Distance {
		shown = shown[1:] // who is asked reaches farther
	}
	for len(shown) > 1 {
		s.shown, s.beyond = shown[0], shown[1].Distance
		if !yield(s) {
			return false
		}
		shown, s.distance, s.beyond = shown[1:], s.beyond, 0
	}
	if len(shown) > 0 {
		s.shown = shown[0]
	}
	return yield(s)
}

// ofPart returns the state for those who look at a part of a new version. Who came while the document had no such part
// has seen nothing of it, though it may have been there before; nor has anybody if it never had one.
func (s crowdState) ofPart(rules *selection.Selection, d *webrace.Document) crowdState {
	if d.Visit == nil || len(d.Visit.Absent) == 0 || d.Visit.Version == d.Version {
		return s
	}
	if part, absent := d.Visit.Lacks(rulesID(rules)); absent && (part.Revision > 0 || rules != nil && part.Version == 0) {
		s.shown.Revision = min(s.shown.Revision, part.Revision)
	}
	for _, piece := range rules.Parts() {
		if part, absent := d.Visit.Lacks(rulesID(piece)); absent && part.Revision > 0 {
			s.lacked = append(s.lacked, part.Revision)
		}
	}
	slices.Sort(s.lacked)
	s.lacked = slices.Compact(s.lacked)
	return s
}

// missed returns the last of the revisions behind which an interest came, or 0: of what was not found since then,
// nothing was seen.
func (s crowdState) missed(interest int64) (revision int64) {
	for _, lacked := range s.lacked {
		if lacked < interest {
			revision = lacked
		}
	}
	return revision
}

// allSeen reports whether all whose interests are no newer than a revision have been shown the version at hand.
func (s crowdState) allSeen(d *webrace.Document, newest int64) bool {
	return s.shown.Version > 0 && s.shown.Version == d.Version && newest <= s.shown.Revision && s.shown.Distance <= s.distance
}

// recipientLists gathers the URDs that a document is matched with: those of small crowds together, in lists by what
// they have seen, and each larger crowd by itself.
type recipientLists struct {
	*audience
	document *webrace.Document
	others   *otherPages
	all      profiles // with the profiles of those who are few
	lists    []recipientList
	crowds   []recipientList
}

// recipientList is URDs that a document is matched with. What is new to those who have seen a version of it is the same
// for all of them: they have all seen the same, and remember the same number of versions.
type recipientList struct {
	seenVersions             // 0 where they do not matter: all who ask are shown all of it
	knows        *knownPages // what they know of other pages
	whole        bool        // there may be some who are shown all of it if its text has changed
	match.Asking
	came []bool // if all else of the document is the version that they have seen, which blocks that had not; or nil
}

// ask adds members of a crowd.
func (r *recipientLists) ask(m members, s crowdState) {
	if m.many != nil {
		r.crowds = append(r.crowds, r.askMany(m.many.view, s)...)
		return
	}
	for _, urd := range m.few.All() {
		if s.asks(urd, r.document.URL) {
			r.askOne(urd, s)
		}
	}
}

// asks reports whether a URD of the crowd is asked about a document: if that lies within the levels of its crawl, or
// under the prefix that it watches.
func (s crowdState) asks(urd *control.URD, url string) bool {
	under, watches := urd.Prefix()
	return s.isOf(urd) && (!watches || urlnorm.HasPrefix(url, under))
}

// isOf reports whether the state is that of a URD: by how far it reaches.
func (s crowdState) isOf(urd *control.URD) bool {
	within := func(distance int) bool { return webrace.Reach{Distance: distance}.Within(urd.Crawl.Levels) }
	return within(s.distance) && (s.beyond == 0 || !within(s.beyond))
}

// seen returns the version that a URD of the crowd was shown, or none (0): if the URD is since then as it is now, and
// the document lay within its levels, or under the prefix that it watches.
func (s crowdState) seen(urd *control.URD) int {
	if under, watches := urd.Prefix(); watches && s.former != "" && !urlnorm.HasPrefix(s.former, under) {
		return 0
	}
	if s.shown.Revision < urd.Interest || !(webrace.Reach{Distance: s.shown.Distance}).Within(urd.Crawl.Levels) {
		return 0
	}
	return s.shown.Version
}

// askOne adds a URD of a crowd.
func (r *recipientLists) askOne(urd *control.URD, s crowdState) {
	seen := s.seen(urd)
	to, concerned := recipient(urd, seen, r.document)
	if !concerned {
		return
	}
	kind := recipientList{knows: r.others.to(s.crawl, urd.Interest, func(distance int) bool { return webrace.Reach{Distance: distance}.Within(urd.Crawl.Levels) })}
	if kind.whole = seen == 0 && kind.knows != nil && urd.Change == xmlschema.ChangePage; seen > 0 {
		kind.seenVersions, kind.whole = seenVersions{seen, urd.Remembers(r.remember), s.missed(urd.Interest)}, !to.OnlyAdded
	}
	i := slices.IndexFunc(r.lists, func(l recipientList) bool {
		return l.seenVersions == kind.seenVersions && l.knows == kind.knows && l.whole == kind.whole
	})
	if i < 0 {
		kind.View = r.all.view
		i, r.lists = len(r.lists), append(r.lists, kind)
	}
	r.lists[i].Recipients = append(r.lists[i].Recipients, to)
}

// recipient returns what part of a document a URD is shown that has seen a version of it, or none (0):
// all of it if none, otherwise what its scope of change selects; false if that is nothing.
func recipient(urd *control.URD, seen int, d *webrace.Document) (match.Recipient, bool) {
	switch {
	case seen == 0:
		return match.Recipient{ID: urd.ID}, true
	case seen == d.Version || urd.Change == xmlschema.ChangeFirst:
		return match.Recipient{}, false
	}
	return match.Recipient{ID: urd.ID, OnlyAdded: urd.Change != xmlschema.ChangePage}, true
}

// askMany returns those with an index of their own; none if the summaries of the index rule all of them out.
func (r *recipientLists) askMany(v *match.View, s crowdState) (all []recipientList) {
	o := s.options(r.document)
	if !v.MayConcern(o) || o.Unseen && !v.AnyUnseen(o) {
		return nil
	}
	interest := v.Newest() // of all, or of those who were shown the document
	if s.shown.Version > 0 {
		interest = min(interest, s.shown.Revision)
	}
	knows := r.others.to(s.crawl, interest, v.AllWithin)
	if o.Seen == 0 || o.Unseen {
		return []recipientList{{knows: knows, Asking: match.Asking{View: v, Options: o}}}
	}
	for _, o.Until = range append(s.lacked, 0) { // 0: all who came behind the last
		for remember := range match.MostBaselineVersions + 1 {
			if o.Remember = v.Remembers() & (1 << remember); o.Remember != 0 {
				all = append(all, recipientList{
					seenVersions: seenVersions{s.shown.Version, remember, o.Since}, knows: knows, whole: v.Has(match.ChangePage),
					Asking: match.Asking{View: v, Options: o},
				})
			}
		}
		o.Since = o.Until
	}
	return all
}

// options are what makes of a match with everyone of a crowd the same.
func (s crowdState) options(d *webrace.Document) match.Options {
	o := match.Options{Everyone: true, URL: urlnorm.Identity(d.URL), Distance: s.distance, Beyond: s.beyond}
	if s.shown.Version > 0 {
		o.Seen, o.SeenDistance, o.Unseen = s.shown.Revision, s.shown.Distance, s.shown.Version == d.Version
		if s.former != "" {
			o.Former = urlnorm.Identity(s.former)
		}
	}
	return o
}

// sorted returns all who ask, those who know the same one after the other.
func (r *recipientLists) sorted() []recipientList {
	return slices.SortedStableFunc(slices.Values(append(r.lists, r.crowds...)), func(x, y recipientList) int {
		return cmp.Or(cmp.Compare(x.last, y.last), cmp.Compare(x.remember, y.remember), cmp.Compare(x.missed, y.missed))
	})
}

// seen returns the version of a document that a URD which is asked, and has these rules, has seen, or none (0).
func (a *audience) seen(urd *control.URD, rules *selection.Selection, d *webrace.Document) int {
	var s crowdState
	shownBefore(webrace.Reach{Crawl: urd.Crawl.ID}, d.Visit, func(of crowdState) bool {
		s = of
		return !of.isOf(urd)
	})
	if _, isPrefix := urd.Prefix(); isPrefix || a.everyone && !a.isPrivate(d) {
		s = matchedBefore(d.Visit)
	}
	return s.ofPart(rules, d).seen(urd)
}
