package schedule

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// oracle is an agenda that looks at everything each time. It takes a bucket's word for what is left.
type oracle struct {
	opt      Options
	numbers  int
	requests map[string]*wish
	targets  map[string]*place
	owners   map[string]*bucket
	passed   [urgencies]float64
	turn     float64
	open     int
}

type wish struct {
	Request
	number int
	asked  instant
}

type place struct {
	number   int
	visited  instant
	adapted  time.Duration
	cost     int64
	state    state
	class    int
	deadline instant
	held     map[string]int64
	joined   map[string]bool // whose requests have asked since it was granted
}

func newOracle(o Options) *oracle {
	return &oracle{opt: o, requests: map[string]*wish{}, targets: map[string]*place{}, owners: map[string]*bucket{}}
}

func (o *oracle) bucket(name string, now time.Time) *bucket {
	if o.owners[name] == nil {
		o.owners[name] = new(bucket)
		o.owners[name].set(o.opt.Quota, now.UnixMicro())
	}
	return o.owners[name]
}

func (o *oracle) target(name string) *place {
	if o.targets[name] == nil {
		o.numbers++
		o.targets[name] = &place{number: o.numbers, cost: parts}
	}
	return o.targets[name]
}

// of are the requests for a target, oldest first.
func (o *oracle) of(target string) []*wish {
	var of []*wish
	for _, r := range o.requests {
		if r.Target == target {
			of = append(of, r)
		}
	}
	slices.SortFunc(of, func(x, y *wish) int { return cmp.Compare(x.number, y.number) })
	return of
}

func (o *oracle) ownersOf(target string) []string {
	var names []string
	for _, r := range o.of(target) {
		names = append(names, r.Owner)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (o *oracle) asks(r *wish) instant {
	t := o.targets[r.Target]
	switch {
	case r.asked > t.visited:
		return r.asked
	case r.Times != nil:
		return r.timeAfter(t.visited)
	}
	return t.visited + int64(o.opt.Policy.Interval(r.Timing, t.adapted))
}

// timeAfter is the first of the request's times after a visit, and after those that do not count.
func (r *wish) timeAfter(visited instant) instant {
	return max(r.Times.Next(time.Unix(0, visited)).UnixNano(), r.Times.Next(r.Since).UnixNano())
}

func (o *oracle) deadline(r *wish) instant {
	t := o.targets[r.Target]
	switch {
	case r.Times != nil && r.asked <= t.visited:
		return r.timeAfter(t.visited)
	case r.Times != nil:
		return r.asked
	case t.visited == 0:
		return r.asked + int64(r.Timing)
	case r.asked > t.visited:
		return r.asked
	}
	return t.visited + 2*int64(r.Timing)
}

func (o *oracle) Put(r Request, now time.Time) {
	w := &wish{Request: r}
	t := o.target(r.Target)
	if before := o.requests[r.ID]; before != nil {
		w.asked = before.asked
		o.requests["the new one"] = w
		o.Remove(r.ID, now)
		delete(o.requests, "the new one")
	}
	o.bucket(r.Owner, now)
	o.numbers++
	if w.number = o.numbers; t.visited == 0 && w.asked == 0 && r.Times == nil {
		w.asked = now.UnixNano()
	}
	o.requests[r.ID] = w
	if t.state == granted && w.asked > t.visited {
		o.joinLate(w)
	}
}

func (o *oracle) Remove(id string, now time.Time) {
	r := o.requests[id]
	if r == nil {
		return
	}
	delete(o.requests, id)
	t := o.targets[r.Target]
	if t.state == granted {
		o.refund(t, now)
		t.state = resting
	}
	if len(o.of(r.Target)) == 0 {
		if t.state == underWay {
			o.refund(t, now)
			o.open--
		}
		delete(o.targets, r.Target)
	}
}

func (o *oracle) CheckNow(id string, now time.Time) {
	r := o.requests[id]
	if r == nil {
		return
	}
	if t := o.targets[r.Target]; r.asked <= t.visited || t.state == underWay {
		if r.asked = max(now.UnixNano(), t.visited+1); t.state == granted {
			o.joinLate(r)
		}
	}
}

func (o *oracle) refund(t *place, now time.Time) {
	for name, held := range t.held {
		o.bucket(name, now).spend(-held, o.bucket(name, now).at)
	}
	t.held = nil
}

func (o *oracle) Visited(name string, v Visit, now time.Time) ([]string, float64) {
	t := o.target(name)
	o.refund(t, now)
	if t.state == underWay {
		o.open--
	}
	t.state = resting
	t.visited, t.adapted = max(t.visited, v.Began.UnixNano()), v.Interval
	if v.Cost > 0 {
		t.cost = inParts(v.Cost)
	}
	owners := o.ownersOf(name)
	for _, owner := range owners {
		o.bucket(owner, now).spend(inParts(v.Cost/float64(len(owners))), now.UnixMicro())
	}
	if len(owners) == 0 {
		return nil, 0
	}
	return owners, v.Cost / float64(len(owners))
}

func (o *oracle) hurry(r *wish) {
	t := o.targets[r.Target]
	if o.opt.Policy.Weight(r.Urgency) > 0 {
		t.class = max(t.class, r.Urgency-1)
	}
	t.deadline = min(t.deadline, o.deadline(r))
	t.joined[r.ID] = true
}

func (o *oracle) Due(now time.Time) (due []string, next time.Time) {
	for _, name := range slices.Sorted(maps.Keys(o.targets)) {
		for _, r := range o.of(name) {
			if t := o.targets[name]; t.state == granted && !t.joined[r.ID] && o.asks(r) <= now.UnixNano() {
				o.joinLate(r)
			}
		}
	}
	for _, owner := range slices.Sorted(maps.Keys(o.owners)) {
		for o.owners[owner].solvent(now.UnixMicro()) {
			r := o.firstOf(owner, now)
			if r == nil {
				break
			}
			o.grant(r, now)
		}
	}
	for o.opt.AtOnce == 0 || o.open < o.opt.AtOnce {
		name := o.pick()
		if name == "" {
			break
		}
		o.targets[name].state = underWay
		o.open++
		due = append(due, name)
	}
	return due, o.next(now)
}

// joinLate makes a granted target as urgent as a request that asks for it later.
func (o *oracle) joinLate(r *wish) {
	t := o.targets[r.Target]
	before := t.class
	if o.hurry(r); t.class != before && o.waiting(t.class) == 1 {
		o.passed[t.class] = max(o.passed[t.class], o.turn)
	}
}

func (o *oracle) waiting(class int) (n int) {
	for _, t := range o.targets {
		if t.state == granted && t.class == class {
			n++
		}
	}
	return n
}

// firstOf is an owner's most pressing request of those that ask in vain.
func (o *oracle) firstOf(owner string, now time.Time) (first *wish) {
	for _, r := range o.requests {
		if r.Owner != owner || o.targets[r.Target].state != resting || o.asks(r) > now.UnixNano() {
			continue
		}
		if first == nil || cmp.Or(cmp.Compare(o.deadline(r), o.deadline(first)), cmp.Compare(r.number, first.number)) < 0 {
			first = r
		}
	}
	return first
}

func (o *oracle) grant(by *wish, now time.Time) {
	t := o.targets[by.Target]
	t.class, t.deadline, t.held, t.joined = 0, never, map[string]int64{}, map[string]bool{}
	for _, r := range o.of(by.Target) {
		if o.asks(r) > now.UnixNano() {
			continue
		}
		if t.joined[r.ID] = true; r == by || o.owners[r.Owner].solvent(now.UnixMicro()) {
			o.hurry(r)
		}
	}
	if o.waiting(t.class) == 0 {
		o.passed[t.class] = max(o.passed[t.class], o.turn)
	}
	t.state = granted
	owners := o.ownersOf(by.Target)
	for _, owner := range owners {
		if !o.owners[owner].limited() {
			continue
		}
		t.held[owner] = t.cost / int64(len(owners))
		o.owners[owner].spend(t.held[owner], now.UnixMicro())
	}
}

func (o *oracle) pick() (name string) {
	class := -1
	for i := urgencies - 1; i >= 0; i-- {
		if o.waiting(i) > 0 && (class < 0 || o.passed[i] < o.passed[class]) {
			class = i
		}
	}
	for other, t := range o.targets {
		if t.state != granted || t.class != class {
			continue
		}
		if name == "" || cmp.Or(cmp.Compare(t.deadline, o.targets[name].deadline), cmp.Compare(t.number, o.targets[name].number)) < 0 {
			name = other
		}
	}
	if name != "" {
		o.turn = o.passed[class]
		o.passed[class] += 1 / float64(max(o.opt.Policy.Weight(class+1), 1))
	}
	return name
}

// next is when something asks that does not yet, or an owner can pay again.
func (o *oracle) next(now time.Time) (next time.Time) {
	note := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	for _, r := range o.requests {
		switch t := o.targets[r.Target]; {
		case t.state == underWay:
		case o.asks(r) > now.UnixNano():
			note(time.Unix(0, o.asks(r)))
		case t.state == resting:
			note(time.UnixMicro(o.owners[r.Owner].recovers()))
		}
	}
	return next
}

// describe shows what a test compares.
func describe(due []string, next time.Time) string {
	return strings.Join(due, " ") + " | " + next.UTC().Format(time.RFC3339Nano)
}
