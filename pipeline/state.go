package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/webrace/webrace/pipeline/internal/flow"
)

// States keeps the states of all stages of a program: bytes by key. Its methods may be called concurrently.
type States interface {
	// Get returns the value of a key, which is the caller's, or nil if there is none.
	Get(state, key string) ([]byte, error)
	// Each calls visit for each key of a state, in any order, until it returns an error. Value is valid during the call.
	Each(state string, visit func(key string, value []byte) error) error
	// Commit takes writes that become durable together, and after those of the calls before. Get and Each know of them
	// when it returns; done is called once they are durable, or with the reason why they are not, by another goroutine.
	// Commit does not wait for a disk.
	Commit(writes []StateWrite, done func(error))
}

// StateWrite sets a key of a state, or removes it if the value is nil.
type StateWrite = struct {
	State, Key string
	Value      []byte
}

// OpenStates returns the states of the stages of a program. It is what [Env.State] looks for among the [Resources], and
// is called when the first stage of a run asks for one.
type OpenStates func() (States, error)

// State is what a stage remembers from one run to the next: bytes by key, in the data directory or wherever the
// program keeps it. A write is made for an item, and becomes durable with the end of the item's lease, before its
// source or queue is told of that: after a crash the state is that of the items that had ended, and those that had not
// come again. The stage sees its own writes at once.
//
//   - What an item writes for which Process then returns an error is undone, and so is what one writes that goes back
//     to its queue; but what others have written meanwhile, having seen it, stays as they wrote it.
//   - Writes of a key become durable in their order. An item whose lease ends while an earlier write of the key still
//     waits for the end of another's is told done when that has ended: so a value may build upon the one before.
//   - A crash between the commit and what a source or queue notes of the end has the item come again, although the
//     state has its writes, unless the source keeps its position as a state of its own: then both are one commit, and
//     an item counts once.
//
// All methods may be called concurrently.
type State struct {
	states *states
	name   string
}

// State returns the state of that name, which is this stage's alone: it belongs to the names of pipeline and stage. An
// error means that the program keeps no states ([OpenStates]), or cannot read them.
func (e *Env) State(name string) (*State, error) {
	if !flow.IsName(name) {
		return nil, fmt.Errorf("state %q: a name consists of letters, digits, - and _", name)
	}
	s := &e.alone
	if e.run != nil {
		s = &e.run.states
	}
	if err := s.open(e); err != nil {
		return nil, fmt.Errorf("state %s of stage %s: %w", name, e.Stage, err)
	}
	return &State{s, strings.Join([]string{e.Pipeline, e.Stage, name}, "/")}, nil
}

// Get returns the value of a key, which is the caller's, or nil if there is none.
func (s *State) Get(key string) ([]byte, error) {
	s.states.mu.Lock()
	defer s.states.mu.Unlock()
	return s.states.get(stateKey{s.name, key})
}

// Put sets a key for an item, or removes it if the value is nil. A write for no item becomes durable by itself.
func (s *State) Put(it *Item, key string, value []byte) error {
	return s.Update(it, key, func([]byte) ([]byte, error) { return value, nil })
}

// Update is Put of what f makes of the value, which it may change; no other write comes between. It must not use the
// state.
func (s *State) Update(it *Item, key string, f func(value []byte) ([]byte, error)) error {
	c, ended := s.states.changesOf(it)
	s.states.mu.Lock()
	at := stateKey{s.name, key}
	value, err := s.states.get(at)
	if err == nil {
		value, err = f(value)
	}
	if err == nil {
		s.states.put(c, it, at, bytes.Clone(value))
	}
	s.states.mu.Unlock()
	if ended && err == nil {
		c.end(Outcome{}, false, func(error) {})
	}
	return err
}

// Keep sets a key for no item, or removes it if the value is nil, and returns when that is durable: for what is to be
// remembered whatever becomes of the items at hand.
func (s *State) Keep(ctx context.Context, key string, value []byte) error {
	c, at, done := &stateChanges{states: s.states}, stateKey{s.name, key}, make(chan error, 1)
	s.states.mu.Lock()
	s.states.put(c, nil, at, bytes.Clone(value))
	s.states.mu.Unlock()
	c.end(Outcome{}, false, func(err error) { done <- err })
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Each calls visit for each key that there is when it is called, in the order of the keys, until it returns an error:
// with the value that the key has by then. One that was removed meanwhile is passed over.
func (s *State) Each(visit func(key string, value []byte) error) error {
	keys, err := s.keys()
	if err != nil {
		return err
	}
	for _, key := range keys {
		value, err := s.Get(key)
		if err == nil && value != nil {
			err = visit(key, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *State) keys() ([]string, error) {
	s.states.mu.Lock()
	defer s.states.mu.Unlock()
	var keys []string
	err := s.states.store.Each(s.name, func(key string, _ []byte) error {
		keys = append(keys, key)
		return nil
	})
	for at := range s.states.last {
		if at.state == s.name {
			keys = append(keys, at.key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), err
}

// states are those of the stages of a run, with what has been written for items that have not ended.
type states struct {
	opening sync.Mutex
	mu      sync.Mutex
	store   States
	last    map[stateKey]*stateWrite // the last write of each key that is not committed
	broken  map[stateKey]error       // keys with a write that never will be: none after it is, either
}

type stateKey struct{ state, key string }

// open opens the store, unless it is open.
func (s *states) open(e *Env) error {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.store != nil {
		return nil
	}
	open, err := Resource[OpenStates](e)
	if err != nil {
		return err
	}
	store, err := open()
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store, s.last, s.broken = store, make(map[stateKey]*stateWrite), make(map[stateKey]error)
	return nil
}

// get returns a copy of what a key has. s.mu is held.
func (s *states) get(at stateKey) ([]byte, error) {
	if w := s.last[at]; w != nil {
		return bytes.Clone(w.value), nil
	}
	return s.store.Get(at.state, at.key)
}
