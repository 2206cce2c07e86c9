package keywordfilter

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
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
