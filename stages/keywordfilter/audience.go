package keywordfilter

import (
	"context"
	"maps"
	"slices"

	"github.com/webrace/webrace/internal/hashtable"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// audience is the URDs whose owners may have to be told of a document, at one revision of the URD base. It does not
// change: the next one shares nearly everything with it.
type audience struct {
	revision int64
	everyone bool
	remember int // the option of the stage
	mostFew  int // members of a crowd that are asked one by one
	urds     urds
	whens    hashtable.Map[*annotate.When] // of those URDs that have a condition on a number

	wholes   profiles             // of those who look at whole pages, but for crowds of many
	parts    profiles             // of the others, but for crowds of many
	crawls   hashtable.Map[crowd] // by crawl
	prefixes hashtable.Map[crowd] // by the site that the prefix begins with, "" if that is not a whole one
	all      crowd                // if all URDs are asked; then both indexes have all profiles
}

// urds are URDs by id.
type urds = hashtable.Map[*control.URD]

func newAudience(o Options) *audience {
	return &audience{
		everyone: o.Audience == "everyone", remember: o.Remember, mostFew: mostFew,
		wholes: profiles{index: new(match.Index)}, parts: profiles{index: new(match.Index)},
	}
}

// loadAudience compiles every stored URD that is not paused.
func loadAudience(ctx context.Context, store *control.Store, o Options, env *pipeline.Env) (*audience, error) {
	a := newAudience(o).next()
	var err error
	if a.revision, err = store.Revision(ctx); err != nil {
		return nil, err
	}
	var all []*compiledURD
	for urd, err := range store.All(ctx) {
		if err != nil {
			return nil, err
		}
		if e := a.compile(&urd, env); e != nil {
			all = append(all, e)
		}
	}
	a.join(all)
	a.report(env)
	return a, nil
}

// next returns an audience that is to be changed.
func (a *audience) next() *audience {
	n := *a
	n.whens = a.whens.Editable()
	n.urds, n.crawls, n.prefixes = a.urds.Editable(), a.crawls.Editable(), a.prefixes.Editable()
	return &n
}

// revised returns the audience as it is now, and leaves this one as it was for those who are using it.
func (a *audience) revised(ctx context.Context, store *control.Store, env *pipeline.Env) (*audience, error) {
	revision, revised := a.revision, make(map[string]*control.URD)
	for r, err := range store.Revised(ctx, a.revision) {
		if err != nil {
			return nil, err
		}
		revision = max(revision, r.Number)
		revised[r.ID] = r.URD
	}
	if len(revised) == 0 {
		return a, nil
	}
	n := a.with(revised, env)
	n.revision = revision
	n.report(env)
	return n, nil
}

// with returns the audience with other URDs, by their ids; those that are nil are gone.
func (a *audience) with(revised map[string]*control.URD, env *pipeline.Env) *audience {
	n := a.next()
	n.leave(slices.Collect(maps.Keys(revised)))
	var all []*compiledURD
	for _, urd := range revised {
		if urd == nil {
			continue
		}
		if e := n.compile(urd, env); e != nil {
			all = append(all, e)
		}
	}
	n.join(all)
	return n
}

func (a *audience) report(env *pipeline.Env) { env.Level("interests").Store(int64(a.urds.Len())) }

// compiledURD is a URD that was taken in, and is to join its crowds.
type compiledURD struct {
	*control.URD
	profile *match.Compiled
	rules   *selection.Selection // nil for whole pages
}

// compile takes a URD in, unless it is paused. One that cannot be compiled is reported and left out: it must not keep
// the others from being told. But what is fetched with its credentials is private all the same.
func (a *audience) compile(urd *control.URD, env *pipeline.Env) *compiledURD {
	if urd.Paused {
		return nil
	}
	e := &compiledURD{URD: urd}
	var warnings []match.Warning
	var err error
	if e.profile, warnings, err = match.Compile(a.profileOf(urd)); err == nil {
		e.rules, err = annotate.Selection(urd.URD)
	}
	var when *annotate.When
	if err == nil {
		when, err = annotate.NewWhen(urd.URD)
	}
	for _, w := range warnings {
		env.Logger.Warn("URD has a fault", "urd", urd.ID, "owner", urd.Owner, "warning", w.String())
	}
	if marked := urlnorm.IsMarked(urd.Crawl.Start); marked || urd.Crawl.Secret != "" {
		crawl, _ := a.crawls.Get(urd.Crawl.ID)
		crawl.private, crawl.marked = urd.Crawl.Secret != "", marked
		a.crawls.Set(urd.Crawl.ID, crawl)
	}
	if err != nil {
		env.Logger.Warn("URD cannot be matched and is left out", "urd", urd.ID, "owner", urd.Owner, "error", err)
		return nil
	}
	a.urds.Set(urd.ID, urd)
	if when != nil {
		a.whens.Set(urd.ID, when)
	}
	return e
}

// profileOf returns what is matched for a URD, and when.
func (a *audience) profileOf(urd *control.URD) match.Profile {
	p := annotate.Profile(urd.URD)
	p.Revision, p.Change, p.Remember = urd.Interest, changes[urd.Change], urd.Remembers(a.remember)
	p.Levels = urd.Crawl.Levels
	if under, ok := urd.Prefix(); ok {
		p.Under = urlnorm.Identity(under)
	}
	return p
}

var changes = map[string]match.Change{
	xmlschema.ChangeAdded: match.ChangeAdded, xmlschema.ChangePage: match.ChangePage, xmlschema.ChangeFirst: match.ChangeFirst,
}
