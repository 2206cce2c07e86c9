package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
)

// stagesRun is a pipeline of registered stages between items that are made and an end that looks at what arrives.
type stagesRun struct {
	flow    string         // the stages: "detect > transform"
	options map[string]any // of stages, by name; nil for their defaults
	dir     *storage.Dir   // lent to the stages; nil: none needs it
	from    any            // a value of the kind that the first stage takes
	look    func(d *webrace.Document) error
}

// run gives the stages the values, and waits until the lease of each has ended: what is to be durable is. It returns
// what that took, without making the stages.
func (r stagesRun) run(values []any) (c cost, err error) {
	var mu sync.Mutex
	arrived := 0
	g := pipeline.NewGraph("bench")
	kind := pipeline.KindOf[*webrace.Document]()
	if _, requests := r.from.(webrace.Request); requests {
		kind = pipeline.KindOf[webrace.Request]()
	}
	g.AddStage("source", pipeline.Spec{Type: "source", Out: []pipeline.Port{{Kind: kind}}}, func(*pipeline.Env) (any, error) {
		return sourceFunc(func(ctx context.Context, out pipeline.Emitter) (err error) {
			c, err = feedAll(ctx, out, values)
			return err
		}), nil
	})
	for _, name := range strings.Split(r.flow, " > ") {
		g.Add(name, r.options[name])
		for _, port := range sidePorts[name] {
			g.AddType(name+"-"+port, "drop", nil)
			g.Connect(name, port, name+"-"+port)
		}
	}
	end := pipeline.Spec{Type: "end", In: pipeline.Kinds(pipeline.KindOf[*webrace.Document]())}
	g.AddStage("end", end, func(*pipeline.Env) (any, error) {
		return processor(func(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
			mu.Lock()
			defer mu.Unlock()
			arrived++
			if r.look == nil {
				return nil
			}
			return r.look(it.Value.(*webrace.Document))
		}), nil
	})
	g.Wire("source > " + r.flow + " > end")
	if err := g.Check(); err != nil {
		return c, err
	}
	resources := new(pipeline.Resources)
	if r.dir != nil {
		pipeline.Provide(resources, r.dir)
	}
	_, err = g.Run(context.Background(), pipeline.RunOptions{Resources: resources})
	if err == nil && arrived != len(values) {
		err = fmt.Errorf("%s: %d of %d documents arrived", r.flow, arrived, len(values))
	}
	return c, err
}

// sidePorts are the ports that lead elsewhere in a crawl, and nowhere here.
var sidePorts = map[string][]string{"fetch": {"redirects", "sitemaps"}, "quad-links": {"links"}}

// inFlight is how many items may be on their way at once.
const inFlight = 256

// feedAll emits values, and returns what it took until all of them were done.
func feedAll(ctx context.Context, out pipeline.Emitter, values []any) (c cost, err error) {
	runtime.GC() // what the one before left behind
	room, failed := make(chan struct{}, inFlight), make(chan error, len(values))
	cpu, began := ownCPU(), time.Now()
	for _, v := range values {
		room <- struct{}{}
		it := pipeline.NewItem(v, func(o pipeline.Outcome) {
			failed <- o.Err
			<-room
		})
		if err := out.Emit(ctx, it); err != nil {
			return c, err
		}
	}
	for range values {
		err = errors.Join(err, <-failed)
	}
	return cost{CPU: ownCPU() - cpu, Wall: time.Since(began)}, err
}

// least returns the least CPU time of some rounds, in microseconds for each of n; the first proves that the work is
// done, and is not counted.
func least(rounds, n int, round func() (cost, error)) (float64, error) {
	var costs []cost
	for i := range rounds + 1 {
		c, err := round()
		if err != nil {
			return 0, err
		}
		if i > 0 {
			costs = append(costs, c)
		}
	}
	return micros(best(costs, cpuOf)) / float64(n), nil
}

// asValues makes items' values of documents.
func asValues(documents []*webrace.Document) []any {
	values := make([]any, len(documents))
	for i, d := range documents {
		values[i] = d
	}
	return values
}
