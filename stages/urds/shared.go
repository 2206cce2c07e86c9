package urds

import (
	"context"
	"time"

	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/schedule"
)

// In a cluster, a crawl is charged for where it begins, with what it cost in all partitions, once its round is over in
// all of them: so each request is charged once, whatever is killed. An owner whose crawls begin in several partitions
// has a balance in the agenda of each. Before a round is opened for somebody with a quota, what was written in the
// other partitions since the last look is spent here, too. What their open rounds will cost is not known yet: an owner
// may have as much more than one machine would grant.

// seen is what is known of the usage of an owner.
type seen struct {
	at   time.Time
	day  string  // on which the last look was
	used float64 // on that day, by all
	here float64 // written by this partition since
}

// staleAfter is after how long a balance that was not looked at is held against that of the days: it was full at most,
// while others spent of the quota.
const staleAfter = time.Hour

// wrote notes that this partition has written what an owner used.
func (l *ledger) wrote(owner string, used float64) {
	if s, known := l.seen[owner]; known {
		s.here += used
		l.seen[owner] = s
	}
}

// saw notes what is known of an owner's usage.
func (l *ledger) saw(owner string, now time.Time, used float64) {
	if l.seen != nil {
		l.seen[owner] = seen{at: now, day: dayOf(now).Format(time.DateOnly), used: used}
	}
}

// spent is what an owner used.
type spent struct {
	elsewhere float64   // since the last look
	days      []float64 // on the last days, today last; nil if the look was not long ago
}

// look writes what is new, and returns what owners have used in other partitions since the last look.
func (l *ledger) look(ctx context.Context, owners []string, now time.Time) (map[string]spent, error) {
	if err := l.write(ctx, now); err != nil {
		return nil, err
	}
	days := make([]string, keepDays)
	for i := range days {
		days[i] = dayOf(now).AddDate(0, 0, i-keepDays+1).Format(time.DateOnly)
	}
	oldest := keepDays - 1
	for _, owner := range owners {
		for oldest > 0 && (l.isStale(owner, now) || l.seen[owner].day < days[oldest]) {
			oldest--
		}
	}
	used, err := l.store.UsageOf(ctx, owners, days[oldest:])
	if err != nil {
		return nil, err
	}
	all := make(map[string]spent, len(owners))
	for _, owner := range owners {
		before := l.seen[owner]
		s := spent{elsewhere: -before.used - before.here}
		for _, day := range days {
			if day >= before.day {
				s.elsewhere += used[day][owner]
			}
			if l.isStale(owner, now) {
				s.days = append(s.days, used[day][owner])
			}
		}
		all[owner] = s
	}
	for _, owner := range owners {
		l.saw(owner, now, used[days[keepDays-1]][owner])
	}
	return all, nil
}

// isStale reports whether an owner was never looked at, or long ago.
func (l *ledger) isStale(owner string, now time.Time) bool {
	s, known := l.seen[owner]
	return !known || now.Sub(s.at) > staleAfter
}

// due returns the crawls to open a round of now, and when to ask again. What it has not looked at owners for, since it
// was called, it does not return.
func (r *rounds) due(ctx context.Context, now time.Time) (due []string, next time.Time, err error) {
	due, next = r.agenda.Due(now)
	for looked := make(map[string]bool); r.here != nil; {
		owners := r.limited(due, looked)
		if len(owners) == 0 {
			break
		}
		all, err := r.ledger.look(ctx, owners, now)
		if err != nil {
			return nil, next, err
		}
		for _, id := range due {
			r.agenda.PutBack(id)
		}
		for owner, s := range all {
			r.spend(owner, s, now)
		}
		due, next = r.agenda.Due(now)
	}
	return due, next, nil
}

// limited returns the owners of crawls who have a quota, and were not looked at.
func (r *rounds) limited(crawls []string, looked map[string]bool) (owners []string) {
	for _, id := range crawls {
		for urd := range r.book.crawls[id].wanted {
			owner := r.book.urds[urd].owner
			if !looked[owner] && r.quotaOf(owner) > 0 {
				looked[owner] = true
				owners = append(owners, owner)
			}
		}
	}
	return owners
}

func (r *rounds) quotaOf(owner string) int {
	if quota, known := r.book.quotas[owner]; known {
		return quota
	}
	return r.options.Quota
}

// spend charges an owner here for what was used elsewhere. Both ways to know what is left err to the side of too
// little.
func (r *rounds) spend(owner string, s spent, now time.Time) {
	r.agenda.Spend(owner, s.elsewhere, now)
	if s.days == nil {
		return
	}
	left := schedule.Left(r.quotaOf(owner), s.days, now.Sub(dayOf(now)))
	if balance, _ := r.agenda.Balance(owner, now); left > balance {
		r.agenda.SetBalance(owner, left, now)
	}
}

// complete adds to how crawls stand what they cost in other partitions.
func (s *stage) complete(ctx context.Context, all []frontier.CrawlStatus) error {
	if s.costs == nil || len(all) == 0 {
		return nil
	}
	crawls := make([]string, len(all))
	for i, status := range all {
		crawls[i] = status.Crawl
	}
	elsewhere, err := s.costs(ctx, s.env.Pipeline, crawls)
	for i := range all {
		all[i].Requests += elsewhere[all[i].Crawl]
	}
	return err
}
