package outbox

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage/control"
)

// waiting puts an entry of an urgency into the outbox of a person of its own.
func (w *world) waiting(owner string, urgency int, due time.Time) {
	w.t.Helper()
	w.ok(w.store.PutEntry(w.t.Context(), control.Entry{Channel: w.person(owner, `{}`), Key: "k", Body: []byte(`{"title": "Told"}`), Urgency: urgency, Due: due}))
}

// takeOne takes the message whose turn it is.
func (w *world) takeOne() pipeline.Lease {
	w.t.Helper()
	w.stage.mayBeDue()
	l, err := w.stage.next(w.t.Context())
	w.ok(err)
	if l == nil {
		w.t.Fatal("there is nothing to take")
	}
	return l
}

// As long as messages of all urgencies wait, as many of each were handed out as its weight of all, give or take one;
// and of each urgency those first that are due longest.
func TestUrgenciesAreHandedOutInProportion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Unix(2e9, 0))
	w.start(Options{Leases: 1, Keep: defaults.Keep})
	const each = 96
	for i := range each {
		for urgency := 1; urgency <= 3; urgency++ {
			n := i * 5 % each // due in another order than put
			w.waiting(fmt.Sprintf("u%d-%02d", urgency, n), urgency, w.now.Add(time.Duration(n-each)*time.Second))
		}
	}
	weight := map[int]float64{3: 8, 2: 3, 1: 1}
	count := map[int]int{}
	for turn := 1; turn <= 3*each; turn++ {
		l := w.takeOne()
		m := messageOf(l)
		if want := fmt.Sprintf("u%d-%02d", m.Urgency, count[m.Urgency]); m.Owner != want && turn <= 200 {
			t.Fatalf("turn %d is that of %s, before %s", turn, m.Owner, want)
		}
		count[m.Urgency]++
		for urgency, n := range count {
			if want := float64(turn) * weight[urgency] / 12; turn <= each*12/8 && (float64(n) > want+1 || float64(n) < want-1) {
				t.Fatalf("of %d turns urgency %d has had %d, want %.1f", turn, urgency, n, want)
			}
		}
		w.end(delivery.Result{Taken: true}, l)
	}
	if count[1] != each || count[2] != each || count[3] != each {
		t.Errorf("handed out were %v", count)
	}
}

// What is urgent passes a thousand others, whether it comes later than they, to somebody who is told of nothing else or
// of whom a message waits among them, or waits among them itself.
func TestTheUrgentPassesAThousandOthers(t *testing.T) {
	t.Parallel()
	begun := time.Unix(2e9, 0)
	w := newWorld(t, begun)
	w.start(Options{Leases: 1, Keep: defaults.Keep})
	for i := range 1000 {
		w.waiting(fmt.Sprint("owner", i), 1, begun.Add(-time.Hour))
	}
	w.waiting("among", 3, begun.Add(-time.Minute))
	w.person("new", `{}`)
	soon := func(owner string) {
		t.Helper()
		for range 2 {
			l := w.takeOne()
			got := messageOf(l).Owner
			w.end(delivery.Result{Taken: true}, l)
			if got == owner {
				return
			}
		}
		t.Errorf("%s is not told soon", owner)
	}
	soon("among")
	w.aci("new", 3)
	w.now = w.stage.lookAgain
	soon("new")
	_, err := w.store.Compose(t.Context(), w.now, 1000, nameOf) // so that a message of each waits
	w.ok(err)
	w.aci("owner900", 3)
	w.now = w.stage.lookAgain
	soon("owner900") // of what waits, so that it is not in the way
	w.now = w.stage.lookAgain
	soon("owner900")
}

// eachTime is a context that calls a function whenever it is asked whether it has ended, as it is at each row of a
// query.
type eachTime struct {
	context.Context
	call func()
}

func (c eachTime) Err() error {
	c.call()
	return c.Context.Err()
}

// What was recorded as taken while the store was looked into is not handed out again.
func TestWhatComesBackDuringALookIsNotHandedOutAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Now())
	for i := range 20 {
		w.waiting(fmt.Sprint("owner", i), 1+i%3, time.Unix(1e9, 0))
	}
	out := w.take()
	w.stage.mayBeDue()
	var mu sync.Mutex // who waits for the end of a query asks beside who reads it
	_, err := w.stage.look(eachTime{t.Context(), func() {
		mu.Lock()
		defer mu.Unlock()
		if len(out) > 0 {
			l := out[0]
			out = out[1:]
			w.end(delivery.Result{Taken: true}, l)
		}
	}}, true)
	w.ok(err)
	mu.Lock()
	defer mu.Unlock()
	if len(out) > 0 {
		t.Fatalf("%d are out still", len(out))
	}
	for _, lane := range w.stage.ready {
		for _, m := range lane {
			t.Errorf("message %s is to be handed out again", m.ID)
		}
	}
}
