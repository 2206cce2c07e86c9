package xmlschema

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// encodedAlike fails unless a document is encoded, or refused, as by way of its canonical form. It reports
// whether the short way was taken.
func encodedAlike(t *testing.T, d encodable) (plain bool) {
	t.Helper()
	canonical, table, err := encode(d)
	if invalid := d.Validate(); invalid != nil || err != nil {
		if invalid == nil || err == nil || invalid.Error() != err.Error() {
			t.Fatalf("%+v is encoded with the error %v, and valid with %v", d, err, invalid)
		}
		return d.plain()
	}
	want := d.Canonical()
	if !bytes.Equal(canonical, want) {
		t.Fatalf("encoded as\n%s, not\n%s", canonical, want)
	}
	if wantTable, err := BuildTable(want); err != nil || !bytes.Equal(table, wantTable) {
		t.Fatalf("the table of %s is\n%x, not\n%x (%v)", want, table, wantTable, err)
	}
	return d.plain()
}

// hostileTexts are those that XML makes difficult.
var hostileTexts = []string{
	"", " ", "a b", " a", "a ", "a\tb", "a\nb", "a\rb", "]]>", "&<>\"'", "&amp;", "\x00", "\x1b", "\x7f", "\u0080", "\u0085", "\u00a0", "\u2028", "\u3000",
	"\ufeff", "\ufffd", "\ufffe", "\uffff", "\U0001ffff", "\xff", "\xed\xa0\x80", "é", "東京", "\U0001f600", "a\u0301", "\u202e", "\u200b", string(make([]byte, 2000)),
}

func TestRequestsAreEncodedAsTheirCanonicalForm(t *testing.T) {
	t.Parallel()
	plain := 0
	count := orInShort(1000, 300)
	for seed := range uint64(count) {
		u := newGenerator(seed).urd()
		if seed%2 == 0 {
			simplify(u)
		}
		if encodedAlike(t, u) {
			plain++
		}
	}
	if plain < count/8 || plain == count {
		t.Errorf("%d of %d go the short way: one of both ways is not tried", plain, count)
	}
}

// simplify leaves a request as it is but for what XML makes difficult.
func simplify(u *URD) {
	u.ID, u.Owner, u.Login, u.Secret, u.LastCheck = "a&b", "ελένη", "", "", time.Time{}
	u.Title = strings.TrimSpace(u.Title)
	if len(u.Title) > LongestTitle {
		u.Title = "é"
	}
	for i, label := range u.Labels {
		if len(label) > LongestLabel {
			u.Labels[i] = "é"
		}
	}
	if u.Group != "" {
		u.Group = "comp.lang <go>"
	}
	u.URI = "http://a.example/?a=1&b=2"
	if u.Protocol == "x:gopher-7" {
		u.Protocol = ProtocolIMAP
	}
	var simple func(keywords []Keyword, groups []Group)
	simple = func(keywords []Keyword, groups []Group) {
		for i := range keywords {
			keywords[i].Key = strings.TrimSpace("λ < \"two words\" ]]>"[2*i%5:])
		}
		for _, g := range groups {
			simple(g.Keywords, g.Groups)
		}
	}
	simple(u.Keywords.Keywords, u.Keywords.Groups)
}

func TestHostileRequestsAreEncodedAsTheirCanonicalForm(t *testing.T) {
	t.Parallel()
	texts := append(slices.Clip(hostileTexts), "0 8 * * 1-5 Europe/Athens", " 0 8  * * 1-5", "0 8 30 2 *", "*", "http:", "http://", "http:// x", "mailto:a@b", "x:gopher", "http", "rmi", "any", "none", "css", "a[b", "//", "(", strings.Repeat("\"", 1024))
	for _, s := range texts {
		for _, change := range []func(*URD){
			func(u *URD) { u.Title = s }, func(u *URD) { u.Labels = []string{s} }, func(u *URD) { u.Labels = []string{s, "a"} }, func(u *URD) { u.Labels = []string{"b", s} },
			func(u *URD) { u.Labels = strings.Split(s+" b a", " ") },
			func(u *URD) { u.ID = s }, func(u *URD) { u.Owner = s }, func(u *URD) { u.At = s }, func(u *URD) { u.At, u.Timing = s, time.Hour }, func(u *URD) { u.URI = s }, func(u *URD) { u.URI = "http://a.example/" + s },
			func(u *URD) { u.Protocol = s }, func(u *URD) { u.Protocol, u.URI = ProtocolPOP3, s }, func(u *URD) { u.Method = s }, func(u *URD) { u.ProcessType = s },
			func(u *URD) { u.Change = s }, func(u *URD) { u.Scope = s }, func(u *URD) { u.Login = s }, func(u *URD) { u.Secret = s }, func(u *URD) { u.Group = s },
			func(u *URD) { u.Keywords.Match = s }, func(u *URD) { u.Keywords.Keywords[0].Key = s }, func(u *URD) { u.Keywords.Keywords[0].Match = s },
			func(u *URD) { u.Keywords.Groups = []Group{{Match: s, Keywords: []Keyword{{Key: s, Weight: 1}}}} },
			func(u *URD) { u.Select = []Rule{{Language: s, Text: "p"}} }, func(u *URD) {
				u.Select, u.Ignore = []Rule{{Language: RuleCSS, Text: s}}, []Rule{{Language: "", Text: s}}
			},
			func(u *URD) { u.Select = []Rule{{Language: RuleXPath, Text: s}} }, func(u *URD) { u.Select = []Rule{{Language: RuleRegex, Text: s}} },
			func(u *URD) { u.Keywords.Keywords = slices.Repeat([]Keyword{{Key: s + "x", Weight: 1}}, 300) },
		} {
			u := NewURD("eleni", "http://a.example/")
			u.Keywords = NewKeywords(Keyword{Key: "ibm"})
			change(u)
			encodedAlike(t, u)
		}
	}
	for _, n := range []int{-1, 0, 1, 2, 3, 4, 5, 6, 8, 9, 16, 17, 64, 65, 100, 101, 65535, 65536, math.MaxInt32, math.MaxInt32 + 1, math.MaxInt, math.MinInt} {
		for _, change := range []func(*URD){
			func(u *URD) { u.Title = strings.Repeat("a", max(0, min(n, 70))) + strings.Repeat("é", 136) },
			func(u *URD) { u.Labels = manyLabels(max(0, min(n, 70))) }, func(u *URD) { u.Labels = []string{strings.Repeat("b", max(0, min(n, 70)))} },
			func(u *URD) { u.Remember = n }, func(u *URD) { u.Timing = time.Duration(n) }, func(u *URD) { u.Port = n }, func(u *URD) { u.Depth = n },
			func(u *URD) { u.Urgency = n }, func(u *URD) { u.Keywords.Threshold = n }, func(u *URD) { u.Keywords.Keywords[0].Weight = n },
			func(u *URD) { u.Keywords = Keywords{Threshold: n} }, func(u *URD) { u.LastCheck = time.Unix(int64(n), 0) },
			func(u *URD) { u.Select = slices.Repeat([]Rule{{Language: RuleCSS, Text: "p"}}, max(0, min(n, 70))) },
			func(u *URD) { u.Keywords.Groups = []Group{nested(max(0, min(n, 70)))} },
		} {
			u := NewURD("eleni", "http://a.example/")
			u.Keywords = NewKeywords(Keyword{Key: "ibm"})
			change(u)
			encodedAlike(t, u)
		}
	}
	for _, empty := range []func(*URD){
		func(u *URD) { u.Keywords.Groups = []Group{{}} }, func(u *URD) { u.Keywords.Keywords = []Keyword{{}} }, func(u *URD) { *u = URD{} },
		func(u *URD) { *u = URD{URI: "http://a.example/"} }, func(u *URD) { u.Keywords.Keywords = []Keyword{} }, func(u *URD) { u.Select = []Rule{} },
	} {
		u := NewURD("eleni", "http://a.example/")
		empty(u)
		encodedAlike(t, u)
	}
}

// manyLabels makes so many, sorted.
func manyLabels(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("%03d", i))
	}
	return all
}

// nested makes groups within one another, so many.
func nested(n int) Group {
	g := Group{Keywords: []Keyword{{Key: "ibm", Weight: 1}}}
	for range n {
		g = Group{Match: MatchNone, Groups: []Group{g}}
	}
	return g
}

// A document that is larger than a reader takes is refused, however plain its parts are.
func TestLargeDocumentsAreNotPlain(t *testing.T) {
	t.Parallel()
	u := NewURD("eleni", "http://a.example/")
	u.Keywords = NewKeywords(slices.Repeat([]Keyword{{Key: strings.Repeat("&", 1000)}}, 300)...)
	a := &ACI{URI: "http://a.example/", Explain: &Explain{Keywords: slices.Repeat([]KeywordShare{{Key: strings.Repeat("&", 1000), Weight: 1}}, 300)}}
	for _, d := range []encodable{u, a} {
		if encodedAlike(t, d); d.Validate() == nil {
			t.Errorf("a %T of %d bytes is valid", d, len(d.Canonical()))
		}
	}
}

// FuzzEncodeURD holds that no text makes the two ways of encoding a request differ.
func FuzzEncodeURD(f *testing.F) {
	f.Add("id", "http://a.example/", "x", "a «key» & more", "p > a", 3)
	f.Add("", "*", "]]>", "\ufffe", "\x00", -1)
	f.Fuzz(func(t *testing.T, id, uri, login, key, rule string, n int) {
		u := NewURD(id, uri)
		u.ID, u.Login, u.Group, u.Secret, u.Timing, u.Port, u.Depth, u.Urgency, u.Remember = id, login, login, id, time.Duration(n), n%70000, n, n%5, n%10
		u.Title, u.Labels, u.Paused = login, strings.Split(key, " "), n%2 == 0
		if n%3 == 0 {
			u.Labels = slices.Compact(slices.Sorted(slices.Values(u.Labels)))
		}
		u.Keywords = Keywords{Threshold: n, Match: MatchAll, Keywords: []Keyword{{Key: key, Weight: n}, {Key: key, Weight: 1, Exact: true, Match: MatchSubstring}}}
		if n%3 == 0 {
			u.Keywords.Groups = []Group{nested(n % 20)}
		}
		u.Select, u.Ignore = []Rule{{Language: RuleCSS, Text: rule}}, []Rule{{Language: RuleRegex, Text: key}}
		if n%2 == 0 {
			u.Select = nil
		}
		encodedAlike(t, u)
	})
}
