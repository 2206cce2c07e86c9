package main

import (
	"context"
	"fmt"

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
	views := make(map[view][]int) // of which of them
	for u, err := range r.control.Of(owner).URDs(ctx) {
		if err != nil {
			return nil, err
		}
		at := viewOf(u, url)
		views[at] = append(views[at], len(all))
		all = append(all, portal.Explained{URD: u})
	}
	err = r.withQueues(func(queues explain.Queues) error {
		for at, numbers := range views {
			if err := r.explainView(ctx, queues, at, all, numbers); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

// view is a document: what a URL shows to who asks in one way.
type view struct{ secret, url string }

// viewOf returns as what a URD sees a URL: with its credentials, and where it asks in another way than by a plain GET.
// Whoever asks for it by its mark, sees that only if it is the URD's own.
func viewOf(u control.URD, url string) view {
	if start, mark := urlnorm.CutMark(u.Crawl.Start); mark != "" && urlnorm.Identity(start) == urlnorm.Identity(url) {
		url = u.Crawl.Start
	}
	return view{u.Crawl.Secret, url}
}

// explainView explains one document to those of some URDs that see it.
func (r *portalReader) explainView(ctx context.Context, queues explain.Queues, at view, all []portal.Explained, numbers []int) error {
	page, err := explain.LookUp(ctx, r.dir, queues, at.secret, at.url)
	if err != nil {
		return err
	}
	var urds []control.URD
	for _, i := range numbers {
		urds = append(urds, all[i].URD)
	}
	if err := page.LookAtParts(ctx, urds); err != nil {
		return err
	}
	for _, i := range numbers {
		if err := explainTo(ctx, page, &all[i]); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// explainTo explains a document to a URD. One that is not asked about it is told nothing of what is stored: that would
// be what others asked for.
func explainTo(ctx context.Context, page *explain.Page, e *portal.Explained) (err error) {
	if e.Told, err = page.Told(ctx, e.URD); err != nil {
		return err
	}
	if e.Asked, e.Why = page.Asks(e.URD); !e.Asked {
		if e.Paused {
			e.Why = "the URD is paused, and is asked about nothing"
		}
		return nil
	}
	say := func(format string, args ...any) { e.Lines = append(e.Lines, fmt.Sprintf(format, args...)) }
	if err := page.URD(ctx, e.URD, say); err != nil || page.Stored == nil {
		return err
	}
	e.Page, err = storedPage(ctx, page.Stored, e.URD)
	return err
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
