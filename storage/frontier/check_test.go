package frontier

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// damaged is a store at rest, of which a test breaks something.
type damaged struct {
	*fixture
	k      keys
	queued int
}

// atRest closes a queue that has items, leases that were out, failures, and hosts and items that wait.
func atRest(t *testing.T) *damaged {
	t.Helper()
	at := time.Unix(1e9, 0)
	f := newFixtureAt(t, QueueOptions{}, func() time.Time { return at })
	f.seed(1, slices.Concat(pages("a", 10), pages("b", 10), pages("c", 3), pages("d", 2))...)
	f.seed(3, pages("a", 12)...)
	for range 16 {
		l := f.hold()
		switch hostName(l) {
		case "b":
			f.rest(l, at.Add(time.Minute), false)
		case "c":
			f.finish(l, Outcome{Err: errors.New("gone")})
		default:
			f.finish(l, Outcome{RetryAt: at.Add(time.Hour)})
		}
	}
	f.must(f.s.Pause(t.Context(), "p", "d"))
	f.hold()
	f.must(f.q.waitForCommit())
	k, queued := f.q.keys, f.q.Stats().Queued
	f.must(f.q.Close())
	return &damaged{f, k, queued}
}

// first returns the first key of a kind that holds, and its value.
func (d *damaged) first(kind byte, holds func(key, value []byte) bool) (k, v []byte) {
	d.t.Helper()
	d.must(d.s.db.Scan(d.k.start(kind), d.k.end(kind), func(key, value []byte) (bool, error) {
		if holds == nil || holds(key, value) {
			k, v = slices.Clone(key), slices.Clone(value)
		}
		return k == nil, nil
	}))
	if k == nil {
		d.t.Fatalf("there is no key of kind %c", kind)
	}
	return k, v
}

func (d *damaged) set(key, value []byte) { d.must(d.s.db.Set(key, value, pebbledb.Sync)) }
func (d *damaged) remove(key []byte)     { d.must(d.s.db.Delete(key, pebbledb.Sync)) }

func (d *damaged) item() (key []byte, it item) {
	key, value := d.first(kindItem, nil)
	it, err := decodeItem(value)
	d.must(err)
	return key, it
}

func (d *damaged) changeRecord(id urlID, change func(*record)) {
	rec, err := d.s.readRecord(d.k, id)
	d.must(err)
	change(rec)
	d.set(d.k.url(kindSeen, id), rec.encode())
}

func (d *damaged) check(repair bool) (kinds []string) {
	d.t.Helper()
	set := map[string]bool{}
	d.must(d.s.Check(d.t.Context(), repair, func(f fsck.Finding) {
		set[f.Kind] = true
		if f.Repaired != repair || f.Store != "frontier" || !strings.HasPrefix(f.Detail, "p: ") {
			d.t.Errorf("finding: %v", f)
		}
	}))
	return slices.Sorted(maps.Keys(set))
}

func TestASoundStoreHasNoFindings(t *testing.T) {
	t.Parallel()
	d := atRest(t)
	if got := d.check(true); len(got) > 0 {
		t.Errorf("found %v", got)
	}
	if err := newFixture(t, QueueOptions{}).s.Check(t.Context(), false, nil); err == nil {
		t.Error("a store in use is checked")
	}
}

func TestEachDamageIsFoundAndRepaired(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		damage func(*damaged)
		want   string // the kind, among others
		lost   int    // URLs that cannot be brought back
	}{
		"a ready key is missing": {func(d *damaged) { k, _ := d.first(kindReady, nil); d.remove(k) }, strandedHost, 0},
		"a ready key too many":   {func(d *damaged) { d.set(d.k.ready(1, 7), nil) }, strayHostKey, 0},
		"a parked key is missing": {func(d *damaged) {
			k, _ := d.first(kindParked, func(k, _ []byte) bool { return dueOf(k) != never })
			d.remove(k)
		}, strandedHost, 0},
		"the key of a paused host without items is missing": {func(d *damaged) {
			k, _ := d.first(kindParked, func(k, _ []byte) bool { return dueOf(k) == never })
			d.remove(k)
		}, strandedHost, 0},
		"a parked key too many": {func(d *damaged) { d.set(d.k.timed(kindParked, 5, 7), nil) }, strayHostKey, 0},
		"the record of an item is missing": {func(d *damaged) {
			_, it := d.item()
			d.remove(d.k.url(kindSeen, it.id))
		}, strayItem, 1},
		"an item says what its record does not": {func(d *damaged) {
			k, it := d.item()
			it.alone = coming{1, 1, 99}
			d.set(k, it.encode())
		}, wrongItem, 0},
		"the record of an item is damaged": {func(d *damaged) {
			_, it := d.item()
			d.set(d.k.url(kindSeen, it.id), []byte{99})
		}, damagedValue, 1},
		"an item lies twice": {func(d *damaged) {
			_, it := d.item()
			d.set(d.k.item(it.host(), 2, 999), it.encode())
		}, strayItem, 0},
		"an item lies under another host": {func(d *damaged) {
			_, it := d.item()
			d.set(d.k.item(7, 2, 999), it.encode())
		}, strayItem, 0},
		"an item that no crawl waits for": {func(d *damaged) {
			_, it := d.item()
			d.changeRecord(it.id, func(r *record) {
				for i := range r.marks {
					r.marks[i].queued = false
				}
			})
		}, strayItem, 1},
		"a record names another place": {func(d *damaged) {
			_, it := d.item()
			d.changeRecord(it.id, func(r *record) { r.place.order += 500 })
		}, misplacedItem, 0},
		"an item is missing":        {func(d *damaged) { k, _ := d.item(); d.remove(k) }, lostItem, 1},
		"an item is damaged":        {func(d *damaged) { k, _ := d.item(); d.set(k, []byte{1, 2}) }, damagedValue, 1},
		"a delayed item is missing": {func(d *damaged) { k, _ := d.first(kindDelayed, nil); d.remove(k) }, lostItem, 1},
		"a URL is queued nowhere": {func(d *damaged) {
			k, it := d.item()
			d.remove(k)
			d.changeRecord(it.id, func(r *record) { r.place = place{} })
		}, lostItem, 1},
		"the count of a host":        {func(d *damaged) { _, it := d.item(); d.changeHost(it.host(), func(h *hostRecord) { h.items[0] += 3 }) }, wrongHostCount, 0},
		"the record of a host":       {func(d *damaged) { _, it := d.item(); d.remove(d.k.host(it.host())) }, wrongHostCount, 0},
		"the record of no host":      {func(d *damaged) { d.changeHost(7, func(h *hostRecord) { h.items[1] = 3 }) }, wrongHostCount, 0},
		"a host that waits for ever": {func(d *damaged) { d.changeHost(7, func(h *hostRecord) { h.parked = 3 }) }, strandedHost, 0},
		"the count of a crawl": {func(d *damaged) {
			k, v := d.first(kindCrawl, nil)
			cr, err := decodeCrawl(v)
			d.must(err)
			cr.pending.Add(4)
			d.set(k, encodeCrawl(cr))
		}, wrongCrawl, 0},
		"a crawl that there is not": {func(d *damaged) {
			_, it := d.item()
			d.changeRecord(it.id, func(r *record) { r.marks = append(r.marks, mark{crawl: 77, queued: true}) })
		}, unknownCrawl, 0},
		"a failure is not listed": {func(d *damaged) { k, _ := d.first(kindFailed, nil); d.remove(k) }, wrongFailure, 0},
		"a failure that is none": {func(d *damaged) {
			_, it := d.item()
			w := newWriter(9)
			w.Text(it.url)
			d.set(d.k.url(kindFailed, it.id), w)
		}, wrongFailure, 0},
		"totals":             {func(d *damaged) { d.set(d.k.start(kindMeta), (&counters{order: 1, known: 5}).encode()) }, wrongTotals, 0},
		"totals are missing": {func(d *damaged) { d.remove(d.k.start(kindMeta)) }, wrongTotals, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := atRest(t)
			before, err := d.s.CrawlStatuses("p")
			d.must(err)
			c.damage(d)
			if got := d.check(false); !slices.Contains(got, c.want) {
				t.Errorf("found %v, want %s", got, c.want)
			}
			if got := d.check(true); !slices.Contains(got, c.want) {
				t.Errorf("repaired %v, want %s: the first check changed something", got, c.want)
			}
			if got := d.check(true); len(got) > 0 {
				t.Errorf("after the repair there is %v", got)
			}
			d.wantAll(before, c.lost)
		})
	}
}

func (d *damaged) changeHost(id hostID, change func(*hostRecord)) {
	h, err := d.s.readHost(d.k, id)
	d.must(err)
	change(h)
	d.set(d.k.host(id), h.encode())
}

// wantAll works off everything that is not delayed, and expects that no more is lost than must be.
func (d *damaged) wantAll(before []CrawlStatus, lost int) {
	d.t.Helper()
	d.opt.Wait = 2 * time.Hour
	d.now = func() time.Time { return time.Unix(2e9, 0) }
	d.reopen()
	d.must(d.s.Resume(d.t.Context(), "p", "d"))
	urls := map[string]bool{}
	for _, s := range before {
		d.start(webrace.Crawl{ID: s.Crawl, Start: "http://" + s.Crawl + "/", Scope: webrace.ScopeAny}, false)
	}
	got := d.drain()
	for _, u := range got {
		if urls[u] {
			d.t.Errorf("%s was taken twice", u)
		}
		urls[u] = true
	}
	want := d.queued - lost
	if len(got) != want {
		d.t.Errorf("%d URLs were taken, want %d", len(got), want)
	}
	if s := d.q.Stats(); s.Queued != 0 || s.Due != 0 || s.Delayed != 0 {
		d.t.Errorf("stats at the end: %+v", s)
	}
}
