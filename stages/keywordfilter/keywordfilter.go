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
// wait for it. Each is matched as of one revision of the base, and that is what its visit remembers. The URDs are
// compiled once in a process, for the stages of all its partitions.
//
// A document goes through keywordfilter.go: recipients.go finds the URDs whose owners may be told, stored.go its
// text in the object cache, novelty.go what is new since the version that each URD has seen, diffs.go how it
// changed. placeholder.go is for what comes in the place of a document, bodies.go for documents without text,
// selection.go and charge.go for URDs that look at part of a page, large.go for pages with very many annotations.
// audience.go, crowd.go and follow.go keep the URDs.
//
// An owner is a person, and the audience all URDs of the base. A crowd is those of them that a document is matched with
// for one reason, its members those who look at the same of a page; recipients are those of all crowds that a document
// is matched with, and a profile is what is matched of one.
package keywordfilter

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/loadingcache"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
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
		Own: []pipeline.Addition{{ // out of the object cache, and only for documents that concern a URD
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
	options Options
	env     *pipeline.Env
	control *control.Store
	objects *objects.Store
	follows *follower          // that the stages of a process have in common
	leave   func() (last bool) // gives it up
	dir     *storage.Dir
	shown   func(secret, url string) (shown []webrace.Shown, spelling string, err error) // of other pages
	units   loadingcache.Cache[*match.Units]                                             // of these
	large   largePages
	noticed sync.Map // owners who were given notice in this run
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
	s := &stage{options: o, env: env, dir: dir, units: loadingcache.New[*match.Units](keptUnits), large: newLargePages()}
	s.shown = s.shownBy
	if s.control, err = dir.Control(); err != nil {
		return nil, err
	}
	if s.objects, err = dir.Objects(); err != nil {
		return nil, err
	}
	s.follows, s.leave = pipeline.Shared(env, o, s.control, func() *follower { return newFollower(s.control, o, env) })
	return s, nil
}

// Open reads the interests, or what has changed since another stage of the process did.
func (s *stage) Open(ctx context.Context) error {
	if err := s.follows.open(ctx); err != nil {
		return fmt.Errorf("read the interests: %w", err)
	}
	return nil
}

// Close ends the following of changes, if no other stage needs it.
func (s *stage) Close() error {
	if s.leave() {
		s.follows.end()
	}
	return nil
}

// Process matches a document: at once or, when it turns out to be large, in its turn among the large pages.
func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	if _, err := pipeline.ValueOf[*webrace.Document](it); err != nil {
		return err
	}
	a := s.follows.audience.Load()
	few := &fewEmitter{Emitter: out, most: s.large.atOnce}
	err := s.match(ctx, a, it, few)
	s.env.Counter("alerts").Add(int64(len(few.made)))
	if errors.Is(err, errLarge) {
		return s.processLarge(ctx, a, it, few.made, out)
	}
	return err
}

// matchVersion emits an annotation for each URD that the document concerns. Repeating it gives the same ones.
func (s *stage) matchVersion(ctx context.Context, a *audience, it *pipeline.Item, learn func(webrace.Learned), out pipeline.Emitter) error {
	if visit := it.Value.(*webrace.Document).Visit; visit != nil && visit.IsInherited() {
		// Once the first version at the new URL is durable, the versions before it are found at the former one.
		if err := s.dir.AwaitDocuments(ctx); err != nil {
			return err
		}
	}
	if a.knows(it.Value.(*webrace.Document)) {
		learn(a.looked())
		return nil
	}
	last := s.lastVersionOf(it.Value.(*webrace.Document))
	d, isPlaceholder, err := s.whole(it, learn, last)
	if isPlaceholder || err != nil {
		return err
	}
	changed := d.Visit == nil || d.Visit.Version != d.Version
	others, err := s.othersOf(ctx, d, last)
	if err != nil {
		return err
	}
	wholes, parts := a.recipientsOf(d, others)
	if !changed && len(wholes)+len(parts) == 0 {
		learn(a.looked())
		return nil
	}
	if d, err = s.withText(d); err != nil {
		return err
	}
	n, err := s.newNovelty(d)
	if err != nil {
		return err
	}
	n.others = others
	m := &matching{stage: s, audience: a, document: d, novelty: n, item: it.With(d), out: out, ways: ways(d)}
	if len(d.Text.Blocks) == 0 {
		err = m.matchWithoutText(ctx, parts)
	} else {
		m.note(nil, !match.IsState(d.Text))
		if err = m.matchWholes(ctx, wholes); err == nil {
			err = m.matchParts(ctx, parts)
		}
	}
	if err != nil {
		return err
	}
	learn(a.learned(n.next, matched(d)))
	if visit := d.Visit; len(m.absent) > 0 || visit != nil && len(visit.Absent) > 0 && len(m.looked) > 0 {
		learn(func(v *webrace.Visit) { v.Look(m.looked, m.absent) })
	}
	if none := (webrace.Instead{}); changed && (d.Instead != none || d.Visit != nil && d.Visit.Instead != none) {
		learn(others.learn)
	}
	if len(n.origins) > 0 {
		learn(func(v *webrace.Visit) { v.Came(n.origins) })
	}
	if len(m.numbers.told) > 0 {
		learn(m.numbers.learn)
	}
	return nil
}

// knows reports whether a document is as it was at its last visit, and all who are asked were shown it: as most are.
func (a *audience) knows(d *webrace.Document) bool {
	if d.Visit == nil || d.Visit.Version != d.Version || d.Visit.IsPlaceholder() {
		return false
	}
	wholes, parts := a.recipientsOf(d, nil)
	return len(wholes)+len(parts) == 0
}

// looked is what the visit remembers of a document that nobody was to be shown.
func (a *audience) looked() webrace.Learned {
	revision := a.revision
	return func(v *webrace.Visit) { v.Revision = revision }
}

// learned is what the visit remembers of the match; what it knows of the last version stays as it is when there is no
// baseline.
func (a *audience) learned(baseline match.Baseline, version webrace.Matched) webrace.Learned {
	return func(v *webrace.Visit) {
		v.Revision = a.revision
		if baseline != nil {
			v.Baseline, v.Reading, v.Matched = baseline, extract.Revision, version
		}
	}
}

// matching is the work on one document, which has its text, as of one revision of the URD base.
type matching struct {
	stage     *stage
	audience  *audience
	document  *webrace.Document
	novelty   *novelty
	item      *pipeline.Item
	out       pipeline.Emitter
	annotated *annotate.Document // what its annotations have in common; nil until there is one
	numbers   numbers
	former    []string         // where the document was before it moved, once asked for
	ways      []string         // the crawls by which the document came, if it is several
	looked    []uint64         // the rules that were applied
	absent    []webrace.Absent // of these, those that found nothing
	forbidden *string          // the statement by which no model may be given the document; nil before it was looked for
}

// matchWholes emits an annotation for each URD that looks at whole pages and is concerned by the text of the document.
func (m *matching) matchWholes(ctx context.Context, wholes []recipientList) error {
	groups, err := merged(ctx, wholes, m.novelty)
	if err != nil {
		return err
	}
	for _, group := range groups {
		diffs := m.stage.newDiffs(m.document.Text, group.added, m.novelty.stateOf)
		diffs.came, diffs.last = group.came, group.last
		if err := m.emitAlerts(ctx, m.document.Text, nil, group.asked, diffs); err != nil {
			return err
		}
	}
	return nil
}

// emitAlerts emits an annotation for each URD that asks and is concerned by a text: the document's, or that of the part
// which rules choose.
func (m *matching) emitAlerts(ctx context.Context, text *webrace.Text, rules *selection.Selection, asked []match.Asking, diffs *diffs) error {
	var looked int64
	defer func() { m.stage.env.Counter("matched").Add(looked) }()
	for i := range asked {
		asked[i].Summary, asked[i].Looked = m.stage.options.Summary, &looked
	}
	for alert := range match.Match(text, asked...) {
		if m.novelty.err != nil {
			return m.novelty.err
		}
		urd, _ := m.audience.urds.Get(alert.ID)
		if err := m.emit(ctx, newAlert{urd, alert, m.audience.seen(urd, rules, m.document), diffs}); err != nil {
			return err
		}
	}
	return m.novelty.err
}

// newAlert is an alert for the owner of a URD that has seen a version before, or none (0), and how the document
// changed since.
type newAlert struct {
	urd   *control.URD
	alert match.Alert
	seen  int
	diffs *diffs // nil for a document without text
}

// emit emits an annotation, unless any change was asked for and there is none, or a number does not meet its condition.
func (m *matching) emit(ctx context.Context, n newAlert) error {
	if n.diffs != nil && n.seen > 0 && annotate.SaysChange(n.urd.URD) {
		change, err := n.diffs.since(n.seen, n.urd)
		if err != nil || !change.Say(n.urd.URD, &n.alert, m.stage.options.Summary) {
			return err
		}
	}
	if n.diffs != nil && n.seen > 0 && annotate.SaysEdits(n.urd.URD, &n.alert, n.diffs.last) {
		edits, err := n.diffs.editsSince(n.seen)
		if err != nil {
			return err
		}
		edits.Say(&n.alert, m.stage.options.Summary)
	}
	if tell, err := m.tells(ctx, n.urd); err != nil || !tell {
		return err
	}
	if m.annotated == nil {
		m.annotated = annotate.Of(m.document)
	}
	aci := m.annotated.ACI(n.urd.URD, n.alert, n.seen)
	var err error
	if aci.Judgement, err = m.question(n); err != nil {
		return err
	}
	if aci.Former, err = m.formers(); err != nil {
		return err
	}
	if aci.Twins, err = m.twins(ctx, n.urd, aci); err != nil {
		return err
	}
	return m.out.Emit(ctx, m.item.With(aci))
}

// formers returns where the document was before it moved for good, each time.
func (m *matching) formers() (urls []string, err error) {
	if v := m.document.Visit; m.former == nil && v != nil && v.Former.URL != "" {
		if urls, err = m.stage.objects.Formers(objects.View(m.document.Secret, v.Former.URL)); err != nil {
			return nil, err
		}
		m.former = append([]string{v.Former.URL}, urls...)
	}
	return m.former, nil
}
