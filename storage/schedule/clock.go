package schedule

import "time"

// ClockSkew is by how much a time of something that happened may be ahead of now before it proves that the
// clock ran ahead and was set back: clocks are corrected by less all the time.
const ClockSkew = time.Minute

// Ahead reports whether the time of something that happened lies ahead of now. Of what is to happen it tells
// nothing: that may lie ahead as far as it likes.
func Ahead(happened, now time.Time) bool { return happened.After(now.Add(ClockSkew)) }

// ClockSetBack tells the agenda that its clock ran ahead and is right now. What was visited at a time to come is due
// at once, and what was asked for then was asked for now; times given then count from now on. Debts are paid back
// from now on.
func (a *Agenda) ClockSetBack(now time.Time) {
	ahead := func(at instant) bool { return at > now.Add(ClockSkew).UnixNano() }
	for _, r := range a.byID {
		if Ahead(r.Since, now) {
			r.Since = now
		}
		if r.Times != nil && r.idleAt == 0 {
			r.due = min(r.due, now.UnixNano())
		}
		switch waits := r.asked > r.target.visited; {
		case waits && ahead(r.asked):
			r.asked = now.UnixNano()
		case !waits && ahead(r.target.visited):
			r.asked = 0 // before the last visit, whenever that was
		}
	}
	for _, t := range a.targets {
		if ahead(t.visited) {
			t.visited = 1
		}
		t.replan()
	}
	for _, o := range a.owners {
		o.bucket.at = min(o.bucket.at, now.UnixMicro())
		o.queue.order()
	}
	for _, t := range a.targets {
		if t.state == granted {
			t.deadline = never
			for _, r := range t.asking {
				t.deadline = min(t.deadline, r.deadline())
			}
		}
	}
	for i := range a.classes {
		a.classes[i].order()
	}
	a.upcoming.order()
	a.recovering.order()
}
