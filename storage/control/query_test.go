package control_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

// Values that collide, and that mean something in XPath, SQL and XML.
var (
	owners   = []string{"eleni", "andreas", "o'neil", "a&b"}
	uris     = []string{"http://a.example/", "http://b.example/?x=1&y=%27", "http://a.example/*"}
	keywords = []string{"ibm", "java", "\"big blue\"", "λευκωσία", "o'neil", "100%"}
)

func randomURDs(r *rand.Rand, n int) []*xmlschema.URD {
	all := make([]*xmlschema.URD, n)
	for i := range all {
		u := urd(fmt.Sprintf("u%d", i), owners[r.IntN(len(owners))], uris[r.IntN(len(uris))])
		for _, k := range keywords {
			if r.IntN(3) == 0 {
				u.Keywords = xmlschema.NewKeywords(append(u.Keywords.Keywords, xmlschema.Keyword{Key: k, Weight: 1 + r.IntN(5)})...)
			}
		}
		u.Depth, u.Urgency = r.IntN(4), 1+r.IntN(3)
		all[i] = u
	}
	return all
}

// quoted writes a string as XPath can: with the quotes that it does not hold.
func quoted(s string) string {
	if strings.Contains(s, "'") {
		return `"` + s + `"`
	}
	return "'" + s + "'"
}

func randomQuery(r *rand.Rand, n int) string {
	pick := func(values []string) string {
		for {
			if v := values[r.IntN(len(values))]; !strings.Contains(v, "'") || !strings.Contains(v, `"`) {
				return quoted(v)
			}
		}
	}
	var predicate func(depth int) string
	predicate = func(depth int) string {
		switch k := r.IntN(11); {
		case k == 0:
			return fmt.Sprintf("@id='u%d'", r.IntN(n+2))
		case k == 1:
			return "@owner=" + pick(owners)
		case k == 2:
			return "uri=" + pick(uris)
		case k == 3:
			return "keywords/keyword/@key=" + pick(keywords)
		case k == 4:
			return fmt.Sprintf("keywords/keyword[@key=%s and @weight>%d]", pick(keywords), r.IntN(5))
		case k == 5:
			return fmt.Sprintf("depth/@level < %d", r.IntN(4))
		case k == 6 || depth == 0:
			return "@owner!=" + pick(owners)
		case k == 7:
			return "not(" + predicate(depth-1) + ")"
		case k == 8:
			return "(" + predicate(depth-1) + " or " + predicate(depth-1) + ")"
		case k == 9:
			return predicate(depth-1) + " or " + predicate(depth-1)
		}
		return predicate(depth-1) + " and " + predicate(depth-1)
	}
	root := []string{"/urd", "//urd", "/urds/urd"}[r.IntN(3)]
	if r.IntN(6) == 0 {
		return root + "[" + predicate(1) + "]/keywords/keyword[@key=" + pick(keywords) + "]"
	}
	return root + "[" + predicate(2) + "]"
}

// What indexes find has to be what a scan finds.
func TestQueriesEqualTheScan(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	const count = 120
	r := rand.New(rand.NewPCG(1, 2))
	s := open(t)
	all := randomURDs(r, count)
	put(t, s, all...)
	// Indexes have to follow changes and removals as well.
	for i := range all {
		switch i % 5 {
		case 0:
			owner := all[i].Owner // who alone may change it
			*all[i] = *randomURDs(r, 1)[0]
			all[i].ID, all[i].Owner = fmt.Sprintf("u%d", i), owner
			put(t, s, all[i])
		case 1:
			ok(t, s.Delete(t.Context(), all[i].ID))
		}
	}
	tables := make(map[string][]byte)
	for _, u := range gather(t, s.All(t.Context())) {
		nodes, err := xmlschema.BuildTable(u.Canonical())
		ok(t, err)
		tables[u.ID] = nodes
	}
	hits, pruned := 0, 0
	for range 400 {
		expression := randomQuery(r, count)
		q, err := xmlschema.Compile(expression)
		ok(t, err)
		pruned += len(q.Hints())
		var want []string
		for _, u := range all {
			if tables[u.ID] == nil {
				continue // removed
			}
			matched, err := q.Match(t.Context(), tables[u.ID])
			ok(t, err)
			if matched {
				want = append(want, u.ID)
			}
		}
		if got := ids(gather(t, s.Query(t.Context(), expression))); !slices.Equal(got, want) {
			t.Fatalf("%s: %v, want %v", expression, got, want)
		}
		hits += len(want)
	}
	if hits < 400 || pruned < 100 {
		t.Errorf("the test tests little: %d hits, %d look-ups", hits, pruned)
	}
}

func TestABadExpressionIsAnError(t *testing.T) {
	t.Parallel()
	s := open(t)
	put(t, s, urd("a", "eleni", "http://a.example/"))
	putACIs(t, s, aci(1))
	for _, bad := range []string{"/urd[", "", "count(", "/urd[@id='" + strings.Repeat("x", 5000) + "']"} {
		if err := lastError(s.Query(t.Context(), bad)); err == nil {
			t.Errorf("%.20q: accepted for URDs", bad)
		}
		if bad == "" {
			continue // no expression is no condition, to a filter
		}
		if err := lastError(s.ACIs(t.Context(), control.Filter{XPath: bad})); err == nil {
			t.Errorf("%.20q: accepted for ACIs", bad)
		}
	}
}

func lastError[T any](results func(func(T, error) bool)) (last error) {
	for _, err := range results {
		last = err
	}
	return last
}
