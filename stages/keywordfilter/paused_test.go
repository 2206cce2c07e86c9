package keywordfilter

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/xmlschema"
)

func paused(u *xmlschema.URD) { u.Paused = true }

// TestAPausedRequestIsToldNothing goes through the versions of a page with two requests that ask the same, of which one
// is paused for a while.
func TestAPausedRequestIsToldNothing(t *testing.T) {
	for name, c := range map[string]struct {
		uri, keyword string
		everyone     bool
		change       []func(*xmlschema.URD)
	}{
		"of a crawl":        {uri: start, keyword: "ibm"},
		"any change":        {uri: start},
		"a part":            {uri: start, change: []func(*xmlschema.URD){selects("css", "p")}},
		"a prefix":          {uri: start + "*", keyword: "ibm"},
		"everyone is asked": {uri: "https://example.com/", keyword: "ibm", everyone: true},
		"a page":            {uri: start, keyword: "ibm", change: []func(*xmlschema.URD){scope("page")}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			if c.everyone {
				f.options.Audience = "everyone"
			}
			reach := reached(0, f.urd("ann", c.uri, c.keyword, c.change...), f.urd("bob", c.uri, c.keyword, c.change...))
			first := f.mustTell(f.match(f.fetched(html("ibm"), nil, reach)), "ann", "bob")
			f.urd("ann", c.uri, c.keyword, append(c.change, paused)...)
			f.mustTell(f.match(unchanged(first.visit, reach)))
			second := f.mustTell(f.match(f.fetched(html("ibm", "ibm twice"), &first.visit, reach)), "bob")
			if second.Counters["interests"] != 1 {
				t.Errorf("%d interests are matched", second.Counters["interests"])
			}

			f.urd("ann", c.uri, c.keyword, c.change...)
			f.mustTell(f.match(unchanged(second.visit, reach)))
			third := f.mustTell(f.match(f.fetched(html("ibm", "ibm twice", "ibm again"), &second.visit, reach)), "ann", "bob")
			if ann, bob := third.acis[0], third.acis[1]; ann.Summary != bob.Summary || ann.Docbase.Since != 2 {
				t.Errorf("ann is told %q since version %d, and bob %q", ann.Summary, ann.Docbase.Since, bob.Summary)
			}
		})
	}
}

// What changed while its crawl rested is told at once, as one change since what was shown last.
func TestARequestOfARestingCrawlIsToldWhatChangedMeanwhile(t *testing.T) {
	f := newFixture(t)
	reach := reached(0, f.urd("ann", start, "ibm"))
	others := reached(0, f.urd("bob", start+"other", "ibm"))
	first := f.mustTell(f.match(f.fetched(html("ibm"), nil, reach)), "ann")
	f.urd("ann", start, "ibm", paused)
	second := f.mustTell(f.match(f.fetched(html("ibm", "ibm twice"), &first.visit, others)), "bob")
	f.urd("ann", start, "ibm")
	third := f.mustTell(f.match(f.fetched(html("ibm", "ibm twice", "ibm again"), &second.visit, reach)), "ann")
	if s := third.acis[0].Summary; third.acis[0].Docbase.Since != 1 || !strings.Contains(s, "twice") {
		t.Errorf("told of %q since version %d", s, third.acis[0].Docbase.Since)
	}
}

// Who was never shown the page for what they ask, because they asked while paused, is shown all of it.
func TestARequestThatWasNewWhilePausedIsShownAll(t *testing.T) {
	f := newFixture(t)
	reach := reached(0, f.urd("bob", start, "ibm"))
	f.urd("ann", start, "ibm", paused)
	first := f.mustTell(f.match(f.fetched(html("ibm"), nil, reach)), "bob")
	f.urd("ann", start, "ibm")
	second := f.mustTell(f.match(unchanged(first.visit, reach)), "ann")
	f.urd("ann", start, "page", paused)
	third := f.mustTell(f.match(f.fetched(html("ibm", "a page"), &second.visit, reach)))
	f.urd("ann", start, "page")
	f.mustTell(f.match(unchanged(third.visit, reach)), "ann")
}
