package frontier

import "github.com/webrace/webrace"

// LastVisit returns what the last visit of a URL with some credentials left behind, or, if it was redirected,
// that of where it led in the end; nil if there was none. The pipeline's queue may be open or not.
func (s *Store) LastVisit(pipeline, secret, url string) (*webrace.Visit, error) {
	k, known, err := s.knownKeys(pipeline)
	if err != nil || !known {
		return nil, err
	}
	var last *webrace.Visit
	for range maxHops {
		rec, spelling, err := s.find(k, secret, url)
		if err != nil || rec == nil {
			return last, err
		}
		visit, err := s.readVisit(k, identify(secret, spelling))
		if err != nil || visit == nil {
			return last, err
		}
		last = visit
		if visit.Error != "" || !isRedirect(visit.Status) || rec.redirect == "" {
			break
		}
		url = rec.redirect
	}
	return last, nil
}

// maxHops is how many redirects in a row LastVisit follows, which may lead in a circle.
const maxHops = 10
