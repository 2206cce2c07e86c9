package redis

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/stagetest"
)

// process is a server of its own, which listens on a socket in a directory of the test alone.
type process struct {
	t    *testing.T
	dir  string
	args []string
	cmd  *exec.Cmd
}

// server starts one, which keeps nothing on disk unless the arguments ask for it.
func server(t *testing.T, args ...string) Connection { return newProcess(t, args...).connection() }

func newProcess(t *testing.T, args ...string) *process {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("no redis-server is installed (apt-get install redis-server)")
	}
	p := &process{t: t, dir: t.TempDir(), args: args}
	p.start()
	t.Cleanup(p.kill)
	return p
}

func (p *process) connection() Connection {
	return Connection{URL: "unix://" + filepath.Join(p.dir, "s"), Stream: "in", Field: "value"}
}

// start starts it, with what its directory holds, and waits until it answers.
func (p *process) start() {
	p.t.Helper()
	p.cmd = exec.Command("redis-server", append([]string{"--port", "0", "--unixsocket", filepath.Join(p.dir, "s"), "--save", "", "--dir", p.dir}, p.args...)...)
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	c := p.connection()
	for until := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		err := c.check(p.t.Context())
		if err == nil {
			return
		}
		if time.Now().After(until) {
			p.t.Fatal("the server does not answer: ", err)
		}
	}
}

func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

func add(t *testing.T, c Connection, n int) (all []string) {
	t.Helper()
	client, err := c.client()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for i := range n {
		all = append(all, fmt.Sprintf("entry %03d", i))
		if err := client.XAdd(t.Context(), &redis.XAddArgs{Stream: c.Stream, Values: []any{c.Field, all[i]}}).Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// unacknowledged is how many entries members of the group have and have not acknowledged.
func unacknowledged(t *testing.T, o InOptions) int64 {
	t.Helper()
	client, err := o.client()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	pending, err := client.XPending(t.Context(), o.Stream, o.Group).Result()
	if err != nil {
		t.Fatal(err)
	}
	return pending.Count
}

func reading(c Connection) InOptions {
	o := inDefaults
	o.Connection = c
	return o
}

// take runs redis-in before f, until f reports that it has enough or, if cancel is set, with what is in work never
// done.
func take(t *testing.T, o InOptions, cancel bool, f func(ctx context.Context, it *pipeline.Item) (enough bool)) {
	t.Helper()
	var once sync.Once
	enough := make(chan struct{})
	g := pipeline.NewGraph("test")
	g.Add("redis-in", o)
	g.AddStage("take", pipeline.Spec{Type: "take", In: pipeline.Kinds(pipeline.KindOf[any]())}, func(*pipeline.Env) (any, error) {
		return taker(func(ctx context.Context, it *pipeline.Item) error {
			if f(ctx, it) {
				once.Do(func() { close(enough) })
			}
			return ctx.Err()
		}), nil
	})
	g.Stages[1].Common.Workers = 4
	g.Wire("redis-in > take")
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	run, err := g.Start(t.Context(), pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-enough:
	case <-run.Done():
	case <-time.After(time.Minute):
		t.Error("it did not get enough within a minute")
	}
	if cancel {
		run.Cancel()
	} else {
		run.Drain()
	}
	if _, err := run.Wait(); err != nil && !cancel {
		t.Error(err)
	}
}

type taker func(context.Context, *pipeline.Item) error

func (f taker) Process(ctx context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	return f(ctx, it)
}

func TestConformance(t *testing.T) {
	c := server(t)
	add(t, c, 10)
	stagetest.Run(t, stagetest.Case{Type: "redis-in", Options: reading(c)})
	c.Stream = "out"
	stagetest.Run(t, stagetest.Case{
		Type: "redis-out", Options: OutOptions{Connection: c, MaxLength: 100}, Inputs: []any{"text", []byte("bytes"), codec.Record{"a": 1.0}},
	})
}

// TestNothingIsLost ends runs while entries are in work: these come again, and at last none is unacknowledged.
func TestNothingIsLost(t *testing.T) {
	c := server(t)
	want := add(t, c, 100)
	var mu sync.Mutex
	done := map[string]int{}
	for round := range 3 {
		n := 0
		take(t, reading(c), true, func(ctx context.Context, it *pipeline.Item) bool {
			mu.Lock()
			n++
			stuck := n == 10 || n > 20 // however late the run is ended, it leaves entries to the next
			if !stuck && ctx.Err() == nil {
				done[it.Value.(string)]++
			}
			enough := n >= 20
			mu.Unlock()
			if stuck {
				<-ctx.Done() // it is never dealt with
			}
			return enough
		})
		if unacknowledged(t, reading(c)) == 0 {
			t.Errorf("round %d: what was in work is acknowledged", round)
		}
	}
	take(t, reading(c), false, func(_ context.Context, it *pipeline.Item) bool {
		mu.Lock()
		defer mu.Unlock()
		done[it.Value.(string)]++
		return len(done) == len(want)
	})
	if got := slices.Sorted(maps.Keys(done)); !slices.Equal(got, want) {
		t.Errorf("%d of %d entries were dealt with", len(got), len(want))
	}
}

// TestWhatAnotherMemberLeftIsTakenOver has a member that never comes back under its name.
func TestWhatAnotherMemberLeftIsTakenOver(t *testing.T) {
	c := server(t)
	add(t, c, 1)
	o := reading(c)
	take(t, o, true, func(ctx context.Context, _ *pipeline.Item) bool {
		go func() { <-ctx.Done() }()
		return true
	})
	client, _ := c.client()
	defer client.Close()
	add(t, c, 3)
	if err := client.XReadGroup(t.Context(), &redis.XReadGroupArgs{Group: o.Group, Consumer: "gone", Streams: []string{c.Stream, ">"}}).Err(); err != nil {
		t.Fatal(err)
	}
	o.ClaimAfter = pipeline.Duration(50 * time.Millisecond)
	var mu sync.Mutex
	got := map[string]bool{}
	take(t, o, false, func(_ context.Context, it *pipeline.Item) bool {
		mu.Lock()
		defer mu.Unlock()
		got[it.Meta["id"]] = true
		return len(got) >= 3
	})
	if n := unacknowledged(t, o); n != 0 {
		t.Errorf("%d entries are not acknowledged", n)
	}
}

// TestAnEntryThatComesAgainHasItsKey has an entry in work when the run is cancelled.
func TestAnEntryThatComesAgainHasItsKey(t *testing.T) {
	c := server(t)
	add(t, c, 2)
	var mu sync.Mutex
	first, key := "", ""
	take(t, reading(c), true, func(ctx context.Context, it *pipeline.Item) bool {
		mu.Lock()
		mine := first == ""
		if mine {
			first, key = it.Meta["id"], pipeline.KeyOf(it)
		} else if pipeline.KeyOf(it) == key {
			t.Errorf("two entries have the key %s", key)
		}
		mu.Unlock()
		if mine {
			<-ctx.Done()
		}
		return !mine
	})
	again := ""
	take(t, reading(c), false, func(_ context.Context, it *pipeline.Item) bool {
		mu.Lock()
		defer mu.Unlock()
		if it.Meta["id"] == first {
			again = pipeline.KeyOf(it)
		}
		return again != ""
	})
	if key == "" || again != key {
		t.Errorf("entry %s had the key %s, and has %s when it comes again", first, key, again)
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	c := server(t)
	c.Stream = "out"
	g := pipeline.NewGraph("test")
	g.AddStage("source", pipeline.Spec{Type: "source", Out: []pipeline.Port{{Kind: pipeline.KindOf[any]()}}}, func(*pipeline.Env) (any, error) {
		return values{codec.Record{"n": 1.0, "name": "α"}, "no JSON", codec.Record{"n": 2.0}}, nil
	})
	g.Add("redis-out", OutOptions{Connection: c})
	g.Wire("source > redis-out")
	if _, err := g.Run(t.Context(), pipeline.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	o := reading(c)
	o.Format = "json"
	var mu sync.Mutex
	var got []string
	take(t, o, false, func(_ context.Context, it *pipeline.Item) bool {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, fmt.Sprint(it.Value))
		return len(got) == 2
	})
	slices.Sort(got)
	if want := []string{"map[n:1 name:α]", "map[n:2]"}; !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}

// TestAnOutageOfTheServerLosesNothing has the server killed while entries are in work. It comes back a moment later
// with what it had written, and both stages go on: each entry is dealt with, and acknowledged.
func TestAnOutageOfTheServerLosesNothing(t *testing.T) {
	s := newProcess(t, "--appendonly", "yes", "--appendfsync", "always")
	c := s.connection()
	want := add(t, c, 300)
	var passed atomic.Int64
	struck := make(chan struct{})
	g := pipeline.NewGraph("test")
	g.Add("redis-in", reading(c))
	g.AddStage("step", pipeline.Spec{
		Type: "step", In: pipeline.Kinds(pipeline.KindOf[any]()), Out: []pipeline.Port{{Kind: pipeline.SameAsInput}},
	}, func(*pipeline.Env) (any, error) {
		return step(func() {
			if passed.Add(1) == 100 {
				s.kill()
				close(struck)
			}
		}), nil
	})
	out := c
	out.Stream = "out"
	g.Add("redis-out", OutOptions{Connection: out})
	g.Wire("redis-in > step > redis-out")
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	run, err := g.Start(t.Context(), pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	<-struck
	s.start()
	client, _ := c.client()
	defer client.Close()
	got := map[string]bool{}
	for until := time.Now().Add(time.Minute); len(got) < len(want) && time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		entries, err := client.XRange(t.Context(), out.Stream, "-", "+").Result()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			got[e.Values[c.Field].(string)] = true
		}
	}
	run.Drain()
	if _, err := run.Wait(); err != nil {
		t.Error(err)
	}
	if !slices.Equal(slices.Sorted(maps.Keys(got)), want) {
		t.Errorf("%d of %d entries were written", len(got), len(want))
	}
	if n := unacknowledged(t, reading(c)); n != 0 {
		t.Errorf("%d entries are not acknowledged", n)
	}
}

// step passes each item on, after a call.
type step func()

func (f step) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	f()
	return out.Emit(ctx, it)
}

type values []any

func (s values) Run(ctx context.Context, out pipeline.Emitter) error {
	for _, v := range s {
		if err := out.Emit(ctx, &pipeline.Item{Value: v}); err != nil {
			return err
		}
	}
	return nil
}

func TestOptionsThatMakeNoSenseAreRefused(t *testing.T) {
	good := reading(Connection{URL: "redis://localhost:6379/0", Stream: "s", Field: "f"})
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for option, change := range map[string]func(*InOptions){
		"url": func(o *InOptions) { o.URL = "localhost" }, "stream": func(o *InOptions) { o.Stream = "" }, "field": func(o *InOptions) { o.Field = "" },
		"group": func(o *InOptions) { o.Group = "" }, "consumer": func(o *InOptions) { o.Consumer = "" }, "claim_after": func(o *InOptions) { o.ClaimAfter = -1 },
	} {
		o := good
		change(&o)
		if err := o.Validate(); err == nil {
			t.Errorf("%s: %+v is taken", option, o)
		}
	}
}
