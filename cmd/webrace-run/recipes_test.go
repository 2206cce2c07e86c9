package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// recipe is a URD of docs/recipes.md, and the name of the scenario that is said to play it.
type recipe struct{ urd, scenario string }

// Each recipe asks for what somebody asks for in its scenario, who is told of something there. TestNews plays it.
func TestRecipesAreThoseOfScenarios(t *testing.T) {
	t.Parallel()
	situations, err := readSituations("testdata/news")
	if err != nil {
		t.Fatal(err)
	}
	page := readFile(t, "../../docs/recipes.md")
	recipes := recipesOf(page)
	if n := strings.Count(page, "urd add ") + strings.Count(page, "<urd "); n == 0 || len(recipes) != n {
		t.Errorf("%d of %d recipes are followed by the name of their scenario", len(recipes), n)
	}
	for _, r := range recipes {
		i := slices.IndexFunc(situations, func(s *situation) bool { return s.name == r.scenario })
		switch {
		case i < 0:
			t.Errorf("no scenario %q behind\n%s", r.scenario, r.urd)
		case situations[i].pending != "":
			t.Errorf("%s does not hold yet: %s", r.scenario, situations[i].pending)
		case !situations[i].satisfies(r.urd):
			t.Errorf("in %s nobody asks for this, and is told of something in a later round:\n%s", r.scenario, r.urd)
		}
	}
}

var recipeOnPage = regexp.MustCompile("(?s)```(?:sh|xml)\n(webrace-store urd add [^\n]*|<urd .*?</urd>)\n```.*?\nScenario: \\[([a-z-]+)\\]")

// recipesOf returns the URDs of a page, each with the scenario that is named next.
func recipesOf(page string) (all []recipe) {
	for _, m := range recipeOnPage.FindAllStringSubmatch(page, -1) {
		all = append(all, recipe{urd: m[1], scenario: m[2]})
	}
	return all
}

// satisfies reports whether somebody asks in the first round for what a recipe does, and is told of something after it.
func (s *situation) satisfies(urd string) bool {
	asked := linesOf(s.rounds[0].urds)
	if strings.HasPrefix(s.rounds[0].urds, "<") {
		asked = regexp.MustCompile(`(?s)<urd .*?</urd>`).FindAllString(s.rounds[0].urds, -1)
	}
	return slices.ContainsFunc(asked, func(line string) bool {
		owner := strings.Fields(line)[0]
		if m := ownerInXML.FindStringSubmatch(line); m != nil {
			owner = m[1]
		}
		isTold := func(told string) bool { return strings.HasPrefix(told, owner+" ") }
		return slices.Equal(interestIn(line), interestIn(urd)) &&
			slices.ContainsFunc(s.rounds[1:], func(r newsRound) bool { return slices.ContainsFunc(r.told, isTold) })
	})
}

var (
	notInterest     = regexp.MustCompile(` (?:xmlns|owner)="[^"]*"|(<uri[^>]*>)[^<]*`)
	betweenElements = regexp.MustCompile(`>\s+<`)
)

// interestIn returns what a URD asks for, without whose it is and where it starts: flags, or XML in one line.
func interestIn(urd string) []string {
	if strings.HasPrefix(urd, "<") {
		return []string{betweenElements.ReplaceAllString(notInterest.ReplaceAllString(strings.TrimSpace(urd), "$1"), "><")}
	}
	front := "OWNER URL"
	if strings.HasPrefix(urd, "webrace-store ") {
		front = "webrace-store urd add --url URL --owner OWNER"
	}
	return argumentsOf(urd)[len(strings.Fields(front)):]
}
