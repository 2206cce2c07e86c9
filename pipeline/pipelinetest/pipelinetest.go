// Package pipelinetest runs the tests of pipelines: the [[test]] tables of pipelines.toml and of the files
// *_test.toml beside it, which [config.Load] reads.
//
// A test runs a pipeline, or some of its stages in a flow of the test's own, over items that it gives to
// stages, with fixtures in the place of others, and tells what is to leave their ports. It runs in a temporary
// directory and with one worker a stage; stages that the program refuses, because they ask the network, must
// be replaced. Whatever is not as expected is a [Failure] with its place in the file. A test ends within its
// limit of time, whatever its stages do.
package pipelinetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/finding"
)

// Options is what tests have at their disposal.
type Options struct {
	// Load reads the configuration that the tests are of, with these overrides.
	Load func(config.LoadOptions) (*config.Config, error)
	// Stores makes what the stages find by [pipeline.Resource], in a directory that is removed when close
	// has been called; what it holds before is said by the test's Given. Nil if they find nothing.
	Stores func(ctx context.Context, dir string, t config.Test) (resources *pipeline.Resources, close func() error, err error)
	// Refuse holds why stages of some types are never run by a test; nor are those that have an effect, by their Spec.
	Refuse map[string]string
	// Defaults are fields of values with a body, by kind, that a test need not give.
	Defaults map[string]pipeline.Table
	// Complete adds to a value that a test describes what the stores know of it, which hold what the test's Given
	// lists: to a document that was not modified, which version is stored. Nil adds nothing.
	Complete func(t config.Test, v any) (any, error)
	// Limit is how long a test may take; 0: 30 s.
	Limit time.Duration
}

// Failure is something that is not as a test expects it.
type Failure struct {
	finding.Finding
	Detail string `json:"detail,omitempty"` // lines: what was expected, and what came
}

// Result is what became of a test.
type Result struct {
	Pipeline string    `json:"pipeline"`
	Name     string    `json:"name"`
	File     string    `json:"file"`
	Line     int       `json:"line"`
	Failures []Failure `json:"failures"`
	Seconds  float64   `json:"seconds"`
}

// Run runs one test.
func Run(ctx context.Context, t config.Test, o Options) Result {
	began := time.Now()
	o.Limit = cmp.Or(o.Limit, 30*time.Second)
	r := &runner{options: o, test: t, result: Result{Pipeline: t.Pipeline, Name: t.Name, File: t.At.Pos.File, Line: t.At.Pos.Line, Failures: []Failure{}}}
	r.run(ctx)
	r.result.Seconds = time.Since(began).Seconds()
	return r.result
}

// runner runs a test and writes down what fails.
type runner struct {
	options Options
	test    config.Test
	base    *pipeline.Graph
	graph   *pipeline.Graph
	seen    *seen
	result  Result
}

// fail reports something about a place of the test.
func (r *runner) fail(at config.TestPlace, key, format string, args ...any) *Failure {
	r.result.Failures = append(r.result.Failures, Failure{Finding: at.Finding(finding.CodeTest, key, format, args...)})
	return &r.result.Failures[len(r.result.Failures)-1]
}

func (r *runner) run(ctx context.Context) {
	loaded, err := r.options.Load(config.LoadOptions{Run: []string{r.test.Pipeline}, Set: r.test.Set})
	if err == nil {
		r.base, err = loaded.Graph(r.test.Pipeline)
	}
	if err != nil {
		r.failAll(err)
		return
	}
	r.seen = newSeen()
	if !r.build() {
		return
	}
	dir, err := os.MkdirTemp("", "webrace-test-")
	if err != nil {
		r.fail(r.test.At, "", "%v", err)
		return
	}
	defer os.RemoveAll(dir)
	if r.flow(ctx, dir) {
		r.judge()
	}
}

// failAll reports an error, each of the findings that it may be by itself.
func (r *runner) failAll(err error) {
	var findings finding.List
	if !errors.As(err, &findings) {
		r.fail(r.test.At, "", "%v", err)
		return
	}
	for _, f := range findings {
		if f.Pos.Line == 0 {
			at := r.test.At.Finding(f.Code, "set", "%s", f.Error())
			at.Hint = ""
			f = at
		}
		r.result.Failures = append(r.result.Failures, Failure{Finding: f})
	}
}

// flow runs the graph to its end.
func (r *runner) flow(ctx context.Context, dir string) (ok bool) {
	o := pipeline.RunOptions{DeadLetters: r.seen}
	if r.options.Stores != nil {
		resources, done, err := r.options.Stores(ctx, filepath.Join(dir, "data"), r.test)
		if err != nil {
			r.fail(r.test.At, "given", "%v", err)
			return false
		}
		defer done()
		o.Resources = resources
	}
	run, err := r.graph.Start(ctx, o)
	if err != nil {
		r.fail(r.test.At, "run", "%v", err)
		return false
	}
	limit := time.NewTimer(r.options.Limit)
	defer limit.Stop()
	select {
	case <-run.Done():
	case <-limit.C:
		holding := run.Holding()
		run.Cancel()
		<-run.Done()
		r.fail(r.test.At, "run", "it does not end within %v; stages that hold items: %s", r.options.Limit, strings.Join(holding, ", "))
		return false
	}
	if _, err := run.Wait(); err != nil {
		r.fail(r.test.At, "run", "the run failed: %v", err)
		return false
	}
	return true
}

// judge compares what was seen with what is expected.
func (r *runner) judge() {
	for _, letter := range r.seen.letters {
		f := r.fail(r.test.At, "", "stage %s failed on an item: %s", letter.Stage, letter.Errors[0])
		f.Detail = "  the item: " + shorten(string(letter.Value)) + "\n"
	}
	for _, e := range r.test.Expect {
		r.expect(e)
	}
}

// portOf returns the stage and the port that a name means.
func portOf(name string) (stage, port string) {
	stage, port, _ = strings.Cut(name, ".")
	return stage, port
}

// collector is the name of the stage that takes what leaves a port.
func collector(stage, port string) string { return fmt.Sprintf("test-takes-%s-%s", stage, port) }

// feeder is the name of the source of what a stage is given.
func feeder(stage string) string { return "test-gives-" + stage }
