package keywordfilter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/internal/series"
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
		v, err := s.version(d, d.Version)
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
	copied.Body, copied.Text, copied.Title, copied.Thread = r.body, r.text.Text, r.text.Title, r.text.Thread
	copied.MediaType, copied.Charset, copied.Language, copied.At = r.text.MediaType, r.text.Charset, r.text.Language, r.version.FetchedAt
	return &copied, nil
}

// version looks up a version of a document. One that is numbered as those from before it moved here is of its former
// URL, though there be one of that number here: a process that died may have stored it before the move was known, and
// nobody was shown it.
func (s *stage) version(d *webrace.Document, number int) (objects.Version, error) {
	url := d.URL
	if v := d.Visit; v != nil && number <= v.Former.Version {
		url = v.Former.URL
	}
	return s.objects.Get(objects.View(d.Secret, url), number)
}

// lastVersion looks up the version of a document that was visited last, and was the document: once, however often it is
// asked. The error is [objects.ErrNotFound] if there is none.
type lastVersion func() (objects.Version, error)

func (s *stage) lastVersionOf(d *webrace.Document) lastVersion {
	return sync.OnceValues(func() (objects.Version, error) {
		if d.Visit == nil {
			return objects.Version{}, objects.ErrNotFound
		}
		number := d.Visit.AsOfWhole().Version
		if number == 0 {
			return objects.Version{}, objects.ErrNotFound
		}
		v, err := s.version(d, number)
		if err != nil {
			return v, fmt.Errorf("look up version %d: %w", number, err)
		}
		return v, nil
	})
}

// matchedLast returns what the visit remembers of the version that [lastVersion] looks up; false if it does not, or an
// earlier release read that version otherwise.
func matchedLast(d *webrace.Document) (m webrace.Matched, known bool) {
	if d.Visit == nil {
		return m, false
	}
	v := d.Visit.AsOfWhole()
	return v.Matched, v.Version > 0 && v.Matched.Version == v.Version && v.Reading == extract.Revision
}

// matched returns what the visit is to remember of the document.
func matched(d *webrace.Document) webrace.Matched {
	links := series.Among(d.URL, d.Links)
	if len(links) > webrace.MostSeries {
		return webrace.Matched{}
	}
	return webrace.Matched{Version: d.Version, Kind: uint8(kindOf(d)), Series: links}
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
	if r.version, err = s.version(d, number); err != nil {
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

// stateOf returns the text of a version of a document, or of the last before which is a state ([match.IsState]); nil if
// there is none, or it was removed.
func (s *stage) stateOf(d *webrace.Document, version int) (*webrace.Text, error) {
	for first := version - match.MostBaselineVersions; version > max(0, first); version-- {
		if text, _, err := s.textOf(d, version); err != nil || match.IsState(text) {
			return text, err
		}
	}
	return nil, nil
}

// textOf returns the text of a version of a document and its kind, or nil if it was removed.
func (s *stage) textOf(d *webrace.Document, version int) (*webrace.Text, extract.Kind, error) {
	r, err := s.recall(d, version)
	if errors.Is(err, objects.ErrNotFound) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	return r.text.Text, extract.KindOf(r.text.MediaType, r.body, r.text.Text), nil
}

// history is what the object cache has of a document. The baseline of a visit knows whole blocks of whole
// pages, so what is new in a part is told by the same part of the versions before.
type history struct {
	*stage
	document *webrace.Document
	budget   *selection.Budget // of whom it is looked at for
	seen     *webrace.Text     // the part that they have seen; nil if that version was removed
	now      *webrace.Text     // the part as it is compared with that
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

// presence is whether a part is in a version.
type presence int

const (
	gone   presence = iota // the version was removed, or is too costly to look at
	absent                 // it has no such part, or cannot be read
	there
)

// read is part, and reports whether it is there.
func (h *history) read(ctx context.Context, number int, rules *selection.Selection) (text *webrace.Text, is presence, err error) {
	d, err := h.at(number)
	if d == nil || err != nil {
		return nil, gone, err
	}
	part, err := rules.Apply(ctx, d, h.budget)
	switch {
	case ctx.Err() != nil:
		return nil, gone, ctx.Err()
	case errors.Is(err, selection.ErrUnread):
		return nil, absent, nil
	case err != nil:
		return nil, gone, nil
	case !match.IsState(part.Text):
		return part.Text, absent, nil
	}
	return part.Text, there, nil
}

// lastPart returns the same part of a version that was seen, and its number. Of one that could not be read, or has no
// such part, nothing was seen: then it is that of the last one before which had it. It returns none if that was
// removed, with the number of that one, and the number 0 if none ever had it.
func (h *history) lastPart(ctx context.Context, seen int, rules *selection.Selection) (text *webrace.Text, number int, err error) {
	removed := 0
	for _, number := range h.mayHave(seen, rules) {
		text, is, err := h.read(ctx, number, rules)
		switch {
		case err != nil:
			return nil, 0, err
		case is == there:
			return text, number, nil
		case is == gone && removed == 0:
			removed = number
		}
	}
	return nil, removed, nil
}

// mayHave returns the versions that may have the same part as one that was seen, the last first: that one, the one that
// the visit remembers if it has not the part, and those before.
func (h *history) mayHave(seen int, rules *selection.Selection) []int {
	all, next := []int{seen}, seen-1
	if part, absent := h.document.Visit.Lacks(rulesID(rules)); absent {
		next = min(next, part.Version)
	}
	for first := next - match.MostBaselineVersions; next > max(0, first); next-- {
		all = append(all, next)
	}
	return all
}

// rulesID identifies rules in what visits remember; those that are nil look at all of the text.
func rulesID(rules *selection.Selection) uint64 { return selection.ID(rules.Key()) }
