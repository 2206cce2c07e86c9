package frontier

import (
	"encoding/binary"
	"errors"

	"github.com/webrace/webrace/internal/scope"
)

// admitNew counts a URL that was never accepted before, for its host and for the families that it is of,
// unless one of them has as many as it may, or no crawl that comes to it has room. What a crawl starts with
// is counted and never refused.
func (c *changes) admitNew(cand *candidate) (Reason, error) {
	if !c.q.anyRoom(cand) {
		return CrawlFull, nil
	}
	h, err := c.host(cand.host)
	if err != nil {
		return 0, err
	}
	if limit := c.q.opt.HostURLs; limit > 0 && h.known >= uint64(limit) && !cand.start {
		return HostFull, nil
	}
	if !cand.start && !cand.trusted {
		if why, err := c.join(cand.url); why != accepted || err != nil {
			return why, err
		}
	}
	h.known++
	h.dirty = true
	return accepted, nil
}

// hasRoom reports whether a crawl may come to one more URL.
func (q *Queue) hasRoom(cr *crawl, start bool) bool {
	return q.opt.CrawlURLs <= 0 || start || cr.known.Load() < int64(q.opt.CrawlURLs)
}

func (q *Queue) anyRoom(cand *candidate) bool {
	for i := range cand.bids {
		if q.hasRoom(cand.bids[i].crawl, cand.start) {
			return true
		}
	}
	return false
}

// family is how many URLs are known that are much alike.
type family struct {
	members uint64
	dirty   bool
}

// knownFamilies is how many of them the committer keeps.
const knownFamilies = 1 << 13

// join counts a new URL in the families that it is of, unless one has as many members as it may.
func (c *changes) join(url string) (Reason, error) {
	list, n := c.q.opt.Gate.Traps.Families(url, c.q.store.now())
	var of [len(list)]*family
	for i, f := range list[:n] {
		var err error
		if of[i], err = c.family(f.ID); err != nil {
			return 0, err
		}
		if of[i].members >= uint64(f.Limit) {
			return reasonOf(f.Beyond), nil
		}
	}
	for _, f := range of[:n] {
		f.members++
		f.dirty = true
	}
	return accepted, nil
}

func (c *changes) family(id uint64) (*family, error) {
	if f := c.families[id]; f != nil {
		return f, nil
	}
	f, ok := c.q.families.get(id)
	if !ok {
		members, err := c.q.members(id)
		if err != nil {
			return nil, err
		}
		f = &family{members: members}
	}
	c.q.families.put(id, f)
	c.families[id] = f
	return f, nil
}

// flushFamilies writes those that grew.
func (c *changes) flushFamilies() {
	for id, f := range c.families {
		if f.dirty {
			f.dirty = false
			w := newWriter(8)
			w.Uint(f.members)
			c.writes.set(c.q.keys.family(id), w)
		}
	}
}

func (k keys) family(id uint64) []byte { return binary.BigEndian.AppendUint64(k.start(kindFamily), id) }

// members returns how many URLs of a family are known, as of the last commit.
func (q *Queue) members(id uint64) (uint64, error) {
	value, err := q.store.db.Value(q.keys.family(id))
	if err != nil || value == nil {
		return 0, err
	}
	r := newReader(value)
	n := r.Uint()
	return n, r.done()
}

// crowded returns why a new URL would be refused for the sake of those that are much like it.
func (q *Queue) crowded(url string) (Reason, error) {
	list, n := q.opt.Gate.Traps.Families(url, q.store.now())
	for _, f := range list[:n] {
		members, err := q.members(f.ID)
		if err != nil && !errors.Is(err, errCorrupt) {
			return 0, err
		}
		if members >= uint64(f.Limit) {
			return reasonOf(f.Beyond), nil
		}
	}
	return accepted, nil
}

// still returns why a URL is refused by now that was accepted: a rule, which it returns, or a list may have changed
// since.
func (q *Queue) still(url string) (Reason, *scope.Rule) {
	refusal, by := q.opt.Gate.Still(url)
	why := reasonOf(refusal)
	if why == accepted {
		return accepted, nil
	}
	q.refused[why].Add(1)
	if q.opt.Dropped != nil {
		q.opt.Dropped(why)
	}
	return why, by
}

// CrawlURLs returns how many URLs a crawl comes to at most; 0 or less: there is no limit.
func (q *Queue) CrawlURLs() int { return q.opt.CrawlURLs }
