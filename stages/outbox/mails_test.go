package outbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/channel"
	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/stages/internal/delivery"
)

// accountMail is a mail that confirms an address.
func accountMail(id, to string) *delivery.Message {
	return &delivery.Message{ID: id, Owner: "eleni", Transport: delivery.TransportMail, Address: channel.NewAddress(to, ""), Subject: "Your address", Text: "https://alerts.example/in/" + id}
}

// emitted is a mail on its way through the outbox, as whoever emitted it sees it.
type emitted struct {
	put     chan struct{}
	outcome chan pipeline.Outcome
}

// emit puts a mail in as a run does.
func (w *world) emit(ctx context.Context, m *delivery.Message) emitted {
	e := emitted{make(chan struct{}), make(chan pipeline.Outcome, 1)}
	go func() {
		e.outcome <- pipeline.ProcessOne(ctx, putting{w.stage, e.put}, m, nil).Outcome
	}()
	return e
}

// putting is a queue as a processor.
type putting struct {
	queue pipeline.Queue
	put   chan struct{}
}

func (p putting) Process(ctx context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	defer close(p.put)
	return p.queue.Put(ctx, it)
}

// mail puts a mail in, and returns once that is done.
func (w *world) mail(id, to string) emitted {
	w.t.Helper()
	e := w.emit(w.t.Context(), accountMail(id, to))
	<-e.put
	return e
}

// has waits until a mail has ended, and checks what is told of it.
func (e emitted) has(t *testing.T, want delivery.Result) {
	t.Helper()
	if got := <-e.outcome; got.Err != nil || got.Failed != nil || len(got.Learned) != 1 || got.Learned[0] != any(want) {
		t.Errorf("it ended with %+v, want %+v", got, want)
	}
}

func (e emitted) waits(t *testing.T) {
	t.Helper()
	if len(e.outcome) > 0 {
		t.Errorf("it ended with %+v", <-e.outcome)
	}
}

func ids(all []pipeline.Lease) string {
	var names []string
	for _, l := range all {
		names = append(names, messageOf(l).ID)
	}
	return strings.Join(names, " ")
}

// Mails of accounts go before what is due on channels, two at once to a receiver, and what comes of them is told.
func TestMailsOfAccountsGoFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Now())
	w.person("eleni", `{}`)
	w.person("costas", `{}`)
	w.aci("eleni", 3)
	w.aci("costas", 3)
	taken, refused, third := w.mail("taken", "a@eleni.example"), w.mail("refused", "b@eleni.example"), w.mail("third", "c@eleni.example")
	out := w.take()
	if len(out) != 3 || ids(out[:2]) != "taken refused" || messageOf(out[2]).Owner != "costas" {
		t.Fatalf("handed out are %s", ids(out))
	}
	if got := messageOf(out[0]); got.Text != "https://alerts.example/in/taken" || got.Subject != "Your address" {
		t.Errorf("it is %+v", got)
	}
	w.end(delivery.Result{Taken: true}, out[0])
	taken.has(t, delivery.Result{Taken: true})
	out[1].Done(pipeline.Outcome{Learned: []any{delivery.Result{Said: "no such mailbox"}}})
	refused.has(t, delivery.Result{Said: "no such mailbox"})
	third.waits(t)
	if out = w.take(); len(out) != 2 || ids(out[:1]) != "third" || messageOf(out[1]).Owner != "eleni" {
		t.Fatalf("then %s", ids(out))
	}
	out[0].Done(pipeline.Outcome{})
	third.has(t, delivery.Result{Said: "no stage behind the outbox sends it"})
}

// A message that a person waits for is tried once: they learn at once what its receiver said.
func TestATestIsTriedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Now())
	m := accountMail("test", "a@a.example")
	m.Once = true
	e := w.emit(t.Context(), m)
	<-e.put
	busy := delivery.Result{Passing: true, Said: "451 busy"}
	w.end(busy, w.take()...)
	e.has(t, busy)
	if left := w.take(); len(left) != 0 {
		t.Errorf("it is handed out again: %s", ids(left))
	}
}

// While its link works a mail is sent again, and not later; what was not tried is no attempt.
func TestAMailIsSentAgainForAnHour(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]pipeline.Outcome{
		"busy":      {Learned: []any{delivery.Result{Passing: true, Said: "busy"}}},
		"asks":      {Learned: []any{delivery.Result{Passing: true, Said: "busy", After: 10 * time.Minute}}},
		"fails":     {Failed: errors.New("busy")},
		"no server": {Err: errors.New("busy"), RetryAt: time.Unix(2e9, 0).Add(time.Minute)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun := time.Unix(2e9, 0)
			w := newWorld(t, begun)
			e := w.mail("m", "a@a.example")
			attempts := 0
			for len(e.outcome) == 0 && attempts < 200 {
				for _, l := range w.take() {
					if attempts++; w.now.Sub(begun) >= time.Hour {
						t.Errorf("sent after %v", w.now.Sub(begun))
					}
					if !o.RetryAt.IsZero() {
						o.RetryAt = w.now.Add(time.Minute)
					}
					l.Done(o)
				}
				if w.stage.nextMail(w.now).IsZero() {
					break
				}
				wait, err := w.stage.untilNext(t.Context())
				w.ok(err)
				w.now = w.now.Add(wait)
			}
			got := <-e.outcome
			r, is := got.Learned[0].(delivery.Result)
			if !is || r.Taken || !r.Passing || r.Said != "busy" || got.Err != nil {
				t.Errorf("it ended with %+v", got)
			}
			if want := map[string][2]int{"busy": {5, 6}, "fails": {5, 6}, "asks": {4, 6}, "no server": {60, 60}}[name]; attempts < want[0] || attempts > want[1] {
				t.Errorf("it was sent %d times, want %v", attempts, want)
			}
		})
	}
}

// What waits behind others to its receiver is not sent either when its link has ceased to work.
func TestAMailThatIsLateIsNotSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Now())
	w.mail("one", "a@a.example")
	w.mail("two", "b@a.example")
	late := w.mail("late", "c@a.example")
	out := w.take()
	w.now = w.now.Add(time.Hour)
	if more := w.take(); len(more) > 0 {
		t.Errorf("sent is %s", ids(more))
	}
	late.has(t, delivery.Result{Passing: true, Said: errLate.Error()})
	w.end(delivery.Result{Taken: true}, out...)
}

// A thousand mails wait, and more have to be waited for.
func TestMailsWaitForRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Now())
	var all []emitted
	for i := range mostMails {
		all = append(all, w.mail(fmt.Sprint(i), "a@a.example"))
	}
	ctx, cancel := context.WithCancel(t.Context())
	given := w.emit(ctx, accountMail("given up", "a@a.example"))
	cancel()
	if got := <-given.outcome; !errors.Is(got.Err, context.Canceled) {
		t.Errorf("what there is no room for is told %+v", got)
	}
	last := w.emit(t.Context(), accountMail("last", "b@b.example"))
	if out := w.take(); ids(out) != "0 1" {
		t.Fatalf("handed out are %s", ids(out))
	} else {
		w.end(delivery.Result{Taken: true}, out[0])
	}
	<-last.put
	all[0].has(t, delivery.Result{Taken: true})
	if out := w.take(); ids(out) != "2 last" {
		t.Errorf("then %s", ids(out))
	}
	w.ok(w.stage.Close())
	for i, e := range all {
		if got := i > 2 && !errors.Is((<-e.outcome).Err, context.Canceled); got {
			t.Errorf("mail %d is not given back", i)
		}
	}
}

// However a run ends, its source is told of each mail that waits: it is given back, or may be sent another time.
func TestWhoeverEmitsAMailIsToldOfTheEnd(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"drain": "context canceled []", "cancel": "context canceled []",
		"end": "<nil> [" + errOver.Error() + "]", "reload": "<nil> [" + errReloaded.Error() + "]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, time.Now())
			var mu sync.Mutex
			var told []string
			sealed, tried := make(chan struct{}), make(chan struct{}, 9)
			give := func(ctx context.Context, out pipeline.Emitter) error {
				for i := range 3 {
					if err := out.Emit(ctx, pipeline.NewItem(accountMail(fmt.Sprint(i), fmt.Sprintf("a@host%d.example", i)), func(o pipeline.Outcome) {
						mu.Lock()
						defer mu.Unlock()
						said := []string{}
						for _, learned := range o.Learned {
							said = append(said, learned.(delivery.Result).Said)
						}
						told = append(told, fmt.Sprint(o.Err, " ", said))
					})); err != nil {
						return err
					}
				}
				select {
				case <-sealed:
				case <-ctx.Done():
				}
				return nil
			}
			take := func(it *pipeline.Item) error {
				it.Learn(delivery.Result{Passing: true, Said: "busy"})
				it.OnEnd(func() { tried <- struct{}{} })
				return nil
			}
			o := defaults
			g, _ := stagetest.Between("outbox", o, give, take)
			run, err := g.Start(t.Context(), pipeline.RunOptions{Resources: w.resources()})
			w.ok(err)
			for range 3 {
				<-tried
			}
			testutil.Await(t, "all wait", func() bool { return run.Snapshot().Stages["outbox"].Counters["put_off"] == 3 })
			switch name {
			case "drain":
				run.Drain()
			case "cancel":
				run.Cancel()
			case "end":
				close(sealed)
			case "reload":
				o.Keep++
				changed, _ := stagetest.Between("outbox", o, give, take)
				_, err := run.Reload(t.Context(), changed)
				w.ok(err)
				run.Drain()
			}
			_, err = run.Wait()
			if err != nil && name != "cancel" {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if want := slices.Repeat([]string{want}, 3); !slices.Equal(told, want) {
				t.Errorf("told is %q, want %q", told, want)
			}
		})
	}
}

// Nothing of a mail outlives its run.
func TestMailsAreOfNoChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Now())
	e := w.mail("m", "a@a.example")
	w.end(delivery.Result{Taken: true}, w.take()...)
	e.has(t, delivery.Result{Taken: true})
	for m, err := range w.store.Messages(t.Context()) {
		t.Errorf("stored is %+v, %v", m, err)
	}
	if len(w.stage.mails) > 0 || len(w.stage.mailRoom) > 0 || len(w.stage.busy) > 0 || w.stage.out != 0 {
		t.Error("something of it is left in memory")
	}
}
