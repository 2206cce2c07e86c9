package keywordfilter

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

func selects(language, text string) func(*xmlschema.URD) {
	return func(u *xmlschema.URD) { u.Select = append(u.Select, xmlschema.Rule{Language: language, Text: text}) }
}

func ignores(language, text string) func(*xmlschema.URD) {
	return func(u *xmlschema.URD) { u.Ignore = append(u.Ignore, xmlschema.Rule{Language: language, Text: text}) }
}

// offer is a page of a shop, with a clock and an advertisement.
func offer(minute int, price, ad string) string {
	return fmt.Sprintf(`<title>Boat</title><p>It is 12:%02d, and the boat costs <b id=price>%s €</b>.<div class=ad><p>Buy %s!</div><p>A fine boat.`, minute, price, ad)
}

// tellsAfter goes through versions of a page, and reports of each which owners are told.
func (f *fixture) tellsAfter(reach []webrace.Reach, versions ...string) (all [][]string, last result) {
	f.Helper()
	var visit *webrace.Visit
	for _, body := range versions {
		last = f.match(f.fetched(body, visit, reach))
		visit = &last.visit
		all = append(all, last.told())
	}
	return all, last
}

func TestAURDIsToldOfThePartItSelects(t *testing.T) {
	for _, audience := range []string{"requesters", "everyone"} {
		t.Run(audience, func(t *testing.T) {
			f := newFixture(t)
			f.options.Audience = audience
			whole := f.urd("whole", start, "")
			f.urd("price", start, "", selects("css", "#price"))
			f.urd("same", start, "", selects("css", "#price"))
			f.urd("sum", start, "", selects("regex", `costs [\d.]+`))
			f.urd("ad", start, "laptop", selects("xpath", "//div[@class='ad']"))
			f.urd("adless", start, "", ignores("css", ".ad"), ignores("regex", `\d+:\d+`))
			f.urd("adless-boats", start, "laptop", ignores("css", ".ad"))
			f.urd("first", start, "", selects("css", "#price"), scope("first"))
			f.urd("page", start, "", selects("css", "#price"), scope("page"))
			f.urd("nothing", start, "", selects("css", "#nothing"))
			got, last := f.tellsAfter(reached(0, whole),
				offer(1, "10", "a lamp"), offer(2, "10", "a laptop"), offer(3, "12", "a laptop"), offer(4, "10", "a lamp"),
				offer(5, "10", "a chair"), "<title>Boat</title>Sold.", offer(6, "10", "a chair"), offer(7, "13", "a chair"))
			want := []string{
				"[adless first page price same sum whole]", "[ad whole]", "[adless page price same sum whole]", "[adless page price same sum whole]", "[whole]", "[adless whole]",
				"[adless whole]", // what was selected was not there, which is no state
				"[adless page price same sum whole]",
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("told\n%v, want\n%v", got, want)
			}
			for _, aci := range last.acis {
				if aci.Owner == "price" && (aci.Summary != "[−10] «13» €" || aci.Title != "Boat" || aci.Docbase.Version != 8) {
					t.Errorf("%+v", aci)
				}
			}
			if last.Counters["selected_nothing"] != 1 {
				t.Errorf("counters %v", last.Counters)
			}
		})
	}
}

func TestAKeywordMustBeInThePart(t *testing.T) {
	f := newFixture(t)
	eleni := f.urd("eleni", start, "fine boat", selects("css", "p"), ignores("css", ".ad"))
	f.urd("nikos", start, "lamp", ignores("css", ".ad"))
	f.urd("prefix", start+"*", "lamp", selects("css", ".ad"))
	first := f.mustTell(f.match(f.fetched(offer(1, "10", "a lamp"), nil, reached(0, eleni))), "eleni", "prefix")
	f.mustTell(f.match(unchanged(first.visit, reached(0, eleni))))
	// a URD that comes later is shown the part as it is stored, and no other URD is asked
	f.urd("late", start, "12", selects("regex", `\d+:\d+`), threshold(0))
	late := f.mustTell(f.match(unchanged(first.visit, reached(0, eleni))), "late")
	if late.acis[0].Summary != "«12»:01" || late.Counters["matched"] != 1 {
		t.Errorf("%q, counters %v", late.acis[0].Summary, late.Counters)
	}
	f.mustTell(f.match(unchanged(late.visit, reached(0, eleni))))
	// as is one whose rules changed
	f.urd("nikos", start, "lamp", ignores("css", "#price"))
	f.mustTell(f.match(unchanged(late.visit, reached(0, eleni))), "nikos")
}

func TestTheSecondCrawlOfARoundIsShownWhatIsNewToItInThePart(t *testing.T) {
	f := newFixture(t)
	eleni, nikos := f.urd("eleni", start, "", selects("css", "#price")), f.urd("nikos", start+"other", "", selects("css", "#price"))
	both := reached(0, eleni, nikos)
	first := f.mustTell(f.match(f.fetched(offer(1, "10", "a"), nil, both)), "eleni", "nikos")
	edited := f.mustTell(f.match(f.fetched(offer(2, "12", "b"), &first.visit, reached(0, eleni))), "eleni")
	again := f.mustTell(f.match(f.fetched(offer(3, "12", "c"), &edited.visit, reached(0, eleni))))
	f.mustTell(f.match(unchanged(again.visit, reached(0, nikos))), "nikos")
}

func TestARemovedVersionIsStoodInForByTheBaseline(t *testing.T) {
	f := newFixture(t)
	eleni := f.urd("eleni", start, "", selects("css", "p"))
	first := f.mustTell(f.match(f.fetched(html("one", "two"), nil, reached(0, eleni))), "eleni")
	second := f.fetched(html("one", "two", "three"), &first.visit, reached(0, eleni))
	f.collect()
	got := f.mustTell(f.match(second), "eleni")
	if got.acis[0].Summary != "«three»" {
		t.Errorf("told of %q", got.acis[0].Summary)
	}
	third := f.fetched(html("two", "three"), &got.visit, reached(0, eleni))
	f.collect()
	f.mustTell(f.match(third))
}

// collect removes all versions but the latest.
func (f *fixture) collect() {
	f.Helper()
	_, err := f.objects.Collect(f.Context(), objects.CollectOptions{Verdict: func(_ context.Context, versions []objects.Version) ([]objects.Verdict, error) {
		verdicts := make([]objects.Verdict, len(versions))
		for i := range len(versions) - 1 {
			verdicts[i] = objects.Remove
		}
		return verdicts, nil
	}})
	if err != nil {
		f.Fatal(err)
	}
	versions, err := f.objects.Versions(page)
	if err != nil || len(versions) != 1 {
		f.Fatal(versions, err)
	}
}

func TestRulesThatCannotBeAppliedHarmNobody(t *testing.T) {
	f := newFixture(t)
	eleni := f.urd("eleni", start, "", selects("regex", "[ab]{900}"))
	f.urd("nikos", start, "", selects("css", "p"))
	f.urd("maria", start, "")
	got := f.mustTell(f.match(f.fetched("<p>"+strings.Repeat("x ", 200_000), nil, reached(0, eleni))), "maria", "nikos")
	if got.Counters["unselectable"] != 1 {
		t.Errorf("counters %v", got.Counters)
	}
}

func TestWhoIsAskedFollowsTheURDsWithRules(t *testing.T) {
	f := newFixture(t)
	eleni := f.urd("eleni", start, "", selects("css", "#price"))
	env := pipeline.NewEnv("p", "keyword-filter", f.resources)
	before, err := loadAudience(f.Context(), f.control, defaults, env)
	if err != nil {
		t.Fatal(err)
	}
	f.urd("nikos", start, "", selects("css", "#price"))
	f.urd("eleni", start, "")
	after, err := before.revised(f.Context(), f.control, env)
	if err != nil {
		t.Fatal(err)
	}
	d := f.fetched(offer(1, "10", "a"), nil, reached(0, eleni))
	for _, c := range []struct {
		a    *audience
		want string
	}{{before, "[eleni]"}, {after, "[nikos]"}} {
		var ids []string
		_, parts := c.a.recipientsOf(d, nil)
		for _, g := range parts {
			for _, to := range g.Recipients {
				ids = append(ids, to.ID)
			}
		}
		if fmt.Sprint(ids) != c.want {
			t.Errorf("%v, want %s", ids, c.want)
		}
	}
	if wholes, _ := after.recipientsOf(d, nil); len(wholes) != 1 || len(wholes[0].Recipients) != 1 || env.Counters()["interests"] != 2 {
		t.Errorf("%+v, counters %v", wholes, env.Counters())
	}
	if err := f.control.Delete(f.Context(), "nikos"); err != nil {
		t.Fatal(err)
	}
	gone, err := after.revised(f.Context(), f.control, env)
	if err != nil {
		t.Fatal(err)
	}
	if _, parts := gone.recipientsOf(d, nil); len(parts) > 0 {
		t.Error(parts)
	}
}
