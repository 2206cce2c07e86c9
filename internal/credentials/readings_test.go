package credentials

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// well gives a secret that changes, and counts how often it is asked.
type well struct {
	Readings
	mu    sync.Mutex
	clock time.Time
	value string
	err   error
	reads int
}

func newWell(value string) *well {
	w := &well{value: value, clock: time.Unix(1_700_000_000, 0)}
	w.Readings.now = func() time.Time { w.mu.Lock(); defer w.mu.Unlock(); return w.clock }
	w.Readings.read = func(context.Context, Origin) (string, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.reads++
		return w.value, w.err
	}
	return w
}

func (w *well) become(value string, err error) {
	w.mu.Lock()
	w.value, w.err = value, err
	w.mu.Unlock()
}
func (w *well) later(d time.Duration) { w.mu.Lock(); w.clock = w.clock.Add(d); w.mu.Unlock() }

var somewhere = Origin{File: "/somewhere"}

func (w *well) mustBe(t *testing.T, value string, reads int) {
	t.Helper()
	if got, err := w.Value(t.Context(), "s", somewhere); got != value || err != nil || w.reads != reads {
		t.Errorf("%q, %v after %d readings, want %q after %d", got, err, w.reads, value, reads)
	}
}

func (w *well) renew(t *testing.T, want bool, reads int) {
	t.Helper()
	if got, err := w.Renew(t.Context(), "s", somewhere, func() {}); got != want || err != nil || w.reads != reads {
		t.Errorf("renewed %v, %v after %d readings, want %v after %d", got, err, w.reads, want, reads)
	}
}

func TestASecretIsReadOnceAndAnewWhenItIsRefusedButNotForEachRefusal(t *testing.T) {
	t.Parallel()
	w := newWell("one")
	for range 3 {
		w.mustBe(t, "one", 1)
	}
	w.become("two", nil)
	w.later(time.Second)
	w.mustBe(t, "one", 1) // it was not refused
	w.renew(t, true, 2)
	w.mustBe(t, "two", 2)
	for range 100 { // pages that refuse it
		w.renew(t, false, 2)
	}
	// Each time that it is the same, the wait doubles, up to an hour.
	for i, wait := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute, time.Hour, time.Hour} {
		w.later(wait - time.Second)
		w.renew(t, false, 2+i)
		w.later(time.Second)
		w.renew(t, false, 3+i)
	}
	w.become("three", nil)
	w.later(time.Hour)
	w.renew(t, true, 11)
	w.later(time.Minute) // it begins anew
	w.become("four", nil)
	w.renew(t, true, 12)
	w.Forget("s")
	w.mustBe(t, "four", 13)
}

func TestASecretThatCannotBeReadIsNotTriedForEachPage(t *testing.T) {
	t.Parallel()
	w := newWell("")
	gone := errors.New("it is gone")
	w.become("", gone)
	for range 5 {
		if _, err := w.Value(t.Context(), "s", somewhere); !errors.Is(err, gone) || w.reads != 1 {
			t.Fatalf("%v after %d readings", err, w.reads)
		}
	}
	w.later(time.Minute)
	if _, err := w.Value(t.Context(), "s", somewhere); !errors.Is(err, gone) || w.reads != 2 {
		t.Fatalf("%v after %d readings", err, w.reads)
	}
	if _, err := w.Value(t.Context(), "s", somewhere); err == nil || !strings.Contains(err.Error(), "tried again from ") {
		t.Error(err)
	}
	w.become("one", nil)
	w.later(2 * time.Minute)
	w.mustBe(t, "one", 3)
	w.become("", gone) // one that was read stays as it is
	if changed, err := w.Renew(t.Context(), "s", somewhere, func() {}); changed || !errors.Is(err, gone) {
		t.Errorf("%v, %v", changed, err)
	}
	w.mustBe(t, "one", 4)
	if got, err := w.Value(t.Context(), "s", Origin{File: "/elsewhere"}); err == nil {
		t.Errorf("of another origin it is %q", got)
	}
}

func TestManyWhoAreRefusedAtOnceHaveItReadOnce(t *testing.T) {
	t.Parallel()
	w := newWell("one")
	w.mustBe(t, "one", 1)
	w.become("two", nil)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := w.Renew(context.Background(), "s", somewhere, func() {}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	w.mustBe(t, "two", 2)
}

// Who is told that a secret was read lately finds what came of it.
func TestASecretIsNotedAsAnotherBeforeOthersGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWell("one")
		w.mustBe(t, "one", 1)
		w.become("two", nil)
		noted := false
		go func() {
			if changed, err := w.Renew(t.Context(), "s", somewhere, func() { time.Sleep(time.Minute); noted = true }); !changed || err != nil {
				t.Error(changed, err)
			}
		}()
		synctest.Wait()
		if changed, err := w.Renew(t.Context(), "s", somewhere, func() {}); changed || err != nil || !noted {
			t.Errorf("renewed %t, %v, noted %t", changed, err, noted)
		}
	})
}

func TestManyWhoWantASecretFirstHaveItReadOnce(t *testing.T) {
	t.Parallel()
	w := newWell("one")
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got, err := w.Value(context.Background(), "s", somewhere); got != "one" || err != nil {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	all.Wait()
	w.mustBe(t, "one", 1)
}

func TestACallerWhoGoesAwayLeavesNoErrorBehind(t *testing.T) {
	t.Parallel()
	w := newWell("one")
	ctx, cancel := context.WithCancel(t.Context())
	read := w.Readings.read
	w.Readings.read = func(context.Context, Origin) (string, error) { cancel(); return "", ctx.Err() }
	if _, err := w.Value(ctx, "s", somewhere); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	w.Readings.read = read
	w.mustBe(t, "one", 1)
}
