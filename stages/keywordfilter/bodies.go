package keywordfilter

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
)

// A picture, an archive, an empty page has no text that could be matched. Its owners who ask for any change are told
// when its body changes. But a page that has lost its text, and is of the type it was of, tells nothing for now: that
// is no state, and no news.

// matchWithoutText matches a document without text, which may still state something as RDF. The visit remembers that
// the text is absent, as of any part.
func (m *matching) matchWithoutText(ctx context.Context, parts []*partGroup) error {
	if err := m.matchBody(ctx); err != nil {
		return err
	}
	if err := m.matchParts(ctx, asksForData(parts)); err != nil {
		return err
	}
	m.look(nil, nil)
	for _, g := range parts {
		m.look(g.rules, nil)
	}
	return nil
}

// matchBody emits an annotation for each URD that asks for any change of a document without text.
func (m *matching) matchBody(ctx context.Context) error {
	d := m.document
	lost, err := m.lostText()
	if err != nil {
		return err
	}
	if !lost {
		m.novelty.next = match.Baseline{}
	}
	now := annotate.BodyOf(d)
	for urd, seen := range m.audience.askedForAnyChange(d) {
		if _, concerned := recipient(urd, seen, d); !concerned || seen > 0 && lost {
			continue
		}
		m.stage.env.Counter("matched").Add(1)
		summary, err := m.stage.bodySummary(d, seen, now)
		if err != nil {
			return err
		}
		if summary == "" {
			continue
		}
		if err := m.emit(ctx, newAlert{urd, annotate.BodyAlert(urd.URD, now, summary), seen, nil}); err != nil {
			return err
		}
	}
	return nil
}

// lostText reports whether the document had a text at the last visit, and has the same type now.
func (m *matching) lostText() (bool, error) {
	d := m.document
	if len(baselineOf(d.Visit)) == 0 || d.Visit.Version == d.Version {
		return len(baselineOf(d.Visit)) > 0, nil
	}
	before, err := m.stage.version(d, d.Visit.Version)
	if errors.Is(err, objects.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look up version %d: %w", d.Visit.Version, err)
	}
	now, err := m.stage.version(d, d.Version)
	if err != nil {
		return false, fmt.Errorf("look up version %d: %w", d.Version, err)
	}
	return now.MediaType == before.MediaType, nil
}

// askedForAnyChange yields the URDs that are told of any change of a whole document, and the version they have seen.
func (a *audience) askedForAnyChange(d *webrace.Document) iter.Seq2[*control.URD, int] {
	return func(yield func(*control.URD, int) bool) {
		for crowd, s := range a.crowds(d) {
			for urd := range a.forAnyChange(crowd.members) {
				if s.asks(urd, d.URL) && !yield(urd, s.seen(urd)) {
					return
				}
			}
		}
	}
}

// forAnyChange yields the members that ask for any change.
func (a *audience) forAnyChange(m members) iter.Seq[*control.URD] {
	return func(yield func(*control.URD) bool) {
		for _, urd := range m.few.All() {
			if urd.AnyChange() && !yield(urd) {
				return
			}
		}
		if m.many == nil {
			return
		}
		for c := range m.many.view.AnyChange() {
			if urd, _ := a.urds.Get(c.ID()); urd.AnyChange() && !yield(urd) {
				return
			}
		}
	}
}

// bodySummary describes what the document is, and what it was in the version that a URD has seen; empty if that was the
// same.
func (s *stage) bodySummary(d *webrace.Document, seen int, now annotate.Body) (string, error) {
	if seen == 0 {
		return now.String(), nil
	}
	before, err := s.version(d, seen)
	if errors.Is(err, objects.ErrNotFound) {
		return now.String(), nil
	}
	if err != nil {
		return "", fmt.Errorf("look up version %d: %w", seen, err)
	}
	return now.Since(annotate.Body{MediaType: before.MediaType, Size: before.Size, At: before.FetchedAt, Digest: before.Digest}), nil
}
