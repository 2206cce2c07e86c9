package frontier

import "github.com/webrace/webrace"

// A document that moves for good (301, 308) goes on at its new URL. With the commit that accepts the new URL, what the
// visits of the former one know of the document becomes what is known there, and what the crawls that come along were
// shown at the one is what they were shown at the other ([webrace.Former]). So nothing is lost if the process dies in
// between, and nothing has to be looked up when the new URL is handed out.
//
// Only a URL that gave no document yet inherits, and from one former URL alone: a document that was known and told by
// itself has a history of its own, in which the numbers of another's versions mean nothing.

// inherit lets the crawls of a candidate go on there from where they were with the document that has moved there for
// good, and reports whether any does.
func (c *changes) inherit(rec *record, cand *candidate) (bool, error) {
	if cand.former == nil || cand.former.from == cand.id {
		return false, nil
	}
	from, err := c.record(cand.former.from)
	if err != nil {
		return false, err
	}
	type heir struct{ now, before *mark }
	var heirs []heir
	for _, b := range cand.bids {
		h := heir{rec.mark(b.crawl.number), from.mark(b.crawl.number)}
		if h.now != nil && h.now.version == 0 && h.before != nil && h.before.version > 0 {
			heirs = append(heirs, h)
		}
	}
	if len(heirs) == 0 {
		return false, nil
	}
	last, err := c.bequeath(cand)
	if err != nil || last == 0 {
		return false, err
	}
	for _, h := range heirs {
		h.now.best, h.now.version, h.now.revision = h.before.best, min(h.before.version, uint32(last)), h.before.revision
	}
	rec.dirty = true
	return true, nil
}

// bequeath lets the visit of a candidate know what that of its former URL does, unless it knows a document already. It
// returns the last version at the former URL that counts there; 0 if the two are different documents.
func (c *changes) bequeath(cand *candidate) (last int, err error) {
	old, err := c.visit(cand.former.from)
	if err != nil || old == nil || old.Version == 0 {
		return 0, err
	}
	former := webrace.Former{URL: cand.former.url, Version: old.Version}
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
	return former.Version, c.set(c.q.keys.url(kindVisit, cand.id), encodeVisit(v))
}

// visit returns what the last visit of a URL left behind, as of this group; nil if there was none.
func (c *changes) visit(id urlID) (*webrace.Visit, error) {
	if value := c.writes.last(c.q.keys.url(kindVisit, id)); value != nil {
		return decodeVisit(value)
	}
	return c.q.store.readVisit(c.q.keys, id)
}
