package frontier

import (
	"fmt"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
)

// A hit is a URL that a rule has decided about. It is counted in one batch with what follows from it: with the end of
// the lease for whose document the URL was offered, because until then the document is worked on again after a
// crash, and offers it again; with the start of a crawl; or with taking a URL off the queue that is refused by
// now. So however often a process is killed, each is counted once, and what is shown is what is durable.

// hits are those of one document.
type hits []hit

type hit struct {
	rule *scope.Rule
	n    int64
}

// add counts a hit of a rule, if there is one.
func (h *hits) add(r *scope.Rule) {
	if r != nil {
		h.join(hits{{r, 1}})
	}
}

func (h *hits) join(others hits) {
next:
	for _, other := range others {
		for i := range *h {
			if (*h)[i].rule == other.rule {
				(*h)[i].n += other.n
				continue next
			}
		}
		*h = append(*h, other)
	}
}

// lead finds the lease of the document that an offer is made for, if that is out, and leaves the hits to it. It takes
// from it what the last visit of the document knows, if that was fetched and may lead elsewhere by now.
func (o *offer) lead() {
	o.q.mu.Lock()
	defer o.q.mu.Unlock()
	l := o.q.leases[o.from]
	if l == nil || l.ended.Load() {
		return
	}
	l.hits.join(o.hits)
	o.hits = nil
	if r := l.request; (o.links.Via == webrace.ViaLink || o.links.Via == webrace.ViaFeed) && o.q.opt.LedTo != nil {
		if o.visit, o.instead = r.Visit, r.Instead; r.Stored {
			o.visit, o.instead = shownBefore(&r), webrace.Instead{}
		}
	}
	o.lease = l
}

// led has those go on that wait for where the document leads: now they find in the queue what that has changed, too. It
// wants the queue's lock.
func (o *offer) led() error {
	if o.lease == nil {
		return nil
	}
	o.lease.led = true
	return o.lease.callUp()
}

// shownBefore returns the visit of a document that another crawl came to first in this round, as of the version that
// those who come now were shown last; nil if that is the one at hand, or none.
func shownBefore(r *webrace.Request) *webrace.Visit {
	if r.Visit == nil {
		return nil
	}
	last := 0
	for _, reach := range r.Reach {
		for _, s := range webrace.ShownOf(r.Visit.Shown, reach.Crawl) {
			last = max(last, s.Version)
		}
	}
	if last == 0 || last >= r.Visit.Version {
		return nil
	}
	v := *r.Visit
	v.Version, v.Links, v.Placeholder = last, nil, webrace.Placeholder{}
	return &v
}

// takeHits returns the hits of a lease that has ended.
func (l *Lease) takeHits() hits {
	l.q.mu.Lock()
	defer l.q.mu.Unlock()
	taken := l.hits
	l.hits = nil
	return taken
}

// hitCount is where the hits of a rule are counted: under a key, by the rule that has taken its place if it was added
// anew.
type hitCount struct {
	key  []byte
	rule *scope.Rule
}

// Whose a rule is.
const (
	addedRule      = 'a'
	configuredRule = 'c'
)

func (k keys) hits(whose byte, r *scope.Rule) []byte {
	return append(append(k.start(kindHits), whose), r.Text()...)
}

// readHits reads what all rules have decided, by key; and of those that have no key, what an earlier release wrote.
func (q *Queue) readHits(old [2]map[string]int64) (map[string]int64, error) {
	counted := map[string]int64{}
	for i, whose := range []byte{addedRule, configuredRule} {
		for text, n := range old[i] {
			if n > 0 {
				counted[string(append(q.keys.start(kindHits), whose))+text] = n
			}
		}
	}
	err := q.store.db.Scan(q.keys.start(kindHits), q.keys.end(kindHits), func(key, value []byte) (bool, error) {
		r := newReader(value)
		counted[string(key)] = r.Size()
		return true, r.done()
	})
	if err != nil {
		return nil, fmt.Errorf("hits of rules: %w", err)
	}
	return counted, nil
}

// resumeCount has a rule go on from what it has decided so far, and takes that out.
func (q *Queue) resumeCount(whose byte, r *scope.Rule, counted map[string]int64) {
	key := q.keys.hits(whose, r)
	r.Hit(counted[string(key)])
	delete(counted, string(key))
	q.counts[r] = hitCount{key, r}
}

// countOf is how a count is written.
func countOf(n int64) []byte {
	w := newWriter(12)
	w.Uint(uint64(n))
	return w
}

func (c *changes) countHits(all hits) {
	for _, h := range all {
		c.hit(h.rule, h.n)
	}
}

// hit counts hits of a rule, unless there is none, or it was removed meanwhile.
func (c *changes) hit(r *scope.Rule, n int64) {
	if r == nil {
		return
	}
	if count, ok := c.q.counts[r]; ok {
		count.rule.Hit(n)
		c.hits[count.rule] = struct{}{}
	}
}

// flushHits writes what the rules have decided that were hit.
func (c *changes) flushHits() {
	if c.q.outdated {
		c.q.outdated = false
		c.writeRules(c.q.added.List())
	}
	for _, key := range c.q.stale {
		c.writes.delete(key)
	}
	c.q.stale = nil
	for r := range c.hits {
		if count, ok := c.q.counts[r]; ok && count.rule == r && r.Hits() > 0 {
			c.writes.set(count.key, countOf(r.Hits()))
		}
	}
}
