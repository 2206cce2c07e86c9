package outbox

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/timezone"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage/control"
)

// clock is what a clock on the wall shows: minutes of the day.
func clock(t time.Time) int { return t.Hour()*60 + t.Minute() }

// Over both changes of the clock in Nicosia, what comes in a night is sent when its quiet hours end, a digest at its
// times, and what is urgent at once: nothing before, nothing later than the next minute, and each once.
func TestDueIsKeptOverBothChangesOfTheClock(t *testing.T) {
	t.Parallel()
	zone, err := timezone.Load("Europe/Nicosia")
	if err != nil {
		t.Fatal(err)
	}
	for _, begin := range []time.Time{ // the evening before each
		time.Date(2026, 3, 28, 18, 0, 0, 0, zone), time.Date(2026, 10, 24, 18, 0, 0, 0, zone),
	} {
		t.Run(begin.Format(time.DateOnly), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, begin)
			allowed := map[string]func(at time.Time, urgency int) bool{
				"quiet":  func(at time.Time, _ int) bool { return clock(at) >= 7*60 && clock(at) < 22*60 },
				"urgent": func(at time.Time, urgency int) bool { return urgency == 3 || clock(at) >= 7*60 && clock(at) < 22*60 },
				"digest": func(at time.Time, _ int) bool { return clock(at) == 8*60 || clock(at) == 20*60+30 },
			}
			w.person("quiet", `{"zone": "Europe/Nicosia", "quiet": {"from": "22:00", "to": "07:00"}}`)
			w.person("urgent", `{"zone": "Europe/Nicosia", "quiet": {"from": "22:00", "to": "07:00", "urgent": true}}`)
			w.person("digest", `{"zone": "Europe/Nicosia", "digest": {"times": ["08:00", "20:30"]}}`)
			type arrival struct {
				at      time.Time
				urgency int
				owner   string
			}
			arrivals, told := map[string]arrival{}, map[string]bool{}
			look := func(at time.Time) {
				w.now = at
				for _, l := range w.take() {
					for title := range strings.FieldsSeq(titles(l)) {
						if a := arrivals[title]; told[title] || !allowed[a.owner](at, a.urgency) {
							t.Errorf("%s came at %v for %s with urgency %d, and is told at %v (again: %v)", title, a.at, a.owner, a.urgency, at, told[title])
						}
						told[title] = true
					}
					w.end(delivery.Result{Taken: true}, l)
				}
				for title, a := range arrivals {
					if !told[title] && allowed[a.owner](at, a.urgency) {
						t.Fatalf("%s came at %v for %s with urgency %d, and is not told at %v", title, a.at, a.owner, a.urgency, at)
					}
				}
			}
			random := rand.New(rand.NewPCG(1, uint64(begin.Unix())))
			for minute := range 38 * 60 {
				at := begin.Add(time.Duration(minute) * time.Minute).In(zone)
				look(at)
				if minute%23 == 7 { // at no time of a digest
					owner, urgency := []string{"quiet", "urgent", "digest"}[random.IntN(3)], 1+random.IntN(3)
					w.now = at.Add(30 * time.Second)
					title := strings.TrimPrefix(w.aci(owner, urgency).Title, "Title ")
					if arrivals[title] = (arrival{w.now, urgency, owner}); owner != "digest" {
						look(w.now)
					}
				}
			}
			if len(told) < 60 {
				t.Errorf("only %d were told of %d", len(told), len(arrivals))
			}
		})
	}
}

// FuzzOutcomes plays what may come: annotations, outcomes, crashes and time. Whatever it is, each annotation is in one
// message on each channel, a message that was taken is never handed out again, and in the end all were taken.
func FuzzOutcomes(f *testing.F) {
	f.Add([]byte("aatTatrxtT"))
	f.Add([]byte("abcttxTTrrhhhtTgtTxxt"))
	f.Add([]byte("aaaaatgatgatgatgatgatT"))
	f.Fuzz(func(t *testing.T, steps []byte) {
		if len(steps) > 40 {
			return
		}
		w := newWorld(t, time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC))
		for _, owner := range []string{"ann", "ben", "cat"} {
			w.person(owner, `{"hold_s": 60}`)
		}
		in, taken := make(map[string]string), make(map[string]bool)
		var out []pipeline.Lease
		look := func() {
			for _, l := range w.take() {
				id := messageOf(l).ID
				if taken[id] {
					t.Fatalf("message %s was taken, and is handed out again", id)
				}
				for title := range strings.FieldsSeq(titles(l)) {
					if in[title] != "" && in[title] != id {
						t.Fatalf("annotation %s is in message %s and in %s", title, in[title], id)
					}
					in[title] = id
				}
				out = append(out, l)
			}
		}
		end := func(r delivery.Result) {
			if len(out) > 0 {
				if r.Taken {
					taken[messageOf(out[0]).ID] = true
				}
				w.end(r, out[0])
				out = out[1:]
			}
		}
		for _, step := range steps {
			switch step {
			case 'a', 'b', 'c':
				w.aci(map[byte]string{'a': "ann", 'b': "ben", 'c': "cat"}[step], 1+w.acis%3)
			case 't':
				look()
			case 'T':
				end(delivery.Result{Taken: true})
			case 'r':
				end(delivery.Result{Passing: true, Said: "busy"})
			case 'g':
				end(delivery.Result{Said: "gone"})
			case 'x':
				w.start(defaults)
				out = nil
			default:
				w.now = w.now.Add(time.Duration(step) * time.Minute)
			}
		}
		w.settle(look, func() bool { return len(out) > 0 }, func() { end(delivery.Result{Taken: true}) })
		var missing []string
		for n := range w.acis {
			if title := fmt.Sprint(n + 1); !taken[in[title]] {
				missing = append(missing, title)
			}
		}
		if len(missing) > 0 {
			t.Fatalf("annotations %v were not told", missing)
		}
	})
}

// settle has everything sent that waits, was given up, or stands on a channel that was stopped.
func (w *world) settle(look func(), some func() bool, take func()) {
	for range 20 {
		w.now = w.now.Add(12 * time.Hour)
		for _, owner := range []string{"ann", "ben", "cat"} {
			for c, err := range w.store.Of(owner).Channels(w.t.Context()) {
				w.ok(err)
				c.State = control.ChannelActive
				w.ok(w.store.Of(owner).ChangeChannel(w.t.Context(), c))
			}
		}
		for m, err := range w.store.Messages(w.t.Context()) {
			w.ok(err)
			if m.State == control.MessageDead {
				w.ok(w.store.SendAgain(w.t.Context(), m.ID))
			}
		}
		for look(); some(); look() {
			for some() {
				take()
			}
		}
	}
}
