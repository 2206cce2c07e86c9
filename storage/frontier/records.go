package frontier

import (
	"cmp"
	"math"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/internal/urgency"
)

// level is the urgency of an item, turned so that 0 is the most urgent.
type level uint8

const levels = urgency.Levels

func levelOf(of int) level { return level(urgency.Level(of)) }

// record is what is known of one URL: which crawls came to it and, while some of them wait for it,
// where it is queued. What a visit left behind lies apart, because offers have no use for it.
type record struct {
	place    place
	tries    int     // failed attempts since it was queued
	failed   bool    // no document at the last visit
	redirect string  // where the last visit was redirected to; empty when it was not
	marks    []mark  // sorted by crawl
	nearer   []sight // what crawls were shown before, nearer to their start; sorted by crawl and distance

	fresh bool // not on disk
	dirty bool
}

// mark records how one crawl came to a URL.
type mark struct {
	crawl    uint32 // its number
	round    uint32 // the last one that came here
	distance uint32 // the least in that round
	best     uint32 // 1 + the least at which it was shown that version, or came, if it was shown none; 0 before the first visit
	version  uint32 // the version it was last shown; 0 for none
	revision int64  // of the URD base at which that was matched
	queued   bool   // the crawl still waits for it

	since         uint32 // the version from which on it was shown all at this revision or later; 0: not known
	sinceRevision int64
	later         uint32 // the same for those of later revisions; 0: none
	laterRevision int64
}

// sight is an earlier version that a crawl was shown, nearer to its start than the last one: who reaches that far, and
// not as far as the last one lay, has seen no later one.
type sight struct {
	crawl, best, version uint32
	revision             int64
}

// show notes that a crawl was shown a version at a distance, matched at a revision of the URD base. Whoever reaches
// that far has seen it; who does not, what they saw before.
func (r *record) show(m *mark, distance, version uint32, revision int64) {
	best := distance + 1
	switch {
	case m.version == 0:
		m.best = best
	case version < m.version: // the cache was begun anew
		r.forgetNearer(m.crawl, 0)
		m.best = best
	case best <= m.best:
		r.forgetNearer(m.crawl, best)
		m.best = best
	case version != m.version || revision != m.revision:
		r.addNearer(sight{m.crawl, m.best, m.version, m.revision})
		m.best = best
	}
	m.show(version, revision)
}

// mostNearer is how many earlier versions are remembered of a URL that gets farther and farther from the start of a
// crawl: of the rest, who reaches no farther is shown the whole.
const mostNearer = 16

// addNearer remembers what a crawl was shown farther from its start than all else that is remembered of it.
func (r *record) addNearer(s sight) {
	all := r.nearerOf(s.crawl)
	end, _ := slices.BinarySearchFunc(r.nearer, s.crawl+1, func(s sight, crawl uint32) int { return cmp.Compare(s.crawl, crawl) })
	r.nearer = slices.Insert(slices.Clone(r.nearer), end, s)
	if len(all) == mostNearer {
		r.nearer = slices.Delete(r.nearer, end-mostNearer, end-mostNearer+1)
	}
}

// forgetNearer forgets what a crawl was shown from a distance on, of 1 + that.
func (r *record) forgetNearer(crawl, best uint32) {
	if len(r.nearer) > 0 {
		r.nearer = slices.DeleteFunc(slices.Clone(r.nearer), func(s sight) bool { return s.crawl == crawl && s.best >= best })
	}
}

// nearerOf returns what a crawl was shown before, by distance.
func (r *record) nearerOf(crawl uint32) []sight {
	if len(r.nearer) == 0 {
		return nil
	}
	of := func(s sight, crawl uint32) int { return cmp.Compare(s.crawl, crawl) }
	from, _ := slices.BinarySearchFunc(r.nearer, crawl, of)
	to, _ := slices.BinarySearchFunc(r.nearer, crawl+1, of)
	return r.nearer[from:to]
}

// show notes that the crawl was shown a version, matched at a revision of the URD base.
func (m *mark) show(version uint32, revision int64) {
	switch {
	case version < m.version: // the cache was begun anew
		m.since, m.sinceRevision, m.later, m.laterRevision = 0, 0, 0, 0
	case m.version > 0 && m.version != version:
		m.keep(m.version, m.revision)
	}
	m.version, m.revision = version, revision
}

// keep notes from which version on those of a revision have been shown all, if no earlier one says so of them. There is
// room for two: the earlier one stays for those who were there then, whoever joins, until it says more than is looked
// back; the other moves on with those who join.
func (m *mark) keep(version uint32, revision int64) {
	switch {
	case m.since == 0:
		m.since, m.sinceRevision = version, revision
	case revision <= max(m.sinceRevision, m.laterRevision):
	case m.later > 0 && version >= m.since+match.MostBaselineVersions:
		m.since, m.sinceRevision = m.later, m.laterRevision
		fallthrough
	default:
		m.later, m.laterRevision = version, revision
	}
}

// recordSchema is that of records; 1 did not know since when, 2 not of those who joined later, 3 not what was shown
// nearer.
const recordSchema = 4

// place is where a URL is queued.
type place struct {
	kind  placeKind
	level level
	order uint64
	due   int64 // of a delayed one
}

type placeKind uint8

const (
	nowhere placeKind = iota
	inHostQueue
	delayed
)

// copy makes r what other is. They share nothing.
func (r *record) copy(other *record) {
	marks := append(r.marks[:0], other.marks...)
	*r = *other
	r.marks, r.nearer, r.dirty = marks, slices.Clone(other.nearer), false
}

// visited reports whether a visit of the URL left anything behind: it was completed for a crawl, or it
// failed.
func (r *record) visited() bool {
	return r.tries > 0 || r.failed || slices.ContainsFunc(r.marks, func(m mark) bool { return m.best > 0 })
}

// mark returns the mark of a crawl, nil if it never came here.
func (r *record) mark(crawl uint32) *mark {
	if i, ok := r.search(crawl); ok {
		return &r.marks[i]
	}
	return nil
}

// addMark returns the mark of a crawl, added if need be.
func (r *record) addMark(crawl uint32) *mark {
	i, ok := r.search(crawl)
	if !ok {
		r.marks = slices.Insert(r.marks, i, mark{crawl: crawl})
	}
	return &r.marks[i]
}

func (r *record) search(crawl uint32) (int, bool) {
	return slices.BinarySearchFunc(r.marks, crawl, func(m mark, n uint32) int { return int(m.crawl) - int(n) })
}

func (r *record) encode() []byte { return r.append(nil) }

func (r *record) append(to []byte) []byte {
	written := byte(schema) // which earlier releases read
	switch {
	case len(r.nearer) > 0:
		written = recordSchema
	case slices.ContainsFunc(r.marks, func(m mark) bool { return m.later > 0 }):
		written = 3
	case slices.ContainsFunc(r.marks, func(m mark) bool { return m.since > 0 }):
		written = 2
	}
	w := append(writer(to), written)
	w.Uint(uint64(r.place.kind))
	if r.place.kind != nowhere {
		w.Uint(uint64(r.place.level))
		w.Uint(r.place.order)
		w.Uint(uint64(r.tries))
	}
	if r.place.kind == delayed {
		w.Int(r.place.due)
	}
	w.Flag(r.failed)
	w.Text(r.redirect)
	w.Uint(uint64(len(r.marks)))
	for _, m := range r.marks {
		w.Uint(uint64(m.crawl))
		w.Uint(uint64(m.round))
		w.Uint(uint64(m.distance))
		w.Uint(uint64(m.best))
		w.Uint(uint64(m.version))
		w.Int(m.revision)
		w.Flag(m.queued)
		if written > schema {
			w.Uint(uint64(m.since))
			w.Int(m.sinceRevision)
		}
		if written >= 3 {
			w.Uint(uint64(m.later))
			w.Int(m.laterRevision)
		}
	}
	if written == recordSchema {
		w.Uint(uint64(len(r.nearer)))
		for _, s := range r.nearer {
			w.Uint(uint64(s.crawl))
			w.Uint(uint64(s.best))
			w.Uint(uint64(s.version))
			w.Int(s.revision)
		}
	}
	return w
}

func decodeRecord(value []byte) (*record, error) {
	rec := &record{}
	return rec, rec.decode(value)
}

// decode reads into a record that is empty, or was.
func (rec *record) decode(value []byte) error {
	r := newReaderUpTo(recordSchema, value)
	*rec = record{marks: rec.marks[:0]}
	rec.place.kind = placeKind(r.Small(uint64(delayed)))
	if rec.place.kind != nowhere {
		rec.place.level = level(r.Small(levels - 1))
		rec.place.order = r.Uint()
		rec.tries = int(r.Small(math.MaxInt32))
	}
	if rec.place.kind == delayed {
		rec.place.due = r.Int()
	}
	rec.failed = r.Flag()
	rec.redirect = r.Text()
	n := r.Count(7)
	rec.marks = slices.Grow(rec.marks, n)[:n]
	for i := range rec.marks {
		m := mark{crawl: r.Number(), round: r.Number(), distance: r.Number(), best: r.Number(), version: r.Number(), revision: r.Int(), queued: r.Flag()}
		if r.schema > schema {
			if m.since, m.sinceRevision = r.Number(), r.Int(); m.since == 0 && m.sinceRevision != 0 {
				r.Fail()
			}
		}
		if r.schema >= 3 {
			if m.later, m.laterRevision = r.Number(), r.Int(); m.later == 0 && m.laterRevision != 0 {
				r.Fail()
			}
		}
		rec.marks[i] = m
		if i > 0 && rec.marks[i-1].crawl >= rec.marks[i].crawl {
			r.Fail()
		}
	}
	if r.schema == recordSchema {
		rec.decodeNearer(r)
	}
	return r.done()
}

func (rec *record) decodeNearer(r *reader) {
	n := r.Count(4)
	for range n {
		s := sight{crawl: r.Number(), best: r.Number(), version: r.Number(), revision: r.Int()}
		m := rec.mark(s.crawl)
		before := rec.nearerOf(s.crawl)
		if m == nil || s.best == 0 || s.best >= m.best || s.version == 0 || len(before) > 0 && before[len(before)-1].best >= s.best ||
			len(rec.nearer) > 0 && rec.nearer[len(rec.nearer)-1].crawl > s.crawl {
			r.Fail()
			return
		}
		rec.nearer = append(rec.nearer, s)
	}
	if n == 0 {
		r.Fail()
	}
}

// item is a URL to hand out. Which crawls wait for it is in the URL's record, so that an offer that joins it
// leaves the item alone.
type item struct {
	id        urlID
	url       string
	from      string
	instead   webrace.Instead
	redirects int
	sitemaps  int   // how many of them in a row led here, each listed by the one before; robots.txt counts as one
	score     uint8 // 0: not known; of a new item alone, the key of one on disk holds it
	alone     coming
	changed   int64 // when the page was, as a sitemap or feed lists it, in seconds since 1970; 0: nothing does
	aside     int64 // when it was put aside, of a delayed one, in nanoseconds since 1970; 0: not known
}

// coming is how the only crawl came to a URL of which nothing else is known, as of most in a first round:
// together with the item's place it is the URL's whole record, which then need not be read to hand the item
// out. Zero: not so.
type coming struct{ crawl, round, distance uint32 }

// alone returns how the only crawl came to the URL that waits in its host queue, if there is nothing else to know.
func (r *record) alone() coming {
	if len(r.marks) != 1 || len(r.nearer) > 0 {
		return coming{}
	}
	m := r.marks[0]
	c := coming{m.crawl, m.round, m.distance}
	if r.tries != 0 || r.failed || r.redirect != "" || m != c.mark() {
		return coming{}
	}
	return c
}

func (c coming) mark() mark {
	return mark{crawl: c.crawl, round: c.round, distance: c.distance, queued: true}
}

// record is the record that alone was taken from.
func (c coming) record(at place) *record {
	return &record{place: at, marks: []mark{c.mark()}}
}

// Schemas of items: one with how a crawl came to it, one that also has, after that, what is listed of it, one that has,
// after both, when it was put aside, one that has, after all, how many sitemaps led to it, and one that has, after
// that, in whose place it stands.
const (
	aloneSchema   = 2
	listedSchema  = 3
	asideSchema   = 4
	sitemapSchema = 5
	itemSchema    = 6
)

func (it *item) host() hostID {
	name, _ := scope.Host(it.url)
	return hostOf(name)
}

func (it *item) encode() []byte { return it.append(nil) }

func (it *item) append(to []byte) []byte {
	w := writer(to)
	switch {
	case it.instead != (webrace.Instead{}):
		w = append(w, itemSchema)
	case it.sitemaps != 0:
		w = append(w, sitemapSchema)
	case it.aside != 0:
		w = append(w, asideSchema)
	case it.changed != 0:
		w = append(w, listedSchema)
	case it.alone != (coming{}):
		w = append(w, aloneSchema)
	default:
		w = append(w, schema)
	}
	if w[len(to)] > schema {
		w.Uint(uint64(it.alone.crawl))
		w.Uint(uint64(it.alone.round))
		w.Uint(uint64(it.alone.distance))
	}
	if w[len(to)] >= listedSchema {
		w.Uint(uint64(it.changed))
	}
	if w[len(to)] >= asideSchema {
		w.Uint(uint64(it.aside))
	}
	if w[len(to)] >= sitemapSchema {
		w.Uint(uint64(it.sitemaps))
	}
	if w[len(to)] == itemSchema {
		w.Text(it.instead.Of)
		w.Text(it.instead.Before)
	}
	w.Fixed(it.id[:])
	w.Uint(uint64(it.redirects))
	w.Text(it.from)
	w.Text(it.url)
	return w
}

func decodeItem(value []byte) (item, error) {
	r := newReaderUpTo(itemSchema, value)
	var it item
	if r.schema > schema {
		it.alone = coming{r.Number(), r.Number(), r.Number()}
		if it.alone.crawl == 0 && (r.schema == aloneSchema || it.alone != coming{}) {
			r.Fail()
		}
	}
	if r.schema >= listedSchema {
		if it.changed = r.Size(); it.changed == 0 && r.schema == listedSchema {
			r.Fail()
		}
	}
	if r.schema >= asideSchema {
		if it.aside = r.Size(); it.aside == 0 && r.schema == asideSchema {
			r.Fail()
		}
	}
	if r.schema >= sitemapSchema {
		if it.sitemaps = int(r.Small(math.MaxInt32)); it.sitemaps == 0 && r.schema == sitemapSchema {
			r.Fail()
		}
	}
	if r.schema == itemSchema {
		if it.instead = (webrace.Instead{Of: r.Text(), Before: r.Text()}); it.instead == (webrace.Instead{}) {
			r.Fail()
		}
	}
	copy(it.id[:], r.Fixed(len(it.id)))
	it.redirects = int(r.Small(math.MaxInt32))
	it.from = r.Text()
	it.url = r.Text()
	return it, r.done()
}

// counters are a queue's durable totals.
type counters struct {
	order   uint64 // the last one given to an item
	crawls  uint32 // the last number given to a crawl
	known   uint64 // URLs with a record, but for those that only say how a URL is spelled
	queued  uint64 // URLs that some crawl waits for, leased and delayed ones included
	delayed uint64
	failed  uint64
	done    uint64
	written int64 // the latest time at which anything was written, in nanoseconds since 1970; 0: not known
}

// countersSchema is that of counters; 1 did not know when it was written.
const countersSchema = 2

func (c *counters) encode() []byte {
	w := newWriterOf(countersSchema, 40)
	for _, n := range []uint64{c.order, uint64(c.crawls), c.known, c.queued, c.delayed, c.failed, c.done} {
		w.Uint(n)
	}
	w.Int(c.written)
	return w
}

func decodeCounters(value []byte) (counters, error) {
	r := newReaderUpTo(countersSchema, value)
	c := counters{order: r.Uint(), crawls: r.Number(), known: r.Uint(), queued: r.Uint(), delayed: r.Uint(), failed: r.Uint(), done: r.Uint()}
	if r.schema > 1 {
		c.written = r.Int()
	}
	return c, r.done()
}
