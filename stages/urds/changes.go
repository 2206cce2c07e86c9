package urds

import (
	"context"
	"time"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/schedule"
)

// changed takes up what was changed since a point: a URD that is new, or asks for something else, is due at
// once, as is one that a check was asked for. One that names times waits for them.
func (r *rounds) changed(ctx context.Context, from, to control.Point) error {
	now := time.Now()
	if from.Quotas != to.Quotas {
		if err := r.setQuotas(ctx, now); err != nil {
			return err
		}
	}
	if from.Revision != to.Revision {
		if err := r.revise(ctx, from, to, now); err != nil {
			return err
		}
	}
	for urd, err := range r.control.Asked(ctx, from.Checks) {
		if err != nil {
			return err
		}
		// One that is told of again, as checks go on to be asked for, is only asked for once.
		if c := r.book.crawls[urd.Crawl.ID]; c != nil && urd.CheckAsked.After(c.opened) {
			r.agenda.CheckNow(urd.ID, now)
		}
	}
	r.count()
	return nil
}

func (r *rounds) revise(ctx context.Context, from, to control.Point, now time.Time) error {
	var widened []*crawl
	for revision, err := range r.control.Revised(ctx, from.Revision) {
		if err != nil {
			return err
		}
		if revision.Number > to.Revision {
			break // not every copy of the base has it yet: it comes with the next change
		}
		chosen, err := r.book.asks(ctx, revision.URD)
		if err != nil {
			return err
		}
		r.book.remove(revision.ID)
		if !chosen {
			r.agenda.Remove(revision.ID)
			continue
		}
		var since time.Time
		if revision.URD.At != "" {
			if since, err = r.control.TimesSince(ctx, revision.ID); err != nil {
				return err
			}
		}
		c := r.book.add(*revision.URD, since)
		r.agenda.Put(r.book.requestOf(revision.ID), now)
		if revision.URD.At == "" && revision.URD.Interest > from.Revision {
			r.agenda.CheckNow(revision.ID, now)
		}
		if c.open {
			widened = append(widened, c)
		}
	}
	for _, c := range widened { // a round that is open takes in what it can, and the next one has the rest
		if err := r.emit(ctx, c, 0); err != nil {
			return err
		}
	}
	return nil
}

func (r *rounds) count() {
	r.env.Level("urds").Store(int64(len(r.book.urds)))
	r.env.Level("crawls").Store(int64(r.book.wanted()))
}

// setQuotas reads the quotas, and what is left of them after the last days.
func (r *rounds) setQuotas(ctx context.Context, now time.Time) error {
	quotas := make(map[string]int)
	for owner, err := range r.control.Owners(ctx) {
		if err != nil {
			return err
		}
		quotas[owner.Name] = owner.Quota
		if owner.Quota == 0 {
			quotas[owner.Name] = r.options.Quota
		}
	}
	var days []map[string]float64
	for owner, quota := range quotas {
		before := r.book.quotas[owner]
		if before == quota {
			continue
		}
		r.book.quotas[owner] = quota
		r.agenda.SetQuota(owner, quota, now)
		if before > 0 {
			continue // what was spent of it is known
		}
		if days == nil {
			var err error
			if days, err = r.ledger.lately(ctx, now); err != nil {
				return err
			}
		}
		r.ledger.saw(owner, now, days[len(days)-1][owner])
		r.agenda.SetBalance(owner, schedule.Left(quota, usedBy(owner, days), now.Sub(dayOf(now))), now)
	}
	return nil
}

func usedBy(owner string, days []map[string]float64) []float64 {
	used := make([]float64, len(days))
	for i, day := range days {
		used[i] = day[owner]
	}
	return used
}
