package frontier

import (
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/internal/nanos"
)

// Hint is what others tell of when a page changes, where that decides whether it is asked for.
type Hint uint8

const (
	NoHint           Hint = iota
	HonoredFreshness      // the server calls the stored document fresh: it is not asked for
	LastmodUnchanged      // a sitemap or feed lists no change since the last visit: it is not asked for
	LastmodChanged        // it lists one: the page is asked for before its interval has passed
)

// String returns the hint as it is counted.
func (h Hint) String() string {
	return [...]string{"", "honored_freshness", "lastmod_unchanged", "lastmod_changed"}[h]
}

// Hint returns what decided whether the URL of the lease is asked for, if it was a hint.
func (l *Lease) Hint() Hint { return l.hint }

// answers reports whether what was stored at a visit answers without a request. Of a document that is known
// by its digest alone, such as a sitemap, nothing was stored: a crawl that comes to it later would not get its links,
// unless the visit has them.
func (l *Lease) answers(v *webrace.Visit, host *host, now time.Time) bool {
	if v == nil || v.At.IsZero() || v.Version == 0 && v.Links == nil && v.Digest != (webrace.Digest{}) {
		return false
	}
	if isAhead(nanos.Of(v.At), now) { // the clock was set back since: nothing tells how old it is
		return false
	}
	fresh, start := l.q.opt.Fresh, false
	for _, s := range l.served {
		p := s.crawl.pass()
		if !v.At.Before(p.started) {
			return true
		}
		if p.Timing > 0 {
			fresh = min(fresh, p.Timing/2)
		}
		start = start || s.distance == 0
	}
	switch {
	case now.Sub(v.At) < fresh:
		return true
	case start: // a URD asks for exactly that, and sets how often
		return false
	}
	longest := l.q.revisits(l.served).Max
	due := !l.q.opt.Continuous || now.Sub(v.At) >= min(v.Interval, longest) // bounds that were narrowed count already
	l.hint = l.hintOn(v, host, now, longest)
	switch {
	case l.hint == LastmodChanged && due, l.hint != LastmodChanged && !due: // it decides nothing
		l.hint = NoHint
	case l.hint != NoHint:
		due = !due
	}
	return !due
}

// hintOn returns what others tell of a page, as far as that is believed.
func (l *Lease) hintOn(v *webrace.Visit, host *host, now time.Time, longest time.Duration) Hint {
	age := now.Sub(v.At)
	if listed := l.item.changed; listed != 0 && !v.Listed.IsZero() {
		switch changed := listed > v.Listed.Unix(); {
		case changed && host.listings.announces():
			return LastmodChanged
		case !changed && host.listings.complete() && age < longest:
			return LastmodUnchanged
		}
	}
	limit := l.q.opt.HonorFreshness
	for _, s := range l.served {
		if t := s.crawl.pass().Timing; t > 0 {
			limit = min(limit, t)
		}
	}
	if age < limit && now.Before(v.Expires) {
		return HonoredFreshness
	}
	return NoHint
}

// listings records how far the times of change can be believed that a host's sitemaps and feeds list: what became
// of visits of pages with such a time. Visits of long ago count less.
type listings struct {
	right  uint8 // a change was listed, and found
	wrong  uint8 // a change was listed, and there was none
	silent uint8 // none was listed, and there was one
}

// announces reports whether a listed change is worth a visit: until it was for nothing too often, as it is where
// every page is said to have changed just now.
func (s listings) announces() bool { return s.wrong < 8 || int(s.wrong) <= 3*int(s.right) }

// complete reports whether changes that are not listed can be taken not to have happened: once some were listed,
// and if few were not.
func (s listings) complete() bool { return s.right >= 4 && 4*int(s.silent) <= int(s.right) }

// note adds a visit.
func (s *listings) note(listed, changed bool) {
	var count *uint8
	switch {
	case listed && changed:
		count = &s.right
	case listed:
		count = &s.wrong
	case changed:
		count = &s.silent
	default:
		return
	}
	if *count++; *count >= 64 {
		s.right, s.wrong, s.silent = s.right/2, s.wrong/2, s.silent/2
	}
}

// proof is what a visit proves of the time of change that was listed for its page.
type proof struct{ listed, changed bool }

// prove compares what was listed with what was found, and keeps what was listed for the next time. There is nothing
// to compare at a first visit, nor where the page was not asked for.
func (l *Lease) prove(v *webrace.Visit, changed bool) *proof {
	last := l.request.Visit
	if l.item.changed == 0 || l.request.Stored || last != nil && v.At.Equal(last.At) {
		return nil
	}
	listed := time.Unix(l.item.changed, 0).UTC()
	before := v.Listed
	v.Listed = listed
	if last == nil || before.IsZero() || last.Digest == (webrace.Digest{}) {
		return nil
	}
	return &proof{listed.After(before), changed}
}

// listed returns the time of change that is listed for a URL of a set of links, in seconds; 0 for none, or where
// it does not count.
func (q *Queue) listed(l *webrace.Links, i int) int64 {
	if !q.opt.TrustLastmod || i >= len(l.Changed) || l.Changed[i].IsZero() {
		return 0
	}
	return max(l.Changed[i].Unix(), 0)
}
