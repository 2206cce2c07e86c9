// Package urds is the stage that starts the crawls that people asked for: each start that one or more of
// the stored URDs name goes out once, as deep and as urgent as the most demanding of them wants it.
package urds

import (
	"context"
	"fmt"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// Options of the stage.
type Options struct {
	Query string   `toml:"xpath" doc:"which URDs, as an XPath expression on each"`
	IDs   []string `toml:"ids" doc:"only the URDs with these ids; empty for all"`
}

var defaults = Options{Query: "/urd[type/@protocol='http']"}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "urds",
		Summary: "starts the crawls of the stored URDs",
		Doc: "URDs with the same start, scope and credentials share a crawl, as deep and as urgent as the most demanding of them. " +
			"A URD whose URI ends in * starts none: its owner is told of what others' crawls bring.",
		Out: []pipeline.Port{{Kind: pipeline.KindOf[webrace.Request](), Doc: "the start of each crawl"}},
	}, defaults, newStage)
}

// Validate refuses an expression that is no XPath.
func (o Options) Validate() error {
	if _, err := xmlschema.Compile(o.Query); err != nil {
		return &pipeline.OptionError{Option: "xpath", Err: err}
	}
	return nil
}

type stage struct {
	options Options
	env     *pipeline.Env
	control *control.Store
}

var _ pipeline.Source = (*stage)(nil)

func newStage(o Options, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	store, err := dir.Control()
	if err != nil {
		return nil, err
	}
	return &stage{options: o, env: env, control: store}, nil
}

// Run emits one seed for each crawl.
func (s *stage) Run(ctx context.Context, out pipeline.Emitter) error {
	crawls, err := s.crawls(ctx)
	if err != nil {
		return err
	}
	s.env.Counter("crawls").Store(int64(len(crawls)))
	for _, crawl := range crawls {
		if err := out.Emit(ctx, &pipeline.Item{Value: webrace.Request{URL: crawl.Start, Crawl: &crawl}}); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) crawls(ctx context.Context) ([]webrace.Crawl, error) {
	var chosen []control.URD
	for urd, err := range s.control.Query(ctx, s.options.Query) {
		if err != nil {
			return nil, fmt.Errorf("read the URDs: %w", err)
		}
		if len(s.options.IDs) == 0 || slices.Contains(s.options.IDs, urd.ID) {
			chosen = append(chosen, urd)
		}
	}
	s.env.Counter("urds").Store(int64(len(chosen)))
	if len(chosen) == 0 {
		s.env.Logger.Warn("no URD to crawl for", "xpath", s.options.Query, "ids", s.options.IDs)
	}
	return control.Crawls(chosen), nil
}
