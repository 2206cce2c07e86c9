package keywordfilter

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/storage/objects"
)

// withText returns the document with its text: its own, or that of the version in the object cache. If it came with
// what is stored of it, it gets the date of that: an annotation speaks of a version, not of when that was last asked
// for.
func (s *stage) withText(d *webrace.Document) (*webrace.Document, error) {
	if d.Text != nil && d.Outcome == webrace.Fetched {
		return d, nil
	}
	copied := *d
	if d.Text != nil && d.Body != nil {
		v, err := s.objects.Get(objects.View(d.Secret, d.URL), d.Version)
		if err != nil {
			return nil, fmt.Errorf("recall: %w", err)
		}
		copied.At = v.FetchedAt
		return &copied, nil
	}
	r, err := s.recall(d, d.Version)
	if err != nil {
		return nil, err
	}
	copied.Body, copied.Text, copied.Title = r.body, r.text.Text, r.text.Title
	copied.MediaType, copied.Charset, copied.Language, copied.At = r.text.MediaType, r.text.Charset, r.text.Language, r.version.FetchedAt
	return &copied, nil
}

// recalled is a stored version and its text.
type recalled struct {
	version objects.Version
	body    []byte
	text    *extract.Result
}

// recall reads a version of a document.
func (s *stage) recall(d *webrace.Document, number int) (r recalled, err error) {
	fail := func(err error) (recalled, error) {
		return recalled{}, fmt.Errorf("recall: %w", err)
	}
	if r.version, err = s.objects.Get(objects.View(d.Secret, d.URL), number); err != nil {
		return fail(err)
	}
	var header http.Header
	if r.body, header, err = s.objects.Body(r.version); err != nil {
		return fail(err)
	}
	if r.text, err = extract.Text(r.body, header, r.version.MediaType, r.version.URL); err != nil {
		return fail(err)
	}
	r.text.Text.Cut = r.text.Text.Cut || r.version.Truncated
	s.env.Counter("recalled").Add(1)
	return r, nil
}

// textOf returns the text of a version of a document, or nil if it was removed.
func (s *stage) textOf(d *webrace.Document, version int) (*webrace.Text, error) {
	if version == 0 {
		return nil, nil
	}
	r, err := s.recall(d, version)
	if errors.Is(err, objects.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return r.text.Text, nil
}

// history is what the object cache has of a document. The baseline of a visit knows whole blocks of whole
// pages, so what is new in a part is told by the same part of the versions before.
type history struct {
	*stage
	document *webrace.Document
	budget   *selection.Budget // of whom it is looked at for
	seen     *webrace.Text     // the part that they have seen; nil if that version was removed
	number   int               // of the version that was opened last
	version  *selection.Document
	cost     int // of reading it
}

// at returns a version; nil if it was removed.
func (h *history) at(number int) (*selection.Document, error) {
	if h.number == number {
		h.budget.Spend(h.cost) // as if it were read for this owner alone
		return h.version, nil
	}
	if h.budget.Left() < 0 {
		return nil, nil
	}
	r, err := h.recall(h.document, number)
	if err != nil && !errors.Is(err, objects.ErrNotFound) {
		return nil, err
	}
	h.number, h.version, h.cost = number, nil, len(r.body)/recalledBytes
	h.budget.Spend(h.cost)
	if err == nil {
		h.version = selection.Open(h.document.URL, r.body, r.text.MediaType, r.text.Charset, r.text.Text)
	}
	return h.version, nil
}

// part returns the same part of a version; nil if that was removed, or the rules cannot be applied to it.
func (h *history) part(ctx context.Context, number int, rules *selection.Selection) (*webrace.Text, error) {
	text, _, err := h.read(ctx, number, rules)
	return text, err
}

// read is part, and reports whether the version is there and cannot be read.
func (h *history) read(ctx context.Context, number int, rules *selection.Selection) (text *webrace.Text, unread bool, err error) {
	d, err := h.at(number)
	if d == nil || err != nil {
		return nil, false, err
	}
	part, err := rules.Apply(ctx, d, h.budget)
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case err != nil:
		return nil, errors.Is(err, selection.ErrUnread), nil
	}
	return part.Text, false, nil
}

// lastPart returns the same part of a version that was seen. Of one that could not be read nothing was seen: then that
// of the last one before which could.
func (h *history) lastPart(ctx context.Context, number int, rules *selection.Selection) (*webrace.Text, error) {
	for first := max(1, number-match.MostBaselineVersions); ; number-- {
		text, unread, err := h.read(ctx, number, rules)
		if !unread || number == first {
			return text, err
		}
	}
}
