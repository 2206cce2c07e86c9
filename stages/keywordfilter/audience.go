package keywordfilter

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/annotate"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/persistent"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// audience is everybody who may have to be told of a document, at one revision of the URD base. It does not
// change: the next one shares nearly everything with it.
type audience struct {
	revision int64
	everyone bool
	remember int          // the option of the stage
	index    *match.Index // to make the next audience's view of
	view     *match.View
	urds     urds
	crawls   persistent.Map[crawlers] // by crawl
	prefixes persistent.Map[urds]     // by the site that the prefix begins with, "" if that is not a whole one

	anyChange urds                              // those that ask for any change
	remembers [xmlschema.MostRemembered + 1]int // how many of them all remember so many versions

	selective selective // those of the URDs that look at part of a page, which the index does not have
}

// urds are URDs by id.
type urds = persistent.Map[*control.URD]

// crawlers are the URDs of one crawl.
type crawlers struct {
	urds
	private bool // the crawl uses credentials
}

// loadAudience compiles every stored URD.
func loadAudience(ctx context.Context, store *control.Store, o Options, env *pipeline.Env) (*audience, error) {
	revision, err := store.Revision(ctx)
	if err != nil {
		return nil, err
	}
	a := (&audience{
		revision: revision, everyone: o.Audience == "everyone", remember: o.Remember, index: new(match.Index), selective: newSelective(),
	}).next()
	var compiled []*match.Compiled
	for urd, err := range store.All(ctx) {
		if err != nil {
			return nil, err
		}
		if profile := a.enlist(urd, env); profile != nil {
			compiled = append(compiled, profile)
		}
	}
	a.complete(compiled, env)
	return a, nil
}

// next returns an audience that is to be changed.
func (a *audience) next() *audience {
	n := *a
	n.urds, n.crawls, n.prefixes, n.anyChange = a.urds.Editable(), a.crawls.Editable(), a.prefixes.Editable(), a.anyChange.Editable()
	n.selective = a.selective.next()
	return &n
}

// revised returns the audience as it is now, and leaves this one as it was for those who are using it.
func (a *audience) revised(ctx context.Context, store *control.Store, env *pipeline.Env) (*audience, error) {
	n := a.next()
	revised := make(map[string]*control.URD)
	for revision, err := range store.Revised(ctx, a.revision) {
		if err != nil {
			return nil, err
		}
		n.revision = max(n.revision, revision.Number)
		revised[revision.ID] = revision.URD
	}
	gone := slices.Collect(maps.Keys(revised))
	n.selective.remove(gone)
	var compiled []*match.Compiled
	for id, urd := range revised {
		n.delist(id)
		if urd == nil {
			continue
		}
		if profile := n.enlist(*urd, env); profile != nil {
			compiled = append(compiled, profile)
		}
	}
	a.index.Remove(gone...)
	n.complete(compiled, env)
	return n, nil
}

// delist takes out the URD with this id, except from the index.
func (a *audience) delist(id string) {
	urd, known := a.urds.Get(id)
	if !known {
		return
	}
	a.urds.Delete(id)
	a.anyChange.Delete(id)
	a.remembers[urd.Remembers(a.remember)]--
	if url, ok := urd.Prefix(); ok {
		watching, _ := a.prefixes.Get(siteOf(url))
		watching = watching.Editable()
		watching.Delete(id)
		a.prefixes.Set(siteOf(url), watching)
	} else if crawl, known := a.crawls.Get(urd.Crawl.ID); known {
		crawl.urds = crawl.urds.Editable()
		crawl.urds.Delete(id)
		a.crawls.Set(urd.Crawl.ID, crawl)
	}
}

// siteOf returns the beginning of a URL up to its path, or nothing if it has none.
func siteOf(url string) string {
	_, rest, ok := strings.Cut(url, "://")
	slash := strings.IndexByte(rest, '/')
	if !ok || slash < 0 {
		return ""
	}
	return url[:len(url)-len(rest)+slash]
}

// complete takes in the profiles of those who were enlisted.
func (a *audience) complete(compiled []*match.Compiled, env *pipeline.Env) {
	a.index.Add(compiled...)
	a.view = a.index.View()
	a.selective.complete()
	env.Level("interests").Store(int64(a.view.Len() + a.selective.view.Len()))
}

// enlist takes a URD in, and returns what whole pages are matched with for it. One that cannot be compiled is reported and
// left out: it must not keep the others from being told.
func (a *audience) enlist(urd control.URD, env *pipeline.Env) *match.Compiled {
	url, isPrefix := urd.Prefix()
	profile, warnings, err := match.Compile(a.profileOf(&urd))
	selects := false
	if err == nil {
		selects, err = a.selective.enlist(&urd, profile)
	}
	for _, w := range warnings {
		env.Logger.Warn("URD has a fault", "urd", urd.ID, "owner", urd.Owner, "warning", w.String())
	}
	if crawl := urd.Crawl; crawl.ID != "" {
		with, _ := a.crawls.Get(crawl.ID)
		with.private = with.private || crawl.Secret != ""
		if err == nil && !isPrefix {
			with.urds = with.urds.Editable()
			with.urds.Set(urd.ID, &urd)
		}
		a.crawls.Set(crawl.ID, with)
	}
	if err != nil {
		env.Logger.Warn("URD cannot be matched and is left out", "urd", urd.ID, "owner", urd.Owner, "error", err)
		return nil
	}
	a.urds.Set(urd.ID, &urd)
	a.remembers[urd.Remembers(a.remember)]++
	if urd.AnyChange() {
		a.anyChange.Set(urd.ID, &urd)
	}
	if isPrefix {
		watching, _ := a.prefixes.Get(siteOf(url))
		watching = watching.Editable()
		watching.Set(urd.ID, &urd)
		a.prefixes.Set(siteOf(url), watching)
	}
	if selects {
		return nil
	}
	return profile
}

// profileOf returns what is matched for a URD, and when.
func (a *audience) profileOf(urd *control.URD) match.Profile {
	p := annotate.Profile(urd.URD)
	p.Revision, p.Change, p.Remember = urd.Interest, changes[urd.Change], urd.Remembers(a.remember)
	if under, ok := urd.Prefix(); ok {
		p.Under = under
	}
	return p
}

var changes = map[string]match.Change{
	xmlschema.ChangeAdded: match.ChangeAdded, xmlschema.ChangePage: match.ChangePage, xmlschema.ChangeFirst: match.ChangeFirst,
}

// look is who is shown a document together, because the same of it is new to them: they have all seen the same
// version of it before, and remember the same number of them.
type look struct {
	seenVersions      // 0 where they do not matter: they are shown all of it
	whole        bool // they have seen a version, and are shown all of it if its text has changed since, and is not known
	match.Options
}

// of returns for whom the document is matched, and on what part of it.
func (a *audience) of(d *webrace.Document, changed bool) []look {
	if !a.everyone || a.isPrivate(d) {
		return a.requesters(d)
	}
	o := match.Options{Everyone: true, Unseen: !changed, URL: d.URL}
	if d.Visit != nil && d.Visit.Version > 0 {
		o.Seen = d.Visit.Revision
	}
	if o.Unseen && !a.view.AnyUnseen(o) {
		return nil
	}
	if o.Seen == 0 || o.Unseen {
		return []look{{Options: o}}
	}
	var all []look
	for remember, n := range a.remembers {
		if n > 0 {
			o.Remember = 1 << remember
			all = append(all, look{seenVersions: seenVersions{0, remember}, Options: o})
		}
	}
	return all
}

// merged finds what is new to each, and puts those together to whom it is the same: most pages have no text
// that comes and goes.
func merged(looks []look, n *novelty) (all []look, err error) {
	for _, l := range looks {
		concerned, err := l.compare(n)
		if err != nil {
			return nil, err
		}
		if !concerned {
			continue
		}
		same := slices.IndexFunc(all, func(with look) bool { return with.suits(l) })
		if same < 0 {
			all = append(all, l)
			continue
		}
		with := &all[same]
		with.seenVersions, with.Added = l.seenVersions, l.Added // nothing depends on it for who is shown all
		with.Recipients = append(with.Recipients, l.Recipients...)
		with.Remember |= l.Remember
	}
	return all, nil
}

// suits reports whether two can be shown the document together: who is shown all of it goes with any.
func (l *look) suits(other look) bool {
	return l.last == 0 && !l.Everyone || slices.Equal(l.Added, other.Added) && l.Unchanged == other.Unchanged
}

// compare finds what is new in the document to those who have seen a version, and reports whether it concerns them.
func (l *look) compare(n *novelty) (concerned bool, err error) {
	if l.seenVersions == (seenVersions{}) {
		return true, nil
	}
	if l.Added, err = n.added(l.last, l.remember); err != nil {
		return false, err
	}
	if !l.whole && !l.Everyone {
		return true, nil
	}
	changed, err := n.changed(cmp.Or(l.last, n.document.Visit.Version))
	l.Unchanged = !changed || l.remember > 1 && !slices.Contains(l.Added, true) // all of the text is known
	return !l.Unchanged || l.Everyone, err
}

// isPrivate reports whether the document was fetched with credentials: then it is for those who gave them.
func (a *audience) isPrivate(d *webrace.Document) bool {
	return d.Secret != "" || slices.ContainsFunc(d.Reach, func(r webrace.Reach) bool {
		crawl, _ := a.crawls.Get(r.Crawl)
		return crawl.private
	})
}

// requesters are those who asked for a document.
func (a *audience) requesters(d *webrace.Document) []look {
	type kind struct {
		seenVersions
		whole bool
	}
	known := make(map[kind][]match.Recipient)
	for urd, seen := range a.asked(d) {
		if _, ok := a.selective.urds.Get(urd.ID); ok {
			continue
		}
		to, concerned := recipient(urd, seen, d)
		var k kind
		if seen > 0 {
			k = kind{seenVersions{seen, urd.Remembers(a.remember)}, !to.OnlyAdded}
		}
		if concerned {
			known[k] = append(known[k], to)
		}
	}
	var all []look
	for _, k := range slices.SortedFunc(maps.Keys(known), func(x, y kind) int { return x.compare(y.seenVersions) }) {
		all = append(all, look{k.seenVersions, k.whole, match.Options{Recipients: known[k]}})
	}
	return all
}

func (v seenVersions) compare(w seenVersions) int {
	return cmp.Or(cmp.Compare(v.last, w.last), cmp.Compare(v.remember, w.remember))
}

// asked yields the URDs whose crawls came to the document within their levels, and those that watch a prefix
// of its URL, with the version that each has seen.
func (a *audience) asked(d *webrace.Document) iter.Seq2[*control.URD, int] {
	return func(yield func(*control.URD, int) bool) {
		for _, reach := range d.Reach {
			crawl, _ := a.crawls.Get(reach.Crawl)
			for _, urd := range crawl.All() {
				if reach.Within(urd.Crawl.Levels) && !yield(urd, shownBefore(urd, d.Visit)) {
					return
				}
			}
		}
		if a.isPrivate(d) {
			return
		}
		for _, site := range slices.Compact([]string{siteOf(d.URL), ""}) {
			watching, _ := a.prefixes.Get(site)
			for _, urd := range watching.All() {
				if isUnder(urd, d.URL) && !yield(urd, matchedBefore(urd, d.Visit)) {
					return
				}
			}
		}
	}
}

// isUnder reports whether a URL begins with the prefix that a URD watches, if it watches one.
func isUnder(urd *control.URD, url string) bool {
	under, isPrefix := urd.Prefix()
	return !isPrefix || strings.HasPrefix(url, under)
}

// recipient returns what part of a document a URD is shown that has seen a version of it, or none (0):
// all of it if none, otherwise what its scope of change says; false if that is nothing.
func recipient(urd *control.URD, seen int, d *webrace.Document) (match.Recipient, bool) {
	switch {
	case seen == 0:
		return match.Recipient{ID: urd.ID}, true
	case seen == d.Version || urd.Change == xmlschema.ChangeFirst:
		return match.Recipient{}, false
	}
	return match.Recipient{ID: urd.ID, OnlyAdded: urd.Change != xmlschema.ChangePage}, true
}

// seen returns the version of a document that a URD which is asked has seen, or none (0).
func (a *audience) seen(urd *control.URD, d *webrace.Document) int {
	if _, isPrefix := urd.Prefix(); isPrefix || a.everyone && !a.isPrivate(d) {
		return matchedBefore(urd, d.Visit)
	}
	return shownBefore(urd, d.Visit)
}

// matchedBefore returns the version that was matched with every URD at the last visit, if the URD was then
// as it is now; otherwise 0.
func matchedBefore(urd *control.URD, v *webrace.Visit) int {
	if v == nil || v.Revision < urd.Interest {
		return 0
	}
	return v.Version
}

// shownBefore returns the version that the URD's crawl was last shown, if it came there within the URD's levels,
// and the URD was then as it is now; otherwise 0.
func shownBefore(urd *control.URD, v *webrace.Visit) int {
	if v == nil {
		return 0
	}
	shown, ok := v.ShownTo(urd.Crawl.ID)
	if !ok || shown.Revision < urd.Interest || !(webrace.Reach{Distance: shown.Distance}).Within(urd.Crawl.Levels) {
		return 0
	}
	return shown.Version
}

// learned is what the visit remembers of the match; the baseline stays as it is when there is none.
func (a *audience) learned(baseline match.Baseline) webrace.Learned {
	return func(v *webrace.Visit) {
		v.Revision = a.revision
		if baseline != nil {
			v.Baseline = baseline
		}
	}
}
