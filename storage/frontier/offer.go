package frontier

import (
	"math"
	"slices"
	"sync"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
)

// Reason says why the frontier did not accept a URL. Of several crawls' reasons, the greatest counts:
// the one of the crawl that came closest to accepting it.
type Reason uint8

const (
	accepted  Reason = iota
	Invalid          // it has no host
	Redirects        // too many redirects in a row
	Unknown          // none of the crawls that came here was ever started
	Rule             // a rule denies it
	Depth            // it lies beyond the levels of the crawl
	Scope            // it lies outside the scope of the crawl
	Repeat           // the crawl has come to it in this round, and not from further away
	reasons
)

// String returns the reason as it is written in reports.
func (r Reason) String() string {
	if r >= reasons {
		return "unknown"
	}
	return [reasons]string{"accepted", "invalid", "redirects", "unknown crawl", "rule", "depth", "scope", "repeat"}[r]
}

// Offered says what came of the URLs of one offer. Each is counted once.
type Offered struct {
	Accepted int
	Refused  [reasons]int // by [Reason]
}

// Offer queues the URLs that a document points to, and never waits: done is called once, with what came
// of them, as soon as that is durable, and at once when it is known already. It must not block.
//
// A URL is accepted if that adds a crawl to those that came to it in the current round, or lowers the
// distance of one. While it is queued, an offer joins it and there is still one request; while it is
// leased, it is queued again for the newcomers. All URLs of an offer become durable together.
func (q *Queue) Offer(l *webrace.Links, done func(Offered, error)) {
	if done == nil {
		done = func(Offered, error) {}
	}
	o := q.gate(l)
	if len(o.candidates) == 0 && o.redirect == nil {
		q.note(&o.result)
		done(o.result, nil)
		return
	}
	q.submit(step{apply: o.apply, after: o.settled, done: func(err error) { done(o.result, err) }})
}

// offer is the URLs of a document that passed the gate.
type offer struct {
	q          *Queue
	candidates []candidate
	redirect   *redirect
	result     Offered
}

// candidate is a URL, and at which distance which crawls come to it.
type candidate struct {
	item
	host hostID
	bids []bid
}

type bid struct {
	crawl    *crawl
	distance uint32
	round    uint32 // in which it was judged; known once the offer is applied
}

// redirect is where a URL was redirected to. It is kept, because no document is stored that could tell
// those who come to the URL later in the round.
type redirect struct {
	from   urlID
	target string
}

// gate is the one door of the frontier. It refuses what it can without asking the disk, and gives what
// is left.
func (q *Queue) gate(l *webrace.Links) *offer {
	o := &offer{q: q}
	for secret, bids := range q.bids(l) {
		if l.Via == webrace.ViaRedirect && len(l.URLs) == 1 && len(bids) > 0 {
			o.redirect = &redirect{identify(secret, l.From), l.URLs[0]}
		}
		for _, url := range l.URLs {
			c, why := q.admit(l, secret, url, bids)
			if why != accepted {
				o.result.Refused[why]++
				continue
			}
			o.candidates = append(o.candidates, c)
		}
	}
	o.candidates = q.seen.without(o.candidates, &o.result)
	return o
}

// bids returns what the crawls that came to a document bid for its links, apart for each secret: what
// is fetched with different credentials has nothing to do with each other. A document has one.
func (q *Queue) bids(l *webrace.Links) map[string][]bid {
	further := 1
	if l.Via == webrace.ViaRedirect {
		further = 0
	}
	bySecret := make(map[string][]bid, 1)
	for _, r := range l.Reach {
		cr := q.crawls.get(r.Crawl)
		if cr == nil || r.Distance < 0 || r.Distance > math.MaxInt32 {
			continue
		}
		if p := cr.now.Load(); p.number > 0 {
			bySecret[p.Secret] = append(bySecret[p.Secret], bid{crawl: cr, distance: uint32(r.Distance + further)})
		}
	}
	if len(bySecret) == 0 {
		bySecret[""] = nil
	}
	return bySecret
}

// admit holds one URL against everything that can be known of it without its record.
func (q *Queue) admit(l *webrace.Links, secret, url string, bids []bid) (candidate, Reason) {
	host, ok := scope.Host(url)
	switch {
	case !ok:
		return candidate{}, Invalid
	case l.Via == webrace.ViaRedirect && l.Redirects > q.opt.Redirects:
		return candidate{}, Redirects
	case len(bids) == 0:
		return candidate{}, Unknown
	case !q.opt.Rules.Allow(url):
		return candidate{}, Rule
	}
	admitted, why := withinBounds(bids, url)
	if len(admitted) == 0 {
		return candidate{}, why
	}
	c := candidate{item: item{id: identify(secret, url), url: url, from: l.From}, host: hostOf(host), bids: admitted}
	if l.Via == webrace.ViaRedirect {
		c.redirects = l.Redirects
	}
	return c, accepted
}

// withinBounds returns the bids whose crawls may follow url: all of them, mostly, and then no new list.
func withinBounds(bids []bid, url string) (admitted []bid, why Reason) {
	admitted = bids
	for i, b := range bids {
		w := b.crawl.now.Load().admits(url, int(b.distance))
		switch {
		case w != accepted && len(admitted) == len(bids):
			admitted = slices.Clone(bids[:i])
		case w == accepted && len(admitted) < i:
			admitted = append(admitted, b)
		}
		why = max(why, w)
	}
	return admitted, why
}

func (o *offer) apply(ch *changes) error {
	if r := o.redirect; r != nil {
		rec, err := ch.record(r.from)
		if err != nil {
			return err
		}
		if len(rec.marks) > 0 && rec.redirect != r.target {
			rec.redirect, rec.dirty = r.target, true
		}
	}
	for i := range o.candidates {
		ok, err := ch.accept(&o.candidates[i])
		if err != nil {
			return err
		}
		if ok {
			o.result.Accepted++
		} else {
			o.result.Refused[Repeat]++
		}
	}
	return nil
}

func (o *offer) settled() error {
	o.remember()
	o.q.note(&o.result)
	return nil
}

func (o *offer) remember() { o.q.seen.remember(o.candidates) }

// note adds to the totals of this run.
func (q *Queue) note(o *Offered) {
	for i, n := range o.Refused {
		if n > 0 {
			q.refused[i].Add(int64(n))
		}
	}
}

// accept queues a URL for the crawls that come to it newly, or nearer, and reports whether any does.
func (c *changes) accept(cand *candidate) (bool, error) {
	rec, err := c.record(cand.id)
	if err != nil {
		return false, err
	}
	wanted, _, err := c.q.waitedFor(rec)
	if err != nil {
		return false, err
	}
	news := false
	for i := range cand.bids {
		b := &cand.bids[i]
		b.round = b.crawl.now.Load().number
		m, _ := rec.mark(b.crawl.number)
		if m.round == b.round && m.distance <= b.distance {
			continue
		}
		news = true
		if !m.queued && m.round != b.round || b.distance < m.distance {
			m.distance = b.distance
		}
		m.round = b.round
		c.await(b.crawl, m, true)
	}
	if !news {
		return false, nil
	}
	rec.dirty = true
	_, at, err := c.q.waitedFor(rec)
	if err != nil {
		return false, err
	}
	switch {
	case rec.place.kind == inLane && (at < rec.place.level || !wanted):
		// It is more urgent now, or may have been passed over because no crawl of this run wanted it.
		if err := c.dequeue(rec, cand.host); err != nil {
			return false, err
		}
	case rec.place.kind != nowhere:
		return true, nil
	}
	return true, c.enqueue(rec, cand.item, cand.host, at)
}

// waitedFor reports whether a crawl of this run waits for a URL, and the level of the most urgent crawl
// that does, of this run or not.
func (q *Queue) waitedFor(rec *record) (now bool, at level, err error) {
	at = levelOf(1)
	for _, m := range rec.marks {
		if !m.queued {
			continue
		}
		cr, err := q.crawls.numbered(m.crawl)
		if err != nil {
			return false, 0, err
		}
		now = now || cr.active.Load()
		at = min(at, levelOf(cr.now.Load().Urgency))
	}
	return now, at, nil
}

// repeats remembers what was accepted lately: most links of a page are repeats, and memory answers them.
// It errs on the side of asking the disk alone.
type repeats struct {
	mu      sync.RWMutex
	entries *cache[seenKey, seenValue]
}

type seenKey struct {
	url   urlID
	crawl uint32
}

type seenValue struct{ round, distance uint32 }

// without takes the known repeats out of candidates.
func (s *repeats) without(candidates []candidate, result *Offered) []candidate {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.DeleteFunc(candidates, func(c candidate) bool {
		for _, b := range c.bids {
			v, ok := s.entries.get(seenKey{c.id, b.crawl.number})
			if !ok || v.round != b.crawl.now.Load().number || v.distance > b.distance {
				return false
			}
		}
		result.Refused[Repeat]++
		return true
	})
}

// remember is told of what is durable: every crawl has come to the candidates at these distances.
func (s *repeats) remember(candidates []candidate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range candidates {
		for _, b := range c.bids {
			key, v := seenKey{c.id, b.crawl.number}, seenValue{b.round, b.distance}
			if old, ok := s.entries.get(key); !ok || old.round != v.round || old.distance > v.distance {
				s.entries.put(key, v)
			}
		}
	}
}
