package transform

import (
	"regexp"
	"slices"
	"testing"

	"github.com/webrace/webrace"
)

// Every class of the form that microformats2 gives roots is one, but for those that name heights.
func TestRoots(t *testing.T) {
	t.Parallel()
	grammar := regexp.MustCompile(`^h-([a-z0-9]+-)?[a-z]+(-[a-z]+)*$`)
	classes := []string{
		"h-card", "h-app", "h-x-app", "h-review-aggregate", "h-measure", "h-question", "h-leg", "h-cite", "h-feed", "h-12x-app", "h-9-app", "h-a-b-c",
		"h-", "h", "h-1", "h-100", "h-Card", "h-card-", "h--card", "h-card-2", "h-a-2b", "h-1/2", "h-[3px]", "H-card", "ph-card", "h-card_x", "h-a-b-2", "hcard", "h-2-3",
	}
	for _, class := range classes {
		if got, want := isRoot(class), grammar.MatchString(class); got != want {
			t.Errorf("%s: a root is %v, want %v", class, got, want)
		}
	}
	for _, class := range []string{"h-app", "h-x-app", "h-cite", "h-measure"} {
		g := document(t, "<div class='big "+class+"'><b class=p-name>N</b></div>", "text/html", Options{})
		want := []webrace.Triple{
			{Subject: g.Triples[0].Subject, Predicate: typeTerm, Object: "<http://microformats.org/profile/" + webrace.Term(class) + ">"},
			{Subject: g.Triples[0].Subject, Predicate: "<http://microformats.org/profile/name>", Object: `"N"`},
		}
		if !slices.Equal(g.Triples, want) {
			t.Errorf("%s: %v", class, g.Triples)
		}
	}
	for height := range heights {
		if g := document(t, "<div class="+height+">no item</div>", "text/html", Options{}); len(g.Triples) > 0 {
			t.Errorf("%s: %v", height, g.Triples)
		}
	}
}
