package xmlschema

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHintsOfExpressions(t *testing.T) {
	t.Parallel()
	cases := map[string][]Hint{
		"/urd[@id='u1']":                                    {{FieldID, "u1"}},
		"//urd[@id=\"u1\"]":                                 {{FieldID, "u1"}},
		"/urds/urd[@owner='eleni']":                         {{FieldOwner, "eleni"}},
		"/urd[@owner='e' and uri='http://a/']":              {{FieldOwner, "e"}, {FieldURI, "http://a/"}},
		"/urd[@owner='e'][@id='u']/uri":                     {{FieldOwner, "e"}, {FieldID, "u"}},
		"/urd[keywords/keyword/@key='java']":                {{FieldKeyword, "java"}},
		"/urd[keywords/keyword[@key='java' and @weight=5]]": {{FieldKeyword, "java"}},
		"/urd/keywords/keyword[@key='java']/@weight":        {{FieldKeyword, "java"}},
		"//keyword[@key='java']":                            {{FieldKeyword, "java"}},
		"/urd[.//keyword/@key='java']":                      {{FieldKeyword, "java"}},
		"/urd/uri[.='*']":                                   {{FieldURI, "*"}},
		"/urd[@owner='e' and (@id='a' or @id='b')]":         {{FieldOwner, "e"}},
		"/urd[@owner='e' and not(@id='a')]":                 {{FieldOwner, "e"}},

		"/urd":                        nil,
		"/urd[@id='a' or @owner='e']": nil,
		"/urd[@id='a' or @owner='e' and uri='*']": nil,
		"/urd[not(@id='a')]":                      nil,
		"/urd[@id!='a']":                          nil,
		"/urd['a'=@id]":                           nil, // compared as numbers
		"/urd[@id=5]":                             nil,
		"/urd[@id='a'='b']":                       nil,
		"/urd[@id='a'] | /urd":                    nil,
		"/urd[@id='a'] or true()":                 nil,
		"/urd[@id='a'] = /urd":                    nil,
		"not(/urd[@id='a'])":                      nil,
		"count(/urd[@id='a']) = 0":                nil,
		"/aci[@id='a']":                           nil,
		"/urd/parent::urd[@id='a']":               nil,
		"urd[@id='a']":                            nil,
		"/urd[uri[@id='a']]":                      nil,
		"/urd[depth/@owner='a']":                  nil,
	}
	for expression, want := range cases {
		if got := mustCompile(t, expression).Hints(); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", expression, got, want)
		}
	}
}

// population is a base of requests with few values, so that expressions at random match some of them.
func population(r *rand.Rand, n int) []*URD {
	pick := func(kind string, n int) string { return fmt.Sprintf("%s%d", kind, r.IntN(n)) }
	all := make([]*URD, n)
	for i := range all {
		u := NewURD(pick("o", 3), "http://"+pick("h", 3)+"/")
		u.ID = pick("u", 5)
		u.Protocol, u.Urgency = []string{ProtocolHTTP, ProtocolFeed, ""}[r.IntN(3)], r.IntN(4)
		for range r.IntN(4) {
			u.Keywords.Keywords = append(u.Keywords.Keywords, Keyword{Key: pick("k", 4), Weight: 1 + r.IntN(5)})
		}
		if r.IntN(3) == 0 {
			u.Keywords.Groups = []Group{{Match: MatchNone, Keywords: []Keyword{{Key: pick("k", 4), Weight: 3}}}}
		}
		all[i] = u
	}
	return all
}

// expressionAt makes an expression at random from the parts that hints are made of and those that
// must keep them from being made.
func expressionAt(r *rand.Rand) string {
	literal := func(kind string, n int) string { return fmt.Sprintf("'%s%d'", kind, r.IntN(n)) }
	var predicate func(depth int) string
	atom := func() string {
		return []string{
			"@id=" + literal("u", 5), "@owner=" + literal("o", 3), "uri='http://h" + fmt.Sprint(r.IntN(3)) + "/'",
			"keywords/keyword/@key=" + literal("k", 4), "keywords/keyword[@key=" + literal("k", 4) + " and @weight>2]",
			".//keyword/@key=" + literal("k", 4), "@owner!=" + literal("o", 3), literal("o", 3) + "=@owner", "depth/@level=1", "keywords/group",
			"keywords/keyword[@key=" + literal("k", 4) + " or @weight=1]", "count(keywords/keyword)>1",
			"type/@protocol='feed'", "urgency/@urgent='" + fmt.Sprint(r.IntN(4)) + "'", "urgency/@urgent='01'",
		}[r.IntN(15)]
	}
	predicate = func(depth int) string {
		if depth > 2 {
			return atom()
		}
		switch r.IntN(6) {
		case 0, 1:
			return predicate(depth+1) + " and " + predicate(depth+1)
		case 2:
			return predicate(depth+1) + " or " + predicate(depth+1)
		case 3:
			return "not(" + predicate(depth+1) + ")"
		case 4:
			return "(" + predicate(depth+1) + ")"
		}
		return atom()
	}
	path := []string{"/urd", "//urd", "/urds/urd", "/*", "/urds/*"}[r.IntN(5)] + "[" + predicate(0) + "]"
	switch r.IntN(9) {
	case 0:
		return path + "[" + predicate(1) + "]"
	case 1:
		return path + "/keywords/keyword[@key=" + literal("k", 4) + "]"
	case 2:
		return path + "/uri[.='http://h1/']"
	case 3:
		return path + " | /urd[" + predicate(1) + "]"
	case 4:
		return "not(" + path + ")"
	case 5:
		return path + " and //keyword[@key=" + literal("k", 4) + "]"
	case 6:
		return "//keyword[@key=" + literal("k", 4) + "][@weight>2]"
	case 7:
		parts := []string{"@id=" + literal("u", 5), "@owner=" + literal("o", 3), "uri='http://h1/'", "type/@protocol='http'", "urgency/@urgent='2'", "urgency/@urgent='02'"}
		return "/urd[" + parts[r.IntN(6)] + []string{" and ", "]["}[r.IntN(2)] + parts[r.IntN(6)] + "]"
	}
	return path
}

func TestPrunedResultsEqualTheScan(t *testing.T) {
	if testing.Short() {
		t.Skip("a lot to compute, in one goroutine: not in short mode")
	}
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 1))
	urds := population(r, 120)
	tables := make([][]byte, len(urds))
	for i, u := range urds {
		tables[i] = mustTable(t, u.Canonical())
	}
	hinted, decided, pruned, matches := 0, 0, 0, 0
	for range 1500 {
		expression := expressionAt(r)
		q := mustCompile(t, expression)
		hints := q.Hints()
		if len(hints) > 0 {
			hinted++
		}
		if q.Decided() {
			decided++
		}
		for i, u := range urds {
			matched, err := q.Match(t.Context(), tables[i])
			if err != nil {
				t.Fatalf("%s: %v", expression, err)
			}
			admitted := !slices.ContainsFunc(hints, func(h Hint) bool { return !h.Admits(u) })
			if matched && !admitted {
				t.Fatalf("%s matches what its hints %v prune: %s", expression, hints, u.Canonical())
			}
			if admitted && !matched && q.Decided() {
				t.Fatalf("%s does not match what its hints %v decide: %s", expression, hints, u.Canonical())
			}
			if matched {
				matches++
			}
			if !admitted {
				pruned++
			}
		}
	}
	if hinted < 300 || decided < 50 || pruned < 10000 || matches < 5000 {
		t.Errorf("%d expressions with hints, %d of them decided, %d requests pruned, %d matches: too few to tell", hinted, decided, pruned, matches)
	}
}
