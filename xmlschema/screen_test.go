package xmlschema

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestScreensOfExpressions(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]bool{
		"/urd[urgency/@urgent > 2]": true,
		"/urd[number(urgency/@urgent) >= 2 and count(keywords/keyword) = 3]": true,
		"/urds/urd[contains(uri, 'x') or depth/@level != 1]/keywords":        true,
		"/urd[starts-with(uri, 'http:')][2]":                                 true,
		"/urd[keywords]":                                                     true,

		"//urd[urgency/@urgent > 2]":                            false,
		"/urd/uri[urgency/@urgent > 2]":                         false,
		"/urd[urgency/@urgent > 2] | /aci":                      false,
		"/urd[urgency/@urgent > -2]":                            false,
		"/urd[2 < urgency/@urgent]":                             false,
		"/urd[urgency/@urgent > 2 and //keyword]":               false,
		"/urd[count(keywords/keyword)]":                         false, // a position
		"/urd[count(keywords/keyword) + 1 = 3]":                 false,
		"/urd[count(keywords/keyword[@weight=1]) = 3]":          false,
		"/urd[string-length(uri) > 3]":                          false,
		"/urd[contains('x', uri)]":                              false,
		"/urd[not(keywords)]":                                   false,
		"/urd[nosuchname]":                                      false,
		"/urd[keywords/*]":                                      false,
		"/urd[type/@protocol='http' or type/@protocol!='feed']": true,
		"/urd[type/@protocol='http']":                           false, // decided
		"/urd[type/@protocol > 'http']":                         false, // compared as numbers
		"/urd[count(uri) = 'x']":                                false,
		"not(/urd[urgency/@urgent > 2])":                        false,
		"/urd[(urgency/@urgent > 2 or keywords) and @id]":       false,
	} {
		if got := mustCompile(t, expression).screen != nil; got != want {
			t.Errorf("%s: a screen: %v, want %v", expression, got, want)
		}
	}
}

// probeAt makes at random what a probe answers.
func probeAt(r *rand.Rand) string {
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	path := pick("urgency/@urgent", "depth/@level", "keywords/keyword/@weight", "keywords/keyword", "uri", "@id", "@remember", "@title", "@state", "keywords/@threshold",
		"uri/@port", "uri/@timing", "keywords", "keywords/group/keyword/@key", "selection/select", "type/@change", "title", "keywords/keyword/@key")
	compared := " " + pick(comparisons...) + " " + pick("0", "1", "2", "3", "3.5", ".5", "20", "100")
	switch r.IntN(6) {
	case 0:
		return path
	case 4:
		return path + pick(" = ", " != ") + "'" + pick("3", "k1", "http", "", "http://h1/", "u1", "é") + "'"
	case 1:
		return "number(" + path + ")" + compared
	case 2:
		return "count(" + path + ")" + compared
	case 3:
		return pick("contains", "starts-with") + "(" + path + ", '" + pick("a", "e", "h", "k1", "http", "10", "", "é") + "')"
	}
	return path + compared
}

// What a screen answers is what evaluating the query answers.
func TestScreensChangeNoAnswer(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	var tables [][]byte
	for _, document := range mixedDocuments {
		tables = append(tables, mustTable(t, []byte(document)), mustTable(t, []byte("<!--c-->"+document)))
	}
	for _, u := range population(r, 50) {
		tables = append(tables, mustTable(t, u.Canonical()))
	}
	for seed := range uint64(50) {
		g := newGenerator(seed)
		tables = append(tables, mustTable(t, g.urd().Canonical()), mustTable(t, []byte(strings.Replace(string(g.urd().Canonical()), "<keywords", "<!--c--><keywords", 1))))
	}
	// An element of several texts, and names that are not of the vocabulary's namespaces.
	for _, document := range []string{
		`<urd xmlns="urn:webrace:1"><uri>ht<!--c-->tp</uri><depth level="1"/><depth level="3"/></urd>`,
		`<urd xmlns="urn:webrace:1"><uri>ht<b>tp</b></uri><urgency urgent=" 3 "/><urgency urgent="x"/></urd>`,
		`<urd><uri>http</uri><urgency urgent="3"/></urd>`,
		`<urd xmlns="urn:webrace:1" xmlns:x="urn:x"><x:uri>http</x:uri><uri xmlns="urn:y">http</uri><urgency x:urgent="3"/></urd>`,
	} {
		tables = append(tables, mustTable(t, []byte(document)))
	}
	kept, matches, rounds := 0, 0, 1500
	if testing.Short() {
		rounds = 100
	}
	for range rounds {
		expression := probeAt(r)
		for r.IntN(2) == 0 {
			expression += []string{" and ", " or "}[r.IntN(2)] + probeAt(r)
		}
		expression = fmt.Sprintf("/urd[%s]%s", expression, []string{"", "", "/keywords", "[depth]", "[1]"}[r.IntN(5)])
		q := mustCompile(t, expression)
		if q.screen == nil && !q.Decided() {
			t.Fatalf("%s: no screen", expression)
		}
		whole := *q
		whole.screen = nil
		for _, table := range tables {
			got, err := q.Match(t.Context(), table)
			want, wholeErr := whole.Match(t.Context(), table)
			if got != want || err != nil || wholeErr != nil {
				t.Fatalf("%s: %v, %v; without a screen %v, %v", expression, got, err, want, wholeErr)
			}
			if got {
				matches++
			} else {
				kept++
			}
		}
	}
	if kept < 30*rounds || matches < 30*rounds {
		t.Errorf("the test tests little: %d matches, %d others", matches, kept)
	}
}

func TestScreensOfDamagedTablesEnd(t *testing.T) {
	t.Parallel()
	u := NewURD("eleni", "http://a.example/")
	u.Keywords = NewKeywords(Keyword{Key: "java", Weight: 5}, Keyword{Key: "ibm"})
	sound := mustTable(t, u.Canonical())
	q := mustCompile(t, "/urd[count(keywords/keyword) = 3 or uri = 'x' and depth/@level > 7]")
	failed := 0
	for i := range sound {
		for _, value := range []byte{0, 1, 2, 0xff} {
			damaged := slices.Clone(sound)
			damaged[i] = value
			if _, err := q.Match(t.Context(), damaged); err != nil {
				failed++
			}
		}
	}
	if failed < 20 {
		t.Errorf("only %d errors", failed)
	}
}
