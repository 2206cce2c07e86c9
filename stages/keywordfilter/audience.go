package keywordfilter

import (
	"context"
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
	index    match.Index
	urds     map[string]control.URD
	byCrawl  map[string][]string // ids of URDs
	prefixes []prefix
	private  map[string]bool // crawls that use credentials
}

// prefix is a URD that asks for whatever is found under a URL.
type prefix struct{ url, id string }

// loadAudience compiles every stored URD. One that cannot be compiled is reported and left out: it must
// not keep the others from being told.
func loadAudience(ctx context.Context, store *control.Store, everyone bool, env *pipeline.Env) (*audience, error) {
	revision, err := store.Revision(ctx)
	if err != nil {
		return nil, err
	}
	a := &audience{
		revision: revision, everyone: everyone, urds: make(map[string]control.URD),
		byCrawl: make(map[string][]string), private: make(map[string]bool),
	}
	var compiled []*match.Compiled
	for urd, err := range store.All(ctx) {
		if err != nil {
			return nil, err
		}
		profile, warnings, err := match.Compile(annotate.Profile(urd.URD))
		if err != nil {
			env.Logger.Warn("URD cannot be matched and is left out", "urd", urd.ID, "owner", urd.Owner, "error", err)
			continue
		}
		for _, w := range warnings {
			env.Logger.Warn("URD has a fault", "urd", urd.ID, "owner", urd.Owner, "warning", w.String())
		}
		compiled = append(compiled, profile)
		a.enlist(urd)
	}
	a.index.Add(compiled...)
	env.Counter("interests").Store(int64(len(compiled)))
	return a, nil
}

func (a *audience) enlist(urd control.URD) {
	a.urds[urd.ID] = urd
	if url, ok := urd.Prefix(); ok {
		a.prefixes = append(a.prefixes, prefix{url, urd.ID})
		return
	}
	if urd.Crawl.ID == "" {
		return
	}
	a.byCrawl[urd.Crawl.ID] = append(a.byCrawl[urd.Crawl.ID], urd.ID)
	if urd.Crawl.Secret != "" {
		a.private[urd.Crawl.ID] = true
	}
}

// of returns who is shown the document, and whether all of it.
func (a *audience) of(d *webrace.Document, changed bool) []match.Recipient {
	var recipients []match.Recipient
	add := func(id string, seen bool) {
		urd := a.urds[id]
		switch {
		case !seen:
			recipients = append(recipients, match.Recipient{ID: id})
		case !changed || urd.Change == xmlschema.ChangeFirst:
		default:
			recipients = append(recipients, match.Recipient{ID: id, OnlyAdded: urd.Change != xmlschema.ChangePage})
		}
	}
	private := false
	asked := make(map[string]bool)
	for _, reach := range d.Reach {
		private = private || a.private[reach.Crawl]
		for _, id := range a.byCrawl[reach.Crawl] {
			if reach.Within(a.urds[id].Crawl.Levels) {
				asked[id] = true
				add(id, a.hasSeen(id, d.Visit))
			}
		}
	}
	if private {
		return recipients // what was fetched with credentials is for those who gave them
	}
	for _, p := range a.prefixes {
		if strings.HasPrefix(d.URL, p.url) {
			add(p.id, a.hasSeen(p.id, d.Visit))
		}
	}
	if a.everyone {
		for id, urd := range a.urds {
			if _, isPrefix := urd.Prefix(); !isPrefix && !asked[id] {
				add(id, a.wasMatched(id, d.Visit))
			}
		}
	}
	return recipients
}

// wasMatched reports whether the last visit was matched with the URD as it is now.
func (a *audience) wasMatched(id string, v *webrace.Visit) bool {
	return v != nil && v.Version > 0 && v.Revision >= a.urds[id].Revision
}

// hasSeen reports whether the URD was shown the document on an earlier visit: it was matched as it is
// now, and its crawl had come there within its levels.
func (a *audience) hasSeen(id string, v *webrace.Visit) bool {
	if !a.wasMatched(id, v) {
		return false
	}
	urd := a.urds[id]
	if urd.Crawl.ID == "" {
		return true
	}
	distance, ok := webrace.Distance(v.Reach, urd.Crawl.ID)
	return ok && webrace.Reach{Distance: distance}.Within(urd.Crawl.Levels)
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
