package keywordfilter

import (
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/match"
)

// mustSay fails unless these owners are told this, in the order of owner and summary.
func (f *fixture) mustSay(r result, said ...string) result {
	f.Helper()
	summaries := make(map[string]string)
	for _, aci := range r.acis {
		summaries[aci.Owner] = aci.Summary
	}
	if len(r.acis) != len(said)/2 {
		f.Errorf("told %q, want %q", r.told(), said)
	}
	for i := 0; i < len(said); i += 2 {
		if got := summaries[said[i]]; got != said[i+1] {
			f.Errorf("%s is told %q, want %q", said[i], got, said[i+1])
		}
	}
	return r
}

func TestWhoAsksForAnyChangeIsToldWhatChanged(t *testing.T) {
	for _, who := range []string{"requesters", "everyone"} {
		f := newFixture(t)
		f.options.Audience = who
		reach := reached(0, f.urd("added", start, ""))
		f.urd("page", start, "", scope("page"))
		f.urd("words", start, "open")
		var visit *webrace.Visit
		edition := func(paragraphs []string, said ...string) {
			t.Helper()
			got := f.mustSay(f.match(f.fetched(html(paragraphs...), visit, reach)), said...)
			visit = &got.visit
		}
		edition([]string{"we open at 9", "tea is served"}, "added", "we open at 9 · tea is served", "page", "we open at 9 · tea is served", "words", "we «open» at 9")
		edition([]string{"we open at 8", "tea is served"},
			"added", "we open at [−9] «8»", "page", "we open at [−9] «8»", "words", "we «open» at 8")
		edition([]string{"tea is served", "we  open <b>at</b> 8"})    // moved, and marked up
		edition([]string{"tea is served"}, "page", "[−we open at 8]") // nothing was added
		edition([]string{"tea is served", "we open at 8", "all are welcome"},
			"added", "«we open at 8» · «all are welcome»", "page", "«we open at 8» · «all are welcome»", "words", "we «open» at 8")
	}
}

func TestWhatChangedInAPartIsToldOfThatPart(t *testing.T) {
	f := newFixture(t)
	reach := reached(0, f.urd("added", start, "", selects("css", "main")))
	f.urd("page", start, "", scope("page"), selects("css", "main"))
	first := f.match(f.fetched("<p>10:42</p><main><p>tea is 3 euro", nil, reach))
	second := f.match(f.fetched("<p>10:47</p><main><p>tea is 3 euro", &first.visit, reach))
	f.mustSay(second)
	third := f.match(f.fetched("<p>10:49</p><main><p>tea is 4 euro", &second.visit, reach))
	f.mustSay(third, "added", "tea is [−3] «4» euro", "page", "tea is [−3] «4» euro")
}

func TestWithoutTheVersionBeforeItIsToldWhatIsNew(t *testing.T) {
	f := newFixture(t)
	reach := reached(0, f.urd("added", start, ""))
	f.urd("page", start, "", scope("page"))
	first := f.match(f.fetched(html("we open at 9", "tea is served"), nil, reach))
	second := f.fetched(html("tea is served", "all are welcome"), &first.visit, reach)
	f.collect()
	f.mustSay(f.match(second), "added", "«all are welcome»", "page", "«all are welcome»")
}

// What came is told without the version before if nothing went, but not where the document has become one with another.
func TestWhatCameIsToldWithoutTheVersionBefore(t *testing.T) {
	f := newFixture(t)
	reach := reached(0, f.urd("page", start, "", scope("page")))
	first := f.match(f.fetched(html("we open at 9", "tea is served"), nil, reach))
	second := f.fetched(html("all are welcome", "tea is served", "we open at 9", "tea is served"), &first.visit, reach)
	if r := f.mustSay(f.match(second), "page", "«all are welcome»"); r.Counters["recalled"] != 0 {
		t.Errorf("a version is read: %v", r.Counters)
	}
	f.fetchedFrom(start+"former", "", html("we open at 9", "tea is served"), nil, reach)
	united := first.visit
	united.Former = webrace.Former{URL: start + "former", Version: united.Version}
	united.Baseline = match.Baseline(united.Baseline).With(match.Baseline(nil).Compare(&webrace.Text{
		Bytes: []byte("all are welcome"), Blocks: []webrace.Block{{End: 15}},
	}).Next)
	third := f.fetched(html("all are welcome", "tea is served", "we open at 9", "dogs too"), &united, reach)
	if r := f.mustSay(f.match(third), "page", "«all are welcome» · «dogs too»"); r.Counters["recalled"] != 1 {
		t.Errorf("no version is read: %v", r.Counters)
	}
}
