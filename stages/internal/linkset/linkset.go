// Package linkset collects the URLs that a document lists, each once, in order, with the time at which each
// changed; and holds the options by which every stage that finds URLs normalizes them beyond the standard.
package linkset

import (
	"fmt"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/urlnorm"
)

// Options are part of the options of stages that find URLs.
type Options struct {
	StripParams   bool `toml:"strip_tracking" doc:"remove the query parameters that only tell who followed a link"`
	StripSessions bool `toml:"strip_sessions" doc:"remove what names the session of a visitor: ;jsessionid=…, PHPSESSID=…, /(S(…))/"`
	FoldIndex     bool `toml:"fold_index" doc:"take index.html and its like for their directory"`
	SortQuery     bool `toml:"sort_query" doc:"put the parameters of a query in order, without those that are empty"`
}

// Defaults are the options that stages have unless they are told otherwise.
var Defaults = Options{StripParams: true, StripSessions: true}

// Rules returns what the options mean.
func (o Options) Rules() (r urlnorm.Rules) {
	r.Sort, r.Sessions = o.SortQuery, o.StripSessions
	if o.StripParams {
		r.Strip = urlnorm.TrackingParameters()
	}
	if o.FoldIndex {
		r.Index = urlnorm.IndexPages()
	}
	return r
}

// Set is the URLs that one document lists.
type Set struct {
	URLs     []string // absolute and normalized, each once
	Changed  []time.Time
	Repeated int // references to a URL that is there already
	Invalid  int // references that are no URL of the web
	Over     int // references to URLs beyond the most there may be

	base  *urlnorm.Base
	rules urlnorm.Rules
	max   int
	dated bool
	seen  map[string]int // where it is
}

// New returns the empty set of a document at a URL, for at most so many.
func New(at string, rules urlnorm.Rules, max int) (*Set, error) {
	base, err := urlnorm.NewBase(at)
	if err != nil {
		return nil, fmt.Errorf("links of %s: %w", at, err)
	}
	return &Set{base: base, rules: rules, max: max, seen: make(map[string]int)}, nil
}

// Resolve returns the URL that a reference means; not ok if it means none, which is counted.
func (s *Set) Resolve(reference string) (url string, ok bool) {
	url, err := s.base.Resolve([]byte(reference))
	if err != nil {
		s.Invalid++
		return "", false
	}
	return s.rules.Apply(url), true
}

// Add adds a URL that Resolve returned, and when it changed. Of several times the latest counts.
func (s *Set) Add(url string, changed time.Time) {
	if at, ok := s.seen[url]; ok {
		s.Repeated++
		if changed.After(s.Changed[at]) {
			s.Changed[at], s.dated = changed, true
		}
		return
	}
	if len(s.URLs) >= s.max {
		s.Over++
		return
	}
	s.seen[url] = len(s.URLs)
	s.URLs, s.Changed = append(s.URLs, url), append(s.Changed, changed)
	s.dated = s.dated || !changed.IsZero()
}

// together is how many URLs go out as one list.
const together = 1000

// Links returns the set as links of a document, in lists of a thousand.
func (s *Set) Links(d *webrace.Document, via webrace.Via) (lists []*webrace.Links) {
	for from := 0; from < len(s.URLs); from += together {
		to := min(from+together, len(s.URLs))
		l := &webrace.Links{From: d.URL, Reach: d.Reach, Via: via, URLs: s.URLs[from:to:to]}
		if s.dated {
			l.Changed = s.Changed[from:to:to]
		}
		lists = append(lists, l)
	}
	return lists
}
