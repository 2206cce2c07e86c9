package keywordfilter

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// The oracle asks one URD at a time about each document, as the papers' loop does: whether it is asked, what it has
// seen and what is new to it, by the words of docs/model.md; and matches its profile alone.

// lone is a URD and an index that has no other.
type lone struct {
	*control.URD
	view  *match.View
	rules *selection.Selection
}

func (w *world) lone(u *control.URD) *lone {
	w.Helper()
	profile, _, err := match.Compile(w.audience.profileOf(u))
	if err != nil {
		w.Fatal(err)
	}
	rules, err := annotate.Selection(u.URD)
	if err != nil {
		w.Fatal(err)
	}
	x := new(match.Index)
	x.Add(profile)
	return &lone{u, x.View(), rules}
}

// left is what the visit of a document leaves behind.
func (w *world) left(d *webrace.Document) *webrace.Visit {
	var v webrace.Visit
	if d.Visit != nil {
		v = *d.Visit
	}
	v.Digest, v.Version = d.Digest, d.Version
	if w.isNothing(d) {
		v.Placeholder = webrace.Placeholder{Rounds: v.Placeholder.Rounds + 1, Whole: d.Visit.AsOfWhole().Version}
		v.Shown = shown(v, d.Reach)
		return &v
	}
	d = w.asOfWhole(d)
	v.Placeholder = webrace.Placeholder{}
	v.Tell(w.told)
	v.Look(w.looked(d))
	w.audience.learned(w.novelty(w.text(d)).next, webrace.Matched{})(&v)
	v.Shown = shown(v, d.Reach)
	return &v
}

// isNothing reports whether nothing came in the place of a document.
func (w *world) isNothing(d *webrace.Document) bool {
	if len(w.text(d).Body) > 0 || d.Visit == nil {
		return false
	}
	last, err := w.objects.Get(objects.View(d.Secret, d.URL), d.Visit.AsOfWhole().Version)
	if err != nil {
		w.Fatal(err)
	}
	return last.Size > 0
}

func (w *world) asOfWhole(d *webrace.Document) *webrace.Document {
	whole := *d
	whole.Visit = d.Visit.AsOfWhole()
	return &whole
}

// looked returns the rules that are applied to a document, and which of them find nothing, as the stage learns it.
func (w *world) looked(d *webrace.Document) (looked []uint64, absent []webrace.Absent) {
	w.Helper()
	d = w.text(d)
	m := &matching{document: d}
	_, parts := w.audience.recipientsOf(d, nil)
	now := selection.Open(d.URL, d.Body, d.MediaType, d.Charset, d.Text)
	for _, g := range parts {
		part, err := g.rules.Look(w.Context(), now, selection.NewBudget())
		if err != nil {
			w.Fatal(err)
		}
		m.look(g.rules, part)
	}
	return m.looked, m.absent
}

func (w *world) novelty(d *webrace.Document) *novelty {
	w.Helper()
	n, err := w.stage.newNovelty(d)
	if err != nil {
		w.Fatal(err)
	}
	return n
}

func (w *world) text(d *webrace.Document) *webrace.Document {
	w.Helper()
	with, err := w.stage.withText(d)
	if err != nil {
		w.Fatal(err)
	}
	return with
}

// taken keeps annotations by their URD.
type taken struct {
	pipeline.Emitter
	*world
	acis map[string]*xmlschema.ACI
}

func (e taken) Emit(_ context.Context, it *pipeline.Item) error {
	aci := it.Value.(*xmlschema.ACI)
	if e.acis[aci.URD] != nil {
		e.Errorf("%s is told twice of %s", aci.URD, aci.URI)
	}
	e.acis[aci.URD] = aci
	return nil
}

func (w *world) compare(d *webrace.Document) {
	w.Helper()
	got, want := taken{world: w, acis: map[string]*xmlschema.ACI{}}, taken{world: w, acis: map[string]*xmlschema.ACI{}}
	end := pipeline.ProcessOne(w.Context(), asked{w}, d, func(_ string, value any) error {
		return got.Emit(w.Context(), &pipeline.Item{Value: value})
	})
	if end.Err != nil {
		w.Fatal(end.Err)
	}
	it := pipeline.NewItem(d, func(pipeline.Outcome) {})
	with := w.asOfWhole(w.text(d))
	w.told = nil
	if w.isNothing(d) {
		if len(got.acis) > 0 {
			w.Fatalf("%d are told of nothing in the place of a document", len(got.acis))
		}
		w.compareNumbers(d, end.Learned)
		w.nothing++
		return
	}
	o := oracle{w, with, w.novelty(with), history{stage: w.stage, document: with, budget: selection.NewBudget()}, it.With(with), map[sight]*shownText{}}
	for _, u := range w.base {
		if err := o.ask(u, want); err != nil {
			w.Fatal(err)
		}
		w.pairs++
	}
	w.alerts += len(want.acis)
	w.compareNumbers(d, end.Learned)
	for id, u := range w.base {
		if !reflect.DeepEqual(got.acis[id], want.acis[id]) {
			w.Fatalf("%s %q, version %d, reached by %v, with the visit %+v:\n%+v, of %+v, interest %d, levels %d\nis told %+v\nwant    %+v",
				d.URL, with.Body, d.Version, d.Reach, d.Visit, id, u.URD.URD, u.Interest, u.Crawl.Levels, got.acis[id], want.acis[id])
		}
	}
	if len(got.acis) != len(want.acis) {
		w.Fatalf("%d are told, want %d", len(got.acis), len(want.acis))
	}
}

// asked is the stage with the audience of the world.
type asked struct{ *world }

func (a asked) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	return a.stage.match(ctx, a.audience, it, out)
}

// oracle is the loop over the URDs for one document.
type oracle struct {
	*world
	d       *webrace.Document
	novelty *novelty
	history history
	item    *pipeline.Item
	known   map[sight]*shownText
}

// sight is what of a document is new to whom depends on.
type sight struct {
	rules          string
	seen, remember int
	missed         int64
}

// shownText is a text that an owner is shown, what of it is new to who has seen a version, and whether it has changed.
type shownText struct {
	*webrace.Text
	added   []bool
	last    *match.Last
	changed bool
	diffs   *diffs
}

func (o *oracle) matching(out pipeline.Emitter) *matching {
	// of an audience without conditions, which the oracle looks at itself
	return &matching{stage: o.stage, audience: &audience{}, document: o.d, item: o.item, out: out}
}

// asked reports whether a URD is asked about the document, and the version that it has seen.
func (o *oracle) asked(u *control.URD) (seen int, asked bool) {
	prefix, watches := u.Prefix()
	visit := cmpOr(o.d.Visit, &webrace.Visit{})
	if o.options.Audience == "everyone" && o.d.Secret == "" || watches {
		if visit.Revision >= u.Interest {
			seen = visit.Version
		}
		return seen, (!watches || strings.HasPrefix(o.d.URL, prefix)) && o.d.Secret == ""
	}
	within := func(distance int) bool { return u.Depth == 0 || distance < u.Depth }
	for _, s := range visit.Shown {
		if s.Crawl == u.Crawl.ID && s.Revision >= u.Interest && within(s.Distance) {
			seen = s.Version
		}
	}
	return seen, slices.ContainsFunc(o.d.Reach, func(r webrace.Reach) bool { return r.Crawl == u.Crawl.ID && within(r.Distance) })
}

func cmpOr[T any](x, otherwise *T) *T {
	if x == nil {
		return otherwise
	}
	return x
}

// cameInAbsence reports whether the URD came when the document had nothing of what it looks at, and has now been there
// for a version, or whether the document never had any: it has seen nothing.
func (o *oracle) cameInAbsence(u *control.URD) bool {
	if o.d.Visit == nil || o.d.Visit.Version == o.d.Version {
		return false
	}
	return slices.ContainsFunc(o.d.Visit.Absent, func(part webrace.Absent) bool {
		return part.Rules == selection.ID(selection.Key(u.Rules())) &&
			(part.Revision > 0 && part.Revision < u.Interest || part.Version == 0 && len(u.Rules()) > 0)
	})
}

// missed returns the last revision at which one of several rules found what it did not find at the last visit, if the
// URD came later, or 0.
func (o *oracle) missed(u *lone) (revision int64) {
	if o.d.Visit == nil || o.d.Visit.Version == o.d.Version {
		return 0
	}
	for _, piece := range u.rules.Parts() {
		for _, part := range o.d.Visit.Absent {
			if part.Rules == selection.ID(piece.Key()) && part.Revision < u.Interest {
				revision = max(revision, part.Revision)
			}
		}
	}
	return revision
}

// ask asks one URD.
func (o *oracle) ask(u *lone, out pipeline.Emitter) error {
	if u.Paused {
		return nil
	}
	seen, asked := o.asked(u.URD)
	if o.cameInAbsence(u.URD) {
		seen = 0
	}
	if !asked || seen > 0 && (seen == o.d.Version || u.Change == xmlschema.ChangeFirst) {
		return nil
	}
	if len(o.d.Text.Blocks) == 0 {
		return o.askOfBody(u, seen, out)
	}
	text, err := o.shown(u, seen)
	if err != nil {
		return err
	}
	if len(text.Blocks) == 0 {
		return nil
	}
	onlyAdded := seen > 0 && u.Change == xmlschema.ChangeAdded
	if seen > 0 && !onlyAdded && (!text.changed || u.Remembers(defaults.Remember) > 1 && !slices.Contains(text.added, true)) {
		return nil
	}
	options := match.Options{Recipients: []match.Recipient{{ID: u.ID, OnlyAdded: onlyAdded}}, Added: text.added, Last: text.last, Summary: o.options.Summary}
	for alert := range u.view.Match(text.Text, options) {
		if err := o.matching(numbered{out, o, u}).emit(o.Context(), newAlert{u.URD, alert, seen, text.diffs}); err != nil {
			return err
		}
	}
	return nil
}

// askOfBody tells of a document without text.
func (o *oracle) askOfBody(u *lone, seen int, out pipeline.Emitter) error {
	if lost, err := o.matching(out).lostText(); err != nil || seen > 0 && lost || !u.AnyChange() || u.rules != nil {
		return err
	}
	summary, err := o.stage.bodySummary(o.d, seen, annotate.BodyOf(o.d))
	if err != nil || summary == "" {
		return err
	}
	return o.matching(out).emit(o.Context(), newAlert{u.URD, annotate.BodyAlert(u.URD.URD, annotate.BodyOf(o.d), summary), seen, nil})
}

// shown returns what a URD is shown that has seen a version, or none (0).
func (o *oracle) shown(u *lone, seen int) (text *shownText, err error) {
	at := sight{seen: seen, remember: u.Remembers(defaults.Remember)}
	if u.rules != nil {
		at.rules, at.missed = u.rules.Key(), o.missed(u)
	}
	if text = o.known[at]; text != nil {
		return text, nil
	}
	text = &shownText{Text: o.d.Text}
	o.known[at] = text
	if u.rules != nil {
		part, err := u.rules.Look(o.Context(), selection.Open(o.d.URL, o.d.Body, o.d.MediaType, o.d.Charset, o.d.Text), selection.NewBudget())
		if err != nil {
			return nil, err
		}
		text.Text = part.Text
		compared, last := part.Text, (*webrace.Text)(nil)
		if seen > 0 {
			s, err := o.history.since(o.Context(), part, &partGroup{u.rules, recipientList{seenVersions: seenVersions{seen, at.remember, at.missed}}})
			if err != nil {
				return nil, err
			}
			text.added, text.last, text.changed = s.Added(at.remember), s.last, !s.Same
			compared, last = o.history.now, o.history.seen
		}
		text.diffs = o.stage.newDiffs(compared, text.added, func(int) (*webrace.Text, error) { return last, nil })
		return text, nil
	} else if seen > 0 {
		s, err := o.novelty.since(seenVersions{last: seen, remember: at.remember})
		if err != nil {
			return nil, err
		}
		text.added, text.last, text.changed = s.Added(at.remember), s.last, !s.Same
	}
	text.diffs = o.stage.newDiffs(text.Text, text.added, func(version int) (*webrace.Text, error) {
		return o.stage.stateOf(o.d, version)
	})
	return text, err
}

// TestOracleAsksOneByOne compares what the stage tells of documents with what the oracle does, for every kind of
// audience, while both the documents and the URDs change. Crowds are large from no, some or many members on.
func TestOracleAsksOneByOne(t *testing.T) {
	t.Parallel()
	most, visits, pairs, alerts, numbers, unmet, nothing := 1_200, 175, 0, 0, 0, 0, 0
	if testing.Short() {
		most, visits = 200, 20
	}
	for i, few := range []int{0, 3, mostFew} {
		for _, audience := range []string{"requesters", "everyone"} {
			w := newWorld(t, uint64(i), audience, few)
			w.revise(3*most, most)
			for range visits {
				w.revise(w.IntN(4), most)
				w.visit()
			}
			if w.alerts < w.pairs/100 {
				t.Errorf("%d pairs, of which %d alert, prove too little", w.pairs, w.alerts)
			}
			pairs, alerts, numbers, unmet = pairs+w.pairs, alerts+w.alerts, numbers+w.numbers, unmet+w.unmet
			nothing += w.nothing
		}
	}
	if nothing == 0 {
		t.Error("nothing never came in the place of a document")
	}
	if numbers < 10 || unmet < 10 {
		t.Errorf("%d alerts that a number allowed and %d that it did not prove too little", numbers, unmet)
	}
	t.Logf("%d pairs of a URD and a document, %d alerts, %d that a number allowed and %d that it did not, 0 differences", pairs, alerts, numbers, unmet)
}
