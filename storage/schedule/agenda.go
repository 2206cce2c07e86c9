// Package schedule determines when what is watched is to be looked at again. It is pure: it has no clock, no disk and
// no network; its caller tells what time it is.
//
// An [Agenda] holds standing requests, and tells which of their targets are due. Requests for the same target share its
// visits. An agenda guarantees, as far as visits are made when they are due:
//
//   - A target is visited as often as its most demanding request asks, or at the times that one names, and out of turn
//     when one asks for it. Times that pass while it cannot be visited are made up for by one visit.
//   - An owner who has used up a quota makes nothing due until the debt is paid back, and shares in the visits that
//     others ask for, and in their cost.
//   - When more is due than can be served at once, the [Policy] decides. Nothing starves: first is what
//     will be late by its timing first, and if urgency matters, each has its share. What an owner in debt
//     asks for is served in that order, too.
//
// Each operation takes time in proportion to the logarithm of the number of requests; a visit, to that of
// the requests and owners that it serves.
package schedule

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// Request is an owner's wish to have a target visited again and again.
type Request struct {
	ID      string
	Owner   string
	Target  string
	Timing  time.Duration // the longest interval between two visits; at least a nanosecond
	Urgency int           // 1 to 3, 3 the most urgent
	Times   Times         // when it asks instead of by its timing; nil: by its timing
	Since   time.Time     // times up to then do not count
}

// Times are times at which a target is to be visited.
type Times interface {
	// Next returns the first of them after t; the zero time if there is none.
	Next(t time.Time) time.Time
}

// Options of an agenda.
type Options struct {
	Policy Policy // nil: Adaptive
	AtOnce int    // how many visits may be under way; 0: no limit
	Quota  int    // requests a day of owners who were given none of their own; 0: no limit
}

// Agenda holds standing requests. It is not safe for concurrent use, and its clock never goes back: the
// times that it is given count as no earlier than those it was given before. Make one with [New].
type Agenda struct {
	opt     Options
	numbers int
	byID    map[string]*request
	targets map[string]*target
	owners  map[string]*owner

	upcoming   indexedHeap[*target] // those that a request will ask for, by when the next one does
	touched    []*owner             // whose requests, or balances, changed since they were last served
	recovering indexedHeap[*owner]  // those with requests and debts, by when they are paid back
	classes    [urgencies]class     // by urgency
	turn       float64              // what the class that had the last turn had passed
	underWay   int
}

// instant is a time in nanoseconds since 1970. never is later than any.
type instant = int64

const never = instant(math.MaxInt64)

// request is a standing request. It is in one of these places: idle in its target, asking in its target
// (and then in its owner's queue until its balance, or that of another owner, grants it), or asking again.
type request struct {
	Request
	number  int
	owner   *owner
	target  *target
	asked   instant // when a visit was asked for out of turn; 0: never
	due     instant // with times: the first that no visit has served
	idleAt  int
	queueAt int
	asking  int // index in its target's list, plus 1
	again   bool
}

// target is what is visited.
type target struct {
	name     string
	number   int
	visited  instant // when the last visit began; 0: never
	adapted  time.Duration
	cost     int64 // of the last visit, in parts of a request
	owners   map[*owner]int
	requests int

	idle   indexedHeap[*request] // those that are content, the most demanding first
	asking []*request
	again  []*request // those that asked while a visit was under way

	upcomingAt, classAt int
	state               state
	class               int
	deadline            instant
	held                int64 // what each of the holders has paid in advance
	holders             []*owner
}

type state uint8

const (
	resting  state = iota // no request asks, or no owner of those that do can pay
	granted               // a request of an owner who can pay asks
	underWay              // it is being visited
)

// owner has requests, a quota, or both.
type owner struct {
	name         string
	own          bool // has a quota of their own, which may be none
	requests     int
	bucket       bucket
	held         int64                 // what of it is spent in advance
	queue        indexedHeap[*request] // asking, by deadline
	recoveringAt int
	touched      bool
}

// New returns an empty agenda.
func New(o Options) *Agenda {
	if o.Policy == nil {
		o.Policy = Adaptive{}
	}
	a := &Agenda{opt: o, byID: map[string]*request{}, targets: map[string]*target{}, owners: map[string]*owner{}}
	a.upcoming = indexedHeap[*target]{
		less: func(x, y *target) bool {
			return cmp.Or(cmp.Compare(a.nextAsk(x), a.nextAsk(y)), cmp.Compare(x.number, y.number)) < 0
		},
		place: func(t *target) *int { return &t.upcomingAt },
	}
	a.recovering = indexedHeap[*owner]{
		less: func(x, y *owner) bool {
			return cmp.Or(cmp.Compare(x.bucket.recovers(), y.bucket.recovers()), strings.Compare(x.name, y.name)) < 0
		},
		place: func(o *owner) *int { return &o.recoveringAt },
	}
	for i := range a.classes {
		a.classes[i].init()
	}
	return a
}

// Put adds a request, or replaces the one with its id. A target that was never visited is due at once, unless the
// request names times; otherwise the new request waits for its turn: see [Agenda.CheckNow].
func (a *Agenda) Put(r Request, now time.Time) {
	r.Timing = max(r.Timing, 1)
	t := a.target(r.Target)
	t.requests++ // before another one goes: the target is not to be forgotten
	asked := instant(0)
	if before := a.byID[r.ID]; before != nil {
		asked = before.asked
		a.Remove(r.ID)
	}
	a.numbers++
	o := a.owner(r.Owner, now)
	added := &request{Request: r, number: a.numbers, owner: o, target: t, asked: asked}
	a.byID[r.ID] = added
	o.requests++
	t.owners[o]++
	if t.visited == 0 && asked == 0 && r.Times == nil {
		added.asked = now.UnixNano()
	}
	a.settle(added)
	a.arrange(t)
}

// Remove takes a request out, if there is one with this id.
func (a *Agenda) Remove(id string) {
	r := a.byID[id]
	if r == nil {
		return
	}
	delete(a.byID, id)
	t, o := r.target, r.owner
	if t.state == granted {
		a.revoke(t)
	}
	a.leave(r)
	if t.owners[o]--; t.owners[o] == 0 {
		delete(t.owners, o)
	}
	if t.requests--; t.requests == 0 {
		a.forget(t)
	} else {
		a.arrange(t)
	}
	if o.requests--; o.requests == 0 && !o.own && !o.bucket.limited() {
		delete(a.owners, o.name)
	}
}

// forget drops a target that no request is for any more.
func (a *Agenda) forget(t *target) {
	if t.state == underWay {
		a.underWay--
		a.refund(t)
	}
	a.upcoming.remove(t)
	delete(a.targets, t.name)
}

// CheckNow makes the target of a request due, as far as its owner's quota allows. While it is being
// visited, it will be visited once more. It reports whether there is such a request.
func (a *Agenda) CheckNow(id string, now time.Time) bool {
	r := a.byID[id]
	if r == nil {
		return false
	}
	if t := r.target; r.asked <= t.visited || t.state == underWay {
		a.leave(r)
		r.asked = max(now.UnixNano(), t.visited+1)
		a.settle(r)
		a.arrange(t)
	}
	return true
}

// leave takes a request out of its place.
func (a *Agenda) leave(r *request) {
	t := r.target
	t.idle.remove(r)
	a.unqueue(r)
	if at := r.asking - 1; at >= 0 {
		last := len(t.asking) - 1
		t.asking[at] = t.asking[last]
		t.asking[at].asking = at + 1
		t.asking, r.asking = slices.Delete(t.asking, last, last+1), 0
	}
	if r.again {
		t.again = slices.DeleteFunc(t.again, func(other *request) bool { return other == r })
		r.again = false
	}
}

// unqueue takes a request out of its owner's queue.
func (a *Agenda) unqueue(r *request) {
	if r.owner.queue.remove(r); r.owner.queue.len() == 0 {
		a.recovering.remove(r.owner)
	}
}

// settle puts a request where it belongs.
func (a *Agenda) settle(r *request) {
	switch t := r.target; {
	case r.asked <= t.visited:
		r.plan()
		t.idle.push(r)
	case t.state == underWay:
		r.again = true
		t.again = append(t.again, r)
	default:
		a.ask(r)
	}
}

// ask makes a request one of those that ask for a visit. If others have been granted one, it joins them.
func (a *Agenda) ask(r *request) {
	t := r.target
	t.asking = append(t.asking, r)
	r.asking = len(t.asking)
	if t.state == granted {
		a.classes[t.class].remove(t)
		a.hurry(r)
		a.classes[t.class].add(t, a.turn)
		return
	}
	r.owner.queue.push(r)
	a.touch(r.owner)
}

// hurry makes a target as urgent as a request for it.
func (a *Agenda) hurry(r *request) {
	if a.opt.Policy.Weight(r.Urgency) > 0 {
		r.target.class = max(r.target.class, classOf(r.Urgency))
	}
	r.target.deadline = min(r.target.deadline, r.deadline())
}

// plan finds out when a request with times asks.
func (r *request) plan() {
	if r.Times == nil {
		return
	}
	served := time.Unix(0, r.target.visited)
	if r.Since.After(served) {
		served = r.Since
	}
	r.due = never
	if at := r.Times.Next(served); !at.IsZero() {
		r.due = at.UnixNano()
	}
}

// replan is plan for all idle requests of a target, after what was visited has changed.
func (t *target) replan() {
	named := false
	for _, r := range t.idle.items {
		r.plan()
		named = named || r.Times != nil
	}
	if named {
		t.idle.order()
	}
}

// deadline is when the request will be late by its timing, however much earlier it was made to ask. To be
// checked out of turn is to be late already, and so is a time that has come; a first visit has a timing's time.
func (r *request) deadline() instant {
	switch t := r.target; {
	case r.Times != nil && r.asked <= t.visited:
		return r.due
	case r.Times == nil && t.visited == 0:
		return after(r.asked, r.Timing)
	case r.asked > t.visited:
		return r.asked
	default:
		return after(after(t.visited, r.Timing), r.Timing)
	}
}

func after(at instant, d time.Duration) instant {
	if int64(d) > never-at {
		return never
	}
	return at + int64(d)
}

// nextAsk is when the most demanding of a target's idle requests asks.
func (a *Agenda) nextAsk(t *target) instant { return a.asks(t.idle.top()) }

// asks is when an idle request does.
func (a *Agenda) asks(r *request) instant {
	if r.Times != nil {
		return r.due
	}
	return after(r.target.visited, a.opt.Policy.Interval(r.Timing, r.target.adapted))
}

// asksBefore is the order of a target's idle requests. By timing it is the same whatever the visits of the target
// were, as intervals grow with it.
func (a *Agenda) asksBefore(x, y *request) bool {
	byTiming := cmp.Or(cmp.Compare(x.Timing, y.Timing), cmp.Compare(x.number, y.number)) < 0
	switch {
	case x.Times == nil && y.Times == nil:
		return byTiming
	case a.asks(x) != a.asks(y):
		return a.asks(x) < a.asks(y)
	case x.Times != nil && y.Times != nil:
		return byTiming
	}
	return x.Times != nil
}

// arrange puts a target among the upcoming ones, if it is one, by when its next request asks.
func (a *Agenda) arrange(t *target) {
	a.upcoming.remove(t)
	if t.state != underWay && t.idle.len() > 0 {
		a.upcoming.push(t)
	}
}

func (a *Agenda) target(name string) *target {
	t := a.targets[name]
	if t == nil {
		a.numbers++
		t = &target{name: name, number: a.numbers, cost: parts, owners: map[*owner]int{}}
		t.idle = indexedHeap[*request]{
			less:  a.asksBefore,
			place: func(r *request) *int { return &r.idleAt },
		}
		a.targets[name] = t
	}
	return t
}

func (a *Agenda) owner(name string, now time.Time) *owner {
	o := a.owners[name]
	if o == nil {
		o = &owner{name: name}
		o.queue = indexedHeap[*request]{
			less: func(x, y *request) bool {
				return cmp.Or(cmp.Compare(x.deadline(), y.deadline()), cmp.Compare(x.number, y.number)) < 0
			},
			place: func(r *request) *int { return &r.queueAt },
		}
		o.bucket.set(a.opt.Quota, now.UnixMicro())
		a.owners[name] = o
	}
	return o
}
