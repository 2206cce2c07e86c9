package urds

import (
	"context"
	"sync"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
)

// ledger keeps, durably, what each owner used on each day, up to which request of each crawl that was
// counted, and up to which revision of the URD base a round was opened for it. All of it is written
// together: nothing is charged twice, and nothing is forgotten.
type ledger struct {
	store  *control.Store
	prefix string // of the names of cursors

	mu      sync.Mutex
	cursors map[string]int64   // as they are now
	unsaved map[string]int64   // those of them that are not written yet
	usage   map[string]float64 // by owner: not written yet
	written time.Time          // the last time

	seen map[string]seen // by owner, of those whose quota other partitions spend from, too; nil: there are none
}

// writeEvery is how long the ledger may lag behind, and keepDays for how long a debt is remembered.
const writeEvery, keepDays = time.Second, 30

const requestsOf, revisionOf = "requests/", "revision/"

func openLedger(ctx context.Context, store *control.Store, pipeline string, shared bool) (*ledger, error) {
	l := &ledger{store: store, prefix: "rounds/" + pipeline + "/", unsaved: make(map[string]int64), usage: make(map[string]float64)}
	if shared {
		l.seen = make(map[string]seen)
	}
	var err error
	l.cursors, err = store.Cursors(ctx, l.prefix)
	return l, err
}

// openedFor is the revision of the URD base that the last round of a crawl was opened for.
func (l *ledger) openedFor(crawl string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cursors[revisionOf+crawl]
}

// opened notes that a round was opened for the URDs of a revision. One that was only widened has none.
func (l *ledger) opened(crawl string, revision int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if revision > l.cursors[revisionOf+crawl] {
		l.set(revisionOf+crawl, revision)
	}
}

func (l *ledger) set(name string, position int64) {
	l.cursors[name] = position
	l.unsaved[name] = position
}

// know begins to count the requests of a crawl that is new to the ledger.
func (l *ledger) know(crawl string, requests uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, known := l.cursors[requestsOf+crawl]; !known {
		l.set(requestsOf+crawl, int64(requests))
	}
}

// cost is how many requests a crawl made that were not charged yet.
func (l *ledger) cost(s frontier.CrawlStatus) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return float64(max(int64(s.Requests)-l.cursors[requestsOf+s.Crawl], 0))
}

// charge notes that owners paid a share each for the requests of a crawl.
func (l *ledger) charge(s frontier.CrawlStatus, owners []string, share float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.set(requestsOf+s.Crawl, int64(s.Requests))
	for _, owner := range owners {
		l.usage[owner] += share
	}
}

func (l *ledger) dirty() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.unsaved) > 0
}

// writeWhenDue writes what is new if the last time was long enough ago.
func (l *ledger) writeWhenDue(ctx context.Context, now time.Time) error {
	if now.Sub(l.written) < writeEvery {
		return nil
	}
	return l.write(ctx, now)
}

// write writes what is new. What was used counts for the day on which it is written.
func (l *ledger) write(ctx context.Context, now time.Time) error {
	l.written = now
	l.mu.Lock()
	cursors, usage := l.unsaved, l.usage
	l.unsaved, l.usage = make(map[string]int64), make(map[string]float64)
	l.mu.Unlock()
	if len(cursors) == 0 {
		return nil
	}
	named := make(map[string]int64, len(cursors))
	for name, position := range cursors {
		named[l.prefix+name] = position
	}
	day := dayOf(now).Format(time.DateOnly)
	if err := l.store.AddUsage(ctx, day, usage, named); err != nil {
		return err
	}
	for owner, used := range usage {
		l.wrote(owner, used)
	}
	return nil
}

// lately is what all owners used on the last days, today last.
func (l *ledger) lately(ctx context.Context, now time.Time) (days []map[string]float64, err error) {
	for day := keepDays - 1; day >= 0 && err == nil; day-- {
		var used map[string]float64
		used, err = l.store.Usage(ctx, dayOf(now).AddDate(0, 0, -day).Format(time.DateOnly))
		days = append(days, used)
	}
	return days, err
}

// dayOf is when the day of a time began, in UTC.
func dayOf(now time.Time) time.Time { return now.UTC().Truncate(24 * time.Hour) }
