package frontier

import (
	"bytes"
	"container/heap"
	"log/slog"
	"time"

	"github.com/webrace/webrace/internal/pointer"
	"github.com/webrace/webrace/storage/internal/nanos"
	"github.com/webrace/webrace/storage/schedule"
)

// A clock that ran ahead and was put right leaves times behind that are still to come. Those that tell when
// something happened prove it: nothing that is past lies ahead of now. So with every time that is due, the
// time is kept at which it was set, and a queue keeps the latest time at which it wrote anything. Once that
// lies ahead of now, what was set at a time to come counts as due now, and what was visited then as not
// visited lately. What is due far ahead, but was set in the past, waits as it was told to.

// toldWait is the longest wait that is believed of what an earlier release put aside, which did not tell when,
// once the clock is known to have been set back.
const toldWait = 24 * time.Hour

// isAhead is [schedule.Ahead] of a time in nanoseconds since 1970.
func isAhead(at int64, now time.Time) bool { return at > now.Add(schedule.ClockSkew).UnixNano() }

// ClockSetBack is what a queue found when the clock had been set back. All of it is due now.
type ClockSetBack struct {
	By      time.Duration // at least
	URLs    int           // that were visited at a time to come
	Delayed int           // URLs that were to be tried again later, as was decided at such a time
	Hosts   int           // that were to be left alone, as was decided at such a time
}

// Log logs it for the operator.
func (c ClockSetBack) Log(log *slog.Logger) {
	log.Warn("the clock was set back: what is dated ahead of it counts as due now",
		"by", c.By.Round(time.Second), "urls", c.URLs, "delayed", c.Delayed, "hosts", c.Hosts)
}

// watchClock finds out whether the clock was set back since the queue wrote last, and has that mended. It wants
// the queue's lock.
func (q *Queue) watchClock(now time.Time) {
	if q.mending || !isAhead(q.shown.written, now) || q.err != nil || q.store.readOnly {
		return
	}
	q.mending = true
	q.window.believeNot(now)
	m := &clockMending{q: q, now: now, found: ClockSetBack{By: time.Duration(q.shown.written - now.UnixNano())}}
	m.kinds = []clockKind{{kindHost, m.host}, {kindDelayed, m.delayed}, {kindVisit, m.visit}}
	q.later(step{apply: m.crawls, after: m.next})
}

// believeNot lets the hosts of the window be asked that were told to wait at a time to come.
func (w *window) believeNot(now time.Time) {
	for _, h := range w.hosts {
		if isAhead(h.reported, now) {
			h.notBefore, h.why, h.reported = time.Time{}, "", 0
		}
	}
	heap.Init(&w.waiting)
	w.wake(now)
}

// clockMending makes due what waits for a time that was set at a time to come. Until that is done, nothing is
// handed out. It goes over the queue in steps between which others have their turn, and is begun again if it
// was not ended: the time at which the queue wrote last is put right at the end.
type clockMending struct {
	q     *Queue
	now   time.Time
	kinds []clockKind // still to be gone over
	from  []byte      // where to go on in the first of them
	found ClockSetBack
}

// clockKind is what to do with each value of a kind.
type clockKind struct {
	kind  byte
	visit func(*changes, []byte, []byte) error
}

// clockChunk is how many values one step looks at.
const clockChunk = 4096

// next hands in the next step. It holds the queue's lock.
func (m *clockMending) next() error {
	if len(m.kinds) > 0 {
		m.q.later(step{apply: m.chunk, after: m.next}) // refused once the queue has ended: then it is begun again
		return nil
	}
	m.q.later(step{apply: m.end, after: func() error {
		m.q.mending = false
		return nil
	}, done: m.tell})
	return nil
}

// crawls has the rounds that are open count from now on.
func (m *clockMending) crawls(c *changes) error {
	for _, cr := range m.q.crawls.all() {
		p := cr.pass()
		if !cr.unfinished() || !isAhead(nanos.Of(p.started), m.now) {
			continue
		}
		next := *p
		next.started = m.now
		pointer.Store(&cr.now, &next)
		c.crawls[cr] = struct{}{}
	}
	return nil
}

func (m *clockMending) chunk(c *changes) error {
	at := m.kinds[0]
	from := m.from
	if from == nil {
		from = m.q.keys.start(at.kind)
	}
	n := 0
	m.from = nil
	err := m.q.store.db.Scan(from, m.q.keys.end(at.kind), func(key, value []byte) (bool, error) {
		if n++; n > clockChunk {
			m.from = bytes.Clone(key)
			return false, nil
		}
		return true, at.visit(c, key, value)
	})
	if m.from == nil {
		m.kinds = m.kinds[1:]
	}
	return err
}

// host lets a host be asked, unless it is paused or has a reason to wait.
func (m *clockMending) host(c *changes, key, value []byte) error {
	if h, err := decodeHost(value); err != nil || !h.notBefore.After(m.now) {
		return nil // what is damaged is for Check to find
	}
	id := hostID(lastNumber(key))
	h, err := c.host(id)
	if err != nil || !m.wrong(nanos.Of(h.notBefore), h.reported) {
		return err
	}
	m.found.Hosts++
	h.notBefore, h.why, h.reported, h.dirty = time.Time{}, "", 0, true
	if h.parked == 0 || h.parked == never {
		return nil
	}
	c.timed = true
	c.writes.delete(m.q.keys.timed(kindParked, h.parked, uint64(id)))
	c.unpark(id, h)
	return nil
}

// delayed puts an item back that was put aside at a time to come.
func (m *clockMending) delayed(c *changes, key, value []byte) error {
	it, err := decodeItem(value)
	if err != nil || !m.wrong(dueOf(key), it.aside) {
		return nil
	}
	m.found.Delayed++
	c.timed = true
	c.writes.delete(key)
	return c.bringBack(it, lastNumber(key))
}

// wrong reports whether a time to come was set at a time to come.
func (m *clockMending) wrong(due, set int64) bool {
	if set == 0 { // as an earlier release wrote it
		return due > m.now.Add(toldWait).UnixNano()
	}
	return due > m.now.UnixNano() && isAhead(set, m.now)
}

// visit counts a visit. It stays as it is, and is no reason not to ask: see [Lease.answers].
func (m *clockMending) visit(_ *changes, _, value []byte) error {
	r := newReaderUpTo(visitSchema, value)
	if isAhead(nanos.Of(r.Time()), m.now) {
		m.found.URLs++
	}
	return nil
}

func (m *clockMending) end(c *changes) error {
	c.q.count.written = m.now.UnixNano()
	return nil
}

// tell reports what was found, once it is mended.
func (m *clockMending) tell(err error) {
	switch {
	case err != nil:
	case m.q.opt.ClockSetBack != nil:
		m.q.opt.ClockSetBack(m.found)
	default:
		m.found.Log(m.q.store.log.With("pipeline", m.q.pipeline))
	}
}
