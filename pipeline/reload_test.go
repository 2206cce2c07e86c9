package pipeline

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// with gives the last stage options, by which a reload knows it.
func (b graphOf) with(options any) graphOf {
	b.g.Stages[len(b.g.Stages)-1].Options = options
	return b
}

func (b graphOf) started(t *testing.T) *Run {
	t.Helper()
	run, err := b.g.Start(t.Context(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func (b graphOf) mustReload(t *testing.T, run *Run) Change {
	t.Helper()
	change, err := run.Reload(t.Context(), b.g)
	if err != nil {
		t.Fatal(err)
	}
	return change
}

func (b graphOf) mustBeRefused(t *testing.T, run *Run, because string) {
	t.Helper()
	if _, err := run.Reload(t.Context(), b.g); err == nil || !strings.Contains(err.Error(), because) {
		t.Errorf("the reload is answered %v, want one that says %q", err, because)
	}
}

func mustEnd(t *testing.T, run *Run) *Report {
	t.Helper()
	run.Drain()
	report, err := run.Wait()
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func TestWhatHasNotChangedRunsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var first, second collected
		run := build().add("from", ticking{}).add("to", &first).chain("from", "to").started(t)
		time.Sleep(time.Second)
		change := build().add("from", ticking{}).add("to", &second).add("more", &second).chain("from", "to").edge("from", "", "more").mustReload(t, run)
		if !slices.Equal(change.Added, []string{"more"}) || !slices.Equal(change.Rewired, []string{"from"}) || change.String() != "added more; rewired from" {
			t.Errorf("it has changed %v", change)
		}
		if change := (build().add("from", ticking{}).add("to", &second).add("more", &second).chain("from", "to").edge("from", "", "more")).mustReload(t, run); !change.IsEmpty() {
			t.Errorf("the same graph changes %v", change)
		}
		time.Sleep(time.Second)
		report := mustEnd(t, run)
		for i, v := range first.values {
			if v != i {
				t.Fatalf("item %d is %v: the source did not run on", i, v)
			}
		}
		if got := report.Stages["to"]; int(got.In) != len(first.values) || len(second.values) == 0 || len(second.values) >= len(first.values) {
			t.Errorf("%+v; %d values came to what was there before, %d to what came later", got, len(first.values), len(second.values))
		}
	})
}

// reader has read files, which hold something else by now once changed returns true.
type reader struct {
	collected
	changed func() bool
}

func (r *reader) Outdated() bool { return r.changed() }

func TestAStageWhoseFilesHoldSomethingElseIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changed := func() bool { return false }
		graph := func() graphOf {
			return build().add("from", ticking{}).add("to", &reader{changed: func() bool { return changed() }}).chain("from", "to")
		}
		run := graph().started(t)
		if change := graph().mustReload(t, run); !change.IsEmpty() {
			t.Errorf("files that are the same change %v", change)
		}
		for _, now := range []func() bool{func() bool { return true }, func() bool { panic("oh") }} {
			changed = now
			if change := graph().mustReload(t, run); change.String() != "replaced to" {
				t.Errorf("it has changed %v", change)
			}
		}
		mustEnd(t, run)
	})
}

func TestAReplacedStageCountsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		counting := func(*Env) (any, error) { return nil, nil }
		graph := func(options string) graphOf {
			b := build().add("from", ticking{}).add("to", nil).with(options).chain("from", "to")
			counting = func(e *Env) (any, error) {
				e.Level("size").Store(5)
				return process(func(context.Context, *Item, Emitter) error {
					e.Counter("done").Add(1)
					return nil
				}), nil
			}
			b.g.Stages[1].Make = counting
			return b
		}
		run := graph("a").started(t)
		time.Sleep(time.Second)
		if change := graph("b").mustReload(t, run); !slices.Equal(change.Replaced, []string{"to"}) {
			t.Errorf("it has changed %v", change)
		}
		time.Sleep(time.Second)
		if got := mustEnd(t, run).Stages["to"]; got.In < 1500 || got.Counters["done"] != got.In || got.Counters["size"] != 5 {
			t.Errorf("it counts %+v", got)
		}
	})
}

// settings is a stage that can be reconfigured.
type settings struct {
	process
	now    any
	refuse any
}

func (s *settings) Reconfigure(_ context.Context, options any) error {
	if options == s.refuse {
		return errBroken
	}
	s.now = options
	return nil
}

func TestStagesThatWereReconfiguredGetTheirOptionsBackIfAnotherRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pass := process(func(ctx context.Context, it *Item, out Emitter) error { return out.Emit(ctx, it) })
		a, b := &settings{process: pass}, &settings{process: pass, refuse: 2}
		graph := func(i int) graphOf {
			return build().add("from", ticking{}).add("a", a).with(i).add("b", b).with(i).add("to", new(collected)).chain("from", "a", "b", "to")
		}
		run := graph(0).started(t)
		if change := graph(1).mustReload(t, run); !slices.Equal(change.Reconfigured, []string{"a", "b"}) || a.now != 1 || b.now != 1 {
			t.Errorf("it has changed %v; a is %v and b %v", change, a.now, b.now)
		}
		graph(2).mustBeRefused(t, run, "reconfigure stage b: broken")
		if a.now != 1 || b.now != 1 {
			t.Errorf("a is %v and b %v after a reload that failed", a.now, b.now)
		}
		mustEnd(t, run)
	})
}

func TestAReloadThatTakesTooLongNamesWhoHoldsItemsAndChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		slow := process(func(context.Context, *Item, Emitter) error { <-release; return nil })
		run := build().add("from", ticking{}).add("slow", slow).chain("from", "slow").started(t)
		time.Sleep(time.Second)
		closed := make(chan struct{})
		next := build().add("from", ticking{}).add("slow", slow).add("new", closing{closed: closed}).chain("from", "slow").edge("from", "", "new")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := run.Reload(ctx, next.g)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "items are in slow") {
			t.Errorf("the reload is answered %v", err)
		}
		<-closed
		close(release)
		before := run.Snapshot()
		time.Sleep(time.Second)
		if after := run.Snapshot(); after.Stages["slow"].In == before.Stages["slow"].In || len(after.Stages) != 2 || after.FailedReloads != 1 {
			t.Errorf("after the reload that failed, it stands at %+v", after)
		}
		mustEnd(t, run)
	})
}

type closing struct{ closed chan struct{} }

func (c closing) Close() error { close(c.closed); return nil }

func (c closing) Process(context.Context, *Item, Emitter) error { return nil }

func TestAReloadSaysWhatItCannotDo(t *testing.T) {
	queue := newTree()
	graph := func(options any) graphOf {
		return build().add("once", count{n: 3}).with(options).add("on", ticking{}).add("queue", queue).
			add("to", new(collected)).chain("once", "queue", "to").chain("on", "to")
	}
	run := graph(1).started(t)
	settle(func() bool { queue.mu.Lock(); defer queue.mu.Unlock(); return queue.sealed })
	graph(2).mustBeRefused(t, run, "queue queue has been told that nothing more comes")
	other := graph(1)
	other.g.Name = "other"
	other.mustBeRefused(t, run, "the graph is one of pipeline other")
	graph(1).edge("on", "", "nowhere").mustBeRefused(t, run, "no such stage")
	mustEnd(t, run)
	graph(1).mustBeRefused(t, run, ErrEnded.Error())
}

// lender is a stage that others use.
type lender struct{ collected }

func (*lender) lend() {}

type borrower struct {
	collected
	env  *Env
	mine interface{ lend() }
}

func (b *borrower) Open(context.Context) (err error) {
	b.mine, err = Peer[interface{ lend() }](b.env, "")
	return err
}

func TestWhoUsesAReplacedStageIsReplacedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made []*borrower
		var lent []*lender
		graph := func(i int) graphOf {
			b := build().add("from", ticking{}).add("lender", nil).with(i).add("borrower", nil).edge("from", "", "lender").edge("from", "", "borrower")
			b.g.Stages[1].Make = func(*Env) (any, error) { lent = append(lent, new(lender)); return lent[len(lent)-1], nil }
			b.g.Stages[2].Make = func(e *Env) (any, error) {
				made = append(made, &borrower{env: e})
				return made[len(made)-1], nil
			}
			return b
		}
		run := graph(0).started(t)
		if change := graph(1).mustReload(t, run); !slices.Equal(change.Replaced, []string{"lender", "borrower"}) {
			t.Errorf("it has changed %v", change)
		}
		if len(made) != 2 || made[1].mine != interface{ lend() }(lent[1]) {
			t.Error("the new borrower does not use the new lender")
		}
		mustEnd(t, run)
	})
}

func TestASourceThatIsTakenOutStopsAndAPauseOutlastsAReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sink collected
		run := build().add("a", ticking{}).add("b", ticking{}).add("to", &sink).edge("a", "", "to").edge("b", "", "to").started(t)
		time.Sleep(time.Second)
		run.Pause()
		if change := build().add("a", ticking{}).add("to", &sink).chain("a", "to").mustReload(t, run); !slices.Equal(change.Removed, []string{"b"}) {
			t.Errorf("it has changed %v", change)
		}
		sink.mu.Lock()
		before := len(sink.values)
		sink.mu.Unlock()
		time.Sleep(time.Second)
		sink.mu.Lock()
		if len(sink.values) != before || !run.Paused() {
			t.Error("the reload has ended the pause")
		}
		sink.mu.Unlock()
		run.Resume()
		time.Sleep(time.Second)
		if report := mustEnd(t, run); len(report.Stages) != 2 || len(sink.values) < before+900 {
			t.Errorf("%d values came before, %d in all", before, len(sink.values))
		}
	})
}
