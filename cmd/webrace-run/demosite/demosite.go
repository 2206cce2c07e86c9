// Package demosite is the web site of an invented harbour town, served out of the program itself, for
// people who want to see webrace at work with nothing to set up.
//
// It is small, but no easier than a real site: pages in three encodings, relative links, base elements and
// query strings, redirects in a chain, links that lead nowhere, a page that robots.txt withholds and one
// that only the sitemap knows, feeds, compression and conditional requests. Pages can be edited while the
// site is served, and [Site.Pages] and [Site.Requests] tell what a crawl should find, and what it asked for.
//
// The files under site/ are the pages, each from its title on; layout.html puts head and foot around them.
// Files and URDs call the site by an address that does not exist, [Address], in whose place every visitor
// sees the address at which they asked.
package demosite

import (
	"maps"
	"sync"
	"time"
)

// Address is the address of the site as its files write it.
const Address = "http://www.levanda.example"

// published is when every page was last modified, until it is edited.
var published = time.Date(2025, 4, 14, 9, 0, 0, 0, time.UTC)

// Site is a site and the record of who asked for what. All its methods are safe for concurrent use.
type Site struct {
	mu        sync.RWMutex
	resources map[string]resource // by path and query
	requests  map[string]int
}

// resource is something that can be asked for.
type resource struct {
	form
	content  string // in UTF-8 if it is text
	modified time.Time
}

// New returns the site as it was published.
func New() *Site {
	return &Site{resources: load(), requests: make(map[string]int)}
}

// Edit replaces the text of a page, or of a file such as /robots.txt, by what edit makes of it, and gives
// it a new ETag and a later Last-Modified time, even if the text is the same. That time is in whole
// seconds: edited twice within one, a page has the next as its time. The text is the whole
// page, in UTF-8, with [Address] for the site's address. Edit reports whether there is such a page; edit
// must not call the site.
func (s *Site) Edit(path string, edit func(old string) string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.resources[path]
	if !ok {
		return false
	}
	r.content = edit(r.content)
	now := time.Now().UTC().Truncate(time.Second)
	if earliest := r.modified.Add(time.Second); now.Before(earliest) {
		now = earliest
	}
	r.modified = now
	s.resources[path] = r
	return true
}

// Requests returns how often each path, with its query if it has one, was asked for, whatever the answer.
func (s *Site) Requests() map[string]int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.Clone(s.requests)
}
