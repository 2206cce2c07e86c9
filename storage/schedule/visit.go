package schedule

import (
	"slices"
	"strings"
	"time"
)

// Visit is what became of a visit.
type Visit struct {
	Began    time.Time     // who asked later asks for another one
	Interval time.Duration // until the next one, as adapted by what was found; 0 if it was not
	Cost     float64       // in requests
}

// Resume notes that a visit of a target is under way that the agenda has not asked for: one that was begun
// before it was made, for example.
func (a *Agenda) Resume(name string) {
	t := a.targets[name]
	if t == nil || t.state == underWay {
		return
	}
	if t.state == granted {
		a.classes[t.class].remove(t)
	}
	for _, r := range t.asking {
		a.unqueue(r)
	}
	a.begin(t)
}

// Visited notes that a target was visited, and charges the owners of its requests in equal shares. It
// returns these owners, sorted, and the share of each in requests. For a target without requests, it keeps
// what it is told in mind for those to come.
func (a *Agenda) Visited(name string, v Visit, now time.Time) (owners []string, share float64) {
	t := a.target(name)
	a.rest(t)
	again := append(t.asking, t.again...)
	t.asking, t.again = nil, nil
	for _, r := range again {
		a.unqueue(r)
		r.asking, r.again = 0, false
	}
	if began := v.Began.UnixNano(); began > t.visited {
		t.visited = began
	}
	t.adapted = v.Interval
	t.replan()
	if len(t.owners) > 0 {
		share = v.Cost / float64(len(t.owners))
	}
	if v.Cost > 0 {
		t.cost = max(inParts(v.Cost), 1)
	}
	for o := range t.owners {
		owners = append(owners, o.name)
		o.bucket.spend(inParts(share), now.UnixMicro())
		a.touch(o)
	}
	for _, r := range again {
		a.settle(r)
	}
	a.arrange(t)
	slices.SortFunc(owners, strings.Compare)
	return owners, share
}

// rest ends a visit, or what would have become one.
func (a *Agenda) rest(t *target) {
	switch t.state {
	case underWay:
		a.underWay--
	case granted:
		a.classes[t.class].remove(t)
	}
	a.refund(t)
	t.state = resting
}

// SetQuota gives an owner a quota of their own, in requests a day; 0 is no limit. What they have spent stays
// spent.
func (a *Agenda) SetQuota(name string, requests int, now time.Time) {
	o := a.owner(name, now)
	o.own = true
	o.bucket.set(requests, now.UnixMicro())
	a.touch(o)
}

// SetBalance sets how much of a quota is left, of which visits that are under way have their part; less than nothing is
// a debt.
func (a *Agenda) SetBalance(name string, requests float64, now time.Time) {
	o := a.owner(name, now)
	o.bucket.fill(now.UnixMicro())
	o.bucket.balance = 0
	o.bucket.spend(o.held-inParts(requests), now.UnixMicro())
	a.touch(o)
}

// Spend charges an owner for what was visited for them elsewhere.
func (a *Agenda) Spend(name string, requests float64, now time.Time) {
	o := a.owner(name, now)
	o.bucket.spend(inParts(requests), now.UnixMicro())
	a.touch(o)
}

// Balance returns how much of an owner's quota is left, without what visits that are under way will cost,
// and false if nothing limits them.
func (a *Agenda) Balance(name string, now time.Time) (requests float64, limited bool) {
	o := a.owners[name]
	if o == nil || !o.bucket.limited() {
		return 0, false
	}
	o.bucket.fill(now.UnixMicro())
	return float64(o.bucket.balance) / float64(parts), true
}
