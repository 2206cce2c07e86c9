package outbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/stages/internal/delivery"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

func TestConformance(t *testing.T) {
	w := newWorld(t, time.Now())
	w.person("eleni", "{}")
	var inputs []any
	for range 20 {
		inputs = append(inputs, w.aci("eleni", 1))
	}
	w.end(delivery.Result{Taken: true}, w.take()...)
	for i := range 5 {
		inputs = append(inputs, &webrace.Notice{ID: fmt.Sprint(i), Owner: "eleni", URI: "http://a.example/"}, accountMail(fmt.Sprint(i), "a@a.example"))
	}
	stagetest.Run(t, stagetest.Case{Type: "outbox", Inputs: inputs, Resources: w.resources()})
}

func TestOneMessageOfAllThatIsDue(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Now())
	w.person("eleni", `{"hold_s": 60}`)
	w.person("costas", `{}`)
	w.aci("eleni", 1)
	w.aci("eleni", 1)
	w.aci("costas", 1)
	w.aci("nobody", 1)
	first := w.take()
	if len(first) != 1 || messageOf(first[0]).Owner != "costas" {
		t.Fatalf("handed out before it is due: %+v", first)
	}
	w.end(delivery.Result{Taken: true}, first...)
	w.now = w.now.Add(61 * time.Second)
	second := w.take()
	if len(second) != 1 || titles(second[0]) != "1 2" || messageOf(second[0]).Entries != 2 || messageOf(second[0]).Transport != delivery.TransportMail {
		t.Fatalf("handed out: %+v", second)
	}
	if to, _ := messageOf(second[0]).Address.Reveal(); to != "eleni@eleni.example" {
		t.Errorf("it goes to %s", to)
	}
	w.aci("eleni", 1)
	w.now = w.now.Add(2 * time.Minute)
	if more := w.take(); len(more) > 0 {
		t.Errorf("a second message while one is out: %v", titles(more[0]))
	}
	w.end(delivery.Result{Taken: true}, second...)
	if third := w.take(); len(third) != 1 || titles(third[0]) != "5" {
		t.Errorf("after that one: %d, %q", len(third), messageOf(third[0]).Text)
	}
}

// What was out when the process died is sent again under the same id, and nothing else is in that message.
func TestAfterACrashTheSameIsSentAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Now())
	w.person("eleni", `{}`)
	a := w.aci("eleni", 1)
	before := w.take()
	w.aci("eleni", 1)
	w.put(a) // which its follower gives again
	w.start(defaults)
	after := w.take()
	if len(after) != 1 || messageOf(after[0]).ID != messageOf(before[0]).ID || titles(after[0]) != "1" {
		t.Fatalf("sent again: %+v, before %+v", messageOf(after[0]), messageOf(before[0]))
	}
	w.end(delivery.Result{Taken: true}, after...)
	w.start(defaults)
	rest := w.take()
	if len(rest) != 1 || titles(rest[0]) != "2" {
		t.Errorf("then %v", rest)
	}
}

func TestAReceiverThatIsDownDelaysItsOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Now())
	for i := range 4 {
		owner := fmt.Sprint("owner", i)
		w.ok(w.store.AddAccount(t.Context(), control.Account{Owner: owner, State: control.AccountActive}, true))
		w.channel(owner, "same", control.ChannelWebhook, "https://down.example/"+owner, `{}`)
		w.aci(owner, 1)
	}
	w.person("eleni", `{}`)
	w.aci("eleni", 1)
	out := w.take()
	hosts := map[string]int{}
	for _, l := range out {
		hosts[messageOf(l).Address.String()]++
	}
	if hosts["down.example"] != 2 || hosts["eleni.example"] != 1 || len(out) != 3 {
		t.Fatalf("out are %v", hosts)
	}
	if more := w.take(); len(more) > 0 {
		t.Errorf("more for it: %v", more)
	}
	w.end(delivery.Result{Passing: true, Said: "busy"}, out[0])
	if more := w.take(); len(more) != 1 {
		t.Errorf("%d more when one is done", len(more))
	}
}

// Also of messages that are sent again a channel has one at a time.
func TestAChannelHasOneMessageUnderWay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Now())
	w.person("eleni", `{}`)
	for range 3 {
		w.aci("eleni", 1)
		w.end(delivery.Result{Said: "no"}, w.take()...)
	}
	for m, err := range w.store.Messages(t.Context()) {
		w.ok(err)
		w.ok(w.store.SendAgain(t.Context(), m.ID))
	}
	w.now = w.now.Add(time.Minute) // the store has a clock of its own
	for range 3 {
		out := w.take()
		if len(out) != 1 {
			t.Fatalf("%d are out", len(out))
		}
		w.end(delivery.Result{Taken: true}, out...)
	}
}

// Messages for one receiver, however many wait, are in nobody else's way, and each goes when it is its turn.
func TestManyWaitForAReceiver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Now())
	w.start(Options{Leases: 8, Keep: defaults.Keep})
	const many = 300 // more than are composed at once
	for i := range many {
		owner := fmt.Sprint("owner", i)
		w.ok(w.store.AddAccount(t.Context(), control.Account{Owner: owner, State: control.AccountActive}, true))
		w.channel(owner, "same", control.ChannelWebhook, "https://down.example/"+owner, `{}`)
		w.aci(owner, 1)
	}
	w.person("eleni", `{}`)
	w.aci("eleni", 1)
	sent := map[string]int{}
	for round := 0; len(sent) <= many; round++ {
		out := w.take()
		if len(out) == 0 || round > many {
			t.Fatalf("in round %d nothing is handed out, after %d of %d", round, len(sent), many+1)
		}
		if round == 0 && !slices.ContainsFunc(out, func(l pipeline.Lease) bool { return messageOf(l).Owner == "eleni" }) {
			t.Error("who has another receiver waits")
		}
		if len(out) > 3 {
			t.Fatalf("%d are out", len(out))
		}
		for _, l := range out {
			sent[messageOf(l).Owner]++
		}
		w.end(delivery.Result{Taken: true}, out...)
	}
	for owner, n := range sent {
		if n != 1 {
			t.Errorf("%s is told %d times", owner, n)
		}
	}
}

// While messages wait for their receiver, the store is not read for each that it takes.
func TestTheStoreIsNotReadForEachThatWaits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Now())
	w.start(Options{Leases: 8, Keep: defaults.Keep})
	for i := range 6 {
		owner := fmt.Sprint("owner", i)
		w.ok(w.store.AddAccount(t.Context(), control.Account{Owner: owner, State: control.AccountActive}, true))
		w.channel(owner, "same", control.ChannelWebhook, "https://busy.example/"+owner, `{}`)
		w.aci(owner, 1)
	}
	out := w.take()
	if len(out) != mostOfReceiver {
		t.Fatalf("%d are out", len(out))
	}
	w.end(delivery.Result{Taken: true}, out...)
	looks := func() bool {
		looked, err := w.stage.look(t.Context(), true)
		w.ok(err)
		return looked
	}
	if looks() {
		t.Error("it looks for more while some are ready")
	}
	w.now = w.stage.lookAgain
	if !looks() {
		t.Error("it never looks for what is more urgent")
	}
}

func TestWhatIsNotTakenIsSentAgainUntilItIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Now())
	w.person("eleni", `{}`)
	w.aci("eleni", 1)
	begun, attempts := w.now, 0
	for range 1000 {
		out := w.take()
		if len(out) == 1 {
			attempts++
			w.end(delivery.Result{Passing: true, Said: "busy", After: time.Minute}, out...)
		}
		wait, err := w.stage.untilNext(t.Context())
		w.ok(err)
		w.now = w.now.Add(max(wait, time.Second))
		if w.now.Sub(begun) > 5*24*time.Hour {
			break
		}
		w.now = w.now.Add(10 * time.Minute)
	}
	var m control.Message
	for one, err := range w.store.Messages(t.Context()) {
		w.ok(err)
		m = one
	}
	if m.State != control.MessageDead || m.Attempts != attempts || attempts < 12 || attempts > 40 || m.Said != "busy" {
		t.Errorf("after %d attempts in %v: %+v", attempts, w.now.Sub(begun), m)
	}
	w.ok(w.store.SendAgain(t.Context(), m.ID))
	if again := w.take(); len(again) != 1 || messageOf(again[0]).ID != m.ID {
		t.Errorf("when it is to be sent again: %v", again)
	}
}

// What the stages behind it did not try, because they were ended or have no server, counts for no attempt.
func TestWhatWasNotTriedDoesNotCount(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Now())
	w.person("eleni", `{}`)
	w.aci("eleni", 1)
	attempts := func() (n int, said string) {
		for m, err := range w.store.Messages(t.Context()) {
			w.ok(err)
			n, said = m.Attempts, m.Said
		}
		return n, said
	}
	w.take()[0].Done(pipeline.Outcome{Err: context.Canceled})
	if n, _ := attempts(); n != 0 {
		t.Errorf("an attempt that was cancelled counts: %d", n)
	}
	again := w.take()
	again[0].Done(pipeline.Outcome{Err: errors.New("no mail server is named"), RetryAt: w.now.Add(time.Minute)})
	w.stage.recording.wait()
	if n, said := attempts(); n != 0 || said != "no mail server is named" {
		t.Errorf("what waits for a server: %d attempts, %s", n, said)
	}
	if early := w.take(); len(early) > 0 {
		t.Error("it is sent again before its time")
	}
	w.now = w.now.Add(2 * time.Minute)
	w.take()[0].Done(pipeline.Outcome{Failed: errors.New("it broke")})
	w.stage.recording.wait()
	if n, said := attempts(); n != 1 || said != "it broke" {
		t.Errorf("what failed: %d attempts, %s", n, said)
	}
	w.now = w.now.Add(time.Hour)
	w.take()[0].Done(pipeline.Outcome{})
	w.stage.recording.wait()
	if _, said := attempts(); !strings.Contains(said, "no stage") {
		t.Errorf("what nobody sends: %s", said)
	}
}

func TestAChannelThatRefusesIsStoppedAndItsOwnerTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Now())
	bad := w.person("eleni", `{}`)
	w.channel("eleni", "hook", control.ChannelWebhook, "https://hook.example/", `{"filter": {"urgency": 2}}`)
	for range 5 {
		w.aci("eleni", 1)
		w.end(delivery.Result{Said: "no such mailbox"}, w.take()...)
	}
	c, err := w.store.Channel(t.Context(), bad)
	w.ok(err)
	if c.State != control.ChannelStopped {
		t.Fatalf("the channel is %s", c.State)
	}
	told := w.take()
	if len(told) != 1 || !strings.Contains(string(messageOf(told[0]).Body), "no such mailbox") || messageOf(told[0]).Transport != delivery.TransportWebhook {
		t.Fatalf("told: %v", told)
	}
	w.end(delivery.Result{Taken: true}, told...)
	w.aci("eleni", 1)
	if more := w.take(); len(more) > 0 {
		t.Errorf("sent on a channel that is stopped: %v", more)
	}
	c.State = control.ChannelActive
	w.ok(w.store.Of("eleni").ChangeChannel(t.Context(), c))
	if kept := w.take(); len(kept) != 1 || titles(kept[0]) != "6" {
		t.Errorf("when it goes on: %v", kept)
	}
}

func TestNoticesAndRequestsAreToldInTheirForm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Now())
	w.start(Options{URL: "https://alerts.example/", Leases: 9, Keep: defaults.Keep})
	w.person("eleni", `{"filter": {"relevance": 90}}`)
	w.channel("eleni", "plain", control.ChannelWebhook, "https://plain.example/", `{}`)
	w.channel("eleni", "slack", control.ChannelWebhook, "https://slack.example/", `{"webhook": {"preset": "slack"}}`)
	w.channel("eleni", "broken", control.ChannelWebhook, "https://broken.example/", `{"webhook": {"preset": "slock"}}`)
	w.channel("eleni", "feed", control.ChannelFeed, "", `{}`)
	w.aci("eleni", 1)
	w.put(&webrace.Notice{ID: "n", Owner: "eleni", URI: "http://a.example/", State: webrace.SourceFailing, Reason: "404"}, &webrace.Notice{ID: "n", Owner: "eleni"})
	bodies := map[string]string{}
	for _, l := range w.take() {
		m := messageOf(l)
		_, key := m.Address.Reveal()
		bodies[m.Address.String()] = fmt.Sprintf("%s %d %v %s%s", m.Method, m.Entries, key != "", m.Text, m.Body)
	}
	for host, want := range map[string][]string{
		"eleni.example":  {" 1 true", "gives no document any more", "404", "stop these mails: https://alerts.example/off/"}, // the notice alone
		"plain.example":  {"POST 2 true", `"link":"https://alerts.example/a/1"`, `"title":"Title 1"`},
		"slack.example":  {"POST 2 false", "blocks"},
		"broken.example": {"POST 2 true", `"title":"Title 1"`},
	} {
		for _, part := range want {
			if !strings.Contains(bodies[host], part) {
				t.Errorf("%s gets %s, without %s", host, bodies[host], part)
			}
		}
	}
	if len(bodies) != 4 {
		t.Errorf("told on %d channels: %v", len(bodies), bodies)
	}
}

func TestAChannelIsToldOfItsLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Now())
	w.person("eleni", `{"filter": {"labels": ["work", "boats"]}}`)
	u := xmlschema.NewURD("eleni", "http://a.example/")
	u.ID = "u"
	for label, want := range map[string]int{"boats": 1, "garden": 0} {
		u.Labels = []string{label}
		_, err := w.store.Put(t.Context(), []*xmlschema.URD{u})
		w.ok(err)
		w.aci("eleni", 1)
		out := w.take()
		if len(out) != want {
			t.Errorf("with label %s: %d messages", label, len(out))
		}
		w.end(delivery.Result{Taken: true}, out...)
	}
	w.ok(w.store.Delete(t.Context(), "u"))
	w.aci("eleni", 1)
	if out := w.take(); len(out) > 0 {
		t.Errorf("of a URD that is gone: %v", out)
	}
}

func TestTakeWaitsAndEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, time.Now())
	w.person("eleni", `{}`)
	taken := make(chan pipeline.Lease)
	go func() {
		for {
			l, err := w.stage.Take(context.Background())
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Error(err)
				}
				close(taken)
				return
			}
			taken <- l
		}
	}()
	w.aci("eleni", 1)
	first := <-taken
	w.stage.Seal()
	first.Done(pipeline.Outcome{Err: context.Canceled})
	again := <-taken // what was not tried comes once more, before the end
	again.Done(pipeline.Outcome{Learned: []any{delivery.Result{Taken: true}}})
	if _, more := <-taken; more {
		t.Error("it goes on")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w.start(defaults)
	if _, err := w.stage.Take(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("taking with a context that has ended: %v", err)
	}
}
