package frontier

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/frontier"
)

func TestACrawlGoesOnWithOtherOptions(t *testing.T) {
	s := &site{links: map[string][]string{}}
	for i := range 200 {
		s.links[start] = append(s.links[start], fmt.Sprintf("%sp%d", start, i))
		s.links[fmt.Sprintf("%sp%d", start, i)] = []string{fmt.Sprintf("%sdenied/%d", start, i), fmt.Sprintf("%sq%d", start, i)}
	}
	begun := make(chan struct{})
	began := sync.OnceFunc(func() { close(begun) })
	s.process = func(_ context.Context, _ *pipeline.Item, req webrace.Request) error {
		if req.URL != start {
			began()
		}
		return nil
	}
	changed := with(func(o *Options) {
		o.Rules, o.Order, o.Leases = []string{"deny path /denied"}, string(frontier.DepthFirst), 3
	})
	run := s.begin(t, dataDir(t), defaults, seed(start, 3))
	<-begun
	if _, err := run.Reload(t.Context(), s.graph(t, with(func(o *Options) { o.BlockedURLsFile = "/no/such/file" }), seed(start, 3))); err == nil {
		t.Error("a list that cannot be read is no reason to refuse the options")
	}
	change, err := run.Reload(t.Context(), s.graph(t, changed, seed(start, 3)))
	if err != nil || !slices.Equal(change.Reconfigured, []string{"frontier"}) || len(change.Replaced) > 0 {
		t.Fatalf("the reload has changed %v: %v", change, err)
	}
	s.mu.Lock()
	before := slices.Clone(s.asked)
	s.mu.Unlock()
	select {
	case <-run.Done():
	case <-time.After(20 * time.Second):
		t.Fatalf("the crawl does not end; holding items: %v", run.Holding())
	}
	report, err := run.Wait()
	if err != nil {
		t.Fatal(err)
	}
	times := make(map[string]int)
	for i, req := range s.asked {
		times[req.URL]++
		if i > len(before)+2 && len(req.URL) > len(start+"denied/") && req.URL[:len(start+"denied/")] == start+"denied/" {
			t.Errorf("%s was asked for after it was denied", req.URL)
		}
	}
	for i := range 200 {
		for _, url := range []string{fmt.Sprintf("%sp%d", start, i), fmt.Sprintf("%sq%d", start, i)} {
			if times[url] != 1 {
				t.Errorf("%s was asked for %d times", url, times[url])
			}
		}
	}
	c := report.Stages["frontier"].Counters
	if c["rounds"] != 1 || c["rounds_resumed"] != 0 || c["queued"] != 0 || c["refused_"+frontier.Rule.String()] == 0 {
		t.Errorf("it counts %v", c)
	}
}
