package match

import (
	"slices"
	"testing"

	"github.com/webrace/webrace"
)

func with(g Group, more ...Group) Group {
	g.Groups = append(g.Groups, more...)
	return g
}

// The cases of News in docs/model.md, each with two versions of a page and what is told of the second.
func TestOfWhatIsNewItIsToldWhatMakesTheConditionHold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		group  Group
		before []string
		now    []string
		want   Reason
		among  string // the summary
	}{
		"one word of all stood, the other came":     {keys(All, "ferry", "strike"), []string{"the ferry"}, []string{"the ferry", "a strike"}, Alerts, "a «strike»"},
		"one word of all came":                      {keys(All, "ferry", "strike"), []string{"sun"}, []string{"sun", "a strike"}, ConditionUnmet, ""},
		"both stand, one is said again":             {keys(All, "ferry", "strike"), []string{"ferry", "strike"}, []string{"ferry", "strike", "the strike goes on"}, Alerts, "the «strike» goes on"},
		"a forbidden word stands":                   {with(keys(Any, "boat"), keys(None, "sold out")), []string{"sold out"}, []string{"sold out", "a boat"}, Alerts, "a «boat»"}, // of any
		"a forbidden word of all stands":            {with(keys(All, "boat"), keys(None, "sold out")), []string{"sold out"}, []string{"sold out", "a boat"}, ConditionUnmet, ""},
		"a forbidden word leaves":                   {with(keys(All, "boat"), keys(None, "sold out")), []string{"a boat", "sold out"}, []string{"a boat"}, Alerts, "a «boat»"},
		"other text leaves":                         {with(keys(All, "boat"), keys(None, "sold out")), []string{"a boat", "blue"}, []string{"a boat"}, NothingNew, ""},
		"it holds, and other words came":            {keys(Any, "boat"), []string{"a boat"}, []string{"a boat", "sun"}, NotNew, ""},
		"a word that counts little came":            {keys(Any, "boat 5", "sea 1"), []string{"a boat"}, []string{"a boat", "the sea"}, NotNew, ""},
		"little words make it together":             {keys(Any, "boat 2", "sea 2"), []string{"a boat"}, []string{"a boat", "the sea"}, Alerts, "the «sea»"},
		"a word came that its group has no use for": {with(keys(Any, "sun"), keys(All, "boat", "sea")), []string{"sun"}, []string{"sun", "a boat"}, NotNew, ""},
	} {
		threshold := 20
		if name == "little words make it together" {
			threshold = 30
		}
		p := Profile{ID: "p", Threshold: threshold, Group: c.group}
		known, _ := Baseline(nil).Update(textOf(c.before...))
		now := textOf(c.now...)
		compared := known.Compare(now)
		o := Options{Recipients: []Recipient{{ID: "p", OnlyAdded: true}}, Added: compared.Added(5), Summary: 100, Last: &Last{
			Added: compared.Added(1), Went: compared.Went, Text: func() *webrace.Text { return textOf(c.before...) },
		}}
		if e := explained(t, p, now, o); e.Reason != c.want {
			t.Errorf("%s: %s", name, e)
		}
		var x Index
		x.Add(compile(t, p))
		alerts := slices.Collect(x.Match(now, o))
		if len(alerts) > 1 || len(alerts) == 1 && alerts[0].Summary != c.among || (len(alerts) == 0) != (c.among == "") {
			t.Errorf("%s: %+v", name, alerts)
		}
	}
}

// A page that comes to say it is news each time, unless it is asked for once.
func TestAPageThatComesToSayItIsNewsEachTime(t *testing.T) {
	t.Parallel()
	for _, once := range []bool{false, true} {
		var x Index
		x.Add(compile(t, Profile{ID: "p", Once: once, Group: keys(Any, "in stock")}))
		var known Baseline
		var before *webrace.Text
		told := []int{}
		for i, says := range []string{"sold out", "in stock", "sold out", "in stock", "in stock", "sold out", "in stock"} {
			now := textOf("a boat", says)
			compared := known.Compare(now)
			was := before
			o := Options{Recipients: []Recipient{{"p", i > 0}}, Added: compared.Added(5), Last: &Last{
				Added: compared.Added(1), Went: compared.Went, Text: func() *webrace.Text { return was },
			}}
			for range x.Match(now, o) {
				told = append(told, i)
			}
			known, before = compared.Next, now
		}
		if want := map[bool][]int{false: {1, 3, 6}, true: {1}}[once]; !slices.Equal(told, want) {
			t.Errorf("once %v: told of %v, want %v", once, told, want)
		}
	}
}

// The version that was seen last is read only where it decides.
func TestTheLastVersionIsReadOnlyWhereItDecides(t *testing.T) {
	t.Parallel()
	now := textOf("a boat", "sun")
	for name, c := range map[string]struct {
		group          Group
		added, arrived []bool
		went, read     bool
	}{
		"the condition does not hold":     {keys(Any, "sea"), []bool{false, true}, []bool{false, true}, true, false},
		"what makes it hold is new":       {keys(Any, "boat"), []bool{true, false}, []bool{true, false}, true, false},
		"what makes it hold stood":        {keys(Any, "boat"), []bool{false, true}, []bool{false, true}, true, false},
		"what makes it hold came back":    {keys(Any, "boat"), []bool{false, false}, []bool{true, false}, true, true},
		"something forbidden may be gone": {with(keys(All, "boat"), keys(None, "sold")), []bool{false, false}, []bool{false, false}, true, true},
	} {
		read := false
		o := Options{Recipients: []Recipient{{"p", true}}, Added: c.added, Last: &Last{Added: c.arrived, Went: c.went, Text: func() *webrace.Text {
			read = true
			return textOf("sold")
		}}}
		explained(t, Profile{ID: "p", Group: c.group}, now, o)
		if read != c.read {
			t.Errorf("%s: read %v", name, read)
		}
	}
}
