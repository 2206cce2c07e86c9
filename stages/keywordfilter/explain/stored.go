package explain

import (
	"context"
	"net/http"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/internal/usage"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/storage/objects"
)

// Stored is a version of a document, and its text as it is matched.
type Stored struct {
	*extract.Result
	Version   objects.Version
	Body      []byte
	Source    string              // at which it was found, if that is no page; empty if that is not known
	Undecoded string              // why its body is not taken out of its content encodings; empty if it is
	Parts     *selection.Document // what rules are applied to

	header http.Header
}

// Read reads a version from the object cache. It ends with the context's error when that ends first: a PDF may take
// seconds.
func Read(ctx context.Context, cache *objects.Store, version objects.Version) (*Stored, error) {
	body, header, err := cache.Body(version)
	if err != nil {
		return nil, err
	}
	r, err := extract.TextContext(ctx, body, header, version.MediaType, version.URL)
	if err != nil {
		return nil, err
	}
	r.Canonical = r.CanonicalOf(header, version.URL, urlnorm.Rules{})
	return &Stored{
		r, version, body, sourceOf(version, header), wording.OneLine(header.Get(webrace.UndecodedField)), selection.Open(version.URL, body, r.MediaType, r.Charset, r.Text), header,
	}, nil
}

// Usage returns what is stated about what the version may be used for.
func (s *Stored) Usage() usage.Statements {
	return usage.OfBody(s.Version.URL, s.header, s.Body, extract.ContentType(s.header, s.Version.MediaType))
}

// sourceOf returns at which source a version was found that no page led to.
func sourceOf(version objects.Version, header http.Header) string {
	if version.Status != 0 {
		return ""
	}
	return header.Get(webrace.SourceField)
}

// AsBody returns the version as one without text is told of.
func (s *Stored) AsBody() annotate.Body {
	return annotate.Body{MediaType: s.MediaType, Size: int64(len(s.Body)), At: s.Version.FetchedAt, Digest: s.Version.Digest}
}

// Document returns the version as it flowed through a pipeline.
func (s *Stored) Document() *webrace.Document {
	v := s.Version
	return &webrace.Document{
		URL: v.URL, At: v.FetchedAt, MediaType: s.MediaType, Body: s.Body, Title: s.Title, Thread: s.Thread, Text: s.Text,
		Digest: v.Digest, Version: v.Number, Secret: v.Secret, Truncated: v.Truncated,
	}
}
