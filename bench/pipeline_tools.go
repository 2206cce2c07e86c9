package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/admin"
	pipelines "github.com/webrace/webrace/pipeline/config"
	_ "github.com/webrace/webrace/stages/all"
)

// What the tools may cost.
const (
	metricsLimit = 1.05 // times the same without anybody who reads them
	tapLimit     = 1.02
	lintLimit    = 100 // ms, for lintStages stages
	startLimit   = 50  // ms
	lintStages   = 500
)

// benchTools measures what it costs to look at a pipeline, while it runs and before.
func benchTools(b *bench, rounds int) error {
	return errors.Join(b.watching(rounds), b.linting(rounds), b.starting(rounds), b.programs(min(rounds, 3)), b.records())
}

// blockSize is what a stage that is busy hashes for each item: some 10 µs of work, as a small page is.
const blockSize = 16 << 10

// watching compares a pipeline that nobody looks at with itself when its metrics are read ten times a second,
// and when its busy stage is tapped.
func (b *bench) watching(rounds int) error {
	items := 100_000
	if b.quick {
		items = 20_000
	}
	costs, err := race(rounds, []contestant{
		{ours, func() error { return runWatched(items, nil) }},
		{"metrics", func() error { return runWatched(items, readMetrics) }},
		{"tap", func() error { return runWatched(items, tapWork) }},
	})
	if err != nil {
		return fmt.Errorf("watching: %w", err)
	}
	per := func(name string) float64 { return float64(best(costs[name], cpuOf).Nanoseconds()) / float64(items) }
	alone := fmt.Sprintf("nobody looks %.0f ns", per(ours))
	b.table.against("busy stage, metrics read 10 times a second, CPU an item", per("metrics"), "ns", alone, per(ours), atMost(metricsLimit))
	b.table.against("busy stage, tapped, CPU an item", per("tap"), "ns", alone, per(ours), atMost(tapLimit))
	return nil
}

// runWatched runs a source, a stage that hashes a block for each item, and an end that counts them, and lets
// somebody look at it until it ends.
func runWatched(items int, look func(ctx context.Context, run *pipeline.Run) error) error {
	source := &parcelSource{items: items, acks: make([]int8, items)}
	block := make([]byte, blockSize)
	kind := pipeline.KindOf[*parcel]()
	g := pipeline.NewGraph("watched")
	addStage(g, "source", kind, source)
	addStage(g, "work", kind, processor(func(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
		sum := sha256.Sum256(block)
		it.Value.(*parcel).passed += 1 + int(sum[0])*0
		return out.Emit(ctx, it)
	}))
	arrived := 0
	addStage(g, "end", kind, processor(func(context.Context, *pipeline.Item, pipeline.Emitter) error { arrived++; return nil }))
	g.Wire("source > work > end")
	if err := g.Check(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	run, err := g.Start(ctx, pipeline.RunOptions{})
	if err != nil {
		return err
	}
	looked := make(chan error, 1)
	go func() {
		if look == nil {
			look = func(context.Context, *pipeline.Run) error { return nil }
		}
		looked <- look(ctx, run)
	}()
	_, err = run.Wait()
	cancel()
	if arrived != items {
		err = errors.Join(err, fmt.Errorf("%d of %d items arrived", arrived, items))
	}
	return errors.Join(err, <-looked)
}

// readMetrics asks for the metrics of a run ten times a second until it ends.
func readMetrics(ctx context.Context, run *pipeline.Run) error {
	face := admin.New()
	face.Show(map[string]*pipeline.Run{"watched": run})
	for {
		answer := httptest.NewRecorder()
		face.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), "webrace_") {
			return fmt.Errorf("metrics: %d, %.200s", answer.Code, answer.Body)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-run.Done():
			return nil
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// tapWork watches what leaves the busy stage until the run ends.
func tapWork(ctx context.Context, run *pipeline.Run) error {
	tap, err := run.Tap(ctx, pipeline.TapOptions{Stage: "work"})
	if err != nil {
		return err
	}
	shown := 0
	for range tap.C {
		shown++
	}
	if shown == 0 {
		return errors.New("the tap showed nothing")
	}
	return nil
}

// linting checks a file of lintStages stages, as lint does.
func (b *bench) linting(rounds int) error {
	var text strings.Builder
	text.WriteString("version = 1\n")
	for i := range lintStages / 10 {
		fmt.Fprintf(&text, "[pipeline.p%d]\nflow = [\"urds > frontier > fetch > normalize > cache > keyword-filter > a > aci-emit, b, c\", "+
			"\"normalize.links, cache.links, fetch.redirects > frontier\"]\n[pipeline.p%d.stage]\n", i, i)
		text.WriteString("fetch.workers = 8\nfetch.user_agent = \"webrace/1 (+https://example.com/me)\"\nfrontier.wait = \"30s\"\n" +
			"a.type = \"sample\"\na.every = 2\nb.type = \"drop\"\nc.type = \"write-file\"\nc.path = \"x\"\n")
	}
	dir, err := os.MkdirTemp("", "webrace-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "pipelines.toml")
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		return err
	}
	costs, err := race(rounds, []contestant{{ours, func() error {
		config, err := pipelines.Load(path, pipelines.LoadOptions{})
		if err != nil {
			return err
		}
		stages := 0
		for _, info := range config.Pipelines {
			graph, err := config.Graph(info.Name)
			if err != nil {
				return err
			}
			stages += len(graph.Stages)
		}
		if stages != lintStages {
			return fmt.Errorf("%d of %d stages", stages, lintStages)
		}
		return nil
	}}})
	if err != nil {
		return fmt.Errorf("lint: %w", err)
	}
	b.table.value(fmt.Sprintf("lint of %d stages, wall", lintStages), milliseconds(best(costs[ours], wallOf)), "ms", atMost(lintLimit))
	return nil
}

// starting runs webrace-run list.
func (b *bench) starting(rounds int) error {
	dir, err := os.MkdirTemp("", "webrace-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program, err := buildRun(dir)
	if err != nil {
		return err
	}
	var costs []cost
	for range 2 * rounds {
		used, err := runProcess(exec.Command(program, "list"))
		if err != nil {
			return err
		}
		costs = append(costs, used.cost)
	}
	b.table.value("webrace-run list, wall", milliseconds(best(costs, wallOf)), "ms", atMost(startLimit))
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
