package main

import (
	"context"

	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/stages/portal"
	"github.com/webrace/webrace/xmlschema"
)

// Rematch implements [portal.Reader]. The views that it goes through are those by the credentials of the URD's crawl.
func (r *portalReader) Rematch(ctx context.Context, owner string, u *xmlschema.URD, most int, found func(portal.Found)) (portal.Rematched, error) {
	var result portal.Rematched
	draft, err := r.draft(ctx, owner, u)
	if err != nil {
		return result, err
	}
	interest, err := annotate.NewInterest(draft.URD)
	if err != nil {
		return result, err
	}
	err = r.withQueues(func(queues explain.Queues) error {
		run := &explain.Rematch{
			Owner: owner, Secret: draft.Crawl.Secret, Interests: []*explain.Rematched{{Interest: interest, Request: draft}}, Newest: true,
			Cache: r.cache, Control: r.control, Queues: queues,
		}
		defer func() { result.Looked, result.Oldest = run.URLs, run.Oldest }()
		for told, err := range run.Alerts(ctx, func() {}) {
			if err != nil {
				return err
			}
			one := foundOf(told)
			if result.Found = append(result.Found, one); found != nil {
				found(one)
			}
			if most > 0 && len(result.Found) == most {
				return nil
			}
		}
		return nil
	})
	if err != nil && ctx.Err() != nil {
		result.Ended, err = true, nil
	}
	return result, err
}

func foundOf(t *explain.WouldTell) portal.Found {
	f := portal.Found{
		URL: unmarked(t.URI), Title: t.Title, Summary: t.Summary, Relevance: t.Relevance, Version: t.Docbase.Version, At: t.UpdateTime,
		Known: map[string]portal.Known{explain.ToldNothing: portal.KnownNothing, explain.ToldOfPage: portal.KnownPage, explain.ToldSame: portal.KnownSame}[t.Told],
	}
	if t.Before != nil {
		f.Seq = t.Before.Seq
	}
	return f
}
