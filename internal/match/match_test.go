package match

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/webrace/webrace"
)

// textOf builds a text of blocks, each a field's name, a colon and its words; without a colon it is body.
func textOf(blocks ...string) *webrace.Text {
	text := new(webrace.Text)
	for _, block := range blocks {
		var field webrace.Field
		if name, rest, ok := strings.Cut(block, ": "); ok {
			if named, known := fieldNamed(name); known {
				field, block = named, rest
			}
		}
		start := int32(len(text.Bytes))
		text.Bytes = append(text.Bytes, block...)
		text.Blocks = append(text.Blocks, webrace.Block{Start: start, End: int32(len(text.Bytes)), Field: field})
	}
	return text
}

// keys builds a group of keywords written "ibm" or "ibm 3", of weight 5 if none is given.
func keys(mode Mode, written ...string) Group {
	g := Group{Match: mode}
	for _, w := range written {
		k := Keyword{Key: w, Weight: 5}
		if i := strings.LastIndexByte(w, ' '); i >= 0 && len(w) == i+2 && '1' <= w[i+1] && w[i+1] <= '5' {
			k = Keyword{Key: w[:i], Weight: int(w[i+1] - '0')}
		}
		g.Keywords = append(g.Keywords, k)
	}
	return g
}

func compile(t testing.TB, p Profile) *Compiled {
	t.Helper()
	c, _, err := Compile(p)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// explained returns what becomes of the text for the one profile, and fails if Match finds otherwise.
func explained(t testing.TB, p Profile, text *webrace.Text, o Options) Explanation {
	t.Helper()
	c := compile(t, p)
	var x Index
	x.Add(c)
	if !o.Everyone && o.Recipients == nil {
		o.Everyone = true
	}
	e := Explain(c, text, o)
	if alerts := slices.Collect(x.Match(text, o)); len(alerts) == 1 != (e.Reason == Alerts) {
		t.Fatalf("%d alerts, but the explanation is:\n%s", len(alerts), e)
	} else if len(alerts) == 1 && alerts[0].Explanation.String() != e.String() {
		t.Fatalf("the alert explains itself otherwise:\n%s\n%s", alerts[0].Explanation, e)
	}
	return e
}

func hits(e Explanation, keyword int) int {
	n := 0
	for _, in := range e.Keywords[keyword].Hits {
		n += in
	}
	return n
}

// page800 is a page of 800 words with the blocks in it and fillers around.
func page800(blocks ...string) *webrace.Text {
	words := 0
	for _, b := range blocks {
		if name, rest, ok := strings.Cut(b, ": "); ok {
			if _, known := fieldNamed(name); known {
				b = rest
			}
		}
		words += len(strings.Fields(b))
	}
	return textOf(append(blocks, strings.Repeat("filler ", 800-words))...)
}

func TestRelevanceIsAsPublished(t *testing.T) {
	t.Parallel()
	times := func(n int, word string) string { return strings.TrimSpace(strings.Repeat(word+" ", n)) }
	for _, c := range []struct {
		blocks []string
		want   int
	}{
		{[]string{"ibm"}, 10},
		{[]string{times(9, "ibm")}, 18},
		{[]string{"research"}, 30},
		{[]string{"ibm research"}, 37},
		{[]string{times(3, "java")}, 60},
		{[]string{"title: xmlp4j", times(5, "xmlp4j")}, 90},
		{[]string{"ibm", times(2, "research"), "heading: java", times(5, "java"), times(3, "xmlp4j")}, 96},
		{[]string{times(7, "ibm")}, 18}, // 17.5, and a half is rounded up
		{[]string{"navigation: " + times(4, "ibm")}, 10},
		{nil, 0},
	} {
		p := Profile{Threshold: AnyRelevance, Group: keys(Any, "ibm 1", "research 3", "java 4", "xmlp4j 5")}
		e := explained(t, p, page800(c.blocks...), Options{})
		if e.Tokens != 800 || e.Relevance != c.want {
			t.Errorf("%q on a page of %d words: relevance %d, want %d", c.blocks, e.Tokens, e.Relevance, c.want)
		}
	}
}

func TestAnAlertNeedsMoreThanTheThreshold(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		threshold, want int
		alerts          bool
	}{{0, DefaultThreshold, true}, {29, 29, true}, {30, 30, false}, {AnyRelevance, AnyRelevance, true}} {
		e := explained(t, Profile{Threshold: c.threshold, Group: keys(Any, "research 3")}, page800("research"), Options{})
		if e.Relevance != 30 || e.Threshold != c.want || (e.Reason == Alerts) != c.alerts {
			t.Errorf("threshold %d: %s", c.threshold, e)
		}
	}
}

func TestAKeywordAloneNeverExceedsItsWeight(t *testing.T) {
	t.Parallel()
	for weight := 1; weight <= 5; weight++ {
		p := Profile{Group: Group{Keywords: []Keyword{{Key: "ibm", Weight: weight}}}}
		if e := explained(t, p, textOf("title: "+strings.Repeat("ibm ", 5000)), Options{}); e.Relevance > 20*weight {
			t.Errorf("weight %d: relevance %d", weight, e.Relevance)
		}
	}
}

func TestOccurrences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keyword Keyword
		text    []string
		want    int
	}{
		{Keyword{Key: "Crawler"}, []string{"crawlers CRAWLER crawl-er"}, 2},
		{Keyword{Key: "crawler", Exact: true}, []string{"crawlers CRAWLER"}, 1},
		{Keyword{Key: "έρευνα"}, []string{"ΕΡΕΥΝΑΣ και έρευνες"}, 2},
		{Keyword{Key: "café"}, []string{"CAFE cafe\u0301 cafés"}, 3},

		{Keyword{Key: "sample rate"}, []string{"Sample rates, sample, rate; rate sample"}, 2},
		{Keyword{Key: `"sample rate"`}, []string{"sample rate"}, 1},
		{Keyword{Key: "sample rate"}, []string{"a sample", "rate b"}, 0},
		{Keyword{Key: "foo foo"}, []string{"foo foo foo"}, 2},
		{Keyword{Key: "sample rat*"}, []string{"sample ratio sample rate sample pirate"}, 2},

		{Keyword{Key: "東京都"}, []string{"東京都に", "東京 京都", "東京都"}, 2},
		{Keyword{Key: "東京 京都"}, []string{"東京都に", "東京 京都"}, 1},
		{Keyword{Key: "東"}, []string{"東京", "東 京"}, 1},
		{Keyword{Key: "東*"}, []string{"東京", "中東"}, 1},

		{Keyword{Key: "comput*"}, []string{"computer COMPUTING compute commuter"}, 3},
		{Keyword{Key: "internationalization*"}, []string{"internationalizations internationalizatio"}, 1},
		{Keyword{Key: "ερευν*"}, []string{"Έρευνα ερευνητής έρι"}, 2},
		{Keyword{Key: "bank", Substring: true}, []string{"Datenbank bankers ban k"}, 2},
		{Keyword{Key: "data bank", Substring: true}, []string{"metadata banking", "data x bank"}, 1},

		{Keyword{Key: "title:java"}, []string{"title: java", "java java", "heading: java"}, 1},
		{Keyword{Key: "java", Field: "heading"}, []string{"title: java", "java java", "heading: java"}, 1},
		{Keyword{Key: `"title:java"`}, []string{"title: title java", "java"}, 1},

		{Keyword{Key: "near:3 audio device"}, []string{"device x y audio", "audio x y z device", "audio", "device"}, 1},
		{Keyword{Key: "near:2 a b c"}, []string{"c b a b c"}, 1},
		{Keyword{Key: "near:5 audio device"}, []string{"audio device audio device audio"}, 2},
		{Keyword{Key: "near:9 foo* food bar"}, []string{"foo food bar food bar"}, 2},
		{Keyword{Key: "near:earth"}, []string{"near earth", "near: Earth"}, 2},

		{Keyword{Key: "C++"}, []string{"C++, C, C#, c++11 C+++ (C++)", "C", "++"}, 3},
		{Keyword{Key: "C#"}, []string{"C# c#. C C##"}, 2},
		{Keyword{Key: "c"}, []string{"C++ C# c"}, 3},
		{Keyword{Key: "A+"}, []string{"A++ A+ a"}, 1},
		{Keyword{Key: ".net"}, []string{"the .NET framework, example.net net ..net", ".net"}, 2},
		{Keyword{Key: "node.js"}, []string{"Node.js node js node. js node.jsx nodes.js"}, 1},
		{Keyword{Key: "AT&T"}, []string{"AT&T at t AT & T"}, 1},
		{Keyword{Key: "C++ compiler"}, []string{"C++ compilers C compiler"}, 1},
		{Keyword{Key: "java."}, []string{"java, java"}, 2},
	} {
		c.keyword.Weight = 5
		e := explained(t, Profile{Group: Group{Keywords: []Keyword{c.keyword}}}, textOf(c.text...), Options{})
		if got := hits(e, 0); got != c.want {
			t.Errorf("%+v occurs %d times in %q, want %d", c.keyword, got, c.text, c.want)
		}
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	except := func(g Group, written string) Group {
		g.Keywords = append(g.Keywords, Keyword{Key: written, None: true})
		return g
	}
	for _, c := range []struct {
		group Group
		text  string
		want  bool
	}{
		{keys(Any, "a1", "b1"), "b1", true},
		{keys(Any, "a1", "b1"), "c1", false},
		{keys(All, "a1", "b1"), "b1", false},
		{keys(All, "a1", "b1"), "a1 b1", true},
		{except(keys(Any, "a1"), "c1"), "a1", true},
		{except(keys(Any, "a1"), "c1"), "a1 c1", false},
		{except(keys(All, "a1", "b1"), "c1"), "a1 b1 c1", false},
		{Group{Match: All, Groups: []Group{keys(Any, "a1", "b1"), keys(Any, "c1", "d1"), keys(None, "e1")}}, "b1 d1", true},
		{Group{Match: All, Groups: []Group{keys(Any, "a1", "b1"), keys(Any, "c1", "d1"), keys(None, "e1")}}, "b1 d1 e1", false},
		{Group{Match: All, Groups: []Group{keys(Any, "a1", "b1"), keys(Any, "c1", "d1")}}, "a1 b1", false},
		{Group{Match: Any, Groups: []Group{keys(All, "a1", "b1"), keys(All, "c1", "d1")}}, "c1 d1 a1", true},
		{Group{Match: Any, Keywords: keys(Any, "a1").Keywords, Groups: []Group{keys(None, "b1")}}, "a1 b1", true},
		{Group{Match: None, Groups: []Group{keys(Any, "a1")}}, "b1", false}, // holds, with a relevance of 0
	} {
		e := explained(t, Profile{Group: c.group}, textOf(c.text), Options{})
		if (e.Reason == Alerts) != c.want {
			t.Errorf("%+v on %q: %s", c.group, c.text, e)
		}
	}
}

func TestForbiddenKeywordsAloneAlertOnAnyRelevanceOnly(t *testing.T) {
	t.Parallel()
	p := Profile{Group: Group{Keywords: []Keyword{{Key: "sport", None: true}}}}
	if e := explained(t, p, textOf("politics"), Options{}); e.Reason != NotRelevant {
		t.Error(e)
	}
	p.Threshold = AnyRelevance
	if e := explained(t, p, textOf("politics"), Options{}); e.Reason != Alerts {
		t.Error(e)
	}
	if e := explained(t, p, textOf("sports"), Options{}); e.Reason != ConditionUnmet {
		t.Error(e)
	}
}

func TestAProfileWithoutKeywordsWatchesForAnyChange(t *testing.T) {
	t.Parallel()
	var x Index
	x.Add(compile(t, Profile{ID: "watch"}))
	text := textOf("title: the same", "something  new", "\n")
	to := []Recipient{{ID: "watch", OnlyAdded: true}}
	alerts := slices.Collect(x.Match(text, Options{Recipients: to, Added: []bool{false, true, false}, Summary: 100}))
	if len(alerts) != 1 || alerts[0].Relevance != 100 || alerts[0].Summary != "something new" {
		t.Errorf("a change gave %+v", alerts)
	}
	if alerts := slices.Collect(x.Match(text, Options{Recipients: to, Added: make([]bool, 3)})); len(alerts) != 0 {
		t.Errorf("no change gave %+v", alerts)
	}
}

func TestWhatIsNewIsTheOccasionAndTheWholePageIsTheCondition(t *testing.T) {
	t.Parallel()
	text := page800("ibm java", "research")
	p := Profile{ID: "p", Group: keys(Any, "ibm 5", "research 5", "java 4")}
	o := Options{Recipients: []Recipient{{ID: "p", OnlyAdded: true}}, Added: []bool{false, true, false}}
	if e := explained(t, p, text, o); e.Reason != Alerts || e.Relevance != 85 || e.Tokens != 800 || e.Looked != 1 || e.Blocks != 3 || e.Keywords[0].Hits == nil {
		t.Errorf("only added blocks: %+v", e)
	}
	o.Recipients[0].OnlyAdded = false
	if e := explained(t, p, text, o); e.Relevance != 85 || e.Looked != 3 {
		t.Errorf("the whole page: %+v", e)
	}
	o.Recipients[0].OnlyAdded, o.Added = true, nil
	if e := explained(t, p, text, o); e.Relevance != 85 {
		t.Errorf("a page that is wholly new: %+v", e)
	}
	o.Added = []bool{false, false, true}
	if e := explained(t, p, text, o); e.Reason != NotNew {
		t.Errorf("what is new has none of the words: %+v", e)
	}
	o.Added = []bool{false, false, false}
	if e := explained(t, p, text, o); e.Reason != NothingNew {
		t.Errorf("a page without news: %+v", e)
	}
	o = Options{Everyone: true, Seen: 1, Added: []bool{false, true, false}}
	if e := explained(t, p, text, o); e.Relevance != 85 || e.Looked != 1 {
		t.Errorf("everyone, only added blocks: %+v", e)
	}
}

func TestOnlyRecipientsAreAlerted(t *testing.T) {
	t.Parallel()
	var x Index
	for _, id := range []string{"b", "a", "c"} {
		x.Add(compile(t, Profile{ID: id, Group: keys(Any, "ibm")}))
	}
	ids := func(o Options) (all []string) {
		for a := range x.Match(textOf("ibm"), o) {
			all = append(all, a.ID)
		}
		return all
	}
	if got := ids(Options{}); got != nil {
		t.Errorf("nobody asked, and %q were alerted", got)
	}
	if got := ids(Options{Recipients: []Recipient{{ID: "c"}, {ID: "unknown"}, {ID: "b"}}}); !slices.Equal(got, []string{"c", "b"}) {
		t.Errorf("c and b asked, and %q were alerted", got)
	}
	if got := ids(Options{Everyone: true}); !slices.Equal(slices.Sorted(slices.Values(got)), []string{"a", "b", "c"}) {
		t.Errorf("everyone is %q", got)
	}
	if e := Explain(x.Profile("a"), textOf("ibm"), Options{Recipients: []Recipient{{ID: "b"}}}); e.Reason != NotRecipient {
		t.Errorf("a did not ask: %s", e)
	}
}

func TestTheMatchedTextIsTheBlocksWithKeywords(t *testing.T) {
	t.Parallel()
	p := Profile{ID: "p", Group: keys(Any, "ibm", "near:3 big blue")}
	p.Keywords = append(p.Keywords, Keyword{Key: "sport", None: true})
	matched := func(blocks ...string) webrace.Digest {
		t.Helper()
		var x Index
		x.Add(compile(t, p))
		alerts := slices.Collect(x.Match(textOf(blocks...), Options{Everyone: true}))
		if len(alerts) != 1 {
			t.Fatalf("%d alerts on %q", len(alerts), blocks)
		}
		return alerts[0].Matched
	}
	first := matched("ibm one", "other", "big blue two")
	for what, blocks := range map[string][]string{
		"unrelated blocks change":     {"ibm one", "another", "new", "big blue two"},
		"they move":                   {"big blue two", "other", "ibm one"},
		"only white space changes":    {" ibm \n one", "other", "big\u00a0blue two "},
		"one is repeated":             {"ibm one", "other", "big blue two", "ibm one"},
		"they become another field's": {"heading: ibm one", "big blue two"},
	} {
		if matched(blocks...) != first {
			t.Errorf("the digest changes though no more happens than that %s", what)
		}
	}
	for what, blocks := range map[string][]string{
		"a matched block changes": {"ibm ones", "other", "big blue two"},
		"one goes":                {"ibm one", "other"},
		"one comes":               {"ibm one", "other", "big blue two", "ibm three"},
	} {
		if matched(blocks...) == first {
			t.Errorf("the digest is the same though %s", what)
		}
	}
}

func TestExplanationTellsWhatAPersonAsks(t *testing.T) {
	t.Parallel()
	p := Profile{ID: "p", Group: keys(Any, "java 4", "title:xml 5", "ibm 1")}
	p.Keywords = append(p.Keywords, Keyword{Key: "sport", None: true})
	e := explained(t, p, page800("title: java", "java", "ibm"), Options{})
	want := `alert: relevance 70, threshold 20; looked at 4 of 4 blocks of a page of 800 words
  java: weight 4, 1 in title, 1 in body, saturation 0.83, share 91%
  ibm: weight 1, 1 in body, saturation 0.50, share 9%
  absent: title:xml, sport
`
	if e.String() != want {
		t.Errorf("got\n%swant\n%s", e, want)
	}
	e = explained(t, p, page800("java", "sports"), Options{})
	want = `no alert: the conditions on its keywords do not hold (relevance 40, threshold 20); looked at 3 of 3 blocks of a page of 800 words
  java: weight 4, 1 in body, saturation 0.50, share 100%
  present, but not wanted: sport, in "sports"
  absent: title:xml, ibm
`
	if e.String() != want {
		t.Errorf("got\n%swant\n%s", e, want)
	}
	e = explained(t, p, page800("ibm"), Options{})
	if want = "no alert: relevance 10 does not exceed the threshold 20; looked at"; !strings.HasPrefix(e.String(), want) {
		t.Errorf("got %q, want it to begin with %q", e, want)
	}
}

func TestSummary(t *testing.T) {
	t.Parallel()
	many := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "w%d ", i)
		}
		return strings.TrimSpace(b.String())
	}
	for _, c := range []struct {
		name string
		keys Group
		text []string
		size int
		want string
	}{
		{"whole block", keys(Any, "java 4"), []string{"other", "I like\n\t Java, (really)."}, 200, "I like «Java», (really)."},
		{"cut at both ends", keys(Any, "java 4"), []string{many(0, 30) + " java " + many(30, 60)}, 300,
			"… " + many(16, 30) + " «java» " + many(30, 45) + " …"},
		{"more weight wins", keys(Any, "ibm 1", "java 4"), []string{"ibm ibm", "java"}, 200, "«java»"},
		{"distinct keywords win", keys(Any, "ibm 2", "java 2", "xml 3"), []string{"xml xml xml", "ibm java"}, 200, "«ibm» «java»"},
		{"never across blocks", keys(Any, "ibm 3", "java 3"), []string{"ibm", "java"}, 200, "«ibm»"},
		{"body before title", keys(Any, "ibm 3"), []string{"title: ibm", "about ibm"}, 200, "about «ibm»"},
		{"phrase and symbols", keys(Any, "big blue", "C++"), []string{"big  blue likes C++!"}, 200, "«big blue» likes «C++»!"},
		{"overlapping", keys(Any, "big blue", "blue sky"), []string{"a big blue sky b"}, 200, "a «big blue sky» b"},
		{"pairs", keys(Any, "東京都"), []string{"私は東京都に住む"}, 200, "私は«東京都»に住む"},
		{"short of room", keys(Any, "java 4"), []string{many(0, 30) + " java " + many(30, 60)}, 30, "… w28 w29 «java» w30 …"},
		{"shorter", keys(Any, "προγραμματισμός 5"), []string{"ο προγραμματισμός"}, 11, "προγρ"},
		{"none asked", keys(Any, "java 4"), []string{"java"}, 0, ""},
	} {
		var x Index
		x.Add(compile(t, Profile{ID: "p", Threshold: AnyRelevance, Group: c.keys}))
		alerts := slices.Collect(x.Match(textOf(c.text...), Options{Everyone: true, Summary: c.size}))
		if len(alerts) != 1 || alerts[0].Summary != c.want {
			t.Errorf("%s: got %+v, want %q", c.name, alerts, c.want)
		}
	}
}

func TestSummaryFitsAnySize(t *testing.T) {
	t.Parallel()
	var x Index
	x.Add(compile(t, Profile{ID: "p", Group: keys(Any, "έρευνα", "big blue", "東京")}))
	text := textOf("γράφω έρευνες για το 東京都, ήταν μια big blue\xff φορά κι έναν καιρό", "heading: big blue")
	for size := range 200 {
		s := slices.Collect(x.Match(text, Options{Everyone: true, Summary: size}))[0].Summary
		if len(s) > size || !utf8.ValidString(s) || strings.Count(s, "«") != strings.Count(s, "»") {
			t.Errorf("in %d bytes: %q", size, s)
		}
	}
}

// Who asks for no word is told what the main part begins with: neither navigation nor what is never new, and of a
// list the whole of its first entry.
func TestOpening(t *testing.T) {
	t.Parallel()
	entry := func(n int32) func(*webrace.Block) { return func(b *webrace.Block) { b.Entry = n } }
	aside := func(b *webrace.Block) { b.Aside = true }
	for _, c := range []struct {
		text   []string
		change map[int]func(*webrace.Block)
		size   int
		want   string
	}{
		{[]string{"title: Harbour", "navigation: Home", "The ferry\n leaves", "heading: Times", "At nine"}, nil, 300, "The ferry leaves · Times · At nine"},
		{[]string{"title: Harbour", "navigation: Home"}, nil, 300, "Harbour"},
		{[]string{"built at eight", "The ferry leaves"}, map[int]func(*webrace.Block){0: aside}, 300, "The ferry leaves"},
		{[]string{"built at eight"}, map[int]func(*webrace.Block){0: aside}, 300, "built at eight"},
		{[]string{"heading: The ferry", "at nine", "heading: The bus"}, map[int]func(*webrace.Block){0: entry(1), 1: entry(1), 2: entry(2)}, 300, "The ferry · at nine · The bus"},
		{[]string{strings.Repeat("word ", 25), strings.Repeat("more ", 25)}, nil, 300, strings.TrimSpace(strings.Repeat("word ", 25)) + " · " + strings.Repeat("more ", 5) + "…"},
		{[]string{"The ferry leaves", "At nine"}, nil, 25, "The ferry leaves"},
		{[]string{"heading: –", " ★★★\n☆ ", "★"}, nil, 300, "–"},
		{[]string{"★★★"}, nil, 7, "★★"},
		{[]string{"The ferry leaves", "At nine o'clock in the morning"}, nil, 36, "The ferry leaves · At nine o …"},
	} {
		text := textOf(c.text...)
		text.Entries = make([]webrace.Entry, 2)
		for i, change := range c.change {
			change(&text.Blocks[i])
		}
		var x Index
		x.Add(compile(t, Profile{ID: "p"}))
		summary := ""
		for alert := range x.Match(text, Options{Everyone: true, Summary: c.size}) {
			summary = alert.Summary
		}
		if summary != c.want {
			t.Errorf("%q: %q, want %q", c.text, summary, c.want)
		}
	}
}
