package keywordfilter

import (
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/xmlschema"
)

// asks makes a request for a group of keywords, and for none of others.
func asks(match string, keywords []string, none ...string) func(*xmlschema.URD) {
	return func(u *xmlschema.URD) {
		of := func(keys []string) (all []xmlschema.Keyword) {
			for _, key := range keys {
				all = append(all, xmlschema.Keyword{Key: key, Weight: 3})
			}
			return all
		}
		u.Keywords = xmlschema.Keywords{Match: match, Threshold: 20, Keywords: of(keywords)}
		if len(none) > 0 {
			u.Keywords.Groups = []xmlschema.Group{{Match: xmlschema.MatchNone, Keywords: of(none)}}
		}
	}
}

// long is a paragraph that makes of a word which is relevant on a short page one that is not.
var long = strings.Repeat("and so on ", 2000)

// TestTheConditionIsOfThePageAndTheOccasionIsWhatIsNew goes through versions of a page, for few who ask and for many.
func TestTheConditionIsOfThePageAndTheOccasionIsWhatIsNew(t *testing.T) {
	type version struct {
		body  string
		tells string // the summary; empty for no alert
	}
	for name, c := range map[string]struct {
		ask      []func(*xmlschema.URD)
		versions []version
	}{
		"one word of all stands, the other comes": {[]func(*xmlschema.URD){asks("all", []string{"ferry", "strike"})}, []version{
			{html("the ferry"), ""}, {html("the ferry", "a strike"), "a «strike»"}, {html("the ferry", "a strike", "sun"), ""},
		}},
		"a forbidden word stands, then leaves": {[]func(*xmlschema.URD){asks("all", []string{"boat"}, "sold out")}, []version{
			{html("sold out"), ""}, {html("sold out", "a boat"), ""}, {html("a boat"), "a «boat»"}, {html("a boat", "sold out"), ""}, {html("a boat"), "a «boat»"},
		}},
		"in stock": {[]func(*xmlschema.URD){asks("any", []string{"in stock"})}, []version{
			{html("sold out"), ""}, {html("in stock"), "«in stock»"}, {html("sold out"), ""}, {html("in stock"), "«in stock»"}, {html("sold out"), ""}, {html("in stock"), "«in stock»"},
		}},
		"in stock, once": {[]func(*xmlschema.URD){asks("any", []string{"in stock"}), remember(5)}, []version{
			{html("sold out"), ""}, {html("in stock"), "«in stock»"}, {html("sold out"), ""}, {html("in stock"), ""}, {html("sold out"), ""}, {html("in stock"), ""},
		}},
		"in stock, of a part": {[]func(*xmlschema.URD){asks("any", []string{"in stock"}), selects("css", "p")}, []version{
			{html("sold out"), ""}, {html("in stock"), "«in stock»"}, {html("sold out"), ""}, {html("in stock"), "«in stock»"},
		}},
		"a shorter page is no news": {[]func(*xmlschema.URD){asks("any", []string{"boat"}), threshold(30)}, []version{
			{html("boat", long), ""}, {html("boat"), ""}, {html("boat", long), ""}, {html("boat"), ""},
		}},
	} {
		for _, crowd := range []int{0, mostFew + 1} {
			f := newFixture(t)
			eleni := f.urd("eleni", start, "", c.ask...)
			for i := range crowd {
				f.urd(string(rune('A'+i)), start, "nothing of it")
			}
			var visit *webrace.Visit
			for i, v := range c.versions {
				got := f.match(f.fetched(v.body, visit, reached(0, eleni)))
				told := ""
				for _, aci := range got.acis {
					told += aci.Summary
				}
				if told != v.tells {
					t.Errorf("%s, among %d: version %d: told %q, want %q", name, crowd+1, i, told, v.tells)
				}
				visit = &got.visit
			}
		}
	}
}
