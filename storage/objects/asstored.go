package objects

import (
	"errors"
	"net/http"

	"github.com/webrace/webrace"
)

// AsStored returns the header and the body that the version of a document is stored with. Of a document that was
// fetched now, or is not stored, they are its own: a server that confirms a version sends only some fields again.
func (s *Store) AsStored(d *webrace.Document) (http.Header, []byte, error) {
	if d.Outcome == webrace.Fetched || d.Version == 0 {
		return d.Header, d.Body, nil
	}
	v, err := s.Get(View(d.Secret, d.URL), d.Version)
	if errors.Is(err, ErrNotFound) { // it was removed or moved meanwhile
		return d.Header, d.Body, nil
	}
	if err != nil {
		return nil, nil, err
	}
	body, header, err := s.Body(v)
	return header, body, err
}
