package frontier

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
)

// TestAnAnswerThatMayPassIsWhatCameAtTheLastAttempt: until then it is a failed attempt like any other, also when the
// process dies meanwhile.
func TestAnAnswerThatMayPassIsWhatCameAtTheLastAttempt(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Attempts: 3})
	f.start(crawlOf("a.org"), true)
	for i := range 3 {
		l := f.take()
		if v := l.Request().Visit; i > 0 && (v.Attempts != i || v.Error != "500: may pass" || v.Status != 0) {
			t.Errorf("attempt %d: visit is %+v", i+1, v)
		}
		f.finish(l, Outcome{Err: errors.New("500: may pass"), RetryAt: time.Now(), Answered: true, Learned: []webrace.Learned{func(v *webrace.Visit) {
			v.At, v.Status, v.Error = f.now(), 500, "500"
		}}})
		if i == 0 {
			f.crash()
			f.start(crawlOf("a.org"), true)
		}
	}
	f.none()
	failed := f.failed()
	if len(failed) != 1 || failed[0].Visit.Attempts != 0 || failed[0].Visit.Error != "500" || failed[0].Visit.Status != 500 {
		t.Fatalf("failed: %+v", failed)
	}
	if n := f.q.Stats().NoDoc; n != 1 {
		t.Errorf("%d visits gave no document, want 1", n)
	}
	f.start(crawlOf("a.org"), true)
	if v := f.take().Request().Visit; v.Attempts != 0 || v.Status != 500 {
		t.Errorf("the next round begins with %+v", v)
	}
}

// What an agent knows of its source is there at the next visit, also when the process died meanwhile; where it is too
// much, the visit fails, and it is as it was.
func TestAStateIsKeptAsFarAsThereIsRoom(t *testing.T) {
	t.Parallel()
	f := newFixture(t, QueueOptions{Attempts: 2})
	leaves := func(state string) Outcome {
		return Outcome{Learned: []webrace.Learned{func(v *webrace.Visit) { v.At, v.State = f.now(), []byte(state) }}}
	}
	most := strings.Repeat("\x00\xff", webrace.MostState/2)
	for _, state := range []string{"first", most} {
		f.start(crawlOf("a.org"), true)
		f.finish(f.take(), leaves(state))
		f.crash()
		f.start(crawlOf("a.org"), true)
		l := f.take()
		if v := l.Request().Visit; string(v.State) != state {
			t.Errorf("a state of %d bytes is read as %d", len(state), len(v.State))
		}
		f.finish(l, leaves(state+strings.Repeat("x", webrace.MostState)))
		failed := f.failed()
		if len(failed) != 1 || string(failed[0].Visit.State) != state || !strings.Contains(failed[0].Visit.Error, "at most 65536 are kept") {
			t.Errorf("failed: %+v", failed)
		}
	}
}
