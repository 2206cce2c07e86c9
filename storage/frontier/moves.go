package frontier

import (
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/urlnorm"
)

// A document that moves for good (301, 308) goes on at its new URL. With the commit that accepts the new URL, what the
// visits of the former one know of the document becomes what is known there, and what the crawls that come along were
// shown at the one is what they were shown at the other ([webrace.Former]). So nothing is lost if the process dies in
// between, and nothing has to be looked up when the new URL is handed out.
//
// Only a URL that gave no document yet inherits, and the history of one former URL alone: a document that was known
// and told by itself has its own, in which the numbers of another's versions mean nothing. Of a second former URL, the
// blocks of text count as known.
//
// A site that moves to another host shows that at its start. Its other pages are found there by links, and no page
// leads to where they were, which would show it of them. They are known by their place: what differs between the two
// URLs of the start differs between those of each page.

// inherit lets the crawls of a candidate go on there from where they were with the document that has moved there for
// good, and reports whether any does.
func (c *changes) inherit(rec *record, cand *candidate) (inherits bool, err error) {
	formers, err := c.formers(rec, cand)
	if err != nil {
		return false, err
	}
	for _, former := range formers {
		if inherits, err = c.inheritFrom(former, rec, cand); inherits || err != nil {
			break
		}
	}
	return inherits, err
}

// formers returns where the document of a candidate may have been before: the URL that redirects there for good; or,
// of one that a crawl finds on a site to which its start has moved, that of the same page on the site before. Of one to
// which another crawl has found that the document moved, it is what that found.
func (c *changes) formers(rec *record, cand *candidate) (all []*redirect, err error) {
	if cand.former != nil {
		return []*redirect{cand.former}, nil
	}
	if slices.ContainsFunc(rec.marks, func(m mark) bool { return m.version > 0 }) &&
		slices.ContainsFunc(cand.bids, func(b bid) bool { m := rec.mark(b.crawl.number); return m != nil && m.version == 0 }) {
		v, err := c.visit(cand.id)
		if err != nil {
			return nil, err
		}
		if v != nil && v.Former.URL != "" {
			all = append(all, &redirect{from: identify(cand.secret, v.Former.URL), url: v.Former.URL, target: cand.url, permanent: true})
		}
	}
	for _, b := range cand.bids {
		p := b.crawl.pass()
		if m := rec.mark(b.crawl.number); len(p.moves) == 0 || m == nil || m.version > 0 {
			continue
		}
		for _, url := range p.before(cand.url) {
			all = append(all, &redirect{from: identify(cand.secret, url), url: url})
		}
	}
	return all, nil
}

func (c *changes) inheritFrom(former *redirect, rec *record, cand *candidate) (bool, error) {
	if former.from == cand.id {
		return false, nil
	}
	from, err := c.record(former.from)
	if err != nil || !former.permanent && from.redirect != "" {
		return false, err // it has moved elsewhere
	}
	type heir struct{ now, before *mark }
	var heirs []heir
	for i := range rec.marks { // those too that came by a link before another was redirected
		h := heir{&rec.marks[i], from.mark(rec.marks[i].crawl)}
		if h.before != nil && h.before.version > 0 && (former.permanent || bidsFor(cand, h.now.crawl)) {
			heirs = append(heirs, h)
		}
	}
	switch {
	case len(heirs) == 0:
		return false, nil
	case !slices.ContainsFunc(heirs, func(h heir) bool { return h.now.version == 0 }):
		return false, c.unite(former, from, rec, cand)
	}
	last, err := c.bequeath(former, cand)
	if err != nil || last == 0 {
		return false, err
	}
	for _, h := range heirs {
		if h.now.version == 0 {
			h.now.best, h.now.version, h.now.revision = h.before.best, min(h.before.version, uint32(last)), h.before.revision
			for _, s := range from.nearerOf(h.before.crawl) {
				s.version = min(s.version, uint32(last))
				rec.addNearer(s)
			}
		}
	}
	rec.dirty = true
	return true, nil
}

func bidsFor(cand *candidate, crawl uint32) bool {
	return slices.ContainsFunc(cand.bids, func(b bid) bool { return b.crawl.number == crawl })
}

// bequeath lets the visit of a candidate know what that of its former URL does, unless it knows a document already. It
// returns the last version at the former URL that counts there; 0 if the two are different documents.
func (c *changes) bequeath(by *redirect, cand *candidate) (last int, err error) {
	old, err := c.visit(by.from)
	if err != nil || old == nil || old.Version == 0 {
		return 0, err
	}
	former := webrace.Former{URL: by.url, Version: old.Version}
	if old.IsInherited() { // it gave no document itself
		former = old.Former
	}
	v, err := c.visit(cand.id)
	switch {
	case err != nil:
		return 0, err
	case v == nil:
		v = new(webrace.Visit)
	case v.Version > 0 && v.Former.URL == former.URL:
		return v.Former.Version, nil
	case v.Version > 0:
		return 0, nil
	}
	v.Former, v.Version, v.Digest, v.Likeness, v.Titled = former, former.Version, old.Digest, old.Likeness, old.Titled
	v.Revision, v.Baseline, v.Reading, v.Absent, v.Numbers, v.Interval = old.Revision, old.Baseline, old.Reading, old.Absent, old.Numbers, old.Interval
	v.Placeholder = old.Placeholder
	c.writes.set(c.q.keys.url(kindVisit, cand.id), encodeVisit(v))
	return former.Version, nil
}

// unite lets a candidate that is not asked for yet, and inherits of another URL already, know what this one does, too:
// two documents become one. That is so where all crawls that go on there have been shown both.
func (c *changes) unite(former *redirect, from, rec *record, cand *candidate) error {
	for _, m := range rec.marks {
		if other := from.mark(m.crawl); m.version > 0 && (other == nil || other.version == 0) {
			return nil
		}
	}
	v, err := c.visit(cand.id)
	if err != nil || v == nil || !v.IsInherited() || v.Former.URL == former.url {
		return err
	}
	old, err := c.visit(former.from)
	if err != nil || old == nil || old.Version == 0 || old.Former == v.Former || old.Reading != v.Reading {
		return err
	}
	v.Baseline = match.Baseline(v.Baseline).With(old.Baseline)
	v.Came([]string{former.url})
	v.Tell(slices.DeleteFunc(slices.Clone(old.Numbers), func(n webrace.Told) bool { return v.ToldTo(n.URD) != nil }))
	c.writes.set(c.q.keys.url(kindVisit, cand.id), encodeVisit(v))
	return nil
}

// visit returns what the last visit of a URL left behind, as of this group; nil if there was none.
func (c *changes) visit(id urlID) (*webrace.Visit, error) {
	if value := c.writes.last(c.q.keys.url(kindVisit, id)); value != nil {
		return decodeVisit(value)
	}
	return c.q.store.readVisit(c.q.keys, id)
}

// mayFollow returns the lease that a URL waits for which no crawl that waits for it has been shown itself: that of a
// page which one of them knows, which was queued before, and is on its way. That page may tell that it has moved here,
// and once this one is handed out, that comes too late. It is a wait for an answer, not for what becomes of it.
func (l *Lease) mayFollow(order uint64) *Lease {
	knows := func(rec *record) bool {
		return slices.ContainsFunc(l.served, func(s served) bool {
			m := rec.mark(s.crawl.number)
			return m != nil && m.version > 0
		})
	}
	if v := l.request.Visit; knows(l.record) && (v == nil || !v.IsInherited()) {
		return nil
	}
	for _, out := range l.q.leases {
		if out.host == l.host && (out.slot || out.leads) && !out.request.Stored && out.record.place.order < order && knows(out.record) {
			return out
		}
	}
	return nil
}

// movedBy returns the moves of the start's document after a redirect for good that goes on from there.
func (p *pass) movedBy(r *redirect, to string) []string {
	last := p.Start
	if n := len(p.moves); n > 0 {
		last = p.moves[n-1]
	}
	if r == nil || urlnorm.Identity(r.url) != urlnorm.Identity(last) || slices.Contains(p.moves, to) {
		return p.moves
	}
	return append(slices.Clone(p.moves), to)
}

// before returns where a page may have been before the start of the crawl moved to its site, the last place first.
func (p *pass) before(url string) (all []string) {
	to := p.moves[len(p.moves)-1]
	for _, from := range slices.Backward(append([]string{p.Start}, p.moves[:len(p.moves)-1]...)) {
		if former, ok := counterpart(url, to, from); ok {
			all = append(all, former)
		}
	}
	return all
}

// counterpart returns the URL that lies to one of two URLs on different hosts, or of different schemes, as the given
// one lies to the other; false if that does not lie under it. Both end in the same path, or it is not known how.
func counterpart(url, to, from string) (string, bool) {
	if urlnorm.Origin(to) == urlnorm.Origin(from) {
		return "", false
	}
	same := 0
	for same < min(len(to), len(from)) && to[len(to)-1-same] == from[len(from)-1-same] {
		same++
	}
	slash := strings.IndexByte(to[len(to)-same:], '/')
	if slash < 0 {
		return "", false
	}
	same -= slash
	rest, ok := strings.CutPrefix(url, to[:len(to)-same])
	return from[:len(from)-same] + rest, ok && strings.HasPrefix(rest, "/")
}
