package keywordfilter

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/xmlschema"
)

// costly ignores nothing, in 64 rules that look through all of a long attribute.
func costly(set int) func(*xmlschema.URD) {
	return func(u *xmlschema.URD) {
		for i := range 64 {
			u.Ignore = append(u.Ignore, xmlschema.Rule{Language: "css", Text: fmt.Sprintf("[data-x*='b%d-%d']", set, i)})
		}
	}
}

func named(id string) func(*xmlschema.URD) { return func(u *xmlschema.URD) { u.ID = id } }

// TestHostileOwnersAreChargedAlone lets one owner ask for more than one may on a page: some of their URDs are told, the
// same ones whoever else is asked, and all others as if there were none of these.
func TestHostileOwnersAreChargedAlone(t *testing.T) {
	t.Parallel()
	page := "<p data-x='" + strings.Repeat("a", 4<<20) + "'>tea <b id=price>12</b>"
	const sets = 8
	var notices []any
	toldOf := func(f *fixture, body string) (ids []string) {
		f.Helper()
		got := f.match(f.fetched(body, nil, reached(0, f.urd("whole", start, ""))))
		notices = got.Out["notices"]
		for _, aci := range got.acis {
			ids = append(ids, aci.URD)
		}
		slices.Sort(ids)
		if over := body == page; over != (got.Counters["unselectable"] > 0) {
			f.Errorf("unselectable: %d", got.Counters["unselectable"])
		}
		return ids
	}
	mallory := func(f *fixture) {
		for set := range sets {
			f.urd("mallory", start, "", costly(set), named(fmt.Sprint("mallory", set)))
		}
	}
	alone, among := newFixture(t), newFixture(t)
	mallory(alone)
	mallory(among)
	others := []string{"eleni", "whole"}
	among.urd("eleni", start, "", selects("css", "#price"))
	for set := range sets { // the same rules, each of another owner
		owner := fmt.Sprint("nikos", set)
		among.urd(owner, start, "", costly(set))
		others = append(others, owner)
	}
	first := toldOf(alone, page)
	if len(notices) != 1 {
		t.Fatalf("%d notices", len(notices))
	}
	if n := notices[0].(*webrace.Notice); n.Owner != "mallory" || n.State != webrace.SourceTooCostly || !strings.Contains(n.Reason, "more steps") {
		t.Errorf("notice %+v", n)
	}
	some := slices.DeleteFunc(slices.Clone(first), func(id string) bool { return id == "whole" })
	if len(some) == 0 || len(some) == sets {
		t.Errorf("mallory is told by %v: the test tests nothing", some)
	}
	want := slices.Sorted(slices.Values(append(others, some...)))
	if got := toldOf(among, page); !slices.Equal(got, want) {
		t.Errorf("told by %v, want %v", got, want)
	}
	if got := toldOf(alone, "<p>tea"); len(got) != sets+1 {
		t.Errorf("of a small page told by %v", got)
	}
}

// spent keeps who is told, and who is given notice.
type spent struct {
	pipeline.Emitter
	told    []string // ids of URDs
	notices []string // their owners
}

func (s *spent) EmitTo(_ context.Context, _ string, it *pipeline.Item) error {
	s.notices = append(s.notices, it.Value.(*webrace.Notice).Owner)
	return nil
}

// TestConditionsOnNumbersAreCharged lets an owner have four conditions, and enough left on a page for two: two are
// told, the same ones whoever else is asked, and the others as if there were none of these.
func TestConditionsOnNumbersAreCharged(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	const condition = "number < 100 and all(1..1000, # > 0)" // which takes 8,000 steps, and reading the number some more
	toldOf := func(others bool) *spent {
		f := newFixture(t)
		crawl := f.urd("all", start, "", selects("css", "#price"))
		for i := range 4 {
			f.urd("mallory", start, "", selectsWhen("#price", condition), named(fmt.Sprint("mallory", i)))
		}
		if others {
			f.urd("eleni", start, "", selectsWhen("#price", condition))
			f.urd("nikos", start, "", selectsWhen("#price", "number < 100"))
		}
		env := pipeline.NewEnv("p", "keyword-filter", f.resources)
		made, err := newStage(f.options, env)
		if err != nil {
			t.Fatal(err)
		}
		a, err := loadAudience(t.Context(), f.control, f.options, env)
		if err != nil {
			t.Fatal(err)
		}
		d := f.fetched(offer(1, "12", ""), nil, reached(0, crawl))
		out := &spent{}
		item := pipeline.NewItem(d, func(pipeline.Outcome) {})
		m := &matching{stage: made.(*stage), audience: a, document: d, item: item, out: out}
		left := selection.NewBudget()
		left.Spend(left.Left() - 20_000)
		m.numbers.document = selection.Open(d.URL, d.Body, d.MediaType, d.Charset, d.Text)
		m.numbers.owners = &ownerBudgets{a.urds, map[string]*selection.Budget{"mallory": left}}
		for _, urd := range a.urds.All() {
			tell, err := m.tells(t.Context(), urd)
			if err != nil {
				t.Fatal(err)
			}
			if tell {
				out.told = append(out.told, urd.ID)
			}
		}
		if n := env.Counter("unselectable").Load(); n != 2 {
			t.Errorf("unselectable: %d", n)
		}
		return out
	}
	mallorys := func(ids []string) (some []string) {
		for _, id := range ids {
			if strings.HasPrefix(id, "mallory") {
				some = append(some, id)
			}
		}
		slices.Sort(some)
		return some
	}
	alone, among := toldOf(false), toldOf(true)
	if !slices.Equal(alone.notices, []string{"mallory"}) || !slices.Equal(among.notices, alone.notices) {
		t.Errorf("notices to %v and %v", alone.notices, among.notices)
	}
	if some := mallorys(alone.told); len(some) != 2 || !slices.Equal(some, mallorys(among.told)) {
		t.Errorf("mallory is told by %v alone, and by %v among others", some, mallorys(among.told))
	}
	if n := len(among.told); n != 5 || !slices.Contains(among.told, "eleni") || !slices.Contains(among.told, "nikos") {
		t.Errorf("told by %v", among.told)
	}
	// The stage itself hands each owner a budget.
	f := newFixture(t)
	crawl := f.urd("dear", start, "", selectsWhen("#price", "let a = 1..2000; all(a, all(a, # > 0))"))
	if got := f.match(f.fetched(offer(1, "12", ""), nil, reached(0, crawl))); len(got.acis) != 0 || len(got.Out["notices"]) != 1 || got.Counters["unselectable"] != 1 {
		t.Errorf("a condition beyond all budgets: told %v, %d notices", got.told(), len(got.Out["notices"]))
	}
}
