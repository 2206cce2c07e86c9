package xmlschema

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"
	"time"
)

func interesting() *URD {
	u := NewURD("eleni", "http://a.example/")
	u.Keywords = NewKeywords(Keyword{Key: "ibm", Weight: 1}, Keyword{Key: "java", Weight: 4, Exact: true})
	u.Keywords.Groups = []Group{
		{Match: MatchNone, Keywords: []Keyword{{Key: "sea", Weight: 3}}},
		{Match: MatchAll, Keywords: []Keyword{{Key: "sun", Weight: 3}, {Key: "sand", Weight: 3}}},
	}
	return u
}

func TestInterestIsKeywordsThresholdAndScopeOfChange(t *testing.T) {
	t.Parallel()
	same := map[string]func(*URD){
		"nothing":         func(*URD) {},
		"id":              func(u *URD) { u.ID = "x" },
		"owner":           func(u *URD) { u.Owner = "x" },
		"last check":      func(u *URD) { u.LastCheck = time.Now() },
		"timing":          func(u *URD) { u.Timing = time.Hour },
		"times":           func(u *URD) { u.At = "0 8 * * *" },
		"depth":           func(u *URD) { u.Depth = 9 },
		"urgency":         func(u *URD) { u.Urgency = 3 },
		"title":           func(u *URD) { u.Title = "x" },
		"labels":          func(u *URD) { u.Labels = []string{"x"} },
		"state":           func(u *URD) { u.Paused = true },
		"keyword order":   func(u *URD) { slices.Reverse(u.Keywords.Keywords) },
		"group order":     func(u *URD) { slices.Reverse(u.Keywords.Groups) },
		"order in groups": func(u *URD) { slices.Reverse(u.Keywords.Groups[1].Keywords) },
		"no rules":        func(u *URD) { u.Select = []Rule{} },
		"unset defaults":  func(u *URD) { u.Change, u.Keywords.Match, u.Keywords.Keywords[0].Match = "", "", "" },
	}
	other := map[string]func(*URD){
		"threshold":        func(u *URD) { u.Keywords.Threshold = 21 },
		"change":           func(u *URD) { u.Change = ChangePage },
		"match":            func(u *URD) { u.Keywords.Match = MatchAll },
		"key":              func(u *URD) { u.Keywords.Keywords[0].Key = "ibm2" },
		"weight":           func(u *URD) { u.Keywords.Keywords[0].Weight = 2 },
		"exact":            func(u *URD) { u.Keywords.Keywords[0].Exact = true },
		"substring":        func(u *URD) { u.Keywords.Keywords[0].Match = MatchSubstring },
		"repeated keyword": func(u *URD) { u.Keywords.Keywords = append(u.Keywords.Keywords, u.Keywords.Keywords[0]) },
		"group match":      func(u *URD) { u.Keywords.Groups[0].Match = MatchAny },
		"group keyword":    func(u *URD) { u.Keywords.Groups[1].Keywords[0].Key = "moon" },
		"no group":         func(u *URD) { u.Keywords.Groups = u.Keywords.Groups[:1] },
		"moved to a group": func(u *URD) {
			u.Keywords.Groups[0].Keywords = append(u.Keywords.Groups[0].Keywords, u.Keywords.Keywords[1])
			u.Keywords.Keywords = u.Keywords.Keywords[:1]
		},
		"nonfilter":    func(u *URD) { u.ProcessType = ProcessNonFilter },
		"a rule":       func(u *URD) { u.Select = []Rule{{Language: RuleCSS, Text: "p"}} },
		"its verb":     func(u *URD) { u.Ignore = []Rule{{Language: RuleCSS, Text: "p"}} },
		"its language": func(u *URD) { u.Select = []Rule{{Language: RuleRegex, Text: "p"}} },
		"its text":     func(u *URD) { u.Select = []Rule{{Language: RuleCSS, Text: "b"}} },
		"a condition":  func(u *URD) { u.Select = []Rule{{Language: RuleCSS, Text: "p", When: "number < 1"}} },
		"a question":   func(u *URD) { u.Ask = "Is it?" },
		"another one":  func(u *URD) { u.Select = []Rule{{Language: RuleCSS, Text: "p", When: "number < 2"}} },
		"two rules":    func(u *URD) { u.Select = []Rule{{Language: RuleCSS, Text: "b"}, {Language: RuleCSS, Text: "p"}} },
	}
	want := interesting().InterestHash()
	seen := map[string]string{}
	for name, change := range same {
		u := interesting()
		change(u)
		if got := u.InterestHash(); got != want {
			t.Errorf("%s changes the interest", name)
		}
	}
	for name, change := range other {
		u := interesting()
		change(u)
		got := u.InterestHash()
		if got == want {
			t.Errorf("%s does not change the interest", name)
		}
		if before, ok := seen[got]; ok {
			t.Errorf("%s and %s are one interest", name, before)
		}
		seen[got] = name
	}
	one, two := interesting(), interesting()
	one.Select, two.Select = []Rule{{Language: RuleCSS, Text: "b"}, {Language: RuleCSS, Text: "p"}}, []Rule{{Language: RuleCSS, Text: "p"}, {Language: RuleCSS, Text: "b"}}
	if one.InterestHash() != two.InterestHash() {
		t.Error("the order of rules changes the interest")
	}
	keywordless, nonfilter := NewURD("a", "*"), interesting()
	nonfilter.ProcessType = ProcessNonFilter
	if keywordless.InterestHash() != nonfilter.InterestHash() {
		t.Error("any change is two interests")
	}
}

// The ids are keys of stored data: they may never change.
func TestIDsAreStable(t *testing.T) {
	t.Parallel()
	interest := interesting().InterestHash()
	got := []string{interest, DeriveID("eleni", "http://a.example/", interest), ACIID("u1", interest, "http://a.example/", Docbase{Version: 3, Secret: "s"}),
		writePrint(MatchedID("u1", interest, sha256.Sum256([]byte("text"))))}
	want := []string{
		"a7c3344e7360f31b2758716dbc1f753d", "u7204c5f734feac02406a",
		"433380300434ab3d7ca1badd72c548d1625dc6b3fe76545dd2e29645d5f5e064", "36ad81900a550120",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// A version is known by its number; its fingerprints, and what its owner had seen before, tell nothing of it.
func TestAnAnnotationIsKnownByItsDocumentAndVersion(t *testing.T) {
	t.Parallel()
	id := ACIID("u", "i", "http://a.example/", Docbase{Version: 2})
	if id != ACIID("u", "i", "http://a.example/", Docbase{Version: 2, Since: 1, Likeness: 1, Shown: 2, Matched: 3, Name: "n"}) {
		t.Error("the same version has two ids")
	}
}

// A message that comes again has the number of another version, and may have other bytes: in each mailbox other
// programs are said to have brought it. Its text is the same.
func TestAnAnnotationOfAMessageIsKnownByItsText(t *testing.T) {
	t.Parallel()
	id := func(uri, digest string, version int, shown uint64) string {
		return ACIID("u", "i", uri, Docbase{Digest: digest, Version: version, Shown: shown})
	}
	const mail, page = "mid:a@b.example", "http://a.example/"
	for _, c := range []struct {
		what string
		a, b string
		same bool
	}{
		{"of another number", id(mail, "d", 1, 7), id(mail, "d", 3, 7), true},
		{"of other bytes", id(mail, "d", 1, 7), id(mail, "e", 2, 7), true},
		{"of another text", id(mail, "d", 1, 7), id(mail, "d", 1, 8), false},
		{"short, of another number", id(mail, "d", 1, 0), id(mail, "d", 3, 0), true},
		{"short, of other bytes", id(mail, "d", 1, 0), id(mail, "e", 1, 0), false},
		{"another message", id(mail, "d", 1, 7), id(mail+"x", "d", 1, 7), false},
		{"a page of another number", id(page, "d", 1, 7), id(page, "d", 3, 7), false},
		{"a page of other bytes", id(page, "d", 1, 7), id(page, "e", 1, 7), false},
	} {
		if (c.a == c.b) != c.same {
			t.Errorf("%s: the same is %t", c.what, c.a == c.b)
		}
	}
}

func TestIDsDependOnEveryPartAndItsPlace(t *testing.T) {
	t.Parallel()
	ids := []string{
		DeriveID("a", "b", "c"), DeriveID("ab", "", "c"), DeriveID("", "ab", "c"), DeriveID("a", "bc", ""), DeriveID("b", "a", "c"),
		ACIID("a", "b", "c", Docbase{}), ACIID("ab", "", "c", Docbase{}), ACIID("", "ab", "c", Docbase{}), ACIID("a", "bc", "", Docbase{}),
		ACIID("a", "b", "c", Docbase{Version: 1}), ACIID("a", "b", "c", Docbase{Version: 2}), ACIID("a", "b", "c", Docbase{Secret: "1"}),
		ACIID("a", "b", "c", Docbase{Digest: "1"}), ACIID("a", "b", "c1", Docbase{}),
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 14 {
		t.Errorf("two of them are equal: %q", ids)
	}
}

func TestCeilingOfTheWeights(t *testing.T) {
	t.Parallel()
	cases := []struct {
		weights []int
		want    int
	}{{nil, 0}, {[]int{1}, 20}, {[]int{5}, 98}, {[]int{1, 1}, 35}, {[]int{1, 3, 4, 5}, 100}}
	for _, c := range cases {
		var k Keywords
		for _, w := range c.weights {
			k.Keywords = append(k.Keywords, Keyword{Weight: w})
		}
		if got := k.Ceiling(); got != c.want {
			t.Errorf("%v: %d, want %d", c.weights, got, c.want)
		}
	}
}

func TestAdvice(t *testing.T) {
	t.Parallel()
	u := interesting()
	u.Keywords.Match = MatchAll
	if got := u.Advice(); got != nil {
		t.Errorf("a sound request: %q", got)
	}
	u.Keywords = NewKeywords(Keyword{Key: "ibm", Weight: 1})
	want := []string{"this can never alert: the weights give a relevance of at most 20, which does not pass the threshold of 20"}
	if got := u.Advice(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// Who looks for words, or for a part, in one file that by its name has no text is told so before anything is asked.
func TestAdviceOnWhatHasNoText(t *testing.T) {
	t.Parallel()
	rule := []Rule{{Language: RuleCSS, Text: "#price"}}
	for _, c := range []struct {
		uri    string
		change func(*URD)
		want   string // the advice begins so
	}{
		{uri: "https://a.org/all.ZIP?x=y.html", want: "the URI ends in .zip as archives do, which have no text: no keyword "},
		{uri: "https://a.org/map.png", change: func(u *URD) { u.Keywords, u.Select = Keywords{}, rule }, want: "the URI ends in .png as pictures do, which have no text: no rule "},
		{uri: "https://a.org/map.png", change: func(u *URD) { u.Keywords = Keywords{} }},
		{uri: "https://a.org/map.png", change: func(u *URD) { u.Depth = 2 }},
		{uri: "https://a.org/map.png*"},
		{uri: "https://a.org/zip"},
		{uri: "https://a.org/?file=a.zip"},
		{uri: "https://a.org/prices.xlsx"},
	} {
		u := interesting()
		u.URI, u.Depth, u.Keywords, u.ProcessType = c.uri, 1, NewKeywords(Keyword{Key: "ferry", Weight: 4}), ProcessFilter
		if c.change != nil {
			c.change(u)
		}
		if got := strings.Join(u.Advice(), "\n"); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", c.uri, got, c.want)
		}
	}
}
