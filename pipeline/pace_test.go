package pipeline

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// paced is a follower of numbers that lags so much at most.
type paced struct {
	n    *numbers
	env  *Env
	most time.Duration
}

func (p paced) Run(ctx context.Context, out Emitter) error {
	log := p.n.log()
	log.MaxLag = p.most
	return Follow(ctx, p.env, log, out)
}

func (p paced) follow(sink Processor, workers int, o RunOptions) error {
	b := build().add("follow", nil).add("sink", sink, Common{Workers: workers, Buffer: 1000}).chain("follow", "sink")
	b.g.Stages[0].Make = func(env *Env) (any, error) { p.env = env; return p, nil }
	_, err := b.g.Run(context.Background(), o)
	return err
}

// feed adds so many entries each tenth of a second.
func (n *numbers) feed(entries uint64, during time.Duration) {
	for range during / (time.Second / 10) {
		n.mu.Lock()
		n.last += entries
		n.mu.Unlock()
		select {
		case n.grown <- struct{}{}:
		default:
		}
		time.Sleep(time.Second / 10) // by the clock of a bubble of synctest
	}
}

// followed returns when each entry reached the sink, while a feeder is at work and rests before it ends.
func followed(t *testing.T, entries uint64, at, rests, most time.Duration) (came []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n, upstream, start := &numbers{grown: make(chan struct{})}, make(chan struct{}), time.Now()
		go func() {
			n.feed(entries, at)
			time.Sleep(rests)
			close(upstream)
		}()
		sink := process(func(context.Context, *Item, Emitter) error {
			came = append(came, time.Since(start))
			return nil
		})
		if err := (paced{n: n, most: most}).follow(sink, 1, RunOptions{Upstream: upstream}); err != nil {
			t.Fatal(err)
		}
		if uint64(len(came)) != n.last {
			t.Errorf("%d entries came of %d", len(came), n.last)
		}
	})
	return came
}

func TestAFollowerGivesWayUntilItLagsTooMuch(t *testing.T) {
	came := followed(t, 10, 35*time.Second, time.Hour, 10*time.Second)
	bursts := map[time.Duration]int{}
	for i, at := range came {
		stored := time.Duration(i/10) * time.Second / 10
		if at-stored > 11*time.Second {
			t.Fatalf("entry %d, stored after %v, came after %v", i, stored, at)
		}
		bursts[at.Truncate(time.Second)]++
	}
	if len(bursts) > 5 { // after 10, 20, 30 seconds, and when the feeder rests
		t.Errorf("it was at work in %d seconds: %v", len(bursts), bursts)
	}
}

func TestAFollowerCatchesUpWhenNothingFeedsItAnyMore(t *testing.T) {
	for _, came := range followed(t, 10, 5*time.Second, 0, time.Hour) {
		if came < 5*time.Second {
			t.Fatalf("an entry came after %v, while the feeder was at work", came)
		}
		if came > 5*time.Second {
			t.Fatalf("an entry came after %v", came)
		}
	}
}

func TestAFollowerGivesNoWayToAFeederThatMostlyWaits(t *testing.T) {
	for i, at := range followed(t, 1, 20*time.Second, time.Hour, time.Hour) {
		if stored := time.Duration(i) * time.Second / 10; at-stored > 2*time.Second {
			t.Fatalf("entry %d, stored after %v, came after %v", i, stored, at)
		}
	}
}

func TestAFollowerThatMayNotLagGivesNoWay(t *testing.T) {
	for i, at := range followed(t, 10, 5*time.Second, time.Hour, 0) {
		if stored := time.Duration(i/10) * time.Second / 10; at != stored {
			t.Fatalf("entry %d, stored after %v, came after %v", i, stored, at)
		}
	}
}
