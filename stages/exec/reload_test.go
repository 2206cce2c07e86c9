package exec

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

// volumes asks programs for their option, without an end, and notes what came.
type volumes struct {
	t      *testing.T
	enough chan struct{} // closed: no more are given

	mu    sync.Mutex
	given int
	ended []int // how often the lease of each has
	came  []string
}

func (v *volumes) give(ctx context.Context, out pipeline.Emitter) error {
	for {
		select {
		case <-v.enough:
			return nil
		default:
		}
		v.mu.Lock()
		i := v.given
		v.given, v.ended = i+1, append(v.ended, 0)
		v.mu.Unlock()
		if err := out.Emit(ctx, pipeline.NewItem("volume", func(o pipeline.Outcome) { v.end(i, o) })); err != nil {
			return err
		}
	}
}

func (v *volumes) end(i int, o pipeline.Outcome) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.ended[i]++; o.Err != nil || o.Failed != nil {
		v.t.Errorf("item %d ended with %+v", i, o)
	}
}

func (v *volumes) take(it *pipeline.Item) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.came = append(v.came, it.Value.(string))
	return nil
}

func (v *volumes) graph(o Options) *pipeline.Graph {
	g, _ := stagetest.Between("exec", o, v.give, v.take)
	return g
}

// await waits until a program with this option has answered.
func (v *volumes) await(option string) {
	v.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
		v.mu.Lock()
		last := ""
		if n := len(v.came); n > 0 {
			last = v.came[n-1]
		}
		v.mu.Unlock()
		if last == option {
			return
		}
		if time.Now().After(deadline) {
			v.t.Fatalf("no program with %s answers; the last was one with %s", option, last)
		}
	}
}

// Programs with new options take the places of those with the old under load: no item is lost or worked on twice, none
// comes to an old program after a new one has had one, and a program that cannot work changes nothing.
func TestAReloadStartsTheProgramWithItsNewOptions(t *testing.T) {
	t.Parallel()
	with := func(volume string) Options {
		return options("work", func(o *Options) { o.Options, o.Processes = pipeline.Table{"volume": volume}, 2 })
	}
	v := &volumes{t: t, enough: make(chan struct{})}
	run, err := v.graph(with("1")).Start(t.Context(), pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v.await(`{"volume":"1"}`)
	if _, err := run.Reload(t.Context(), v.graph(options("refuse"))); err == nil || !strings.Contains(err.Error(), "it refuses to work: there is no option 'volme'") {
		t.Errorf("the reload to a program that refuses is answered %v", err)
	}
	for _, volume := range []string{"2", "3", "4"} {
		change, err := run.Reload(t.Context(), v.graph(with(volume)))
		if err != nil || !slices.Equal(change.Replaced, []string{"exec"}) || len(change.Added)+len(change.Removed)+len(change.Reconfigured) > 0 {
			t.Fatalf("the reload has changed %v: %v", change, err)
		}
		v.await(`{"volume":"` + volume + `"}`)
	}
	close(v.enough)
	report, err := run.Wait()
	if err != nil {
		t.Error(err)
	}
	if len(v.came) != v.given || report.Stages["exec"].Counters["worked"] != int64(v.given) {
		t.Errorf("%d items were given, %d came, and programs count %d", v.given, len(v.came), report.Stages["exec"].Counters["worked"])
	}
	for i, n := range v.ended {
		if n != 1 {
			t.Errorf("the lease of item %d ended %d times", i, n)
		}
	}
	if !slices.IsSorted(v.came) || report.Stages["exec"].Counters["restarts"] > 0 {
		t.Errorf("an old program has worked after a new one: %v; %v", slices.Compact(v.came), report.Stages["exec"].Counters)
	}
}
