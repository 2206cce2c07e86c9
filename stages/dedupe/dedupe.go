// Package dedupe is the stage that lets the first of all items with the same key pass, and drops the others:
// for as long as the key is remembered, or for a time. Keys are kept as hashes, a limited number of them, in
// memory, and if asked to in a file that outlives the run.
//
// An item whose lease ends with an error has not been dealt with, so its key is forgotten: when it is
// repeated, it passes. A file knows of a key only once its item has been dealt with.
package dedupe

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/expression"
	_ "github.com/webrace/webrace/stages/kinds" // whose fields expressions name
)

// Options of the stage.
type Options struct {
	Key     string            `toml:"key" is:"expression" doc:"an expression: items for which it gives the same are the same"`
	Within  pipeline.Duration `toml:"within" doc:"how long a key is remembered after its first item; 0s is as long as there is room"`
	MaxKeys int               `toml:"max_keys" doc:"keys that are remembered; beyond it the oldest are forgotten, and pass again (about 150 bytes each)"`
	Path    string            `toml:"path" doc:"a file that remembers keys from run to run; empty: each run begins anew"`
}

var defaults = Options{MaxKeys: 1_000_000}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "dedupe",
		Single:  true,
		Whole:   "in each partition the first item of a key would pass",
		Summary: "lets the first item of a key pass",
		Doc: "The first wins. The counter `duplicates` says how many did not pass, `forgotten` how many keys there was no room for, " +
			"`failed` how many were forgotten because their item was not dealt with.",
		In: pipeline.Kinds(pipeline.KindOf[any]()),
		Out: []pipeline.Port{
			{Kind: pipeline.SameAsInput, Doc: "the first item of each key"},
			{Name: "duplicates", Kind: pipeline.SameAsInput, Doc: "the others"},
		},
	}, defaults, newStage)
}

// NeededParts returns what the key needs.
func (o Options) NeededParts() []pipeline.Part { return expression.KeyParts(o.Key) }

// Validate refuses to compare nothing.
func (o Options) Validate() error {
	switch {
	case o.Key == "":
		return &pipeline.OptionError{Option: "key", Err: errors.New(`is not set: say what makes items the same, such as "url"`)}
	case o.MaxKeys < 1:
		return &pipeline.OptionError{Option: "max_keys", Err: fmt.Errorf("%d is less than 1", o.MaxKeys)}
	}
	_, err := expression.CompileKey(o.Key)
	return err
}

// CheckNames refuses a key that names what nothing that comes has.
func (o Options) CheckNames(given []pipeline.Kind) error { return expression.CheckKey(o.Key, given) }

// hash stands for a key; two keys with the same will not be met.
type hash [16]byte

func hashOf(key string) (h hash) {
	sum := sha256.Sum256([]byte(key))
	copy(h[:], sum[:])
	return h
}

// entry is a key that is remembered.
type entry struct {
	hash hash
	at   time.Time // when its first item came
	gone bool      // it has been forgotten
}

type stage struct {
	options Options
	key     *expression.Key
	dry     bool // the file is read alone

	duplicates, forgotten, failed *atomic.Int64

	mu    sync.Mutex
	known map[hash]*entry
	order []*entry // the oldest first
	gone  int      // of order
	file  *keyFile // nil without one
}

var (
	_ pipeline.Processor   = (*stage)(nil)
	_ pipeline.NameChecker = Options{}
	_ pipeline.Opener      = (*stage)(nil)
	_ pipeline.Closer      = (*stage)(nil)
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	key, err := expression.CompileKey(o.Key)
	return &stage{
		options: o, key: key, dry: env.Dry, known: make(map[hash]*entry),
		duplicates: env.Counter("duplicates"), forgotten: env.Counter("forgotten"), failed: env.Counter("failed"),
	}, err
}

// Open reads the keys of the runs before.
func (s *stage) Open(context.Context) error {
	if s.options.Path == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	err := readKeys(s.options.Path, func(h hash, at time.Time) {
		if !s.expired(at, now) {
			s.remember(&entry{hash: h, at: at})
		}
	})
	if err != nil {
		return fmt.Errorf("read the keys: %w", err)
	}
	if s.dry {
		return nil
	}
	if s.file, err = rewriteKeys(s.options.Path, s.live()); err != nil {
		return fmt.Errorf("tidy the keys: %w", err)
	}
	return nil
}

// Close closes the file.
func (s *stage) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.close()
	s.file = nil
	return err
}

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	key, err := s.key.Of(it)
	if err != nil {
		return err
	}
	e := s.first(hashOf(key), time.Now())
	if e == nil {
		s.duplicates.Add(1)
		return out.EmitTo(ctx, "duplicates", it)
	}
	it.OnOutcome(func(o pipeline.Outcome) { s.settle(e, o.Err) })
	return out.Emit(ctx, it)
}

// first remembers a key, or returns nil if it is known already.
func (s *stage) first(h hash, now time.Time) *entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.order) > 0 && (s.order[0].gone || s.expired(s.order[0].at, now)) {
		s.forgetOldest()
	}
	if before := s.known[h]; before != nil && !s.expired(before.at, now) { // those of a file are in the order of their ends
		return nil
	}
	e := &entry{hash: h, at: now}
	s.remember(e)
	return e
}

func (s *stage) expired(at, now time.Time) bool {
	return s.options.Within > 0 && now.Sub(at) >= time.Duration(s.options.Within)
}

// remember makes room and adds a key. Who holds s.mu may call it, as with all below but settle.
func (s *stage) remember(e *entry) {
	if before := s.known[e.hash]; before != nil {
		s.forget(before)
	}
	for len(s.known) >= s.options.MaxKeys {
		if !s.order[0].gone {
			s.forgotten.Add(1)
		}
		s.forgetOldest()
	}
	s.known[e.hash] = e
	s.order = append(s.order, e)
}

func (s *stage) forgetOldest() {
	e := s.order[0]
	if !e.gone {
		e.gone = true
		delete(s.known, e.hash)
	} else {
		s.gone--
	}
	s.order = s.order[1:]
}

// forget forgets a key wherever it stands.
func (s *stage) forget(e *entry) {
	if e.gone {
		return
	}
	e.gone = true
	delete(s.known, e.hash)
	if s.gone++; s.gone > len(s.order)/2+1000 { // their places are not to pile up
		s.order, s.gone = s.live(), 0
	}
}

// live lists the keys that are remembered, the oldest first.
func (s *stage) live() []*entry {
	live := make([]*entry, 0, len(s.known))
	for _, e := range s.order {
		if !e.gone {
			live = append(live, e)
		}
	}
	return live
}

// settle decides about a key when the lease of its item ends.
func (s *stage) settle(e *entry, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil:
		if !e.gone {
			s.failed.Add(1)
			s.forget(e)
		}
	case s.file != nil:
		s.file.add(e)
	}
}
