package keywordfilter

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/annotate"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// audience is everybody who may have to be told of a document, at one revision of the URD base.
type audience struct {
	revision int64
	everyone bool
	index    *match.Index
	urds     map[string]control.URD
	newest   []control.URD       // all of them, those that were last changed first
	byCrawl  map[string][]string // ids of URDs
	prefixes []prefix
	private  map[string]bool // crawls that use credentials
}

// prefix is a URD that asks for whatever is found under a URL.
type prefix struct{ url, id string }

// loadAudience compiles every stored URD.
func loadAudience(ctx context.Context, store *control.Store, everyone bool, env *pipeline.Env) (*audience, error) {
	revision, err := store.Revision(ctx)
	if err != nil {
		return nil, err
	}
	a := &audience{
		revision: revision, everyone: everyone, index: new(match.Index), urds: make(map[string]control.URD),
		byCrawl: make(map[string][]string), private: make(map[string]bool),
	}
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

// revised returns the audience as it is now, and leaves this one as it was for those who are using it.
func (a *audience) revised(ctx context.Context, store *control.Store, env *pipeline.Env) (*audience, error) {
	n := &audience{
		revision: a.revision, everyone: a.everyone, index: a.index.Next(), urds: maps.Clone(a.urds), newest: slices.Clone(a.newest),
		byCrawl: maps.Clone(a.byCrawl), prefixes: slices.Clone(a.prefixes), private: maps.Clone(a.private),
	}
	revised := make(map[string]*control.URD)
	for revision, err := range store.Revised(ctx, a.revision) {
		if err != nil {
			return nil, err
		}
		n.revision = max(n.revision, revision.Number)
		revised[revision.ID] = revision.URD
	}
	n.delist(revised)
	var compiled []*match.Compiled
	for _, urd := range revised {
		if urd == nil {
			continue
		}
		if profile := n.enlist(*urd, env); profile != nil {
			compiled = append(compiled, profile)
		}
	}
	n.complete(compiled, env)
	return n, nil
}

// delist takes out the URDs with these ids.
func (a *audience) delist(ids map[string]*control.URD) {
	for id := range ids {
		if urd, known := a.urds[id]; known && urd.Crawl.ID != "" {
			a.byCrawl[urd.Crawl.ID] = without(a.byCrawl[urd.Crawl.ID], id)
		}
		delete(a.urds, id)
		a.index.Remove(id)
	}
	gone := func(id string) bool { _, gone := ids[id]; return gone }
	a.newest = slices.DeleteFunc(a.newest, func(u control.URD) bool { return gone(u.ID) })
	a.prefixes = slices.DeleteFunc(a.prefixes, func(p prefix) bool { return gone(p.id) })
}

// without returns a list, not changed in place, without an id.
func without(ids []string, id string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(other string) bool { return other == id })
}

// complete takes in the profiles of those who were enlisted.
func (a *audience) complete(compiled []*match.Compiled, env *pipeline.Env) {
	a.index.Add(compiled...)
	slices.SortStableFunc(a.newest, func(x, y control.URD) int { return cmp.Compare(y.Interest, x.Interest) })
	env.Counter("interests").Store(int64(a.index.Len()))
}

// enlist takes a URD in, and returns what is matched for it. One that cannot be compiled is reported and
// left out: it must not keep the others from being told.
func (a *audience) enlist(urd control.URD, env *pipeline.Env) *match.Compiled {
	if urd.Crawl.Secret != "" {
		a.private[urd.Crawl.ID] = true
	}
	profile, warnings, err := match.Compile(annotate.Profile(urd.URD))
	if err != nil {
		env.Logger.Warn("URD cannot be matched and is left out", "urd", urd.ID, "owner", urd.Owner, "error", err)
		return nil
	}
	for _, w := range warnings {
		env.Logger.Warn("URD has a fault", "urd", urd.ID, "owner", urd.Owner, "warning", w.String())
	}
	a.urds[urd.ID] = urd
	a.newest = append(a.newest, urd)
	if url, ok := urd.Prefix(); ok {
		a.prefixes = append(a.prefixes, prefix{url, urd.ID})
	} else if id := urd.Crawl.ID; id != "" {
		a.byCrawl[id] = append(slices.Clip(a.byCrawl[id]), urd.ID) // the audience before may share the list
	}
	return profile
}

// look is who is shown a document together, because they have all seen the same version of it before.
type look struct {
	since int // the version they have seen; 0 where it does not matter
	match.Options
}

// of returns for whom the document is matched, and on what part of it.
func (a *audience) of(d *webrace.Document, changed bool) []look {
	switch {
	case !a.everyone || a.isPrivate(d):
		return a.requesters(d)
	case changed:
		return []look{{Options: match.Options{Everyone: true, OnlyAdded: func(id string) bool {
			to, _ := a.recipient(id, a.matched(id, d.Visit), d)
			return to.OnlyAdded
		}}}}
	}
	var recipients []match.Recipient
	for _, urd := range a.newest {
		if a.matched(urd.ID, d.Visit) > 0 {
			break // as was everyone after it
		}
		if a.watches(urd.ID, d) {
			recipients = append(recipients, match.Recipient{ID: urd.ID})
		}
	}
	return looks(map[int][]match.Recipient{0: recipients})
}

// looks puts those together who are shown the same.
func looks(since map[int][]match.Recipient) []look {
	var all []look
	for _, version := range slices.Sorted(maps.Keys(since)) {
		if recipients := since[version]; len(recipients) > 0 {
			all = append(all, look{version, match.Options{Recipients: recipients}})
		}
	}
	return all
}

// watches reports whether a URD may be told of the document when everyone is: if it watches a prefix, of
// what lies under that alone.
func (a *audience) watches(id string, d *webrace.Document) bool {
	under, isPrefix := a.urds[id].Prefix()
	return !isPrefix || strings.HasPrefix(d.URL, under)
}

// tells reports whether a URD that was matched with a changed document, because everyone was, is told.
func (a *audience) tells(id string, d *webrace.Document) bool {
	_, concerned := a.recipient(id, a.matched(id, d.Visit), d)
	return concerned && a.watches(id, d)
}

// isPrivate reports whether the document was fetched with credentials: then it is for those who gave them.
func (a *audience) isPrivate(d *webrace.Document) bool {
	return slices.ContainsFunc(d.Reach, func(r webrace.Reach) bool { return a.private[r.Crawl] })
}

// requesters are the URDs whose crawls came to the document within their levels, and those that watch a
// prefix of its URL.
func (a *audience) requesters(d *webrace.Document) []look {
	since := make(map[int][]match.Recipient)
	add := func(id string, seen int) {
		if to, concerned := a.recipient(id, seen, d); concerned && to.OnlyAdded {
			since[seen] = append(since[seen], to)
		} else if concerned {
			since[0] = append(since[0], to)
		}
	}
	for _, reach := range d.Reach {
		for _, id := range a.byCrawl[reach.Crawl] {
			if reach.Within(a.urds[id].Crawl.Levels) {
				add(id, a.shown(id, d.Visit))
			}
		}
	}
	if a.isPrivate(d) {
		return looks(since)
	}
	for _, p := range a.prefixes {
		if strings.HasPrefix(d.URL, p.url) {
			add(p.id, a.matched(p.id, d.Visit))
		}
	}
	return looks(since)
}

// recipient returns what part of a document a URD is shown that has seen a version of it, or none (0):
// all of it if none, otherwise what its scope of change says; false if that is nothing.
func (a *audience) recipient(id string, seen int, d *webrace.Document) (match.Recipient, bool) {
	change := a.urds[id].Change
	switch {
	case seen == 0:
		return match.Recipient{ID: id}, true
	case seen == d.Version || change == xmlschema.ChangeFirst:
		return match.Recipient{}, false
	}
	return match.Recipient{ID: id, OnlyAdded: change != xmlschema.ChangePage}, true
}

// matched returns the version that was matched with every URD at the last visit, if the URD was then as it
// is now; otherwise 0.
func (a *audience) matched(id string, v *webrace.Visit) int {
	if v == nil || v.Revision < a.urds[id].Interest {
		return 0
	}
	return v.Version
}

// shown returns the version that the URD's crawl was last shown, if it came there within the URD's levels,
// and the URD was then as it is now; otherwise 0.
func (a *audience) shown(id string, v *webrace.Visit) int {
	if v == nil {
		return 0
	}
	urd := a.urds[id]
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
