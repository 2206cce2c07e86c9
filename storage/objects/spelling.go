package objects

import (
	"bytes"
	"strings"

	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// Spelling returns the URL under which a document is stored, as it is fetched with credentials or without any if they
// have no name, of which the given URL is another spelling: the two have one [urlnorm.Identity]. It is the given one
// where that is stored, and where none is. A document is stored under the spelling by which it was asked for, and
// this is for people, who know another.
func (s *Store) Spelling(secret, url string) string {
	if err := s.users.enter(); err != nil {
		return url // the reader is told
	}
	defer s.users.Leave()
	if _, ok, err := s.find(View(secret, url), 0); ok || err != nil {
		return url
	}
	it, err := over(s.db, latestKey(""))
	if err != nil {
		return url
	}
	defer it.Close()
	identity := urlnorm.Identity(url)
	host := urlnorm.Host(identity)
	start := strings.Index(identity, host) + len(host)
	found := []string{identity[:start]}
	for rest := identity[start:]; rest != "" && len(found) > 0; {
		var ways []string
		ways, rest = urlnorm.Spellings(rest)
		found = begun(it, found, ways)
	}
	for _, other := range found {
		if key := latestKey(View(secret, other)); begins(it, key) && len(it.Key()) == len(key) {
			return other
		}
	}
	return url
}

// mostSpellings is how many spellings of the beginning of a URL are gone after: more would be a host's prank.
const mostSpellings = 256

// begun returns those beginnings of stored URLs that go on in one of the given ways.
func begun(it *pebbledb.Iterator, beginnings, ways []string) (longer []string) {
	for _, beginning := range beginnings {
		for _, way := range ways {
			if next := beginning + way; len(longer) < mostSpellings && begins(it, latestKey(next)) {
				longer = append(longer, next)
			}
		}
	}
	return longer
}

func begins(it *pebbledb.Iterator, prefix []byte) bool {
	return it.SeekGE(prefix) && bytes.HasPrefix(it.Key(), prefix)
}
