package sourcewatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/xmlschema"
)

type fixture struct {
	*testing.T
	resources *pipeline.Resources
	control   *control.Store
	frontier  *frontier.Store
	absent    []webrace.Absent // of the documents of the next rounds
	from      string           // where the crawl begins; empty for start
}

func newFixture(t *testing.T, owners ...string) *fixture {
	t.Helper()
	dir, err := storage.Open(t.TempDir(), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	f := &fixture{T: t, resources: new(pipeline.Resources)}
	pipeline.Provide(f.resources, dir)
	if f.control, err = dir.Control(); err == nil {
		f.frontier, err = dir.Frontier()
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, owner := range owners {
		f.ask(owner)
	}
	return f
}

const start = "https://a.org/"

func (f *fixture) ask(owner string, rules ...string) {
	f.Helper()
	urd := &xmlschema.URD{ID: "u-" + owner, Owner: owner, URI: start, Protocol: xmlschema.ProtocolHTTP, Depth: 1}
	for _, rule := range rules {
		urd.Select = append(urd.Select, xmlschema.Rule{Language: xmlschema.RuleCSS, Text: rule})
	}
	if _, err := f.control.Put(f.Context(), []*xmlschema.URD{urd}); err != nil {
		f.Fatal(err)
	}
}

// queue opens the queue of the pipeline, as a run does.
func (f *fixture) queue() *frontier.Queue { return f.queueOf("webrace") }

func (f *fixture) queueOf(pipeline string) *frontier.Queue {
	f.Helper()
	q, err := f.frontier.Queue(pipeline, frontier.QueueOptions{Fresh: -1, Attempts: 2})
	if err != nil {
		f.Fatal(err)
	}
	return q
}

// round makes a round of the crawl, whose start fares so: "" is a document, "network" no answer, anything else
// is what the server answered.
func (f *fixture) round(q *frontier.Queue, reason string) {
	f.Helper()
	var crawl webrace.Crawl
	for urd, err := range f.control.All(f.Context()) {
		if err != nil {
			f.Fatal(err)
		}
		if !urd.Paused {
			crawl = urd.Crawl
		}
	}
	time.Sleep(time.Millisecond) // a round that begins later is another one
	if _, err := q.Start(f.Context(), crawl, true); err != nil {
		f.Fatal(err)
	}
	attempts := 1
	if reason == "network" {
		attempts = 2
	}
	for range attempts {
		lease, err := q.Take(f.Context())
		if err != nil {
			f.Fatal(err)
		}
		o := frontier.Outcome{Learned: []webrace.Learned{func(v *webrace.Visit) {
			v.At, v.Status, v.Error, v.Absent = time.Now(), 200, reason, f.absent
		}}}
		if reason == "network" {
			o = frontier.Outcome{Err: errors.New("connection refused"), RetryAt: time.Now()}
		}
		done := make(chan error)
		lease.Done(o, func(err error) { done <- err })
		if err := <-done; err != nil {
			f.Fatal(err)
		}
	}
}

// told runs the stage until it has caught up, and returns what it tells: owner, state, failures and reason.
func (f *fixture) told() string {
	f.Helper()
	var all []string
	for _, v := range stagetest.Try(f, stagetest.Case{Type: "source-watch", Resources: f.resources}).Out[""] {
		n := v.(*webrace.Notice)
		if n.URI != cmp.Or(f.from, start) || n.URD != "u-"+n.Owner || n.ID == "" || n.At.IsZero() {
			f.Errorf("%+v", n)
		}
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %d %s", n.Owner, n.State, n.Failures, n.Reason)))
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}

func TestConformance(t *testing.T) {
	f := newFixture(t, "ann")
	q := f.queue()
	defer q.Close()
	for range 3 {
		f.round(q, "404 Not Found")
		f.told()
	}
	stagetest.Run(t, stagetest.Case{Type: "source-watch", Resources: f.resources})
}

// TestAnOwnerIsToldOnceOfAnOutageAndOnceOfItsEnd runs the stage after each round, as if the process had been
// started anew each time.
func TestAnOwnerIsToldOnceOfAnOutageAndOnceOfItsEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "ann")
	q := f.queue()
	defer q.Close()
	for i, c := range []struct{ fares, want string }{
		{"", ""},
		{"404 Not Found", ""}, {"network", ""}, {"", ""}, // too short
		{"404 Not Found", ""}, {"refused by robots.txt", ""}, {"network", "ann failing 3 connection refused"},
		{"network", ""}, {"500 oh", ""}, {"", "ann recovered 5"}, {"", ""},
		{"410 Gone", ""}, {"410 Gone", ""}, {"410 Gone", "ann failing 3 410 Gone"}, {"", "ann recovered 3"},
	} {
		f.round(q, c.fares)
		f.tellsOnce(i+1, c.want)
	}
	f.leavesNothing()
}

// TestMailboxesAreWatchedToo: by the pipeline that reads them. There is no document in which something could be missed.
func TestMailboxesAreWatchedToo(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.from = "imaps://mail.example/INBOX"
	urd := &xmlschema.URD{ID: "u-ann", Owner: "ann", URI: f.from, Protocol: xmlschema.ProtocolIMAP, Depth: 1}
	if _, err := f.control.Put(t.Context(), []*xmlschema.URD{urd}); err != nil {
		t.Fatal(err)
	}
	q := f.queueOf("mailrace")
	defer q.Close()
	for i, c := range []struct{ fares, want string }{
		{"", ""}, {"", ""}, {"", ""}, {"", ""},
		{"no such mailbox", ""}, {"no such mailbox", ""}, {"no such mailbox", "ann failing 3 no such mailbox"}, {"no such mailbox", ""}, {"", "ann recovered 4"},
	} {
		f.round(q, c.fares)
		f.tellsOnce(i+1, c.want)
	}
	f.leavesNothing()
}

// tellsOnce expects what is told after a round, and that it is not told again.
func (f *fixture) tellsOnce(round int, want string) {
	f.Helper()
	if got := f.told(); got != want {
		f.Errorf("round %d: told %q, want %q", round, got, want)
	}
	if got := f.told(); got != "" {
		f.Errorf("round %d is told of twice: %q", round, got)
	}
}

// leavesNothing expects that nothing is remembered of what has ended.
func (f *fixture) leavesNothing() {
	f.Helper()
	if left, err := f.control.Cursors(f.Context(), ""); err != nil || len(left) > 0 {
		f.Errorf("left behind: %v, %v", left, err)
	}
}

// TestAnOwnerIsToldOnceThatThereIsNothingToFind runs the stage after each round, as if the process had been started
// anew each time. Ann asks for any change, bob for what his rule selects.
func TestAnOwnerIsToldOnceThatThereIsNothingToFind(t *testing.T) {
	t.Parallel()
	absent := func(rules ...string) webrace.Absent {
		urd := &xmlschema.URD{}
		for _, rule := range rules {
			urd.Select = append(urd.Select, xmlschema.Rule{Language: xmlschema.RuleCSS, Text: rule})
		}
		return webrace.Absent{Rules: selection.ID(selection.Key(urd.Rules()))}
	}
	price, offer, text := absent("#price"), absent("#offer"), absent()
	f := newFixture(t, "ann")
	f.ask("bob", "#price")
	q := f.queue()
	defer q.Close()
	const nothing = `nothing in it is what the rules of the URD look for (select css "#price"): webrace-store explain says more`
	for i, c := range []struct {
		fares, rule string // of bob; "" leaves it
		absent      []webrace.Absent
		want        string
	}{
		{absent: []webrace.Absent{price}},
		{absent: []webrace.Absent{price}},
		{absent: []webrace.Absent{offer}}, // too short
		{absent: []webrace.Absent{price}},
		{fares: "404 Not Found", absent: []webrace.Absent{price}}, // which does not count
		{absent: []webrace.Absent{price, offer}},
		{absent: []webrace.Absent{price}, want: "bob finds-nothing 3 " + nothing},
		{absent: []webrace.Absent{price}},
		{},
		{absent: []webrace.Absent{text, price}},
		{absent: []webrace.Absent{text, price}},
		{absent: []webrace.Absent{text, price}, want: "bob finds-nothing 3 it has no text"},
		{rule: "#offer", absent: []webrace.Absent{price, offer}},
		{absent: []webrace.Absent{offer}},
		{absent: []webrace.Absent{offer}, want: "bob finds-nothing 3 " + strings.Replace(nothing, "price", "offer", 1)},
		{rule: "#price", absent: []webrace.Absent{offer}},
		{rule: "#price #offer", absent: []webrace.Absent{price}}, // and no round is one in which both were missing
		{absent: []webrace.Absent{offer}},
		{absent: []webrace.Absent{offer}},
		{absent: []webrace.Absent{offer}, want: "bob finds-nothing 3 " + strings.Replace(nothing, "price", "offer", 1)},
		{absent: []webrace.Absent{offer}},
		{absent: []webrace.Absent{price, offer, absent("#price", "#offer")}},
		{},
	} {
		if c.rule != "" {
			f.ask("bob", strings.Fields(c.rule)...)
		}
		f.absent = c.absent
		f.round(q, c.fares)
		f.tellsOnce(i+1, c.want)
	}
	f.leavesNothing()
}

func TestWhoJoinsDuringAnOutageIsToldOfItAsWellAndWhoLeavesIsForgotten(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "ann", "bob")
	q := f.queue()
	defer q.Close()
	var told []string
	for i := range 6 {
		switch i {
		case 1:
			f.ask("eve")
		case 3:
			if err := f.control.Delete(t.Context(), "u-bob"); err != nil {
				t.Fatal(err)
			}
		}
		f.round(q, "404 Not Found")
		told = append(told, f.told())
	}
	if want := []string{"", "", "ann failing 3 404 Not Found; bob failing 3 404 Not Found", "eve failing 3 404 Not Found", "", ""}; !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
	f.round(q, "")
	if got := f.told(); got != "ann recovered 6; eve recovered 5" {
		t.Errorf("told %q", got)
	}
	f.leavesNothing()
}

// TestANoticeThatCouldNotBeDeliveredComesAgainUnderTheSameID fails the first delivery of each.
// A URD that is paused is told nothing of its source; what failed before that is counted anew when it is resumed.
func TestWhoIsPausedIsNotToldOfTheirSource(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "ann", "bob")
	pause := func(paused bool) {
		t.Helper()
		urd, err := f.control.Get(t.Context(), "u-bob")
		if err == nil {
			urd.Paused = paused
			_, err = f.control.Put(t.Context(), []*xmlschema.URD{urd.URD})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	q := f.queue()
	defer q.Close()
	var told []string
	for i := range 7 {
		switch i {
		case 2:
			pause(true)
		case 4:
			pause(false)
		}
		f.round(q, "404 Not Found")
		told = append(told, f.told())
	}
	if want := []string{"", "", "ann failing 3 404 Not Found", "", "", "", "bob failing 3 404 Not Found"}; !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
	pause(true)
	f.round(q, "")
	if got := f.told(); got != "ann recovered 7" {
		t.Errorf("told %q", got)
	}
	f.leavesNothing()
}

func TestANoticeThatCouldNotBeDeliveredComesAgainUnderTheSameID(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "ann")
	q := f.queue()
	defer q.Close()
	var ids []string
	deliver := func(result error) {
		t.Helper()
		g := pipeline.DefaultRegistry.NewGraph("notify")
		g.AddType("source-watch", "source-watch", nil)
		g.AddStage("end", pipeline.Spec{Type: "end", In: pipeline.Kinds(pipeline.KindOf[*webrace.Notice]())}, func(*pipeline.Env) (any, error) {
			return taker(func(n *webrace.Notice) error {
				ids = append(ids, n.ID)
				return result
			}), nil
		})
		g.Connect("source-watch", "", "end")
		if _, err := g.Run(t.Context(), pipeline.RunOptions{Resources: f.resources}); !errors.Is(err, result) {
			t.Fatal(err)
		}
	}
	down := errors.New("down")
	for i, c := range []struct {
		fares  string
		result error
		ids    int
	}{{"404", nil, 0}, {"404", nil, 0}, {"404", down, 1}, {"404", nil, 2}, {"404", nil, 2}, {"", down, 3}, {"", nil, 4}, {"", nil, 4}} {
		f.round(q, c.fares)
		deliver(c.result)
		if len(ids) != c.ids {
			t.Fatalf("after round %d: %q", i+1, ids)
		}
	}
	if ids[0] != ids[1] || ids[2] != ids[3] || ids[0] == ids[2] {
		t.Errorf("%q", ids)
	}
}

type taker func(*webrace.Notice) error

func (f taker) Process(_ context.Context, it *pipeline.Item, _ pipeline.Emitter) error {
	return f(it.Value.(*webrace.Notice))
}

// TestItTellsWhileTheCrawlsRun keeps the stage running through rounds, and ends with the crawls.
func TestItTellsWhileTheCrawlsRun(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "ann")
	q := f.queue()
	defer q.Close()
	crawling := make(chan struct{})
	env := pipeline.NewEnv("notify", "watch", f.resources)
	env.Upstream = crawling
	s, err := newStage(Options{Pipelines: []string{"webrace"}, Rounds: 2}, env)
	if err != nil {
		t.Fatal(err)
	}
	out, ended := make(emitted), make(chan error, 1)
	go func() { ended <- s.(pipeline.Source).Run(t.Context(), out) }()
	f.round(q, "404 Not Found")
	for counted := 0; counted == 0; time.Sleep(time.Millisecond) { // else both rounds might be seen as one
		states, err := f.control.Cursors(t.Context(), "notify/watch/")
		if err != nil {
			t.Fatal(err)
		}
		counted = len(states)
	}
	f.round(q, "404 Not Found")
	if n := (<-out).(*webrace.Notice); n.State != webrace.SourceFailing || n.Failures != 2 {
		t.Errorf("%+v", n)
	}
	close(crawling)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A status may be a round behind the visit: the round that it speaks of did not fail.
func TestARoundIsNotJudgedByTheVisitOfTheNext(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "ann")
	q := f.queue()
	defer q.Close()
	s, err := newStage(Options{Pipelines: []string{"webrace"}, Rounds: 2}, pipeline.NewEnv("notify", "watch", f.resources))
	if err != nil {
		t.Fatal(err)
	}
	f.round(q, "")
	before, err := f.frontier.CrawlStatuses("webrace")
	if err != nil || len(before) != 1 {
		t.Fatalf("%v, %v", before, err)
	}
	f.round(q, "404 Not Found")
	now, err := f.frontier.CrawlStatuses("webrace")
	if err != nil {
		t.Fatal(err)
	}
	out := make(emitted, 2)
	for _, status := range append(before, now...) {
		if err := s.(*stage).check(t.Context(), s.(*stage).rounds("webrace", []frontier.CrawlStatus{status})[0], out); err != nil {
			t.Fatal(err)
		}
	}
	if len(out) > 0 {
		t.Errorf("told of %+v", <-out)
	}
	states, err := f.control.Cursors(t.Context(), "notify/watch/")
	if err != nil || len(states) != 1 {
		t.Fatalf("%v, %v", states, err)
	}
	for _, position := range states {
		if st := stateAt(position); st.failures != 1 || st.since != now[0].Round {
			t.Errorf("%+v", st)
		}
	}
}

type emitted chan any

func (e emitted) Emit(_ context.Context, it *pipeline.Item) error { e <- it.Value; return nil }
func (e emitted) EmitTo(ctx context.Context, _ string, it *pipeline.Item) error {
	return e.Emit(ctx, it)
}

func TestAStateIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, s := range []state{
		{}, {since: 1, round: 1, failures: 1}, {since: 3, round: 9, failures: 4, told: true}, {since: maxRound - maxSpan, round: maxRound, failures: maxCount, told: true},
	} {
		if got := stateAt(s.position()); got != s || s.position() < 0 {
			t.Errorf("%+v became %+v", s, got)
		}
	}
	if err := (Options{Rounds: 3}).Validate(); err == nil {
		t.Error("no pipeline is watched")
	}
	for _, n := range []int{0, -1, maxCount + 1} {
		if err := (Options{Pipelines: []string{"webrace"}, Rounds: n}).Validate(); err == nil {
			t.Errorf("%d rounds", n)
		}
	}
}
