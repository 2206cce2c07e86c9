// Package sample is the stage that lets some items pass, and drops the others: every nth, a share of all, the
// items of a share of the keys, or the first few in each period.
package sample

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/expression"
	_ "github.com/webrace/webrace/stages/kinds" // whose fields expressions name
)

// Options of the stage. Exactly one of every, share and first sets how.
type Options struct {
	Every  int               `toml:"every" doc:"one of so many passes, the first of them"`
	Share  float64           `toml:"share" doc:"so large a part passes, 0 to 1: by chance, or with key by the key"`
	Key    string            `toml:"key" is:"expression" doc:"with share, an expression: of what gives the same, all or nothing passes, in every run"`
	Seed   uint64            `toml:"seed" doc:"with share: of the chance, so that it is the same in every run, or for another choice of keys; 0 leaves it to chance"`
	First  int               `toml:"first" doc:"so many pass in each period"`
	Period pipeline.Duration `toml:"period" doc:"with first: the length of a period, which begins with the first that passes"`
}

var defaults = Options{Period: pipeline.Duration(time.Second)}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "sample",
		Single:  true,
		Summary: "lets some of the items pass",
		Doc:     "One of `every`, `share` and `first` says how.",
		In:      pipeline.Kinds(pipeline.KindOf[any]()),
		Out: []pipeline.Port{
			{Kind: pipeline.SameAsInput, Doc: "the items that pass"},
			{Name: "rest", Kind: pipeline.SameAsInput, Doc: "the others"},
		},
	}, defaults, newStage)
}

// NeededParts returns what the key needs.
func (o Options) NeededParts() []pipeline.Part { return expression.KeyParts(o.Key) }

// Validate refuses to choose in no way, or in several.
func (o Options) Validate() error {
	ways := 0
	for _, set := range []bool{o.Every != 0, o.Share != 0, o.First != 0} {
		if set {
			ways++
		}
	}
	fault := func(option, format string, args ...any) error {
		return &pipeline.OptionError{Option: option, Err: fmt.Errorf(format, args...)}
	}
	switch {
	case ways != 1:
		return fault("every", "exactly one of every, share and first must be set")
	case o.Every < 0:
		return fault("every", "%d is negative", o.Every)
	case o.First < 0:
		return fault("first", "%d is negative", o.First)
	case o.Share < 0 || o.Share > 1 || math.IsNaN(o.Share):
		return fault("share", "%v is not between 0 and 1", o.Share)
	case o.Period <= 0:
		return fault("period", "must be more than 0s")
	case o.Key != "" && o.Share == 0:
		return fault("key", "goes with share")
	}
	_, err := expression.CompileKey(o.Key)
	return err
}

// CheckNames refuses a key that names what nothing that comes has.
func (o Options) CheckNames(given []pipeline.Kind) error { return expression.CheckKey(o.Key, given) }

type stage struct {
	options Options
	key     *expression.Key // nil: by chance

	mu     sync.Mutex
	seen   int // since the last that passed, or in this period
	ends   time.Time
	chance *rand.Rand
}

var (
	_ pipeline.Processor   = (*stage)(nil)
	_ pipeline.NameChecker = Options{}
)

func newStage(o Options, _ *pipeline.Env) (any, error) {
	seed := o.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	key, err := expression.CompileKey(o.Key)
	return &stage{options: o, key: key, chance: rand.New(rand.NewPCG(seed, 0))}, err
}

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	passes, err := s.passes(it)
	switch {
	case err != nil:
		return err
	case passes:
		return out.Emit(ctx, it)
	}
	return out.EmitTo(ctx, "rest", it)
}

func (s *stage) passes(it *pipeline.Item) (bool, error) {
	if s.key != nil {
		return s.keyPasses(it)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.options.Every > 0:
		passes := s.seen == 0
		s.seen = (s.seen + 1) % s.options.Every
		return passes, nil
	case s.options.First > 0:
		return s.isFirst(time.Now()), nil
	case s.options.Share > 0:
		return s.chance.Float64() < s.options.Share, nil
	}
	return false, errors.New("nothing says which items pass")
}

// isFirst reports whether the item is one of the first of its period.
func (s *stage) isFirst(now time.Time) bool {
	if !now.Before(s.ends) {
		s.seen, s.ends = 0, now.Add(time.Duration(s.options.Period))
	}
	s.seen++
	return s.seen <= s.options.First
}

// keyPasses chooses by a hash of the key, which is the same on every machine.
func (s *stage) keyPasses(it *pipeline.Item) (bool, error) {
	key, err := s.key.Of(it)
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, s.options.Seed), key...))
	const bits = 53 // that a float64 has
	return float64(binary.BigEndian.Uint64(sum[:])>>(64-bits)) < s.options.Share*(1<<bits), nil
}
