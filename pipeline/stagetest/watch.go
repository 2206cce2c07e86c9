package stagetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace/pipeline"
	"go.uber.org/goleak"
)

// watch puts a guard on the emitters that a processor is given. What is no processor is left as it is.
func watch(t *trial, impl any) any {
	switch impl := impl.(type) {
	case pipeline.Queue, pipeline.Source:
		return impl
	case pipeline.BatchProcessor:
		return watchedBatch{watched{t, impl}, impl}
	case pipeline.Keeper:
		return watchedKeeper{watchedProcessor{watched{t, impl}, impl}, impl}
	case pipeline.Processor:
		return watchedProcessor{watched{t, impl}, impl}
	}
	return impl
}

// watched passes the capabilities of the stage on.
type watched struct {
	t    *trial
	impl any
}

func (w watched) Open(ctx context.Context) error {
	if opener, ok := w.impl.(pipeline.Opener); ok {
		return opener.Open(ctx)
	}
	return nil
}

// Close closes the stage twice, as it must allow.
func (w watched) Close() error {
	closer, ok := w.impl.(pipeline.Closer)
	if !ok {
		return nil
	}
	err := guarded(closer.Close)
	if again := guarded(closer.Close); again != nil {
		w.t.violated(Closes, fmt.Errorf("close after a run, again: %w", again))
	}
	return err
}

type watchedProcessor struct {
	watched
	pipeline.Processor
}

func (w watchedProcessor) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	guard := &guardedEmitter{out: out, t: w.t}
	defer guard.over.Store(true)
	return w.Processor.Process(ctx, it, guard)
}

type watchedKeeper struct {
	watchedProcessor
	keeper pipeline.Keeper
}

func (w watchedKeeper) Release(ctx context.Context, ended <-chan struct{}, out pipeline.Emitter) error {
	guard := &guardedEmitter{out: out, t: w.t}
	defer guard.over.Store(true)
	return w.keeper.Release(ctx, ended, guard)
}

type watchedBatch struct {
	watched
	pipeline.BatchProcessor
}

func (w watchedBatch) ProcessBatch(ctx context.Context, its []*pipeline.Item, out pipeline.Emitter) error {
	guard := &guardedEmitter{out: out, t: w.t}
	defer guard.over.Store(true)
	return w.BatchProcessor.ProcessBatch(ctx, its, guard)
}

// guardedEmitter notices calls after the stage has returned and calls to ports that do not exist.
type guardedEmitter struct {
	out  pipeline.Emitter
	t    *trial
	over atomic.Bool
}

func (g *guardedEmitter) Emit(ctx context.Context, it *pipeline.Item) error {
	return g.EmitTo(ctx, "", it)
}

func (g *guardedEmitter) EmitTo(ctx context.Context, port string, it *pipeline.Item) error {
	if g.over.Load() {
		err := errors.New("it emitted after it had returned")
		g.t.violated(EmitsInTime, err)
		return err
	}
	ports := g.t.s.ports()
	_, rejected := it.Value.(*pipeline.Failure) // as by pipeline.Reject: every stage has a port for what it failed on
	if !rejected && !slices.ContainsFunc(ports, func(p pipeline.Port) bool { return p.Name == port }) {
		err := fmt.Errorf("it emitted to port %q, which it does not declare", port)
		g.t.violated(DeclaresOutput, err)
		return err
	}
	return g.out.EmitTo(ctx, port, it)
}

func (s *suite) ports() []pipeline.Port {
	return s.Registry.NewGraph("ports").AddType("stage", s.Type, s.Options).Ports()
}

// running is the goroutines alive at a moment.
type running struct{ ignore goleak.Option }

func goroutines() running { return running{goleak.IgnoreCurrent()} }

// leaked returns an error that shows the goroutines started since and still alive when patience is over.
func (r running) leaked(patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for {
		err := goleak.Find(r.ignore) // waits a little by itself
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// deepPrint writes a value with everything it points to.
func deepPrint(v reflect.Value) string {
	var b strings.Builder
	writeDeep(&b, v, 0)
	return b.String()
}

const maxDepth = 20 // of values that point to themselves

func writeDeep(b *strings.Builder, v reflect.Value, depth int) {
	if depth > maxDepth {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			writeDeep(b, v.Elem(), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fmt.Fprintf(b, "%s: ", v.Type().Field(i).Name)
			writeDeep(b, v.Field(i), depth+1)
			b.WriteString("\n")
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			fmt.Fprintf(b, "%x", v)
			return
		}
		for i := range v.Len() {
			writeDeep(b, v.Index(i), depth+1)
			b.WriteString(", ")
		}
	case reflect.Map:
		for _, line := range sortedEntries(v, depth) {
			b.WriteString(line)
		}
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
	default:
		fmt.Fprintf(b, "%v", v)
	}
}

func sortedEntries(m reflect.Value, depth int) []string {
	var lines []string
	for _, key := range m.MapKeys() {
		var line strings.Builder
		writeDeep(&line, key, depth+1)
		line.WriteString(" = ")
		writeDeep(&line, m.MapIndex(key), depth+1)
		line.WriteString("; ")
		lines = append(lines, line.String())
	}
	slices.Sort(lines)
	return lines
}
