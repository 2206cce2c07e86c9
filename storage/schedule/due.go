package schedule

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Due returns the targets to visit now, the most pressing first, and when to ask again: zero if that is not
// before a visit ends, or something else changes. The visits count as under way until [Agenda.Visited].
func (a *Agenda) Due(now time.Time) (targets []string, next time.Time) {
	for a.upcoming.len() > 0 && a.nextAsk(a.upcoming.top()) <= now.UnixNano() {
		a.wake(a.upcoming.top(), now.UnixNano())
	}
	for a.recovering.len() > 0 && a.recovering.top().bucket.recovers() <= now.UnixMicro() {
		a.touch(a.recovering.top())
	}
	a.serveOwners(now.UnixMicro())
	for a.opt.AtOnce == 0 || a.underWay < a.opt.AtOnce {
		t := a.pick()
		if t == nil {
			break
		}
		a.begin(t)
		targets = append(targets, t.name)
	}
	return targets, a.next()
}

func (a *Agenda) next() (next time.Time) {
	if a.upcoming.len() > 0 {
		next = time.Unix(0, a.nextAsk(a.upcoming.top()))
	}
	if a.recovering.len() > 0 {
		if at := time.UnixMicro(a.recovering.top().bucket.recovers()); next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

// wake makes those requests of a target ask whose time it is.
func (a *Agenda) wake(t *target, now instant) {
	a.upcoming.remove(t)
	for t.idle.len() > 0 && a.nextAsk(t) <= now {
		r := t.idle.top()
		t.idle.remove(r)
		a.ask(r)
	}
	a.arrange(t)
}

// touch has an owner looked at, the next time that owners are served.
func (a *Agenda) touch(o *owner) {
	a.recovering.remove(o)
	if !o.touched {
		o.touched = true
		a.touched = append(a.touched, o)
	}
}

// serveOwners grants what owners ask for, as far as they can pay. Owners that cannot wait until they can.
func (a *Agenda) serveOwners(now int64) {
	slices.SortFunc(a.touched, func(x, y *owner) int { return strings.Compare(x.name, y.name) })
	for _, o := range a.touched {
		for o.queue.len() > 0 && o.bucket.solvent(now) {
			a.grant(o.queue.top(), now)
		}
	}
	for _, o := range a.touched {
		o.touched = false
		if o.queue.len() > 0 {
			a.recovering.push(o)
		}
	}
	clear(a.touched)
	a.touched = a.touched[:0]
}

// grant lets a request have its target visited, and all who ask for it with it. Its owners pay in advance
// what the last visit cost, so that none is granted more than it can pay.
func (a *Agenda) grant(by *request, now int64) {
	t := by.target
	t.state, t.class, t.deadline = granted, 0, never
	for _, r := range t.asking {
		a.unqueue(r)
		if r == by || r.owner.bucket.solvent(now) {
			a.hurry(r)
		}
	}
	t.held = t.cost / int64(len(t.owners))
	for o := range t.owners {
		if !o.bucket.limited() {
			continue
		}
		t.holders = append(t.holders, o)
		o.bucket.spend(t.held, now)
		o.held += t.held
		if o.recoveringAt > 0 { // that takes longer now
			a.recovering.remove(o)
			a.recovering.push(o)
		}
	}
	a.classes[t.class].add(t, a.turn)
}

// revoke takes back what was granted, because the requests that ask are no longer the same.
func (a *Agenda) revoke(t *target) {
	a.classes[t.class].remove(t)
	a.refund(t)
	t.state = resting
	for _, r := range t.asking {
		r.owner.queue.push(r)
		a.touch(r.owner)
	}
}

func (a *Agenda) refund(t *target) {
	for _, o := range t.holders {
		o.bucket.spend(-t.held, o.bucket.at)
		o.held -= t.held
		a.touch(o)
	}
	clear(t.holders)
	t.holders = t.holders[:0]
}

// begin notes that a visit is under way.
func (a *Agenda) begin(t *target) {
	t.state = underWay
	a.underWay++
	a.upcoming.remove(t)
}

// PutBack has a target ask again that [Agenda.Due] has returned, as if it had not: its visit is not made.
func (a *Agenda) PutBack(name string) {
	t := a.targets[name]
	if t == nil || t.state != underWay {
		return
	}
	a.underWay--
	a.refund(t)
	t.state = resting
	for _, r := range t.asking {
		r.owner.queue.push(r)
		a.touch(r.owner)
	}
	again := t.again
	t.again = nil
	for _, r := range again {
		r.again = false
		a.settle(r)
	}
	a.arrange(t)
}

// class has the granted targets of one urgency: the earliest deadline first. Classes take turns by stride scheduling
// (Waldspurger and Weihl, 1995): the one that has passed least is next, and a turn adds the less to that, the more
// weight it has.
type class struct {
	indexedHeap[*target]
	passed float64
}

func (w *class) init() {
	w.indexedHeap = indexedHeap[*target]{
		less: func(x, y *target) bool {
			return cmp.Or(cmp.Compare(x.deadline, y.deadline), cmp.Compare(x.number, y.number)) < 0
		},
		place: func(t *target) *int { return &t.classAt },
	}
}

// add adds a target. A class that was empty has saved up no turns.
func (w *class) add(t *target, turn float64) {
	if w.len() == 0 {
		w.passed = max(w.passed, turn)
	}
	w.push(t)
}

// leastPassed is the class whose turn it is, the more urgent of equals; nil if nothing waits.
func (a *Agenda) leastPassed() (least *class) {
	for i := urgencies - 1; i >= 0; i-- {
		if w := &a.classes[i]; w.len() > 0 && (least == nil || w.passed < least.passed) {
			least = w
		}
	}
	return least
}

// pick takes out the target to visit next, or returns nil.
func (a *Agenda) pick() *target {
	w := a.leastPassed()
	if w == nil {
		return nil
	}
	t := w.top()
	w.remove(t)
	a.turn = w.passed
	w.passed += 1 / float64(max(a.opt.Policy.Weight(t.class+1), 1))
	return t
}
