package keywordfilter

import (
	"errors"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/objects"
)

// Something else may come in the place of a document for a while, under 200: a page that says "back soon" in that of a
// feed, an error of a program in that of its table, or nothing at all. That is no state of the document. Nobody is
// shown it, neither those who have seen the document nor those who have not, and the visit keeps what it knew: so what
// comes next is compared with the last version that was the document.

// placeholderRounds is how many visits in a row may find something else until that is taken for the document; nothing
// never is. After as many rounds source-watch gives notice.
const placeholderRounds = 3

// whole returns the document, with what was known when it came itself; or reports that it is a placeholder, of which
// there is nothing to judge. The visit learns which it is.
func (s *stage) whole(it *pipeline.Item, learn func(webrace.Learned), last lastVersion) (d *webrace.Document, isPlaceholder bool, err error) {
	d = it.Value.(*webrace.Document)
	if d.Visit == nil || d.Visit.Version == 0 || d.Visit.Version == d.Version && !d.Visit.IsPlaceholder() {
		return d, false, nil
	}
	if d, err = s.withText(d); err != nil {
		return nil, false, err
	}
	next, err := s.placeholder(d, last)
	if err != nil {
		return nil, false, err
	}
	if next != d.Visit.Placeholder {
		learn(func(v *webrace.Visit) { v.Placeholder = next })
	}
	if next.Rounds > 0 {
		s.env.Counter("placeholders").Add(1)
		return nil, true, nil
	}
	whole := *d
	whole.Visit = d.Visit.AsOfWhole()
	return &whole, false, nil
}

// placeholder returns what the visit is to remember of what came in the place of the document: of no rounds if that
// came itself, or what came is taken for it.
func (s *stage) placeholder(d *webrace.Document, last lastVersion) (next webrace.Placeholder, err error) {
	now, before, err := s.kinds(d, last)
	next = d.Visit.Placeholder
	switch {
	case err != nil:
	case !now.StandsInFor(before):
		next.Rounds, next.Whole = 0, 0
	case d.Outcome == webrace.Fresh && next.Rounds > 0: // out of the store, which is no further round
	case next.Rounds < placeholderRounds || now == extract.Nothing:
		next.Rounds, next.Whole = next.Rounds+1, d.Visit.AsOfWhole().Version
	default:
		next = webrace.Placeholder{Accepted: d.Version}
	}
	return next, err
}

// kinds returns of what kind a document is, and its last whole version, as far as that makes a difference.
func (s *stage) kinds(d *webrace.Document, last lastVersion) (now, before extract.Kind, err error) {
	now = kindOf(d)
	if before, known := matchedLast(d); known {
		return now, extract.Kind(before.Kind), nil
	}
	v, err := last()
	switch {
	case errors.Is(err, objects.ErrNotFound) && d.Visit.IsPlaceholder(): // which that was of another kind than a page
		return now, extract.Data, nil
	case errors.Is(err, objects.ErrNotFound):
		return now, now, nil
	case err != nil:
		return 0, 0, err
	case v.Size == 0:
		return now, extract.Nothing, nil
	case now == extract.Page && extract.IsPage(v.MediaType):
		return now, extract.Page, nil
	case now == extract.Nothing, now == extract.Feed, now == extract.Data && !mayBeFeed(v.MediaType):
		return now, extract.Data, nil
	}
	r, err := s.recall(d, d.Visit.AsOfWhole().Version)
	if errors.Is(err, objects.ErrNotFound) {
		return now, now, nil
	}
	if err != nil {
		return 0, 0, err
	}
	return now, extract.KindOf(r.text.MediaType, r.body, r.text.Text), nil
}

func kindOf(d *webrace.Document) extract.Kind { return extract.KindOf(d.MediaType, d.Body, d.Text) }

// mayBeFeed reports whether a document of a type may be a feed. One of JSON is only looked at if its type tells that:
// most are none, and to read the last version of each that changes is dear.
func mayBeFeed(mediaType string) bool {
	switch mediaType {
	case "application/feed+json", "text/calendar", "text/vcard":
		return true
	}
	return strings.HasSuffix(mediaType, "/xml") || strings.HasSuffix(mediaType, "+xml")
}
