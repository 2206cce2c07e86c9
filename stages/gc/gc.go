// Package gc is the stage that keeps the data directory from growing for ever: it removes what is older
// than it is to be kept, and never what an owner still waits for.
package gc

import (
	"context"
	"errors"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
)

// Options of the stage.
type Options struct {
	Retention   pipeline.Duration `toml:"retention" doc:"how long a version is kept that an annotation speaks of, since it was last current; 0s for good"`
	Unmatched   pipeline.Duration `toml:"retention_unmatched" doc:"how long other versions are kept; 0s for good"`
	Annotations pipeline.Duration `toml:"retention_annotations" doc:"after this time an annotation that its owner did not take expires, and after it again it is removed; 0s for good"`
	MaxSize     pipeline.Size     `toml:"max_size" doc:"of stored documents; above it the oldest versions go before their time. 0 has no limit"`
	Every       pipeline.Duration `toml:"every" doc:"how often, in a continuous run; another one collects once"`
}

var defaults = Options{Every: pipeline.Duration(time.Hour)}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "gc",
		Summary: "removes versions and annotations that are older than they are to be kept",
		Doc: "A version goes when its time has come and no owner waits for it: when no annotation speaks of it that is neither retrieved nor " +
			"expired. A page that is visited regularly keeps its latest version. The space is given back, and what is removed is found no more.",
		Out: []pipeline.Port{{Kind: pipeline.KindOf[storage.Collected](), Doc: "what was removed, once for each time"}},
	}, defaults, newStage)
}

type stage struct {
	options Options
	env     *pipeline.Env
	dir     *storage.Dir
}

var _ pipeline.Source = (*stage)(nil)

func newStage(o Options, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	return &stage{o, env, dir}, nil
}

// Validate refuses a period that would leave no time for anything else.
func (o Options) Validate() error {
	if time.Duration(o.Every) < time.Second {
		return &pipeline.OptionError{Option: "every", Err: errors.New("at most once a second")}
	}
	return nil
}

// Run collects, and in a continuous run again and again.
func (s *stage) Run(ctx context.Context, out pipeline.Emitter) error {
	retention := storage.Retention{
		Versions: time.Duration(s.options.Retention), Unmatched: time.Duration(s.options.Unmatched),
		Annotations: time.Duration(s.options.Annotations), MaxBytes: int64(s.options.MaxSize),
	}
	tick := time.NewTicker(time.Duration(s.options.Every))
	defer tick.Stop()
	for {
		collected, err := s.dir.Collect(ctx, retention)
		if err != nil {
			return err
		}
		s.count(collected)
		if err := out.Emit(ctx, &pipeline.Item{Value: collected}); err != nil || !s.env.Continuous {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *stage) count(c storage.Collected) {
	s.env.Counter("removed").Add(int64(c.Versions))
	s.env.Counter("expired").Add(int64(c.Expired))
	s.env.Counter("trimmed").Add(int64(c.Trimmed))
	s.env.Counter("freed").Add(c.Freed)
}
