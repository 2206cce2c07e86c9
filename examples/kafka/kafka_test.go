package kafka

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/stagetest"
)

// cluster starts Kafka's stand-in with the topics in and out, of two partitions each.
func cluster(t *testing.T) Connection {
	t.Helper()
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(2, "in", "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return Connection{Brokers: c.ListenAddrs()}
}

func produce(t *testing.T, c Connection, n int) (all []string) {
	t.Helper()
	client, err := c.client(kgo.DefaultProduceTopic("in"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for i := range n {
		all = append(all, fmt.Sprintf("record %03d", i))
		r := &kgo.Record{Key: []byte(fmt.Sprint(i)), Value: []byte(all[i])}
		if err := client.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// take runs kafka-in before f, until f reports that it has enough or, if kill is set, as if the process died then.
func take(t *testing.T, o InOptions, kill bool, f func(ctx context.Context, it *pipeline.Item) (enough bool)) {
	t.Helper()
	var once sync.Once
	enough := make(chan struct{})
	g := pipeline.NewGraph("test")
	g.Add("kafka-in", o)
	g.AddStage("take", pipeline.Spec{Type: "take", In: pipeline.Kinds(pipeline.KindOf[any]())}, func(*pipeline.Env) (any, error) {
		return taker(func(ctx context.Context, it *pipeline.Item) error {
			if f(ctx, it) {
				once.Do(func() { close(enough) })
			}
			return ctx.Err()
		}), nil
	})
	g.Stages[1].Common.Workers = 4
	g.Wire("kafka-in > take")
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
	if kill {
		run.Cancel()
	} else {
		run.Drain()
	}
	if _, err := run.Wait(); err != nil && !kill {
		t.Error(err)
	}
}

type taker func(context.Context, *pipeline.Item) error

func (f taker) Process(ctx context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	return f(ctx, it)
}

func TestConformance(t *testing.T) {
	c := cluster(t)
	produce(t, c, 10)
	stagetest.Run(t, stagetest.Case{Type: "kafka-in", Options: InOptions{Connection: c, Topics: []string{"in"}, Group: "g", Format: "text"}})
	stagetest.Run(t, stagetest.Case{
		Type: "kafka-out", Options: OutOptions{Connection: c, Topic: "out"}, Inputs: []any{"text", []byte("bytes"), codec.Record{"a": 1.0}},
	})
}

// TestNothingIsLost ends runs while records are in work. They come again, with what follows them in their partition,
// though that has been dealt with; and at last all have, and nothing comes any more.
func TestNothingIsLost(t *testing.T) {
	c := cluster(t)
	want := produce(t, c, 300) // more than all rounds take, however far each lets one of the partitions come
	o := InOptions{Connection: c, Topics: []string{"in"}, Group: "g", Format: "text"}
	var mu sync.Mutex
	done := map[string]int{}
	for round := range 4 {
		n := 0
		take(t, o, true, func(ctx context.Context, it *pipeline.Item) bool {
			mu.Lock()
			n++
			stuck := n == 10+10*round
			if !stuck && ctx.Err() == nil {
				done[it.Value.(string)]++
			}
			enough := n >= 30+10*round
			mu.Unlock()
			if stuck {
				<-ctx.Done() // it is never dealt with
			}
			return enough
		})
	}
	take(t, o, false, func(_ context.Context, it *pipeline.Item) bool {
		mu.Lock()
		defer mu.Unlock()
		done[it.Value.(string)]++
		return len(done) == len(want)
	})
	if got := slices.Sorted(maps.Keys(done)); !slices.Equal(got, want) {
		t.Errorf("%d of %d records were dealt with", len(got), len(want))
	}
}

// TestThePositionStaysBeforeWhatIsInWork has the first record of all in work when the run ends.
func TestThePositionStaysBeforeWhatIsInWork(t *testing.T) {
	c := cluster(t)
	produce(t, c, 20)
	o := InOptions{Connection: c, Topics: []string{"in"}, Group: "g", Format: "text"}
	var mu sync.Mutex
	first, key, n := "", "", 0
	take(t, o, true, func(ctx context.Context, it *pipeline.Item) bool {
		mu.Lock()
		n++
		mine := first == ""
		if mine {
			first, key = it.Meta["partition"]+"/"+it.Meta["offset"], pipeline.KeyOf(it)
		}
		enough := n == 20
		mu.Unlock()
		if mine {
			<-ctx.Done()
		}
		return enough
	})
	again := false
	take(t, o, false, func(_ context.Context, it *pipeline.Item) bool {
		mu.Lock()
		defer mu.Unlock()
		mine := it.Meta["partition"]+"/"+it.Meta["offset"] == first
		if same := pipeline.KeyOf(it) == key; same != mine {
			t.Errorf("is it the record that came before: %v; has it that one's key: %v", mine, same)
		}
		again = again || mine
		return again
	})
	if !again || !strings.HasSuffix(first, "/0") {
		t.Errorf("%s did not come again", first)
	}
}

// TestAnOutageOfTheClusterLosesNothing has the cluster go away while records are in work. It comes back a moment later
// with what it had written, and both stages go on.
func TestAnOutageOfTheClusterLosesNothing(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	address, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := address.Addr().(*net.TCPAddr).Port
	address.Close()
	start := func() *kfake.Cluster {
		cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(port), kfake.SeedTopics(2, "in", "out"), kfake.DataDir(dir), kfake.SyncWrites())
		if err != nil {
			t.Fatal(err)
		}
		return cluster
	}
	cluster := start()
	c := Connection{Brokers: cluster.ListenAddrs()}
	want := produce(t, c, 100)
	var passed atomic.Int64
	struck := make(chan struct{})
	g := pipeline.NewGraph("test")
	g.Add("kafka-in", InOptions{Connection: c, Topics: []string{"in"}, Group: "g", Format: "text"})
	g.AddStage("step", pipeline.Spec{
		Type: "step", In: pipeline.Kinds(pipeline.KindOf[any]()), Out: []pipeline.Port{{Kind: pipeline.SameAsInput}},
	}, func(*pipeline.Env) (any, error) {
		return step(func() {
			if passed.Add(1) == 50 {
				cluster.Close()
				close(struck)
			}
		}), nil
	})
	g.Add("kafka-out", OutOptions{Connection: c, Topic: "out"})
	g.Wire("kafka-in > step > kafka-out")
	if err := g.Check(); err != nil {
		t.Fatal(err)
	}
	run, err := g.Start(t.Context(), pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	<-struck
	cluster = start()
	defer cluster.Close()
	got := map[string]bool{}
	take(t, InOptions{Connection: c, Topics: []string{"out"}, Group: "reader", Format: "text"}, false, func(_ context.Context, it *pipeline.Item) bool {
		mu.Lock()
		defer mu.Unlock()
		got[it.Value.(string)] = true
		return len(got) == len(want)
	})
	run.Drain()
	if _, err := run.Wait(); err != nil {
		t.Error(err)
	}
	if !slices.Equal(slices.Sorted(maps.Keys(got)), want) {
		t.Errorf("%d of %d records were written", len(got), len(want))
	}
}

// step passes each item on, after a call.
type step func()

func (f step) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	f()
	return out.Emit(ctx, it)
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	c := cluster(t)
	g := pipeline.NewGraph("test")
	g.AddStage("source", pipeline.Spec{Type: "source", Out: []pipeline.Port{{Kind: pipeline.KindOf[any]()}}}, func(*pipeline.Env) (any, error) {
		return source3{codec.Record{"n": 1.0, "name": "α"}, "no JSON", codec.Record{"n": 2.0}}, nil
	})
	g.Add("kafka-out", OutOptions{Connection: c, Topic: "out", Key: `"k"`})
	g.Wire("source > kafka-out")
	if _, err := g.Run(t.Context(), pipeline.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var got []string
	take(t, InOptions{Connection: c, Topics: []string{"out"}, Group: "g", Format: "json"}, false, func(_ context.Context, it *pipeline.Item) bool {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, fmt.Sprint(it.Value, " ", it.Meta["key"]))
		return len(got) == 2
	})
	slices.Sort(got)
	if want := []string{"map[n:1 name:α] k", "map[n:2] k"}; !slices.Equal(got, want) {
		t.Errorf("read %q, want %q", got, want)
	}
}

type source3 []any

func (s source3) Run(ctx context.Context, out pipeline.Emitter) error {
	for _, v := range s {
		if err := out.Emit(ctx, &pipeline.Item{Value: v}); err != nil {
			return err
		}
	}
	return nil
}

func TestOptionsThatMakeNoSenseAreRefused(t *testing.T) {
	c := Connection{Brokers: []string{"localhost:9092"}}
	for _, o := range []pipeline.Validator{
		InOptions{Topics: []string{"a"}, Group: "g"}, InOptions{Connection: c, Group: "g"}, InOptions{Connection: c, Topics: []string{"a"}},
		OutOptions{Topic: "a"}, OutOptions{Connection: c}, OutOptions{Connection: c, Topic: "a", Key: "("},
	} {
		if err := o.Validate(); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}
