package main

import (
	"context"

	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/stages/portal"
	"github.com/webrace/webrace/storage/control"
)

// Explain implements [portal.Reader].
func (r *portalReader) Explain(ctx context.Context, owner, url string) ([]portal.Explained, error) {
	url, err := urlnorm.ParseAddress(url)
	if err != nil {
		return nil, err
	}
	var all []portal.Explained
	err = r.withQueues(func(queues explain.Queues) error {
		found, err := queues.ToOwner(ctx, r.dir, owner, url)
		if err != nil {
			return err
		}
		for _, e := range found {
			one := portal.Explained{URD: e.URD, Asked: e.Asked, Why: e.Why, Told: e.Told, Lines: e.Lines}
			if e.Stored != nil {
				if one.Page, err = storedPage(ctx, e.Stored, e.URD); err != nil {
					return err
				}
			}
			all = append(all, one)
		}
		return nil
	})
	return all, err
}

// storedPage returns what is stored, and what it is worth to a URD.
func storedPage(ctx context.Context, stored *explain.Stored, u control.URD) (*portal.StoredPage, error) {
	page := &portal.StoredPage{Version: versionOf(stored.Version), Title: stored.Title}
	interest, err := annotate.NewInterest(u.URD)
	if err != nil {
		page.Fault = err.Error()
		return page, nil
	}
	score := explain.Score{Interest: interest}
	text, err := score.Look(ctx, stored.Parts)
	if err != nil {
		return nil, err
	}
	if len(text.Blocks) == 0 && interest.Selects() {
		page.Fault = "what it selects is not on the page"
		if len(score.Remarks) > 0 {
			page.Fault = score.Remarks[0]
		}
		return page, nil
	}
	why, alert := interest.WorthOf(stored.AsBody(), text)
	page.Worth, page.Meets = worthOf(why), alert != nil
	return page, nil
}
