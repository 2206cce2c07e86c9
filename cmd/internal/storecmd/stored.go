package storecmd

import (
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/storage/objects"
)

// stored is a version of a document, and its text as it is matched.
type stored struct {
	*extract.Result
	version   objects.Version
	body      []byte
	undecoded string              // why its body is not taken out of its content encodings; empty if it is
	parts     *selection.Document // what rules are applied to
}

func read(cache *objects.Store, version objects.Version) (*stored, error) {
	body, header, err := cache.Body(version)
	if err != nil {
		return nil, err
	}
	r, err := extract.Text(body, header, version.MediaType, version.URL)
	if err != nil {
		return nil, err
	}
	r.Canonical = r.CanonicalOf(header, version.URL, urlnorm.Rules{})
	return &stored{
		r, version, body, oneLine(header.Get(webrace.UndecodedField)), selection.Open(version.URL, body, r.MediaType, r.Charset, r.Text),
	}, nil
}

// asBody returns the version as one without text is told of.
func (s *stored) asBody() annotate.Body {
	return annotate.Body{MediaType: s.MediaType, Size: int64(len(s.body)), At: s.version.FetchedAt, Digest: s.version.Digest}
}

// document returns the version as it flowed through a pipeline.
func (s *stored) document() *webrace.Document {
	v := s.version
	return &webrace.Document{
		URL: v.URL, At: v.FetchedAt, MediaType: s.MediaType, Body: s.body, Title: s.Title, Text: s.Text,
		Digest: v.Digest, Version: v.Number, Secret: v.Secret, Truncated: v.Truncated,
	}
}
