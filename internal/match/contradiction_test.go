package match

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestContradictionsAreUseless(t *testing.T) {
	t.Parallel()
	within := func(mode Mode, keywords Group, groups ...Group) Profile {
		return Profile{ID: "p", Group: Group{Match: mode, Keywords: keywords.Keywords, Groups: groups}}
	}
	for _, c := range []struct {
		profile Profile
		want    string // is said; empty for nothing
	}{
		{within(All, keys(All, "ibm", "java"), keys(None, "IBM")), `ask both that "ibm" is found and that it is not`},
		{within(All, keys(All), keys(All, "java"), keys(None, "sport", "java")), `"java"`},
		{within(All, keys(All), keys(Any, "ibm", "java"), keys(None, "ibm", "java", "sport")), "can never alert"},
		{within(All, keys(All), Group{Match: None, Groups: []Group{keys(None, "ibm"), keys(None, "java")}}, keys(None, "java")), `"java"`},
		{within(Any, keys(Any), Group{Match: All, Keywords: keys(Any, "ibm").Keywords, Groups: []Group{keys(None, "ibm")}}), `"ibm"`},
		{Profile{ID: "p", Group: keys(Any, "the 1")}, "words of nearly every page"},
		{within(All, keys(All, "the 1"), keys(None, "java")), "look for rarer words"},

		{within(All, keys(All, "ibm"), keys(None, "java")), ""},
		{within(Any, keys(Any, "ibm"), keys(None, "ibm")), ""},
		{within(All, keys(All), keys(Any, "ibm", "java"), keys(None, "ibm")), ""},
		{within(None, keys(Any, "ibm"), keys(None, "java")), ""},
		{Profile{ID: "p", Group: keys(Any, "the 1", "και 1")}, ""},
		{Profile{ID: "p", Threshold: AnyRelevance, Group: keys(Any, "the 1")}, ""},
	} {
		_, warnings, err := Compile(c.profile)
		said := ""
		for _, w := range warnings {
			if w.Useless {
				said += w.Message
			}
		}
		if err != nil || (said == "") != (c.want == "") || !strings.Contains(said, c.want) {
			t.Errorf("%+v: %q, %v, want %q", c.profile.Group, said, err, c.want)
		}
	}
}

func TestWhatIsForbiddenDoesNotCountTowardsTheThreshold(t *testing.T) {
	t.Parallel()
	p := Profile{ID: "p", Threshold: 50, Group: Group{Match: All, Keywords: keys(All, "ibm 2").Keywords, Groups: []Group{
		keys(Any, "java 5", "ibm 2"), {Match: None, Keywords: keys(Any, "java 5").Keywords},
	}}}
	_, warnings, err := Compile(p)
	if err != nil || !strings.Contains(fmt.Sprint(warnings), "above 39, and the threshold is 50") {
		t.Errorf("%v, %v", warnings, err)
	}
}

// invent makes up a group over few words, so that it often contradicts itself.
func invent(random *rand.Rand, depth int) Group {
	words := []string{"ibm", "java", "sport", "news", "boat"}
	g := Group{Match: Mode(random.IntN(3))}
	for range random.IntN(4) {
		g.Keywords = append(g.Keywords, Keyword{Key: words[random.IntN(len(words))], Weight: 1 + random.IntN(5), None: random.IntN(6) == 0})
	}
	for depth < 3 && random.IntN(2) == 0 {
		g.Groups = append(g.Groups, invent(random, depth+1))
	}
	return g
}

// canAlert tries every set of keywords that a page may have.
func canAlert(b *builder) bool {
	for set := range 1 << len(b.atoms) {
		holds, _ := b.condition.holds(func(atom int) bool { return set>>atom&1 == 1 }, nil)
		rest := 1.0
		for i := range b.atoms {
			if set>>i&1 == 1 {
				rest *= 1 - contribution(b.atoms[i].weight, mostSaturation)
			}
		}
		if holds && (relevance(rest) > int(b.threshold) || len(b.atoms) == 0) {
			return true
		}
	}
	return false
}

// TestWhatIsSaidNeverToAlertNeverDoes compares what is refused, and warned of, with all that a page may have.
func TestWhatIsSaidNeverToAlertNeverDoes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 10))
	hopeless, silent := 0, 0
	tried := orInShort(10_000, 2_000)
	for range tried {
		p := Profile{ID: "p", Threshold: []int{AnyRelevance, 10, 20, 60}[random.IntN(4)], Group: invent(random, 0)}
		b := builder{Compiled: Compiled{threshold: int8(p.Threshold)}, known: map[string]int{}, common: map[int]bool{}}
		if _, err := b.group(p.Group, 0, false); err != nil {
			t.Fatal(err)
		}
		_, warnings, err := Compile(p)
		if err != nil {
			continue
		}
		said := false
		for _, w := range warnings {
			said = said || strings.Contains(w.Message, "never alert")
		}
		can := canAlert(&b)
		switch {
		case said && can:
			t.Fatalf("%+v can alert, and is said not to: %v", p, warnings)
		case !can:
			hopeless++
			if !said {
				silent++
			}
		}
	}
	t.Logf("%d of %d can never alert; of %d it is not said", hopeless, tried, silent)
	if hopeless < tried/10 || silent > hopeless/4 {
		t.Errorf("of %d that can never alert, %d are not found", hopeless, silent)
	}
}
