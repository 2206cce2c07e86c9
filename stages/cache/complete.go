package cache

import (
	"maps"
	"net/http"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/stages/internal/linkset"
	"github.com/webrace/webrace/storage/objects"
)

// complete adds to a document that was not fetched what the stages behind this one make use of. To read a body and
// extract its text is most of the work on a page that was fetched, so nothing is read that no stage wants.
func (s *stage) complete(d *webrace.Document, v objects.Version) error {
	d.MediaType, d.Charset, d.Language, d.Truncated = v.MediaType, v.Charset, v.Language, v.Truncated
	wantsText := s.env.Wants("", webrace.PartText)
	if !wantsText && !s.env.Wants("", webrace.PartBody) {
		return nil
	}
	body, header, err := s.objects.Body(v)
	if err != nil {
		return err // not found is impossible: the version is pinned
	}
	s.env.Counter("recalled").Add(1)
	if body == nil {
		body = []byte{}
	}
	d.Body, d.Header = body, merged(header, d.Header)
	if !wantsText {
		return nil
	}
	r, err := extract.Document(body, extract.ContentType(header, v.MediaType), d.URL, extraction)
	if err != nil {
		return err
	}
	d.MediaType, d.Charset, d.Language, d.Title, d.Thread, d.Text = r.MediaType, r.Charset, r.Language, r.Title, r.Thread, r.Text
	d.Canonical = r.CanonicalOf(d.Header, d.URL, extraction.Rules)
	return nil
}

// extraction is of text alone; the links are stored.
var extraction = extract.Options{MaxLinks: 1, Rules: linkset.Defaults.Rules()}

// merged returns the header of a stored document as a server confirmed it: its fields take the place of stored ones
// (RFC 9111, section 3.2), but for those that speak of content, of which a 304 has none.
func merged(stored, confirmed http.Header) http.Header {
	all := maps.Clone(stored)
	if all == nil {
		all = make(http.Header)
	}
	for name, values := range confirmed {
		if !strings.HasPrefix(name, "Content-") {
			all[name] = values
		}
	}
	return all
}
