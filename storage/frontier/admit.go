package frontier

import (
	"math"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/internal/urlnorm"
)

// Offered is what came of the URLs of one offer. Each is counted once.
type Offered struct {
	Accepted int
	Refused  [reasons]int // by [Reason]
	Sent     int          // to other partitions, where it turns out whether they are accepted
	Landed   int          // crawls whose start led there, out of its scope
	Circle   string       // the URLs by which a redirect leads back to where it is from, parted by commas; empty if it does not
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
	o := q.newOffer(l, q.sitemapsTo(l))
	o.lead()
	if len(o.candidates) == 0 && len(o.parcels) == 0 && o.redirect == nil && len(o.hits) == 0 {
		q.note(&o.result)
		q.mu.Lock()
		q.endWith(o.led())
		q.mu.Unlock()
		done(o.result, nil)
		return
	}
	q.submit(step{
		urls: len(o.candidates), wants: o.wants, apply: o.apply,
		after: func() error {
			q.seen.remember(o.candidates)
			q.note(&o.result)
			q.abroad.leave(len(o.parcels))
			return o.led()
		},
		done: func(err error) { o.send(err, func(err error) { done(o.result, err) }) },
	})
}

// offer is the URLs of a document that are not refused yet.
type offer struct {
	q          *Queue
	candidates []candidate
	parcels    []parcel // for other partitions
	redirect   *redirect
	result     Offered
	from       urlID  // the document that points to them
	lease      *Lease // of that; nil if it is not out
	links      *webrace.Links
	secret     string          // by which they were found
	visit      *webrace.Visit  // of the document, before this one; nil where it does not matter where that led
	instead    webrace.Instead // of which page the document stands in the place
	before     []string        // where the document led at its last visit, once looked up
	hits       hits            // of rules, to be counted with it
	again      bool            // a redirect may be answered otherwise than before in this round
	received   bool            // from another partition
}

// candidate is a URL, and at which distance which crawls come to it.
type candidate struct {
	item             // under the spelling that was found, and once it is accepted, under the one that is known
	identity  string // of all spellings
	root      urlID  // of the identity
	secret    string
	host      hostID
	hash      fingerprint // among the repeats
	start     bool        // of a crawl
	trusted   bool        // by a rule, or as a start: it is held against no trap
	respelled bool        // another spelling was redirected to this one
	again     bool        // it may answer otherwise than by the redirect that it answered in this round
	former    *redirect   // by which a document moved here for good; nil for none
	bids      []bid
}

type bid struct {
	crawl    *crawl
	distance uint32
	round    uint32 // in which it was judged; known once the offer is applied
	lands    bool   // the start of the crawl leads here, wherever that is
}

// redirect is where a URL was redirected to. It is kept, because no document is stored that could tell
// the crawls that come to the URL later in the round.
type redirect struct {
	from        urlID
	url, target string
	permanent   bool
}

// admitted is a URL that some crawls may follow, before it is known whether they have come to it.
type admitted struct {
	url, identity, host string
	hash                fingerprint
	bids                []bid
	trusted             bool // by a rule: whatever it looks like
	respelled           bool // another spelling was redirected to this one
	changed             int64
	score               uint8
	by                  *scope.Rule // that decided; nil for none
}

// newOffer refuses what it can without asking the disk, and returns the rest. All that the frontier accepts comes this
// way, but for the starts of crawls. Most links are repeats, so what only a new URL needs comes last. So many sitemaps
// in a row lead to them.
func (q *Queue) newOffer(l *webrace.Links, sitemaps int) *offer {
	o := &offer{q: q, again: l.Again, links: l}
	var room [128]admitted
	for secret, bids := range q.bids(l, sitemaps) {
		if l.Via == webrace.ViaRedirect && len(l.URLs) == 1 && len(bids) > 0 {
			o.redirect = &redirect{identify(secret, l.From), l.From, l.URLs[0], l.Permanent}
		}
		o.from, o.secret = identify(secret, l.From), secret
		o.judge(bids, sitemaps, room[:0])
	}
	return o
}

// judge adds the links that crawls may follow, which come to them so, and counts why they may not follow the others.
func (o *offer) judge(bids []bid, sitemaps int, list []admitted) {
	q, l := o.q, o.links
	for i, url := range l.URLs {
		a, why := q.admit(l, url, bids)
		o.hits.add(a.by)
		a.changed, a.score = q.listed(l, i), q.scoreOf(l, i)
		if why != accepted {
			o.result.Refused[why]++
			continue
		}
		list = append(list, a)
	}
	if o.redirect == nil { // else it may be a circle
		var known int
		list, known = q.seen.without(list)
		o.result.Refused[Repeat] += known
	}
	o.add(l, o.secret, list, sitemaps)
}

// bids returns what the crawls that came to a document bid for its links, apart for each secret: what
// is fetched with different credentials has nothing to do with each other. A document has one.
func (q *Queue) bids(l *webrace.Links, sitemaps int) map[string][]bid {
	further := q.levelsTo(l.Via, sitemaps)
	bySecret := make(map[string][]bid, 1)
	for _, r := range l.Reach {
		cr := q.crawls.get(r.Crawl)
		if cr == nil || r.Distance < 0 || r.Distance > math.MaxInt32 {
			continue
		}
		if p := cr.pass(); p.number > 0 {
			distance := uint32(r.Distance + further)
			if l.Via == webrace.ViaSitemap { // a page that the start lists is no start
				distance = max(distance, 1)
			}
			b := bid{crawl: cr, distance: distance, lands: r.Distance == 0 && q.lands(l)}
			bySecret[p.Secret] = append(bySecret[p.Secret], b)
		}
	}
	if len(bySecret) == 0 {
		bySecret[""] = nil
	}
	return bySecret
}

// admit holds one URL against everything that can be known of it without its record.
func (q *Queue) admit(l *webrace.Links, url string, bids []bid) (admitted, Reason) {
	host, ok := scope.Host(url)
	switch {
	case !ok:
		return admitted{}, Invalid
	case l.Via.SameLevel() && l.Redirects > q.opt.Redirects:
		return admitted{}, Redirects
	case len(bids) == 0:
		return admitted{}, Unknown
	}
	refusal, by := q.opt.Gate.Admit(url)
	if refusal != scope.Pass {
		return admitted{by: by}, reasonOf(refusal)
	}
	within, why := withinBounds(bids, url)
	if len(within) == 0 {
		return admitted{by: by}, why
	}
	trusted := by != nil && by.Verdict() == scope.Trusted
	identity := urlnorm.Identity(url)
	return admitted{
		url: url, identity: identity, host: host, hash: q.seen.hash(identity),
		bids: within, trusted: trusted, respelled: isRespelling(l, url, identity), by: by,
	}, accepted
}

// withinBounds returns the bids whose crawls may follow url: all of them, mostly, and then no new list.
func withinBounds(bids []bid, url string) (admitted []bid, why Reason) {
	admitted = bids
	for i, b := range bids {
		w := b.crawl.pass().admits(url, int(b.distance))
		if w == Scope && b.lands {
			w = accepted
		}
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

// add makes candidates of the URLs that are perhaps new, but for those that are no document or look like
// those of a trap. Where a start leads to on its own level is as good a document as the start.
func (o *offer) add(l *webrace.Links, secret string, list []admitted, sitemaps int) {
	redirects := 0
	if l.Via.SameLevel() {
		redirects = l.Redirects
	}
	o.candidates = slices.Grow(o.candidates, len(list))
	for _, a := range list {
		if !a.trusted {
			judge := o.q.opt.Gate.Judge
			if slices.ContainsFunc(a.bids, func(b bid) bool { return b.distance == 0 }) || canBeSitemap(l.Via, a.url) {
				judge = o.q.opt.Gate.JudgeLanding
			}
			if why := judge(a.url); why != scope.Pass {
				o.result.Refused[reasonOf(why)]++
				continue
			}
		}
		o.candidates = append(o.candidates, candidate{
			item:     item{id: identify(secret, a.url), url: a.url, from: l.From, redirects: redirects, sitemaps: sitemaps, score: a.score, changed: a.changed},
			identity: a.identity, secret: secret, host: hostOf(a.host), hash: a.hash, trusted: a.trusted, respelled: a.respelled, bids: a.bids,
			again: o.again,
		})
		if l.Permanent {
			o.candidates[len(o.candidates)-1].former = o.redirect
		}
		c := &o.candidates[len(o.candidates)-1]
		if c.root = c.id; c.identity != c.url {
			c.root = identify(secret, c.identity)
		}
		if to, abroad := o.q.partitionOf(a.host); abroad && !o.received {
			o.pack(to, *c)
			o.candidates = o.candidates[:len(o.candidates)-1]
		}
	}
}

func (o *offer) wants(ch *changes) {
	if o.redirect != nil {
		ch.want(o.redirect.from)
	}
	o.q.needFilter()
	for i := range o.candidates {
		c := &o.candidates[i]
		isNew := ch.want(c.root)
		if c.id != c.root {
			isNew = ch.want(c.id) && isNew
		}
		if isNew {
			ch.wantHost(c.host)
		}
	}
}

func (o *offer) apply(ch *changes) error {
	if r := o.redirect; r != nil {
		rec, err := ch.record(r.from)
		if err != nil {
			return err
		}
		if len(rec.marks) > 0 && rec.redirect != r.target {
			if err := ch.joined(rec, &candidate{host: (&item{url: r.url}).host()}, true); err != nil {
				return err
			}
			rec.redirect, rec.dirty = r.target, true
		}
		ch.q.redirected(r.from)
	}
	if o.q.opt.Order != DepthFirst {
		if err := o.leave(ch); err != nil {
			return err
		}
	}
	o.succeed()
	for i := range o.candidates {
		if followed, err := o.keepHome(ch, &o.candidates[i]); err != nil {
			return err
		} else if !followed {
			continue // no crawl has come to it: there is nothing to remember
		}
		why, err := ch.accept(&o.candidates[i])
		if err != nil {
			return err
		}
		if why == accepted || why == Repeat {
			if err := o.land(ch, &o.candidates[i]); err != nil {
				return err
			}
		}
		switch why {
		case accepted:
			o.result.Accepted++
			continue
		case Repeat:
			if o.result.Circle, err = ch.circle(o.redirect, &o.candidates[i]); err != nil {
				return err
			}
		default:
			o.candidates[i].bids = nil // no crawl has come to it: there is nothing to remember
		}
		o.result.Refused[why]++
	}
	if err := o.depart(ch); err != nil {
		return err
	}
	ch.countHits(o.hits)
	if o.q.opt.Order == DepthFirst { // what is queued last comes first
		return o.leave(ch)
	}
	return nil
}

// note adds to the totals of this run.
func (q *Queue) note(o *Offered) {
	for i, n := range o.Refused {
		if n > 0 {
			q.refused[i].Add(int64(n))
		}
	}
}
