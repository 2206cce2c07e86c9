// Package agenttest has stages that read sources make visits, as a frontier has them make those, for tests.
package agenttest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	_ "github.com/webrace/webrace/stages/kinds" // documents and requests
)

// Result is what came of a visit.
type Result struct {
	Documents []webrace.Document
	Visit     webrace.Visit    // as it is known afterwards
	Err       error            // for which it is to be made again
	Counters  map[string]int64 // of the stage, after the last visit
	reports   int              // that the host is free
}

// Why is what a visit failed of; empty if it did not.
func (r *Result) Why() string {
	if r.Err != nil {
		return r.Err.Error()
	}
	return r.Visit.Error
}

// Frontier is where the visits of a stage come from.
type Frontier struct {
	Stage    func(*pipeline.Graph) *pipeline.Stage // adds it
	Secrets  credentials.Source                    // which the stage is lent
	Hidden   string                                // must stand in nothing that is known of a visit; empty for nothing
	Bodiless bool                                  // documents are kept without their bodies, which may be large
	Before   func(i int)                           // is called before each visit, if it is not nil
}

// Visits makes visits in one run, one after the other. What is known at the first is what its request has; at the
// others it is what came of the one before. It holds that each visit lets its host be free once.
func (f Frontier) Visits(t testing.TB, requests ...webrace.Request) []*Result {
	t.Helper()
	resources := new(pipeline.Resources)
	pipeline.Provide[credentials.Open](resources, func() (credentials.Source, error) { return f.Secrets, nil })
	q := &queue{frontier: f, requests: requests, free: make(chan struct{}, 1), sealed: make(chan struct{})}
	g := pipeline.NewGraph("test")
	kind := pipeline.KindOf[webrace.Request]()
	g.AddStage("nothing", pipeline.Spec{Type: "nothing", Summary: "s", Out: []pipeline.Port{{Kind: kind}}},
		func(*pipeline.Env) (any, error) { return nothing{}, nil })
	g.AddStage("queue", pipeline.Spec{Type: "queue", Summary: "s", In: pipeline.Kinds(kind), Out: []pipeline.Port{{Kind: kind}}, Queue: true},
		func(*pipeline.Env) (any, error) { return q, nil })
	g.AddStage("documents", pipeline.Spec{Type: "documents", Summary: "s", In: pipeline.Kinds(pipeline.KindOf[*webrace.Document]()), Needs: pipeline.NoParts},
		func(*pipeline.Env) (any, error) { return taker{q}, nil })
	stage := f.Stage(g)
	var env *pipeline.Env
	mk := stage.Make
	stage.Make = func(e *pipeline.Env) (any, error) {
		env = e
		return mk(e)
	}
	g.Connect("nothing", "", "queue")
	g.Connect("queue", "", stage.Name)
	for _, port := range stage.Spec.Out {
		g.Connect(stage.Name, port.Name, "documents")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := g.Run(ctx, pipeline.RunOptions{Resources: resources}); err != nil {
		t.Fatal(err)
	}
	for _, r := range q.came {
		r.Counters = env.Counters()
		if r.reports != 1 {
			t.Errorf("%d reports that the host is free", r.reports)
		}
		for _, text := range []string{fmt.Sprint(r.Err), r.Visit.Error, string(r.Visit.State)} {
			if f.Hidden != "" && strings.Contains(text, f.Hidden) {
				t.Errorf("the secret stands in %q", text)
			}
		}
	}
	return q.came
}

type nothing struct{}

func (nothing) Run(context.Context, pipeline.Emitter) error { return nil }

// queue hands requests out, each when the one before has ended.
type queue struct {
	frontier Frontier
	requests []webrace.Request
	came     []*Result
	free     chan struct{} // the last one that was handed out has ended
	sealed   chan struct{}
}

func (q *queue) Put(context.Context, *pipeline.Item) error { return nil }
func (q *queue) Seal()                                     { close(q.sealed) }

func (q *queue) Take(context.Context) (pipeline.Lease, error) {
	n := len(q.came)
	if n > 0 {
		<-q.free
	}
	if n == len(q.requests) {
		q.free <- struct{}{}
		<-q.sealed
		return nil, io.EOF
	}
	if q.frontier.Before != nil {
		q.frontier.Before(n)
	}
	request, got := q.requests[n], new(Result)
	if n > 0 {
		known := q.came[n-1].Visit
		request.Visit = &known
	}
	if request.Visit != nil {
		got.Visit = *request.Visit
	}
	q.came = append(q.came, got)
	return &lease{q, request, got}, nil
}

type lease struct {
	queue   *queue
	request webrace.Request
	got     *Result
}

func (l *lease) Item() *pipeline.Item { return &pipeline.Item{Value: l.request} }
func (l *lease) Release(any)          { l.got.reports++ }

func (l *lease) Done(o pipeline.Outcome) {
	l.got.Err = o.Err
	l.got.Visit.Learn(o.Learned)
	l.queue.free <- struct{}{}
}

// taker takes the documents.
type taker struct{ queue *queue }

func (k taker) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	d := *it.Value.(*webrace.Document)
	d.Body = bytes.Clone(d.Body)
	if k.queue.frontier.Bodiless {
		d.Body = nil
	}
	got := k.queue.came[len(k.queue.came)-1]
	got.Documents = append(got.Documents, d)
	return nil
}
