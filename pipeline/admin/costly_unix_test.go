//go:build unix

package admin

import (
	"context"
	"crypto/sha256"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	_ "github.com/webrace/webrace/stages/kinds" // whose fields the conditions name
)

// crawling is a source of pages that never ends.
type crawling struct{ page *webrace.Document }

func (c crawling) Run(ctx context.Context, out pipeline.Emitter) error {
	for ctx.Err() == nil {
		if err := out.Emit(ctx, &pipeline.Item{Value: c.page}); err != nil {
			return err
		}
	}
	return nil
}

// startCrawl starts "fetch > work > sink" over pages of 32 KB with 500 links, and counts those that arrive.
func startCrawl(t *testing.T) (run *pipeline.Run, arrived *atomic.Int64) {
	t.Helper()
	page := &webrace.Document{URL: "http://example.org/", Body: []byte(strings.Repeat("body ", 6500)), Text: &webrace.Text{Bytes: []byte(strings.Repeat("text ", 6500))}}
	for range 500 {
		page.Links = append(page.Links, "http://example.org/a/link/of/some/length")
	}
	documents := pipeline.KindOf[*webrace.Document]()
	g := pipeline.NewGraph("toy")
	g.AddStage("fetch", pipeline.Spec{Type: "fetch", Out: []pipeline.Port{{Kind: documents}}}, func(*pipeline.Env) (any, error) { return crawling{page}, nil })
	g.AddStage("work", pipeline.Spec{Type: "work", In: []pipeline.Kind{documents}, Out: []pipeline.Port{{Kind: documents}}, Workers: 2}, func(*pipeline.Env) (any, error) {
		return worker(func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
			for range 10 {
				sha256.Sum256(it.Value.(*webrace.Document).Body)
			}
			return out.Emit(ctx, it)
		}), nil
	})
	arrived = new(atomic.Int64)
	g.AddStage("sink", pipeline.Spec{Type: "sink", In: []pipeline.Kind{documents}}, func(*pipeline.Env) (any, error) {
		return worker(func(context.Context, *pipeline.Item, pipeline.Emitter) error { arrived.Add(1); return nil }), nil
	})
	g.Wire("fetch > work > sink")
	run, err := g.Start(t.Context(), pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		run.Cancel()
		run.Wait()
	})
	return run, arrived
}

// A thousand taps are asked for at once, each with a condition that would cost seconds a page: the crawl goes on at its
// pace, by the processor time that a page costs the process with taps and without, in turns.
func TestEndpointBearsAThousandCostlyTaps(t *testing.T) {
	if testing.Short() {
		t.Skip("it compares what pages cost: not in short mode")
	}
	run, arrived := startCrawl(t)
	h := New()
	h.Show(map[string]*pipeline.Run{"toy": run})
	listener, err := newEndpoint(t, "127.0.0.1:0", "").Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer Serve(listener, newEndpoint(t, "127.0.0.1:0", "").Guard(h))()
	tap := "http://" + listener.Addr().String() + "/pipelines/toy/tap?rate=1000&body=1000000&where="
	perPage := func() time.Duration {
		const pages = 1500
		from, before := arrived.Load(), processorTime(t)
		for arrived.Load() < from+pages {
			time.Sleep(time.Millisecond)
		}
		return (processorTime(t) - before) / time.Duration(arrived.Load()-from)
	}
	with, without := time.Hour, time.Hour
	for round := 0; round < 8 && (round < 1 || without.Seconds() < 0.9*with.Seconds()); round++ {
		without = min(without, perPage())
		end, opened := openTaps(t, tap)
		if opened == 0 || opened > 64 {
			t.Fatalf("%d taps are open at once", opened)
		}
		with = min(with, perPage())
		end()
	}
	pace := without.Seconds() / with.Seconds()
	t.Logf("a page costs %v without taps and %v with them: the crawl goes on at %.2f of its pace", without, with, pace)
	if pace < 0.9 {
		t.Error("the crawl is slowed")
	}
}

// openTaps asks for a thousand taps of all places, and returns how many were admitted.
func openTaps(t *testing.T, address string) (end func(), opened int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, MaxConnsPerHost: 200}}
	var answered, reading sync.WaitGroup
	var open atomic.Int64
	places := []string{"fetch", "work", "work:in", "sink:in"}
	conditions := []string{"true", `any(links, any(links, # matches "(a+x)+y"))`, `text matches "((t|e).{100}){5}z"`}
	for i := range 1000 {
		answered.Add(1)
		reading.Go(func() {
			done := sync.OnceFunc(answered.Done)
			defer done()
			where := url.QueryEscape(conditions[i%len(conditions)])
			r, err := http.NewRequestWithContext(ctx, "GET", address+where+"&stage="+places[i%len(places)], nil)
			if err != nil {
				t.Error(err)
				return
			}
			answer, err := client.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			defer answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				if answer.StatusCode != http.StatusTooManyRequests {
					t.Errorf("tap %d is answered %s", i, answer.Status)
				}
				return
			}
			open.Add(1)
			done()
			io.Copy(io.Discard, answer.Body) // until it is over
		})
	}
	answered.Wait()
	return func() { cancel(); reading.Wait() }, open.Load()
}

// processorTime returns how much of it this process has taken.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
