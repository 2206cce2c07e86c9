package pipeline

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// flaky is a source that fails at some of its runs, and goes on then where it stood.
type flaky struct {
	began time.Time
	runs  []int           // how many numbers it gives in each run; it fails after all but the last
	at    []time.Duration // when it was run
	next  int             // the number that it gives next
}

// What the last run of a flaky source does instead of coming to an end, as do those after it.
const (
	failsForEver = -1
	panics       = -2
)

func (f *flaky) Run(ctx context.Context, out Emitter) error {
	run := min(len(f.at), len(f.runs)-1)
	f.at = append(f.at, time.Since(f.began))
	switch f.runs[run] {
	case failsForEver:
		return errBroken
	case panics:
		panic("as an error")
	}
	for range f.runs[run] {
		if err := out.Emit(ctx, &Item{Value: f.next}); err != nil {
			return err
		}
		f.next++
	}
	if run < len(f.runs)-1 {
		return errBroken
	}
	return nil
}

func TestASourceThatFailsHasItsPolicy(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		onError    OnError
		continuous bool
		runs       []int
		items      int
		at         []time.Duration
		fails      bool
		errors     int64
	}{
		"by default the run ends":     {"", true, []int{2, 2, 2}, 2, []time.Duration{0}, true, 1},
		"as with stop":                {Stop, true, []int{2, 2, 2}, 2, []time.Duration{0}, true, 1},
		"skip":                        {Skip, false, []int{2, 2, 2}, 2, []time.Duration{0}, false, 1},
		"retry":                       {RetryFirst, false, []int{2, 2, 2}, 6, []time.Duration{0, 100 * ms, 200 * ms}, false, 2},
		"retry three times":           {RetryFirst, false, []int{2, failsForEver}, 2, []time.Duration{0, 100 * ms, 500 * ms}, true, 3},
		"each failure behind an item": {RetryFirst, false, []int{1, 1, 1, 1, 1, 1, 1}, 7, []time.Duration{0, 100 * ms, 200 * ms, 300 * ms, 400 * ms, 500 * ms, 600 * ms}, false, 6},
		"a panic":                     {RetryFirst, false, []int{panics}, 0, []time.Duration{0, 100 * ms, 500 * ms}, true, 3},
		"retry for ever":              {RetryFirst, true, []int{1, failsForEver}, 1, []time.Duration{0, 100 * ms, 500 * ms, 2100 * ms, 8500 * ms, 34100 * ms, 94100 * ms, 154100 * ms}, false, 8},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, got := &flaky{began: time.Now(), runs: c.runs}, &collected{}
				run, err := build().add("source", f, Common{OnError: c.onError}).add("sink", got).chain("source", "sink").
					g.Start(t.Context(), RunOptions{Continuous: c.continuous})
				if err != nil {
					t.Fatal(err)
				}
				stop := time.AfterFunc(200*time.Second, run.Drain) // in the middle of a pause
				defer stop.Stop()
				report, err := run.Wait()
				if errors.Is(err, errBroken) != c.fails && name != "a panic" || (err != nil) != c.fails {
					t.Errorf("the run ends with %v", err)
				}
				want := make([]any, c.items)
				for i := range want {
					want[i] = i
				}
				if !slices.Equal(got.values, want) && !c.fails { // a run that ends with an error may drop items
					t.Errorf("items %v", got.values)
				}
				if !slices.Equal(f.at, c.at) {
					t.Errorf("run at %v, want %v", f.at, c.at)
				}
				if n := report.Stages["source"].Errors; n != c.errors {
					t.Errorf("%d errors are counted, want %d", n, c.errors)
				}
			})
		})
	}
}
