package pipeline

import "time"

// see counts an item that passes, and looks at it if it is time to.
func (t *Tap) see(it *Item, port string) {
	number := t.passed.Add(1)
	if t.looking.Load() {
		t.examine(it, port, number)
	}
}

// examine looks at an item without ever waiting. The item is valid during the call: what is shown of it is
// copied.
func (t *Tap) examine(it *Item, port string, number int64) {
	if !t.mu.TryLock() { // somebody is looking at another item
		return
	}
	defer t.mu.Unlock()
	if t.ended || !t.looking.Load() {
		return
	}
	began := time.Now()
	shown, err := t.look(it, port, number, began)
	if err != nil {
		t.end(err)
		t.looking.Store(false)
		return
	}
	if pause := t.allow.spend(shown, began, time.Now()); pause > 0 {
		t.looking.Store(false)
		t.rested.Reset(pause)
	}
}

// look shows the item if it is wanted.
func (t *Tap) look(it *Item, port string, number int64, now time.Time) (shown bool, err error) {
	defer recovered(t.stage+" (a tap)", &err)
	if where := t.options.Where; where != nil {
		if wanted, err := where(it); !wanted || err != nil {
			return false, err
		}
	}
	if len(t.out) == cap(t.out) { // only this goroutine adds to it
		t.missed.Add(1)
		return true, nil
	}
	seen := Tapped{Pipeline: t.pipeline, Stage: t.stage, Port: port, Time: now, Number: number, Missed: t.missed.Load()}
	seen.show(it, t.options.MaxBody)
	t.out <- seen
	if t.shown++; t.shown == t.options.Limit {
		return true, ErrTapLimit
	}
	return true, nil
}

// allowance bounds what a tap does: so many items a second, in bursts of up to as many, and a hundredth of
// the time.
type allowance struct {
	items, rate float64       // that may be shown now; more a second
	work, most  time.Duration // that may be done now, and that is saved up at most
	at          time.Time     // when that was so
}

const (
	tapShare = 100                    // one part in so many of the time is a tap's
	mostWork = 10 * time.Millisecond  // that is saved up: the share of a second
	nextWork = 100 * time.Microsecond // that there is at least to go on with after a pause
)

func newAllowance(rate int, now time.Time) allowance {
	return allowance{items: float64(rate), rate: float64(rate), work: mostWork, most: mostWork, at: now}
}

// spend accounts for a look at an item, and returns for how long there may be no other.
func (a *allowance) spend(shown bool, began, now time.Time) time.Duration {
	passed := max(now.Sub(a.at), 0)
	a.items = min(a.rate, a.items+passed.Seconds()*a.rate)
	a.work = min(a.most, a.work+passed/tapShare)
	a.at = now
	if shown {
		a.items--
	}
	a.work -= now.Sub(began)
	var pause time.Duration
	if a.items < 1 {
		pause = time.Duration((1 - a.items) / a.rate * float64(time.Second))
	}
	if a.work <= 0 {
		pause = max(pause, (nextWork-a.work)*tapShare)
	}
	return pause
}
