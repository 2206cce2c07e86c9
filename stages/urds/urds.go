// Package urds is the stage that starts the crawls that people asked for: each start that one or more of
// the stored URDs name goes out, as deep and as urgent as the most demanding of them wants it.
//
// In a continuous run it holds the agenda: a seed goes out whenever a crawl is due for a round. It follows
// the URDs, checks and quotas of the control store while it runs, and in the frontier's store how the rounds
// get on. The frontier knows crawls, and never owners: when each URL of a round is asked for is its business;
// who pays for a round, and may want one, is known here. What a restart has to know is durable: how each
// crawl stands, what was charged for it, and up to which change of the URDs a round was opened for it. Who
// is killed between an effect and that note repeats a round, which costs conditional requests, and nothing
// else.
package urds

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/xmlschema"
)

// Options of the stage.
type Options struct {
	Query string   `toml:"xpath" doc:"which URDs, as an XPath expression on each"`
	IDs   []string `toml:"ids" doc:"only the URDs with these ids; empty for all"`

	Timing pipeline.Duration `toml:"timing" doc:"in a continuous run: the longest interval between two visits of a start, for URDs that name none and no times"`
	Policy string            `toml:"policy" doc:"in a continuous run: visit starts as often as their URDs say (fixed), up to eight times as often if they change (adaptive), or as they say, those of urgency 3, 2 and 1 in the proportion 8:3:1 while not all can be served" enum:"fixed,adaptive,urgency-first"`
	Quota  int               `toml:"quota" doc:"in a continuous run: how many requests a day the crawls of an owner may cost who was given no quota; 0 is no limit"`
	Rounds int               `toml:"rounds" doc:"in a continuous run: how many rounds may be open at once; 0 is no limit"`
}

var defaults = Options{Query: "/urd[type/@protocol='http' or type/@protocol='feed']", Timing: pipeline.Duration(time.Hour), Policy: "adaptive"}

// Defaults returns the options of a stage that is given none.
func Defaults() Options { return defaults }

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "urds",
		Summary: "starts the crawls of the stored URDs",
		Doc: "URDs with the same start, scope and credentials share a crawl, as deep and as urgent as the most demanding of them. " +
			"A URD whose URI ends in * starts none: its owner is told of what others' crawls bring. Nor does one that is paused. " +
			"Of a cluster, each partition starts those whose start is its own. " +
			"In a continuous run, it starts a round whenever one is due by timing, at the times that a URD names (at), or was asked for, as far as the owners' quotas allow.",
		Out: []pipeline.Port{{Kind: pipeline.KindOf[webrace.Request](), Doc: "the start of each crawl"}},
	}, defaults, newStage)
}

// Validate refuses an expression that is no XPath, and what cannot be a number or an interval.
func (o Options) Validate() error {
	if _, err := xmlschema.Compile(o.Query); err != nil {
		return &pipeline.OptionError{Option: "xpath", Err: err}
	}
	if o.Timing <= 0 {
		return &pipeline.OptionError{Option: "timing", Err: fmt.Errorf("%v is no interval", time.Duration(o.Timing))}
	}
	for name, n := range map[string]int{"quota": o.Quota, "rounds": o.Rounds} {
		if n < 0 {
			return &pipeline.OptionError{Option: name, Err: fmt.Errorf("%d is negative; 0 is no limit", n)}
		}
	}
	return nil
}

// Chooses reports whether a stage with these options starts a crawl for the URD.
func (o Options) Chooses(ctx context.Context, u *xmlschema.URD) bool {
	query, err := xmlschema.Compile(o.Query)
	if err != nil || len(o.IDs) > 0 && !slices.Contains(o.IDs, u.ID) {
		return false
	}
	table, err := xmlschema.BuildTable(u.Canonical())
	if err != nil {
		return false
	}
	chosen, err := query.Match(ctx, table)
	return chosen && err == nil
}

// serves returns what reports whether the stage is for a URD: one of those that the run is for, of which there may be
// as many as there are URDs, whose start is of this partition.
func (s *stage) serves() func(control.URD) bool {
	ids := make(map[string]bool, len(s.options.IDs))
	for _, id := range s.options.IDs {
		ids[id] = true
	}
	return func(urd control.URD) bool {
		if len(ids) > 0 && !ids[urd.ID] {
			return false
		}
		host, _ := scope.Host(urd.Crawl.Start)
		return s.here == nil || s.here(host)
	}
}

type stage struct {
	options Options
	env     *pipeline.Env
	dir     *storage.Dir
	control *control.Store
	here    frontier.Here              // nil: all hosts are
	costs   frontier.RequestsElsewhere // there, too
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
	here, _ := pipeline.Resource[frontier.Here](env) // which there is in a cluster alone
	costs, _ := pipeline.Resource[frontier.RequestsElsewhere](env)
	return &stage{options: o, env: env, dir: dir, control: store, here: here, costs: costs}, nil
}

// Run emits one seed for each crawl; in a continuous run, one for each round, until the run drains.
func (s *stage) Run(ctx context.Context, out pipeline.Emitter) error {
	if s.env.Continuous {
		return s.runContinuously(ctx, out)
	}
	crawls, err := s.crawls(ctx)
	if err != nil {
		return err
	}
	s.env.Level("crawls").Store(int64(len(crawls)))
	for _, crawl := range crawls {
		if err := out.Emit(ctx, &pipeline.Item{Value: webrace.Request{URL: crawl.Start, Crawl: &crawl}}); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) crawls(ctx context.Context) ([]webrace.Crawl, error) {
	serves := s.serves()
	var chosen []control.URD
	for urd, err := range s.control.Query(ctx, s.options.Query) {
		if err != nil {
			return nil, fmt.Errorf("read the URDs: %w", err)
		}
		if !urd.Paused && serves(urd) {
			chosen = append(chosen, urd)
		}
	}
	s.env.Level("urds").Store(int64(len(chosen)))
	if len(chosen) == 0 && s.here == nil { // which is as it should be where another source, or partition, starts crawls
		s.env.Logger.Info("no URD to crawl for", "xpath", s.options.Query, "ids", s.options.IDs)
	}
	return control.Crawls(chosen), nil
}
