package main

import (
	"context"
	"errors"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/stages/fetch"
	"github.com/webrace/webrace/stages/portal"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// Try implements [portal.Reader].
func (r *portalReader) Try(ctx context.Context, owner string, u *xmlschema.URD) (*portal.Trial, error) {
	draft, err := r.draft(ctx, owner, u)
	if err != nil {
		return nil, err
	}
	if draft.Crawl.ID == "" {
		return nil, portal.ErrNoStart
	}
	got, err := r.fetch(ctx, draft)
	if err != nil {
		return nil, err
	}
	d := newTriedDocument(unmarked(draft.Crawl.Start), got, nil)
	if err := d.read(ctx, d.url); err != nil {
		return nil, err
	}
	tried, err := newTrial(ctx, d, []*xmlschema.URD{draft.URD})
	if err != nil {
		return nil, err
	}
	return trialOf(tried, got.Status), nil
}

// fetch gets the start of a URD as its crawl would.
func (r *portalReader) fetch(ctx context.Context, u control.URD) (*webrace.Document, error) {
	options, err := r.fetching()
	if err != nil {
		return nil, err
	}
	start, _ := urlnorm.CutMark(u.Crawl.Start)
	a := &asker{way: wayToAsk{urd: u.ID, request: u.Request, secret: u.Secret}, secrets: r.control, url: start}
	fetcher, err := fetch.NewSingle(options, a.lend())
	if err != nil {
		return nil, err
	}
	defer fetcher.Close()
	d, err := fetcher.Get(ctx, a.request())
	switch answer := (*fetch.NoDocumentError)(nil); {
	case err == nil:
		return d, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.As(err, &answer):
		return nil, &portal.FetchError{URL: unmarked(answer.URL), Status: answer.Status, Err: err}
	}
	return nil, &portal.FetchError{URL: start, Err: err}
}

// trialOf returns what a person is shown of the trial of one URD.
func trialOf(t *trial, status int) *portal.Trial {
	score := &t.Scores[0]
	shown := &portal.Trial{
		URL: t.url, Status: status, Title: t.Title, MediaType: t.MediaType, Size: len(t.body), Truncated: t.truncated,
		Worth: worthOf(score.Explanation), Alerts: score.Alerts(), Reason: string(score.Reason), Summary: score.Summary, Astray: score.Astray, Number: score.Condition,
		Selects: score.Selected != nil, Remarks: slices.Concat(score.Remarks, t.notes), Warnings: score.Warnings,
	}
	if t.Unread.Cause != "" {
		shown.Remarks = append(shown.Remarks, "its text was not read, or not whole: "+t.Unread.Reason)
	}
	text, size := &t.Whole, extentOfTrial
	if score.Selected != nil {
		text = score.Selected
		size.whole = score.AnyChange() // nothing is found in it, and all of it is looked at
	}
	shown.Text = excerptOf(text, size)
	return shown
}
