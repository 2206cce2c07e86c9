package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/exec"
)

const (
	slowEvery     = 4
	slowPage      = 40 * time.Millisecond
	pageProcesses = 4
	pagesInFlight = 8
	inTurnRatio   = 0.5
)

// benchProcesses has four processes read pages one after the other, of which every fourth takes long. The rival gives
// them the pages in turn, as a hash does that knows nothing of them: the slow ones come to one process. Both are the
// same processes under the same protocol, with as many pages at once.
func benchProcesses(b *bench) error {
	pages, rounds := 800, 3
	if b.quick {
		pages, rounds = 160, 1
	}
	shared, err := slowReaders(1, pageProcesses)
	if err != nil {
		return err
	}
	defer shared.close()
	turns, err := slowReaders(pageProcesses, 1)
	if err != nil {
		return err
	}
	defer turns.close()
	costs, err := race(rounds, []contestant{
		{"webrace", func() error { return shared.read(pages) }},
		{"in turn", func() error { return turns.read(pages) }},
	})
	if err != nil {
		return err
	}
	wall := func(name string) float64 {
		return best(costs[name], func(c cost) time.Duration { return c.Wall }).Seconds() * 1000
	}
	b.table.against(fmt.Sprintf("%d pages, every fourth of %v, four processes, wall", pages, slowPage), wall("webrace"), "ms", "in turn", wall("in turn"), atMost(inTurnRatio))
	return nil
}

// readers are stages of type exec. Pages go to them in turn.
type readers []pipeline.Processor

func slowReaders(stages, processes int) (all readers, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the own program: %w", err)
	}
	o := pipeline.DefaultRegistry.Defaults("exec").(exec.Options)
	o.Command, o.Processes, o.InFlight = []string{self, childCommand, "slow-pages"}, processes, pagesInFlight
	for range stages {
		s, err := pipeline.DefaultRegistry.NewStage("slow", "exec", o)
		if err != nil {
			return all, err
		}
		made, err := s.Make(pipeline.NewEnv("bench", "slow", nil))
		if err != nil {
			return all, err
		}
		all = append(all, made.(pipeline.Processor))
		if err := made.(pipeline.Opener).Open(context.Background()); err != nil {
			return all, errors.Join(err, all.close())
		}
	}
	return all, nil
}

func (r readers) close() (err error) {
	for _, p := range r {
		err = errors.Join(err, p.(pipeline.Closer).Close())
	}
	return err
}

// read has so many pages read, of which there are always as many under way as all processes together may have.
func (r readers) read(pages int) error {
	var took countingEmitter
	errs := make([]error, pages)
	var at sync.WaitGroup
	inTurn := make([]chan int, len(r))
	for i, reader := range r {
		inTurn[i] = make(chan int, pages)
		for range pageProcesses * pagesInFlight / len(r) {
			at.Go(func() {
				for page := range inTurn[i] {
					d := &webrace.Document{URL: fmt.Sprintf("https://example.org/%d", page), Outcome: webrace.Fetched, Status: page}
					errs[page] = reader.Process(context.Background(), &pipeline.Item{Value: d}, &took)
				}
			})
		}
	}
	for page := range pages {
		inTurn[page%len(r)] <- page
	}
	for _, queue := range inTurn {
		close(queue)
	}
	at.Wait()
	if took.items != pages {
		return fmt.Errorf("of %d pages %d were read: %w", pages, took.items, errors.Join(errs...))
	}
	return errors.Join(errs...)
}

// countingEmitter counts what is emitted.
type countingEmitter struct {
	mu    sync.Mutex
	items int
}

func (c *countingEmitter) Emit(context.Context, *pipeline.Item) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items++
	return nil
}

func (c *countingEmitter) EmitTo(ctx context.Context, _ string, it *pipeline.Item) error {
	return c.Emit(ctx, it)
}

// servePages is the program of such a stage: it reads one page after the other.
func servePages(in io.Reader, out io.Writer) error {
	registry := pipeline.NewRegistry()
	document := pipeline.KindOf[*webrace.Document]()
	var one sync.Mutex
	read := pipeline.Map(func(_ context.Context, d *webrace.Document) (*webrace.Document, error) {
		one.Lock()
		defer one.Unlock()
		if d.Status%slowEvery == 0 {
			time.Sleep(slowPage)
		}
		return d, nil
	})
	pipeline.RegisterIn(registry, pipeline.Spec{
		Type: "slow", Summary: "reads pages slowly", In: pipeline.Kinds(document), Out: []pipeline.Port{{Kind: document}}, Needs: pipeline.NoParts,
	}, struct{}{}, func(struct{}, *pipeline.Env) (any, error) { return read, nil })
	server := exec.Server{Stage: func(pipeline.Table) (*pipeline.Stage, error) { return registry.NewStage("slow", "slow", struct{}{}) }}
	return server.Serve(context.Background(), in, out)
}
