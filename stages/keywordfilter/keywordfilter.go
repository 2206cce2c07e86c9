// Package keywordfilter is the stage that matches every document with all the interests it concerns, at
// once, and tells each owner what matters to them and why.
//
// What is matched follows from what is known of the last completed visit. A request (URD) that has seen
// the document is shown what was added since; one that has not is shown all of it. On a document that did
// not change, only those that have not seen it are matched. Nothing is learned until the request is done,
// so a crash repeats the match and gives the same annotations.
//
// Annotations are made one by one, as those who store them take them. A page that concerns very many owners
// never keeps the others waiting, as long as the stage has two workers.
//
// In a continuous run, what changes in the URD base takes effect while documents are matched, which never
// wait for it. Each is matched as of one revision of the base, and that is what its visit remembers.
package keywordfilter

import (
	"context"
	"fmt"
	"net/http"
	"sync"
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
	Remember int    `toml:"remember" doc:"of how many versions of a page the text counts as known to URDs with keywords that do not say themselves (urd/@remember): what comes back after so many without it is new again"`
}

var defaults = Options{Audience: "requesters", Summary: annotate.SummaryBytes, Remember: match.BaselineVersions}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "keyword-filter",
		Summary: "matches each document with the interests of its owners",
		Doc: "An owner is asked if a crawl of theirs came to the document within its levels, or if the document lies under a prefix that they watch. " +
			"An alert says how relevant the document is, 0 to 100, and why.",
		In:    pipeline.Kinds(pipeline.KindOf[*webrace.Document]()),
		Needs: []pipeline.Part{webrace.PartBody, webrace.PartText, webrace.PartVersion},
		Own: []pipeline.Addition{{ // out of the object cache, and only for documents that concern somebody
			Parts: []pipeline.Part{webrace.PartBody, webrace.PartText}, In: []string{string(webrace.NotModified), string(webrace.Fresh)},
		}},
		Out: []pipeline.Port{
			{Kind: pipeline.KindOf[*xmlschema.ACI](), Doc: "an annotation for the owner of one URD"},
			{Name: "notices", Kind: pipeline.KindOf[*webrace.Notice](), Doc: "that the rules of an owner, those of all URDs together, cost too much on a page: once an owner and run"},
		},
		Workers: 2,
	}, defaults, newStage)
}

// mostSummary is what can be stored with every annotation.
const mostSummary = 10_000

// Validate refuses numbers that cannot be.
func (o Options) Validate() error {
	if o.Summary < 0 || o.Summary > mostSummary {
		return &pipeline.OptionError{Option: "summary", Err: fmt.Errorf("%d is not between 0 and %d", o.Summary, mostSummary)}
	}
	if o.Remember < 1 || o.Remember > match.MostBaselineVersions {
		return &pipeline.OptionError{Option: "remember", Err: fmt.Errorf("%d is not between 1 and %d", o.Remember, match.MostBaselineVersions)}
	}
	return nil
}

type stage struct {
	options  Options
	env      *pipeline.Env
	control  *control.Store
	objects  *objects.Store
	audience atomic.Pointer[audience]
	follows  *follower // in a continuous run
	lane     lane
	noticed  sync.Map // owners who were given notice in this run
}

var (
	_ pipeline.Processor = (*stage)(nil)
	_ pipeline.Opener    = (*stage)(nil)
	_ pipeline.Closer    = (*stage)(nil)
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	dir, err := pipeline.Resource[*storage.Dir](env)
	if err != nil {
		return nil, err
	}
	s := &stage{options: o, env: env, lane: newLane()}
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
	a, err := loadAudience(ctx, s.control, s.options, s.env)
	if err != nil {
		return fmt.Errorf("read the interests: %w", err)
	}
	s.audience.Store(a)
	if s.env.Continuous {
		s.follows = s.follow()
	}
	return nil
}

// Close ends the following of changes.
func (s *stage) Close() error {
	if s.follows != nil {
		s.follows.end()
	}
	return nil
}

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	if _, err := pipeline.ValueOf[*webrace.Document](it); err != nil {
		return err
	}
	return s.tell(ctx, it, out)
}

// match emits an annotation for everyone whom the document concerns. Repeating it gives the same ones.
func (s *stage) match(ctx context.Context, a *audience, it *pipeline.Item, out pipeline.Emitter) (err error) {
	d := it.Value.(*webrace.Document)
	changed := d.Visit == nil || d.Visit.Version != d.Version
	wholes, glances := a.asked(d)
	if !changed && len(wholes)+len(glances) == 0 {
		it.Learn(a.learned(nil))
		return nil
	}
	if d, err = s.withText(d); err != nil {
		return err
	}
	novelty := s.newNovelty(d)
	it = it.With(d)
	if len(d.Text.Blocks) == 0 {
		err = s.tellOfBody(ctx, a, it, out)
	} else {
		err = s.tellOfText(ctx, a, wholes, glances, novelty, it, out)
	}
	if err != nil {
		return err
	}
	it.Learn(a.learned(novelty.next))
	return nil
}

// tellOfText emits an annotation for everyone whom the text of the document concerns, or the part of it that they
// look at.
func (s *stage) tellOfText(ctx context.Context, a *audience, wholes []asking, glances []*glance, n *novelty, it *pipeline.Item, out pipeline.Emitter) error {
	looks, err := merged(wholes, n)
	if err != nil {
		return err
	}
	for _, look := range looks {
		if err := s.tellOf(ctx, a, look, it, out); err != nil {
			return err
		}
	}
	return s.tellOfParts(ctx, a, glances, it, out)
}

// tellOf emits an annotation for everyone who is shown the document together, and whom it concerns.
func (s *stage) tellOf(ctx context.Context, a *audience, to *look, it *pipeline.Item, out pipeline.Emitter) error {
	d := it.Value.(*webrace.Document)
	diffs := s.newDiffs(d.Text, to.added, func(version int) (*webrace.Text, error) { return s.textOf(objects.View(d.Secret, d.URL), version) })
	return s.emitAlerts(ctx, a, d.Text, to.asked, diffs, it, out)
}

// emitAlerts emits an annotation for each of those who ask whom a text concerns: the document's, or that of a part.
func (s *stage) emitAlerts(ctx context.Context, a *audience, text *webrace.Text, asked []match.Asking, diffs *diffs, it *pipeline.Item, out pipeline.Emitter) error {
	var looked int64
	defer func() { s.env.Counter("matched").Add(looked) }()
	for i := range asked {
		asked[i].Summary, asked[i].Looked = s.options.Summary, &looked
	}
	for alert := range match.Match(text, asked...) {
		urd, _ := a.urds.Get(alert.ID)
		if err := s.emit(ctx, it, out, news{urd, alert, a.seen(urd, it.Value.(*webrace.Document)), diffs}); err != nil {
			return err
		}
	}
	return nil
}

// news is an alert for the owner of a URD who has seen a version before, or none (0), and how the document
// changed since.
type news struct {
	urd   *control.URD
	alert match.Alert
	seen  int
	diffs *diffs // nil for a document without text
}

// emit emits an annotation, unless any change was asked for and there is none.
func (s *stage) emit(ctx context.Context, it *pipeline.Item, out pipeline.Emitter, n news) error {
	if n.diffs != nil && n.urd.AnyChange() && n.seen > 0 {
		change, err := n.diffs.since(n.seen, n.urd)
		if err != nil || change.none {
			return err
		}
		if change.summary != "" {
			n.alert.Summary = change.summary
		}
	}
	return out.Emit(ctx, it.With(annotate.ACI(n.urd.URD, n.alert, it.Value.(*webrace.Document), n.seen)))
}

// withText returns the document with its text: its own, or that of the version in the object cache.
func (s *stage) withText(d *webrace.Document) (*webrace.Document, error) {
	switch {
	case d.Text != nil && d.Outcome == webrace.Fetched:
		return d, nil
	case d.Text != nil && d.Body != nil:
		return s.dated(d)
	}
	r, err := s.recall(objects.View(d.Secret, d.URL), d.Version)
	if err != nil {
		return nil, err
	}
	copied := *d
	copied.Body, copied.Text, copied.Title = r.body, r.text.Text, r.text.Title
	copied.MediaType, copied.Charset, copied.Language, copied.At = r.text.MediaType, r.text.Charset, r.text.Language, r.version.FetchedAt
	return &copied, nil
}

// dated returns a document that came with what is stored of it with the date of that: an annotation speaks of a
// version, and not of when it was last asked for.
func (s *stage) dated(d *webrace.Document) (*webrace.Document, error) {
	v, err := s.objects.Get(objects.View(d.Secret, d.URL), d.Version)
	if err != nil {
		return nil, fmt.Errorf("recall: %w", err)
	}
	copied := *d
	copied.At = v.FetchedAt
	return &copied, nil
}

// recalled is a stored version and its text.
type recalled struct {
	version objects.Version
	body    []byte
	text    *extract.Result
}

func (s *stage) recall(view string, number int) (r recalled, err error) {
	fail := func(err error) (recalled, error) {
		return recalled{}, fmt.Errorf("recall: %w", err)
	}
	if r.version, err = s.objects.Get(view, number); err != nil {
		return fail(err)
	}
	var header http.Header
	if r.body, header, err = s.objects.Body(r.version); err != nil {
		return fail(err)
	}
	contentType := extract.ContentType(header, r.version.MediaType)
	if r.text, err = extract.Document(r.body, contentType, r.version.URL, extract.Options{MaxLinks: 1}); err != nil {
		return fail(err)
	}
	s.env.Counter("recalled").Add(1)
	return r, nil
}
