package keywordfilter

import (
	"fmt"
	"slices"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/xmlschema"
)

func selectsWhen(css, when string) func(*xmlschema.URD) {
	return func(u *xmlschema.URD) {
		u.Select = append(u.Select, xmlschema.Rule{Language: xmlschema.RuleCSS, Text: css, When: when})
	}
}

func TestAnOwnerIsToldOfANumberThatMeetsTheCondition(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	low := f.urd("low", start, "", selectsWhen("#price", "number < 100"))
	f.urd("either", start, "", selectsWhen("#price", "number < 100 or change < -0.05"))
	f.urd("lamps", start, "lamp", selectsWhen("#price", "number < 100"), selects("css", ".ad"))
	f.urd("all", start, "", selects("css", "#price"))
	f.urd("wrong", start, "", selectsWhen("#price", `number < meta["x"]`))
	var visit *webrace.Visit
	for i, c := range []struct{ page, want string }{
		{offer(1, "1.20", ""), "[all either low]"},
		{offer(2, "120", ""), "[all]"},
		{offer(3, "1", ""), "[all either low]"},
		{offer(4, "1", ""), "[]"},
		{offer(5, "130", ""), "[all]"},
		{offer(6, "1", ""), "[all either low]"}, // it had risen
		{offer(7, "1.00", ""), "[all]"},         // the same number
		{"<title>Boat</title>Sold.", "[]"},
		{offer(8, "1.00", ""), "[]"}, // a part that is not there is no state
		{offer(9, "sold", ""), "[all]"},
		{offer(10, "1", ""), "[all either low]"},
		{offer(11, "120", "a lamp"), "[all]"}, // the word alone will not do
		{offer(12, "2", "another lamp"), "[all either lamps low]"},
	} {
		d := f.fetched(c.page, visit, reached(0, low))
		got := f.match(d)
		if again := f.match(d); !slices.Equal(got.told(), again.told()) {
			t.Errorf("version %d: told %v, and %v when matched again", i+1, got.told(), again.told())
		}
		if told := got.told(); fmt.Sprint(told) != c.want {
			t.Errorf("version %d: told %v, want %s", i+1, told, c.want)
		}
		visit = &got.visit
	}
}

// Change is relative to what the owner was told last, or saw first: small steps add up.
func TestSmallChangesAddUp(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	fall := f.urd("fall", start, "", selectsWhen("#price", "change < -0.05"))
	f.urd("leap", start, "", selectsWhen("#price", "abs(number - last) >= 10"))
	got, last := f.tellsAfter(reached(0, fall),
		offer(1, "120", ""), offer(2, "115", ""), offer(3, "113", ""), offer(4, "108", ""), offer(5, "107", ""), offer(6, "131", ""), offer(7, "107", ""), offer(8, "90", ""))
	want := "[[] [] [fall] [leap] [fall] [leap] [leap] [fall leap]]"
	if fmt.Sprint(got) != want {
		t.Errorf("told %v, want %s", got, want)
	}
	if len(last.visit.Numbers) != 2 {
		t.Errorf("remembered %+v", last.visit.Numbers)
	}
	// another condition is compared with what is there when it is asked first
	f.urd("fall", start, "", selectsWhen("#price", "change < -0.1"))
	fresh, _ := f.tellsAfter(reached(0, fall), offer(9, "91", ""), offer(10, "80", ""))
	if fmt.Sprint(fresh) != "[[] [fall leap]]" {
		t.Errorf("told %v after it has changed", fresh)
	}
}

func TestNumbersAreReadInTheLanguageOfThePage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	urd := f.urd("rich", start, "", selectsWhen("#price", "number > 1000"))
	for language, want := range map[string]int{"de": 1, "en": 0} {
		d := f.fetched(offer(1, "1.234", language), nil, reached(0, urd))
		document := *d
		document.Language = language
		if got := f.match(&document); len(got.acis) != want {
			t.Errorf("%s: told %v", language, got.told())
		}
	}
}
