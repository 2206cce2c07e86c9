package keywordfilter

import (
	"slices"
	"testing"

	"github.com/webrace/webrace"
)

const (
	someFeed = `<rss version="2.0"><channel><item><guid>1</guid><title>ibm</title></item></channel></rss>`
	backSoon = "<title>Back soon</title><p>ibm"
)

// A page in the place of a feed stays the same version: whoever has seen the feed, or came since, is told of it in the
// fourth round, and what comes out of the store between is no round.
func TestAPlaceholderIsTakenForTheDocumentAfterThreeRounds(t *testing.T) {
	f := newFixture(t)
	reach := reached(0, f.urd("eleni", start, ""))
	f.urd("nikos", start, "ibm", scope("page"))
	feed := f.mustTell(f.match(f.fetched(someFeed, nil, reach)), "eleni", "nikos")
	last := f.mustTell(f.match(f.fetched(backSoon, &feed.visit, reach)))
	f.urd("maria", start, "soon")
	for range 2 {
		last = f.mustTell(f.match(unchanged(last.visit, reach)))
		stored := unchanged(last.visit, reach)
		stored.Outcome = webrace.Fresh
		last = f.mustTell(f.match(stored))
	}
	if want := (webrace.Placeholder{Rounds: 3, Whole: 1}); last.visit.Placeholder != want || last.visit.Shown[0].Version != 1 {
		t.Errorf("the visit is %+v", last.visit)
	}
	accepted := f.mustTell(f.match(unchanged(last.visit, reach)), "eleni", "maria", "nikos")
	f.mustTell(f.match(unchanged(accepted.visit, reach)))
	f.mustTell(f.match(f.fetched(someFeed, &accepted.visit, reach)), "nikos") // its entry was published before
}

// No bytes are never taken for the document, and a version of it that was removed meanwhile is waited for.
func TestNothingIsNeverTakenForTheDocument(t *testing.T) {
	f := newFixture(t)
	reach := reached(0, f.urd("eleni", start, ""))
	first := f.mustTell(f.match(f.fetched(html("ibm"), nil, reach)), "eleni")
	last := f.mustTell(f.match(f.fetched("", &first.visit, reach)))
	f.collect()
	for range 5 {
		last = f.mustTell(f.match(unchanged(last.visit, reach)))
	}
	f.mustTell(f.match(f.fetched(html("ibm"), &last.visit, reach)))
}

// Who remembers two versions remembers two of the document, also where these are read out of the store again.
func TestAPlaceholderIsNoneOfTheVersionsThatARequestRemembers(t *testing.T) {
	f := newFixture(t)
	eleni, nikos := f.urd("eleni", start, "ibm", remember(2)), f.urd("nikos", start+"other", "ibm", remember(2))
	both := reached(0, eleni, nikos)
	const with, without = `{"maker":"ibm","place":"here"}`, `{"place":"here"}`
	last := f.mustTell(f.match(f.fetched(with, nil, both)), "eleni", "nikos")
	for _, body := range []string{backSoon, without} {
		last = f.mustTell(f.match(f.fetched(body, &last.visit, both)))
	}
	first := f.mustTell(f.match(f.fetched(with, &last.visit, reached(0, eleni))))
	f.mustTell(f.match(unchanged(first.visit, reached(0, nikos))))
}

// What a visit remembers of the last version tells the same as that version does, which is looked up after the visit of
// an earlier release.
func TestWhatAVisitRemembersIsWhatIsLookedUp(t *testing.T) {
	f := newFixture(t)
	reach := reached(0, f.urd("eleni", start, ""))
	bodies := []string{someFeed, "", html("ibm"), backSoon, `{"maker":"ibm"}`, "maker,place\nibm,here\n"}
	for _, before := range bodies {
		for _, now := range bodies {
			first := f.match(f.fetched(before, nil, reach)).visit
			if first.Matched.Version != first.Version {
				t.Fatalf("%q: the visit remembers %+v of version %d", before, first.Matched, first.Version)
			}
			earlier := first
			earlier.Matched = webrace.Matched{}
			d := f.fetched(now, &first, reach)
			lookedUp := *d
			lookedUp.Visit = &earlier
			got, want := f.match(d), f.match(&lookedUp)
			if !slices.Equal(got.told(), want.told()) || got.visit.Placeholder != want.visit.Placeholder {
				t.Errorf("%q, then %q: told %q, %+v, want %q, %+v", before, now, got.told(), got.visit.Placeholder, want.told(), want.visit.Placeholder)
			}
		}
	}
}

// The kind of a version is known when that was removed as well, if the text is read as it was.
func TestAPlaceholderIsKnownWhenTheLastVersionWasRemoved(t *testing.T) {
	f := newFixture(t)
	reach := reached(0, f.urd("eleni", start, ""))
	feed := f.mustTell(f.match(f.fetched(someFeed, nil, reach)), "eleni").visit
	d := f.fetched(backSoon, &feed, reach)
	f.collect()
	f.mustTell(f.match(d))
	otherwise := feed
	otherwise.Reading--
	d.Visit = &otherwise
	if got := f.match(d).visit; got.IsPlaceholder() {
		t.Errorf("what an earlier release has read is taken for %+v", otherwise.Matched)
	}
}
