package keywordfilter

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/extract"
	"github.com/webrace/webrace/internal/match"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

func TestConformance(t *testing.T) {
	for _, who := range []string{"requesters", "everyone"} {
		t.Run(who, func(t *testing.T) {
			f := newFixture(t)
			f.options.Audience = who
			eleni := f.urd("eleni", start, "ibm")
			first := f.match(f.fetched(html("ibm"), nil, reached(0, eleni)))
			nikos := f.urd("nikos", start+"other", "ibm", levels(2))
			stagetest.Run(t, stagetest.Case{Type: "keyword-filter", Options: f.options, Resources: f.resources, Inputs: []any{
				f.fetched(html("ibm", "more"), &first.visit, reached(0, eleni)), unchanged(first.visit, reached(0, eleni)),
				unchanged(first.visit, reached(1, eleni, nikos)), f.fetched(html("none"), nil, nil),
			}})
		})
	}
}

func TestOwnersOfOneCrawlGetTheirOwnPagesAlone(t *testing.T) {
	for _, c := range []struct {
		distance int
		want     []string
	}{
		{0, []string{"all", "one", "three", "two"}}, {1, []string{"all", "three", "two"}}, {2, []string{"all", "three"}}, {3, []string{"all"}},
	} {
		f := newFixture(t)
		one := f.urd("one", start, "ibm", levels(1))
		for owner, n := range map[string]int{"two": 2, "three": 3, "all": 0} {
			if u := f.urd(owner, start, "ibm", levels(n)); u.Crawl.ID != one.Crawl.ID {
				t.Fatalf("%s has a crawl of its own", owner)
			}
		}
		f.urd("stranger", "https://example.com/", "ibm", levels(0))
		f.mustTell(f.match(f.fetched(html("ibm"), nil, reached(c.distance, one))), c.want...)
	}
}

func TestAnAlertSaysWhatWasFound(t *testing.T) {
	f := newFixture(t)
	f.options.Summary = 20
	d := f.fetched(html("nothing", "here is IBM and more of the words"), nil, reached(0, f.urd("eleni", start, "ibm")))
	got := f.match(d)
	f.mustTell(got, "eleni")
	aci := got.acis[0]
	if aci.URI != page || aci.Title != "T" || !strings.Contains(aci.Summary, "«IBM»") || len(aci.Summary) > 20 || aci.URD != "eleni" ||
		aci.Docbase.Digest != d.Digest.String() || aci.Docbase.Version != 1 || aci.Docbase.Since != 0 || !aci.UpdateTime.Equal(d.At) || aci.FileSize != len(d.Body) {
		t.Errorf("%+v", aci)
	}
	if got.Counters["alerts"] != 1 || got.Counters["matched"] != 1 || got.Counters["interests"] != 1 || got.Counters["recalled"] != 0 {
		t.Errorf("counters %v", got.Counters)
	}
}

// TestScopeOfChange goes through the versions of a page with one request, and checks which alert.
func TestScopeOfChange(t *testing.T) {
	type version struct {
		body  string
		alert bool
	}
	ibm, ibmAndMore, more, ibmTwice := html("ibm"), html("ibm", "more"), html("more"), html("ibm", "ibm again")
	for name, c := range map[string]struct {
		change   []func(*xmlschema.URD)
		keyword  string
		versions []version
	}{
		"added": {nil, "ibm", []version{
			{ibm, true}, {ibm, false}, {ibmAndMore, false}, {ibmTwice, true}, {ibm, false}, {more, false}, {ibm, true}, // which it comes to say again
		}},
		"once":                {[]func(*xmlschema.URD){remember(5)}, "ibm", []version{{ibm, true}, {more, false}, {ibm, false}, {ibmTwice, true}}},
		"rotating":            {nil, "ibm", []version{{ibm, true}, {ibmTwice, true}, {html("ibm again"), false}, {ibmTwice, false}, {ibmAndMore, false}}},
		"added, not at first": {nil, "ibm", []version{{more, false}, {ibmAndMore, true}, {more, false}}},
		"page":                {[]func(*xmlschema.URD){scope("page")}, "ibm", []version{{ibm, true}, {ibm, false}, {ibmAndMore, true}, {more, false}, {ibm, true}}},
		"first":               {[]func(*xmlschema.URD){scope("first")}, "ibm", []version{{ibm, true}, {ibmAndMore, false}, {ibmTwice, false}}},
		"first, but then not": {[]func(*xmlschema.URD){scope("first")}, "ibm", []version{{more, false}, {ibm, false}}},
		"any change":          {nil, "", []version{{more, true}, {more, false}, {ibmAndMore, true}, {ibm, false}, {html("new"), true}}},
		"nonfilter":           {[]func(*xmlschema.URD){process("nonfilter")}, "ibm", []version{{more, true}, {html("new"), true}, {html("new"), false}}},
		"a threshold":         {[]func(*xmlschema.URD){threshold(90)}, "ibm", []version{{ibm, false}, {html(strings.Repeat("ibm ", 40)), true}}},
		"no threshold":        {[]func(*xmlschema.URD){threshold(0)}, "ibm", []version{{html("ibm " + strings.Repeat("word ", 3000)), true}, {more, false}}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			reach := reached(0, f.urd("eleni", start, c.keyword, c.change...))
			var visit *webrace.Visit
			for i, v := range c.versions {
				got := f.match(f.fetched(v.body, visit, reach))
				if (len(got.acis) == 1) != v.alert || len(got.acis) > 1 {
					t.Errorf("version %d: %d alerts", i, len(got.acis))
				}
				visit = &got.visit
			}
		})
	}
}

func TestOnAnUnchangedDocumentOnlyNewerRequestsAreMatched(t *testing.T) {
	f := newFixture(t)
	eleni := f.urd("eleni", start, "ibm")
	f.urd("nikos", start, "ibm")
	first := f.mustTell(f.match(f.fetched(html("ibm"), nil, reached(0, eleni))), "eleni", "nikos")

	again := f.mustTell(f.match(unchanged(first.visit, reached(0, eleni))))
	if again.Counters["recalled"] != 0 || again.Counters["matched"] != 0 {
		t.Errorf("nobody is new, and the work was done: %v", again.Counters)
	}
	if !reflect.DeepEqual(again.visit, first.visit) {
		t.Errorf("the visit changes from %+v to %+v", first.visit, again.visit)
	}

	f.urd("maria", start, "ibm")
	f.urd("nikos", start, "mainframe") // no longer ibm
	f.urd("petros", start, "mainframe")
	newer := f.mustTell(f.match(unchanged(first.visit, reached(0, eleni))), "maria")
	if newer.Counters["recalled"] != 1 || newer.Counters["matched"] != 3 {
		t.Errorf("counters %v", newer.Counters)
	}
	if aci := newer.acis[0]; aci.Title != "T" || aci.Docbase.Version != 1 || aci.FileSize == 0 || !strings.Contains(aci.Summary, "«ibm»") || aci.Format != "html" {
		t.Errorf("of a stored document: %+v", aci)
	}
	f.mustTell(f.match(unchanged(newer.visit, reached(0, eleni))))
}

// An earlier release took no text from noscript, and remembered none. On the page nothing of it is new.
func TestWhatIsOnlyReadOtherwiseIsNoNews(t *testing.T) {
	f := newFixture(t)
	eleni := f.urd("eleni", start, "ibm")
	const silent = "<noscript><p>ibm</noscript>"
	first := f.match(f.fetched(html("about", silent), nil, reached(0, eleni)))
	asOfOld, _ := match.Baseline(nil).Update(f.fetched(html("about"), nil, nil).Text)
	first.visit.Baseline, first.visit.Reading = asOfOld, 0
	second := f.mustTell(f.match(f.fetched(html("about", silent, "more"), &first.visit, reached(0, eleni))))
	if second.visit.Reading != extract.Revision {
		t.Errorf("the visit is of revision %d", second.visit.Reading)
	}
	third := f.mustTell(f.match(f.fetched(html("about", silent, "more of ibm"), &second.visit, reached(0, eleni))), "eleni")
	if third.Counters["recalled"] != 0 {
		t.Error("the versions of a visit that needs no other reading are read again")
	}
}

// Of a version that was removed there is nothing but the blocks of an earlier reading, with which none can be compared.
func TestAVersionThatCannotBeReadAgainIsTakenForKnown(t *testing.T) {
	f := newFixture(t)
	eleni := f.urd("eleni", start, "ibm")
	first := f.mustTell(f.match(f.fetched(html("about ibm"), nil, reached(0, eleni))), "eleni")
	first.visit.Baseline, _ = match.Baseline(nil).Update(f.fetched(html("about", "ibm"), nil, nil).Text)
	first.visit.Reading = 0
	first.visit.Version += 100 // which is not there
	for i := range first.visit.Shown {
		first.visit.Shown[i].Version += 100
	}
	second := f.mustTell(f.match(f.fetched(html("about ibm", "more"), &first.visit, reached(0, eleni))))
	f.mustTell(f.match(f.fetched(html("about ibm", "more", "and more of ibm"), &second.visit, reached(0, eleni))), "eleni")
}

func TestACrawlThatNewlyComesToADocumentIsShownAllOfIt(t *testing.T) {
	f := newFixture(t)
	eleni, nikos := f.urd("eleni", start, "ibm"), f.urd("nikos", start+"other", "ibm", levels(2))
	first := f.mustTell(f.match(f.fetched(html("ibm"), nil, reached(0, eleni))), "eleni")
	second := f.mustTell(f.match(unchanged(first.visit, reached(1, nikos))), "nikos")
	f.mustTell(f.match(unchanged(second.visit, reached(1, eleni, nikos))))

	// comes nearer: within the levels of a URD for which it was too far
	f.urd("maria", start+"other", "ibm", levels(1))
	third := f.mustTell(f.match(unchanged(second.visit, reached(1, nikos))))
	f.mustTell(f.match(unchanged(third.visit, reached(0, nikos))), "maria")
}

// Two crawls come to a page that was edited, in the same round: the first has it fetched, the second is
// served from the store, and by then the visit knows the edited version.
func TestTheSecondCrawlOfARoundIsShownWhatIsNewToIt(t *testing.T) {
	f := newFixture(t)
	eleni, nikos := f.urd("eleni", start, "ibm"), f.urd("nikos", start+"other", "ibm")
	both := reached(0, eleni, nikos)
	first := f.mustTell(f.match(f.fetched(html("about ibm"), nil, both)), "eleni", "nikos")
	second := f.mustTell(f.match(f.fetched(html("about ibm", "unrelated"), &first.visit, both)))
	edited := f.mustTell(f.match(f.fetched(html("about ibm", "unrelated", "more of ibm"), &second.visit, reached(0, eleni))), "eleni")
	late := f.mustTell(f.match(unchanged(edited.visit, reached(0, nikos))), "nikos")
	if summary := late.acis[0].Summary; !strings.Contains(summary, "more of «ibm»") {
		t.Errorf("the second crawl is told of %q, not of what was added", summary)
	}
	f.mustTell(f.match(unchanged(late.visit, both))) // and no other owner again

	// the same, with text that the second crawl knows from before the version it was shown last: the page comes to say
	// it again
	gone := f.match(f.fetched(html("nothing"), &late.visit, both))
	back := f.mustTell(f.match(f.fetched(html("about ibm"), &gone.visit, reached(0, eleni))), "eleni")
	f.mustTell(f.match(unchanged(back.visit, reached(0, nikos))), "nikos")

	// a request that changed in between is new, and shown all of it
	f.urd("nikos", start+"other", "about")
	f.mustTell(f.match(unchanged(back.visit, reached(0, nikos))), "nikos")
}

func TestANewRequestIsShownWhatIsOldInAChangedDocument(t *testing.T) {
	f := newFixture(t)
	eleni := f.urd("eleni", start, "ibm")
	first := f.match(f.fetched(html("ibm"), nil, reached(0, eleni)))
	f.urd("maria", start, "ibm")
	f.urd("petros", start, "ibm", scope("first"))
	f.mustTell(f.match(f.fetched(html("ibm", "more"), &first.visit, reached(0, eleni))), "maria", "petros")
}

func TestRepeatingARequestTellsNobodyTwice(t *testing.T) {
	f := newFixture(t)
	eleni := f.urd("eleni", start, "ibm")
	f.urd("nikos", start, "", levels(2))
	f.urd("maria", start, "ibm", scope("page"))
	f.urd("prefix", start+"*", "ibm")
	first := f.match(f.fetched(html("ibm"), nil, reached(0, eleni)))
	if len(first.acis) != 4 {
		t.Fatalf("told %q", first.told())
	}
	// the process dies between the effects and the end of the request: nothing was learned
	again := f.match(f.fetched(html("ibm"), nil, reached(0, eleni)))
	if !slices.Equal(again.ids(), first.ids()) {
		t.Error("the first visit, repeated, makes other annotations")
	}
	second := f.match(f.fetched(html("ibm", "new ibm"), &first.visit, reached(0, eleni)))
	repeated := f.match(f.fetched(html("ibm", "new ibm"), &first.visit, reached(0, eleni)))
	if !slices.Equal(repeated.ids(), second.ids()) || len(second.acis) != 4 {
		t.Errorf("the second visit, repeated, makes other annotations: %q, %q", repeated.told(), second.told())
	}
	for _, id := range second.ids() {
		if slices.Contains(first.ids(), id) {
			t.Error("something new has the id of an annotation that was made before")
		}
	}
}

// The cache had stored version 2, and the process died before the request was done.
func TestWhatTheCacheKnowsAlreadyStillAlerts(t *testing.T) {
	f := newFixture(t)
	eleni := f.urd("eleni", start, "ibm")
	first := f.match(f.fetched(html("more"), nil, reached(0, eleni)))
	lost := f.fetched(html("more", "ibm"), &first.visit, reached(0, eleni))
	repeated := f.fetched(html("more", "ibm"), &first.visit, reached(0, eleni))
	if !lost.Changed || repeated.Changed || repeated.Version != 2 {
		t.Fatalf("%+v", repeated)
	}
	f.mustTell(f.match(repeated), "eleni")

	recalled := unchanged(first.visit, reached(0, eleni)) // the same, when the server answers 304
	recalled.Digest, recalled.Version = lost.Digest, 2
	got := f.mustTell(f.match(recalled), "eleni")
	if got.Counters["recalled"] != 1 {
		t.Errorf("counters %v", got.Counters)
	}
	f.mustTell(f.match(unchanged(got.visit, reached(0, eleni))))
}

// A page was stored at its new URL before it was known that it had moved there, and the process died before anybody was
// shown it. Under the number of that version, the visit knows what the page was at its former URL.
func TestAMoveIsToldThoughItsPageWasStoredBeforeItWasKnown(t *testing.T) {
	const to = start + "new"
	f := newFixture(t)
	eleni := f.urd("eleni", start, "ibm")
	f.urd("any", start, "", scope("page"))
	first := f.mustTell(f.match(f.fetched(html("old ibm", "went"), nil, reached(0, eleni))), "any", "eleni")
	now := html("old ibm", "new ibm")
	if lost := f.fetchedFrom(to, "", now, nil, reached(0, eleni)); lost.Version != 1 {
		t.Fatalf("its version there is %d", lost.Version)
	}
	visit := first.visit
	visit.Former = webrace.Former{URL: page, Version: visit.Version}
	got := f.mustTell(f.match(f.fetchedFrom(to, "", now, &visit, reached(0, eleni))), "any", "eleni")
	for _, aci := range got.acis {
		if aci.Docbase.Since != 1 || !strings.Contains(aci.Summary, "new") || strings.Contains(aci.Summary, "old") {
			t.Errorf("%s is told %q, since version %d", aci.Owner, aci.Summary, aci.Docbase.Since)
		}
	}
	f.mustTell(f.match(unchanged(got.visit, reached(0, eleni))))
}

func TestPrefixRequestsAreToldOfWhatOthersBring(t *testing.T) {
	f := newFixture(t)
	eleni := f.urd("eleni", start, "mainframe")
	f.urd("page", page+"*", "ibm")
	f.urd("site", start+"*", "ibm")
	f.urd("web", "*", "ibm")
	f.urd("elsewhere", "https://example.com/*", "ibm")
	f.urd("below", page+"/*", "ibm")
	first := f.mustTell(f.match(f.fetched(html("ibm"), nil, reached(0, eleni))), "page", "site", "web")
	f.mustTell(f.match(unchanged(first.visit, reached(0, eleni))))
	f.mustTell(f.match(f.fetched(html("ibm", "new ibm"), &first.visit, reached(7, eleni))), "page", "site", "web")
	f.urd("late", "https://*", "ibm")
	f.mustTell(f.match(unchanged(first.visit, reached(0, eleni))), "late")
}

// Who watches a prefix has seen a document that moved for good if it lay under that before.
func TestAPageThatMovesUnderAPrefixIsNewToWhoWatchesThat(t *testing.T) {
	for _, watchers := range []int{1, mostFew + 1} {
		f := newFixture(t)
		eleni := f.urd("eleni", start, "ibm")
		var told []string
		for i := range watchers {
			f.urd(fmt.Sprintf("site-%03d", i), start+"*", "ibm")
			f.urd(fmt.Sprintf("news-%03d", i), start+"news/*", "ibm")
			told = append(told, fmt.Sprintf("news-%03d", i))
		}
		first := f.match(f.fetched(html("ibm"), nil, reached(0, eleni)))
		visit := first.visit
		visit.Former = webrace.Former{URL: page, Version: visit.Version}
		there := f.fetchedFrom(start+"news/page", "", html("ibm"), &visit, reached(0, eleni))
		if there.Version != 2 {
			t.Errorf("its version there is %d", there.Version)
		}
		f.mustTell(f.match(there), told...)
	}
}

func TestEveryoneIsToldOfEveryDocument(t *testing.T) {
	f := newFixture(t)
	f.options.Audience = "everyone"
	eleni := f.urd("eleni", start, "ibm", levels(1))
	f.urd("stranger", "https://example.com/", "ibm")
	f.urd("first", "https://example.com/", "ibm", scope("first"))
	f.urd("page", "https://example.com/", "ibm", scope("page"))
	f.urd("change", "https://example.com/", "")
	f.urd("site", start+"*", "ibm")
	f.urd("elsewhere", "https://example.com/*", "ibm")
	f.urd("other", "https://example.com/", "mainframe")
	first := f.mustTell(f.match(f.fetched(html("ibm"), nil, reached(5, eleni))), "change", "eleni", "first", "page", "site", "stranger")
	f.mustTell(f.match(unchanged(first.visit, reached(0, eleni))))
	f.mustTell(f.match(f.fetched(html("ibm", "x"), &first.visit, nil)), "change", "page")
	second := f.mustTell(f.match(f.fetched(html("ibm", "x ibm"), &first.visit, nil)), "change", "eleni", "page", "site", "stranger")

	f.urd("late", "https://example.com/", "ibm")
	f.urd("elsewhere", "https://example.com/*", "") // changed, and still not concerned
	f.mustTell(f.match(unchanged(second.visit, nil)), "late")
	f.mustTell(f.match(f.fetched(html("ibm", "y"), &second.visit, nil)), "change", "late", "page")
}

func TestWhatWasFetchedWithCredentialsIsForItsRequesters(t *testing.T) {
	for _, who := range []string{"requesters", "everyone"} {
		f := newFixture(t)
		f.options.Audience = who
		eleni := f.urd("eleni", start, "ibm", secret("eleni-at-example"))
		f.urd("partner", start, "ibm", secret("eleni-at-example"), levels(2))
		f.urd("public", start, "ibm")
		f.urd("prefix", start+"*", "ibm")
		first := f.mustTell(f.match(f.fetched(html("ibm"), nil, reached(0, eleni))), "eleni", "partner")
		f.urd("late", start+"*", "ibm")
		f.mustTell(f.match(unchanged(first.visit, reached(0, eleni))))
		f.mustTell(f.match(f.fetched(html("ibm", "ibm again"), &first.visit, reached(1, eleni))), "partner")
	}
}

func TestARequestThatCannotBeMatchedHarmsNobody(t *testing.T) {
	f := newFixture(t)
	eleni := f.urd("eleni", start, "ibm")
	broken := f.urd("broken", start+"private", "!!!", secret("broken-at-example"))
	f.urd("prefix", start+"*", "ibm")
	f.mustTell(f.match(f.fetched(html("ibm"), nil, reached(0, eleni))), "eleni", "prefix")
	// no owner is told of what is fetched with its credentials
	f.mustTell(f.match(f.fetched(html("ibm"), nil, reached(0, broken))))
}

func TestFaultsOfRequestsAreReported(t *testing.T) {
	f := newFixture(t)
	f.urd("broken", start, "!!!")
	f.urd("hopeless", start, "ibm", threshold(99))
	var log bytes.Buffer
	env := pipeline.NewEnv("p", "keyword-filter", f.resources)
	env.Logger = slog.New(slog.NewTextHandler(&log, nil))
	if _, err := loadAudience(t.Context(), f.control, defaults, env); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"left out", "urd=broken", "fault", "urd=hopeless"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, &log)
		}
	}
	if env.Counters()["interests"] != 1 {
		t.Errorf("counters %v", env.Counters())
	}
}

func TestNothingIsLearnedOfADocumentThatIsGone(t *testing.T) {
	f := newFixture(t)
	eleni := f.urd("eleni", start, "ibm")
	visit := webrace.Visit{At: time.Unix(1e9, 0), Version: 4, Digest: webrace.Digest{4}}
	got := stagetest.Try(t, stagetest.Case{
		Type: "keyword-filter", Options: f.options, Resources: f.resources, Inputs: []any{unchanged(visit, reached(0, eleni))},
	})
	if len(got.Failures) != 1 || !errors.Is(got.Failures[0], objects.ErrNotFound) || len(got.Outcomes[0].Learned) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestTheBaselineIsLearnedAlsoWhenNobodyIsTold(t *testing.T) {
	f := newFixture(t)
	eleni := f.urd("eleni", start, "ibm")
	first := f.mustTell(f.match(f.fetched(html("ibm"), nil, nil)))
	if len(first.visit.Baseline) == 0 || first.visit.Revision != eleni.Revision {
		t.Errorf("the visit knows %+v", first.visit)
	}
}

func TestNumbersHaveLimits(t *testing.T) {
	for n, ok := range map[int]bool{-1: false, 0: true, 300: true, mostSummary: true, mostSummary + 1: false} {
		mustValidate(t, Options{Summary: n, Remember: 1}, ok)
	}
	for n, ok := range map[int]bool{-1: false, 0: false, 1: true, 8: true, 9: false} {
		mustValidate(t, Options{Remember: n}, ok)
	}
}

func mustValidate(t *testing.T, o Options, ok bool) {
	t.Helper()
	var fault *pipeline.OptionError
	if err := o.Validate(); (err == nil) != ok || err != nil && !errors.As(err, &fault) {
		t.Errorf("%+v: %v", o, err)
	}
}
