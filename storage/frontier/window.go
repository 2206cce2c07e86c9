package frontier

import (
	"container/heap"
	"time"

	"github.com/webrace/webrace/internal/urgency"
)

// The window is the workbench of BUbiNG (Boldi, Marino, Santini and Vigna, "BUbiNG: Massive Crawling for the Masses",
// ACM TWEB 12(2), 2018) over the back queues of Mercator (Najork and Heydon, "High-Performance Web Crawling", SRC
// Research Report 173, 2001): each host has a queue at each level of urgency; memory holds some of the hosts and the
// first items of their queues, the disk holds all.
//
//   - On disk, a ready key stands for each host queue with items. fill scans these keys in their order, which is that
//     of the hosts' hashes, and loads what it finds while there is room; it goes on where it stopped (next). A host
//     queue that gets its first items is loaded at once when the scan is through (ended) and there is room; else it is
//     missed, and another scan follows as soon as there is room. So each host queue is loaded, or a scan will find it.
//   - A host in the window is in the rings, to be asked; or in a heap by the time when it may be asked again (waiting);
//     or its leases take all its slots. One that waits for long, or for whose place others are ready, is parked: it
//     leaves the window for the disk, where its key is that time. It stays until that is written (parking), and until
//     what was last reported of it is (saving).
//   - Within a level, host queues take turns: round robin. One that had its turn of items leaves the window if others
//     are ready that there is no room for (rotate), and the scan comes back to it after all of those.
//   - Between levels, pick is smooth weighted round robin ([urgency.Turns]): each level that has a free host has its
//     share without bursts, and a level without one saves nothing up.
//
// What becomes durable is told to the window after its commit (arrived, altered): it never has an item before the disk
// has. Of a host queue it has the next items, and the stretches of orders that are yet to be read (unread).

// window is the part of the frontier that is in memory: the hosts that URLs are taken from now, and a few items of
// each. All its methods want the queue's lock.
type window struct {
	store *Store
	keys  keys
	size  int         // hosts at each level
	park  func(*host) // asks for a host to be put aside on disk

	hosts   map[hostID]*host
	rings   [levels]ring
	turns   urgency.Turns // of the levels
	waiting waitingHosts
}

const (
	prefetch  = 16               // items of a host queue read at once
	loadChunk = 64               // hosts loaded at once
	turn      = 2 * prefetch     // items after which a host queue makes room for another, if there is one
	parkAfter = 10 * time.Second // a host that waits longer leaves its place in the window to another
)

// host is a host in the window.
type host struct {
	id        hostID
	parallel  int
	inflight  int // leases that hold its slots
	saving    int // reports on their way to the disk: until then memory alone knows them
	parking   bool
	paused    bool
	notBefore time.Time
	why       string // it waits until then, if not for the usual pause
	reported  int64  // when that was said
	listings  listings
	queues    [levels]hostQueue
	index     int // in the heap of waiting hosts; -1 when not there
}

// hostQueue is what a host has at one level, in the order of the queue.
type hostQueue struct {
	host   *host
	level  level
	loaded bool // counts in its ring's loaded
	inRing bool
	known  bool      // it was loaded before, and read since but for what is unread
	unread []stretch // where items may be on disk, sorted; each is read once
	taken  int       // items handed out since it was loaded
	items  []queued
}

// queued is an item with its place in its host queue.
type queued struct {
	item
	order uint64
}

// ring is where the host queues of one level take turns.
type ring struct {
	queues []*hostQueue
	loaded int // host queues in the window

	next   uint64 // the host to go on loading from
	ended  bool   // all ready keys were passed
	missed bool   // since then, or before next, a host became ready that there was no room for
}

func (l *hostQueue) dry() bool { return len(l.items) == 0 && len(l.unread) == 0 }

// forget leaves the items in memory to be read anew.
func (l *hostQueue) forget() {
	if n := len(l.items); n > 0 {
		l.unread = join(l.unread, stretch{l.items[0].order, l.items[n-1].order})
		l.items = nil
	}
}

// free reports whether the host may be asked now.
func (h *host) free(now time.Time) bool {
	return !h.parking && h.inflight < h.parallel && !h.notBefore.After(now)
}

// look reports whether a host with URLs may be asked now, and whether one cannot be because of leases alone.
func (w *window) look(now time.Time) (ready, blocked bool) {
	for _, h := range w.hosts {
		if !h.empty() {
			ready = ready || h.free(now)
			blocked = blocked || h.inflight >= h.parallel
		}
	}
	return ready, blocked
}

// empty reports whether nothing of the host waits to be handed out, as far as the window knows.
func (h *host) empty() bool {
	for i := range h.queues {
		if !h.queues[i].dry() {
			return false
		}
	}
	return true
}

// idle reports whether nothing is lost when the host leaves the window.
func (h *host) idle() bool {
	return h.empty() && h.inflight == 0 && h.saving == 0 && !h.parking
}

// arrived tells the window that a host queue on disk got items. One that is not in the window takes no room that
// others wait for.
func (w *window) arrived(id hostQueueID, where stretch, now time.Time) error {
	h, r := w.hosts[id.host], &w.rings[id.level]
	if h != nil && h.paused {
		return nil
	}
	if (h == nil || !h.queues[id.level].loaded) && (r.loaded >= w.size || !r.ended || r.missed) {
		r.missed = true
		if h != nil {
			h.queues[id.level].known = false
		}
		return nil
	}
	if h == nil || !h.queues[id.level].known {
		where = everywhere
	}
	return w.load(id, where, now)
}

// load brings a host queue into the window, or what is new of it.
func (w *window) load(id hostQueueID, where stretch, now time.Time) error {
	h := w.hosts[id.host]
	if h == nil {
		rec, err := w.store.readHost(w.keys, id.host)
		if err != nil {
			return err
		}
		if rec.parked != 0 {
			return nil
		}
		h = &host{id: id.host, parallel: rec.parallel, listings: rec.listings, index: -1}
		if !isAhead(rec.reported, now) {
			h.notBefore, h.why, h.reported = rec.notBefore, rec.why, rec.reported
		}
		for i := range h.queues {
			h.queues[i].host, h.queues[i].level = h, level(i)
		}
		w.hosts[h.id] = h
	}
	l := &h.queues[id.level]
	if n := len(l.items); n > 0 && where.first <= l.items[n-1].order {
		l.forget() // the new ones come before them
	}
	l.unread = join(l.unread, where)
	l.known = true
	if !l.loaded {
		l.loaded, l.taken = true, 0
		w.rings[l.level].loaded++
	}
	w.settle(h, now)
	return nil
}

// unload makes room for another host queue in the ring; the host queue's host may stay for the sake of others.
func (w *window) unload(l *hostQueue) {
	if l.loaded {
		l.loaded = false
		w.rings[l.level].loaded--
	}
}

// rotate has a host queue leave the window that had its turn, if others are ready that there is no room for. It
// gets the next one when all of those had theirs.
func (w *window) rotate(l *hostQueue) {
	if l.taken++; l.taken < turn || l.dry() || !l.loaded || !w.full(l.level) {
		return
	}
	w.unload(l)
	l.items, l.unread, l.known = nil, nil, false
	w.rings[l.level].missed = true
}

// full reports whether hosts are ready at a level that there is no room for.
func (w *window) full(at level) bool {
	r := &w.rings[at]
	return r.loaded >= w.size && (!r.ended || r.missed)
}

// settle puts a host where it belongs after anything about it changed: into the rings, among those who
// wait, or out of the window.
func (w *window) settle(h *host, now time.Time) {
	for i := range h.queues {
		if h.queues[i].dry() {
			w.unload(&h.queues[i])
		}
	}
	switch {
	case h.idle():
		w.drop(h)
	case h.parking || h.inflight >= h.parallel:
	case h.notBefore.After(now):
		w.wait(h, now)
	default:
		for i := range h.queues {
			if l := &h.queues[i]; !l.inRing && !l.dry() {
				l.inRing = true
				w.rings[i].queues = append(w.rings[i].queues, l)
			}
		}
	}
}

// drop has a host leave the window. What the rings still have of it is dry, so that pick leaves it out.
func (w *window) drop(h *host) {
	for i := range h.queues {
		l := &h.queues[i]
		w.unload(l)
		l.items, l.unread = nil, nil
	}
	if h.index >= 0 {
		heap.Remove(&w.waiting, h.index)
	}
	delete(w.hosts, h.id)
}

// wait puts a host aside until it may be asked again: on disk if that takes long, or if others are
// ready that there is no room for.
func (w *window) wait(h *host, now time.Time) {
	if h.index >= 0 {
		heap.Fix(&w.waiting, h.index)
	} else {
		heap.Push(&w.waiting, h)
	}
	if h.inflight == 0 && (h.notBefore.Sub(now) > parkAfter || w.crowded(h)) {
		h.parking = true
		w.park(h)
	}
}

// crowded reports whether other hosts wait for the place of this one.
func (w *window) crowded(h *host) bool {
	for i := range w.rings {
		if h.queues[i].loaded && w.full(level(i)) {
			return true
		}
	}
	return false
}

// wake settles the hosts whose wait is over.
func (w *window) wake(now time.Time) {
	for len(w.waiting) > 0 && !w.waiting[0].notBefore.After(now) {
		h := w.waiting[0]
		heap.Pop(&w.waiting)
		w.settle(h, now)
	}
}

// fill loads ready hosts while there is room, and reports whether it loaded any.
func (w *window) fill(now time.Time) (loaded bool, err error) {
	for i := range w.rings {
		some, err := w.fillRing(level(i), now)
		if err != nil {
			return loaded, err
		}
		loaded = loaded || some
	}
	return loaded, nil
}

// fillRing loads what comes next at a level. Where nothing does, and hosts were missed behind it, it begins
// anew: nothing else looks for them.
func (w *window) fillRing(at level, now time.Time) (loaded bool, err error) {
	r := &w.rings[at]
	for {
		if r.ended && r.missed && r.loaded < w.size {
			r.next, r.ended, r.missed = 0, false, false
		}
		room := min(loadChunk, w.size-r.loaded)
		if r.ended || room <= 0 {
			return false, nil
		}
		ids, err := w.readyHosts(at, room)
		if err != nil {
			return false, err
		}
		for _, id := range ids {
			if err := w.load(hostQueueID{id, at}, everywhere, now); err != nil {
				return false, err
			}
		}
		if len(ids) > 0 {
			return true, nil
		}
	}
}

// readyHosts reads up to n hosts that are ready at a level and whose host queue is not in the window.
func (w *window) readyHosts(at level, n int) (ids []hostID, err error) {
	r := &w.rings[at]
	r.ended = true
	start, end := w.keys.ready(at, hostID(r.next)), w.keys.start(kindReady)
	end = append(end, byte(at)+1)
	err = w.store.db.Scan(start, end, func(key, _ []byte) (bool, error) {
		if len(ids) == n {
			r.ended, r.next = false, lastNumber(key)
			return false, nil
		}
		id := hostID(lastNumber(key))
		if h := w.hosts[id]; h == nil || !h.queues[at].loaded {
			ids = append(ids, id)
		}
		return true, nil
	})
	return ids, err
}

// pick takes the host queue out of the rings whose turn it is, or returns nil when no host is free.
func (w *window) pick(now time.Time) *hostQueue {
	at := w.turns.Next(func(at int) bool {
		r := &w.rings[at]
		for len(r.queues) > 0 && (r.queues[0].dry() || !r.queues[0].host.free(now)) {
			r.shift()
		}
		return len(r.queues) > 0
	})
	if at < 0 {
		return nil
	}
	return w.rings[at].shift()
}

func (r *ring) shift() *hostQueue {
	l := r.queues[0]
	r.queues[0] = nil
	r.queues = r.queues[1:]
	l.inRing = false
	return l
}

// pop takes the next item out of a host queue, read from disk if need be.
func (w *window) pop(l *hostQueue) (it queued, ok bool, err error) {
	if err := w.read(l); err != nil || len(l.items) == 0 {
		return queued{}, false, err
	}
	it = l.items[0]
	l.items = l.items[1:]
	return it, true, nil
}

// read sees to it that the next items of a host queue are in memory, if there are any.
func (w *window) read(l *hostQueue) error {
	for len(l.items) == 0 && len(l.unread) > 0 {
		if err := w.readStretch(l); err != nil {
			return err
		}
	}
	return nil
}

func (w *window) readStretch(l *hostQueue) error {
	s := &l.unread[0]
	start, end := w.keys.item(l.host.id, l.level, s.first), append(w.keys.item(l.host.id, l.level, s.last), 0)
	l.items = make([]queued, 0, prefetch)
	more := false
	err := w.store.db.Scan(start, end, func(key, value []byte) (bool, error) {
		if len(l.items) == prefetch {
			more, s.first = true, lastNumber(key)
			return false, nil
		}
		it, err := decodeItem(value)
		if err == nil {
			l.items = append(l.items, queued{it, lastNumber(key)})
		}
		return true, err
	})
	if !more {
		l.unread = l.unread[1:]
	}
	return err
}

// altered tells the window that an item it may have is gone from its host queue, or holds too much or too little.
func (w *window) altered(at spot) {
	h := w.hosts[at.host]
	if h == nil {
		return
	}
	items := h.queues[at.level].items
	for i := range items {
		if items[i].order == at.order {
			items[i].alone = coming{}
			if at.changed != 0 {
				items[i].changed = at.changed
			}
		}
	}
}

// restart reads everything on disk anew: a crawl came in whose items may have been passed over.
func (w *window) restart(now time.Time) {
	for i := range w.rings {
		r := &w.rings[i]
		r.next, r.ended, r.missed = 0, false, false
	}
	for _, h := range w.hosts {
		for i := range h.queues {
			h.queues[i].known, h.queues[i].items, h.queues[i].unread = true, nil, []stretch{everywhere}
		}
		w.settle(h, now)
	}
}

// waitingHosts is a heap by the time of their return.
type waitingHosts []*host

func (w waitingHosts) Len() int           { return len(w) }
func (w waitingHosts) Less(i, j int) bool { return w[i].notBefore.Before(w[j].notBefore) }
func (w waitingHosts) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].index, w[j].index = i, j
}

func (w *waitingHosts) Push(h any) {
	h.(*host).index = len(*w)
	*w = append(*w, h.(*host))
}

func (w *waitingHosts) Pop() any {
	last := len(*w) - 1
	h := (*w)[last]
	(*w)[last] = nil
	*w = (*w)[:last]
	h.index = -1
	return h
}
