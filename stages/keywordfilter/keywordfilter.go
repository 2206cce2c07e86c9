// Package keywordfilter is the stage that matches every document with all the interests it concerns, at
// once, and tells each owner what matters to them and why.
//
// What is matched follows from what is known of the last completed visit. A request (URD) that has seen
// the document is shown what was added since; one that has not is shown all of it. On a document that did
// not change, only those that have not seen it are matched. Nothing is learned until the request is done,
// so a crash repeats the match and gives the same annotations.
package keywordfilter

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/annotate"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// Options of the stage.
type Options struct {
	Audience string `toml:"audience" doc:"who is asked: requesters, whose crawls came to the document, or everyone" enum:"requesters,everyone"`
	Summary  int    `toml:"summary" doc:"the most bytes of an annotation's summary"`
}

var defaults = Options{Audience: "requesters", Summary: annotate.SummaryBytes}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "keyword-filter",
		Summary: "matches each document with the interests of its owners",
		Doc: "An owner is asked if a crawl of theirs came to the document within its levels, or if the document lies under a prefix that they watch. " +
			"An alert says how relevant the document is, 0 to 100, and why.",
		In:      pipeline.Kinds(pipeline.KindOf[*webrace.Document]()),
		Out:     []pipeline.Port{{Kind: pipeline.KindOf[*xmlschema.ACI](), Doc: "an annotation for the owner of one URD"}},
		Workers: 2,
	}, defaults, newStage)
}

// mostSummary is what can be stored with every annotation.
const mostSummary = 10_000

// Validate refuses summaries of a length that cannot be.
func (o Options) Validate() error {
	if o.Summary < 0 || o.Summary > mostSummary {
		return &pipeline.OptionError{Option: "summary", Err: fmt.Errorf("%d is not between 0 and %d", o.Summary, mostSummary)}
	}
	return nil
}

type stage struct {
	options  Options
	env      *pipeline.Env
	control  *control.Store
	objects  *objects.Store
	audience atomic.Pointer[audience]
}

var (
	_ pipeline.Processor = (*stage)(nil)
	_ pipeline.Opener    = (*stage)(nil)
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	s := &stage{options: o, env: env}
	if s.control, err = dir.Control(); err != nil {
		return nil, err
	}
	if s.objects, err = dir.Objects(); err != nil {
		return nil, err
	}
	return s, nil
}

// Open reads the interests.
func (s *stage) Open(ctx context.Context) error {
	a, err := loadAudience(ctx, s.control, s.options.Audience == "everyone", s.env)
	if err != nil {
		return fmt.Errorf("read the interests: %w", err)
	}
	s.audience.Store(a)
	return nil
}

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	d, err := pipeline.ValueOf[*webrace.Document](it)
	if err != nil {
		return err
	}
	a := s.audience.Load()
	changed := d.Visit == nil || d.Visit.Version == 0 || d.Visit.Digest != d.Digest
	to := a.of(d, changed)
	if !changed && len(to.Recipients) == 0 {
		it.Learn(a.learned(nil))
		return nil
	}
	d, err = s.withText(d)
	if err != nil {
		return err
	}
	var before match.Baseline
	if d.Visit != nil {
		before = d.Visit.Baseline
	}
	baseline, added := before.Update(d.Text)
	to.Added, to.Summary = added, s.options.Summary
	s.countMatched(a, to)
	for _, alert := range a.index.Match(d.Text, to) {
		if to.Everyone && !a.tells(alert.ID, d) {
			continue
		}
		s.env.Counter("alerts").Add(1)
		if err := out.Emit(ctx, it.With(annotate.ACI(a.urds[alert.ID].URD, alert, d))); err != nil {
			return err
		}
	}
	it.Learn(a.learned(baseline))
	return nil
}

func (s *stage) countMatched(a *audience, to match.Options) {
	n := len(to.Recipients)
	if to.Everyone {
		n = a.index.Len()
	}
	s.env.Counter("matched").Add(int64(n))
}

// withText returns the document with its text: its own, or that of the version in the object cache.
func (s *stage) withText(d *webrace.Document) (*webrace.Document, error) {
	if d.Text != nil {
		return d, nil
	}
	version, err := s.objects.Get(d.URL, d.Version)
	if err != nil {
		return nil, fmt.Errorf("recall version %d of %s: %w", d.Version, d.URL, err)
	}
	body, header, err := s.objects.Body(version)
	if err != nil {
		return nil, fmt.Errorf("recall version %d of %s: %w", d.Version, d.URL, err)
	}
	r, err := extract.Document(body, cmp.Or(header.Get("Content-Type"), version.MediaType), d.URL, extract.Options{MaxLinks: 1})
	if err != nil {
		return nil, err
	}
	s.env.Counter("recalled").Add(1)
	copied := *d
	copied.Body, copied.Text, copied.Title = body, r.Text, r.Title
	copied.MediaType, copied.Charset, copied.Language, copied.At = r.MediaType, r.Charset, r.Language, version.FetchedAt
	return &copied, nil
}
