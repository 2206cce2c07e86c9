package objects

import (
	"errors"
	"net/http"

	"github.com/webrace/webrace"
)

// HeaderOf returns the header that the version of a document is stored with. Of a document that was fetched now, or is
// not stored, that is its own: a server that confirms a version sends only some of the fields again.
func (s *Store) HeaderOf(d *webrace.Document) (http.Header, error) {
	if d.Outcome == webrace.Fetched || d.Version == 0 {
		return d.Header, nil
	}
	v, err := s.Get(View(d.Secret, d.URL), d.Version)
	if errors.Is(err, ErrNotFound) { // it was removed or moved meanwhile
		return d.Header, nil
	}
	if err != nil {
		return nil, err
	}
	_, header, err := s.Body(v)
	return header, err
}
