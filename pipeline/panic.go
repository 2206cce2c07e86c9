package pipeline

import (
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/webrace/webrace/internal/suggest"
)

// panicError is a panic of a stage, turned into an error.
type panicError struct {
	Stage string
	Value any
	Stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("stage %s panicked: %v", e.Stage, e.Value) }

func newPanicError(stage string, v any) error {
	return &panicError{Stage: stage, Value: v, Stack: debug.Stack()}
}

// recovered is deferred around the code of a stage.
func recovered(stage string, err *error) {
	if v := recover(); v != nil {
		*err = newPanicError(stage, v)
	}
}

// guarded calls the code of a stage. A panic is an error like any other, which costs an item or the run, and not the
// process.
func guarded(stage string, call func() error) (err error) {
	defer recovered(stage, &err)
	return call()
}

func (n *node) guarded(call func() error) error { return guarded(n.name, call) }

// failWith ends the run with the panic of a stage, if there is one.
func (r *Run) failWith(err error) {
	if err == nil {
		return
	}
	if p, ok := err.(*panicError); ok {
		r.logger.Error("a stage panicked", "stage", p.Stage, "panic", p.Value, "stack", string(p.Stack))
	}
	r.fail(err)
}

// Try calls f. If it panics, that is an error that names the stage.
func (e *Env) Try(f func() error) error { return guarded(e.Stage, f) }

// Guard returns f as a goroutine or a timer of the stage is to run it: if it panics, the run ends with an error that
// names the stage. What a stage runs beside the calls of the runtime without a guard ends the process when it panics,
// which nothing can catch from outside. Outside of a run there is nothing to end but the process.
func (e *Env) Guard(f func()) func() {
	if e.run == nil {
		return f
	}
	return func() {
		e.run.failWith(e.Try(func() error {
			f()
			return nil
		}))
	}
}

// writerOf names the stages whose type a cleanup was written for, or the function if there are none. The node is any of
// the run, nil outside one.
func (n *node) writerOf(c cleanup) string {
	at := reflect.ValueOf(c.end)
	if c.end == nil {
		at = reflect.ValueOf(c.outcome)
	}
	name := runtime.FuncForPC(at.Pointer()).Name() // "example.org/stages/cache.(*stage).Process.func1"
	unknown := "of the function " + name
	if n == nil {
		return unknown
	}
	n.run.layout.RLock()
	defer n.run.layout.RUnlock()
	var stages []string
	for _, n := range n.run.nodes {
		typ := reflect.TypeOf(n.impl)
		form := "%s.%s."
		if typ.Kind() == reflect.Pointer {
			typ, form = typ.Elem(), "%s.(*%s)."
		}
		if strings.HasPrefix(name, fmt.Sprintf(form, typ.PkgPath(), typ.Name())) {
			stages = append(stages, n.name)
		}
	}
	if len(stages) == 0 {
		return unknown
	}
	return suggest.Or(stages)
}
