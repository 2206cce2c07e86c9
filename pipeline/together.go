package pipeline

import (
	"reflect"
	"slices"
	"sync"
)

// Together is what the runs of a pipeline have in common that share its work within a process: how many calls of a
// stage there are at a time ([Spec] PerProcess), and values of its stages ([Shared]).
type Together struct {
	mu      sync.Mutex
	permits map[stagePlace]chan struct{}
	values  []*sharedValue
}

// stagePlace is a stage that has so many workers.
type stagePlace struct {
	pipeline, stage string
	workers         int
}

// sharedValue is a value that stages of the same name have in common.
type sharedValue struct {
	pipeline, stage string
	options, of     any
	value           any
	users           int
}

// permitsOf returns what a call of the stage takes a place in; nil if the stage has its workers for itself.
func (t *Together) permitsOf(pipeline string, s *Stage, workers int) chan struct{} {
	if t == nil || !s.Spec.PerProcess || s.IsSource() {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	key := stagePlace{pipeline, s.Name, workers}
	if t.permits == nil {
		t.permits = make(map[stagePlace]chan struct{})
	}
	if t.permits[key] == nil {
		t.permits[key] = make(chan struct{}, workers)
	}
	return t.permits[key]
}

// enter waits until the stage may be called, and reports whether that took a place, which leave gives back. Once the
// run has ended nobody waits.
func (n *node) enter() bool {
	if n.permits == nil {
		return false
	}
	select {
	case n.permits <- struct{}{}:
		return true
	case <-n.run.ctx.Done():
		return false
	}
}

func (n *node) leave(entered bool) {
	if entered {
		<-n.permits
	}
}

// Shared returns what the stage has in common with those of its name and with the same options in the other runs of the
// pipeline in this process: the first one makes it, of something that is equal (==) for all of them, or nil. Each calls
// leave, which reports whether it was the last that has it, and is to close it; calling it twice is calling it once.
// A run that is alone has its own.
func Shared[T any](e *Env, options, of any, make func() T) (value T, leave func() (last bool)) {
	if e.run == nil || e.run.options.Together == nil {
		return make(), func() bool { return true }
	}
	t := e.run.options.Together
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.find(e, reflect.TypeFor[T](), options, of)
	if c == nil {
		c = &sharedValue{pipeline: e.Pipeline, stage: e.Stage, options: options, of: of, value: make()}
		t.values = append(t.values, c)
	}
	c.users++
	return c.value.(T), sync.OnceValue(func() bool { return t.leave(c) })
}

func (t *Together) find(e *Env, kind reflect.Type, options, of any) *sharedValue {
	for _, c := range t.values {
		if c.pipeline == e.Pipeline && c.stage == e.Stage && c.of == of && reflect.TypeOf(c.value) == kind && reflect.DeepEqual(c.options, options) {
			return c
		}
	}
	return nil
}

func (t *Together) leave(c *sharedValue) (last bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.users--; c.users > 0 {
		return false
	}
	t.values = slices.DeleteFunc(t.values, func(other *sharedValue) bool { return other == c })
	return true
}
