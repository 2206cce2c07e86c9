package value_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql/value"
)

// Aggregates of groups, with solutions in which the expression has no value ("!"). An empty result is an error.
func TestAggregates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		group []string
		want  string
	}{
		{"COUNT", nil, "0"},
		{"COUNT", []string{"1", "!", "1", ""}, "2"},
		{"SUM", nil, "0"},
		{"SUM", []string{"1", "2.5", "2.5"}, "6.0"},
		{"SUM", []string{`"1"^^xsd:byte`}, "1"},
		{"SUM", []string{"1", "0.5e0"}, "1.5E0"},
		{"SUM", []string{"1", "!"}, ""},
		{"SUM", []string{"1", ""}, ""},
		{"SUM", []string{"1", `"2"`}, ""},
		{"AVG", nil, "0"},
		{"AVG", []string{"1", "2", "3"}, "2.0"},
		{"AVG", []string{"1", "2"}, "1.5"},
		{"AVG", []string{"1", "_:b", "3"}, ""},
		{"AVG", []string{"1", "2e0"}, "1.5E0"},
		{"MIN", nil, ""},
		{"MIN", []string{"2", "1.5", `"a"`}, "1.5"},
		{"MIN", []string{"2", "<http://a/>"}, "<http://a/>"}, // by ORDER BY
		{"MAX", []string{"2", "10", `"a"`}, `"a"`},
		{"MAX", []string{"2", "!"}, ""},
		{"MAX", []string{"", "2"}, ""},
		{"SAMPLE", nil, ""},
		{"SAMPLE", []string{"!", "", "7", "8"}, "7"},
		{"GROUP_CONCAT", nil, `""`},
		{"GROUP_CONCAT", []string{"1", `"a"@en`, "<http://a/>", "1"}, `"1|a|http://a/|1"`},
		{"GROUP_CONCAT", []string{`""`, `""`}, `"|"`},
		{"GROUP_CONCAT", []string{"1", "_:b"}, ""},
		{"GROUP_CONCAT", []string{"1", "!"}, ""},
	} {
		a := value.NewAggregate(c.name, "|")
		for _, s := range c.group {
			if s == "!" {
				a.Failed()
			} else {
				a.Add(term(s))
			}
		}
		got, err := a.Result()
		if (err != nil) != (c.want == "") || got != term(c.want) {
			t.Errorf("%s of %q is %s, %v, want %s", c.name, c.group, got, err, c.want)
		}
	}
}

func TestAggregatesSayWhatTheyKeep(t *testing.T) {
	t.Parallel()
	a := value.NewAggregate("GROUP_CONCAT", ",")
	n := 0
	for i := range 1000 {
		term := value.Integer(int64(i))
		a.Add(term)
		n += len(rdf.Value(term))
	}
	if a.Bytes() < n {
		t.Errorf("GROUP_CONCAT keeps %d bytes, and says %d", n, a.Bytes())
	}
}

// Texts that a query computes have a limit, however they grow.
func TestComputedTextsAreLimited(t *testing.T) {
	t.Parallel()
	half := rdf.NewString(strings.Repeat("é", value.DefaultMaxString/4)) // of the bytes
	for name, args := range map[string][]webrace.Term{
		"CONCAT":         {half, half, `"a"`},
		"ENCODE_FOR_URI": {half},
		"UCASE":          {rdf.NewString(strings.Repeat("ΰ", value.DefaultMaxString/3))},
	} {
		if _, err := value.Call(name, args, nil); !errors.Is(err, value.ErrTooLong) {
			t.Errorf("%s: %v, want %v", name, err, value.ErrTooLong)
		}
	}
	if _, err := value.Call("CONCAT", []webrace.Term{half, half}, nil); err != nil {
		t.Errorf("CONCAT to the limit: %v", err)
	}
	if _, err := value.Call("CONCAT", terms(`"abc"`, `"d"`), &value.Env{MaxString: 3}); !errors.Is(err, value.ErrTooLong) {
		t.Errorf("CONCAT beyond a limit of 3: %v", err)
	}
	a := value.NewAggregate("GROUP_CONCAT", " ")
	for range 5 {
		a.Add(half)
		a.Failed()
	}
	if _, err := a.Result(); err == nil || a.Bytes() > 4*value.DefaultMaxString {
		t.Errorf("GROUP_CONCAT keeps %d bytes, %v", a.Bytes(), err)
	}
	// Numbers grow, too: a million digits would be multiplied in seconds.
	product := term("9999999999")
	var err error
	for range 100 {
		if product, err = value.Arithmetic('*', product, product); err != nil {
			break
		}
	}
	if err == nil {
		t.Errorf("a number of %d digits is computed", len(product))
	}
	digits := rdf.NewTyped(strings.Repeat("9", 1<<20), rdf.XSDInteger)
	if _, err := value.Compare("<", digits, term("1")); !errors.Is(err, value.ErrType) {
		t.Errorf("a number of a million digits: %v", err)
	}
}

// BNODE of one label is one node in a solution, and another in the next; BNODE() is always another.
func TestBlankNodesOfSolutions(t *testing.T) {
	t.Parallel()
	env := &value.Env{Blank: "z"}
	seen := map[webrace.Term]bool{}
	for solution := range uint64(3) {
		env.Solution = solution
		for _, args := range [][]webrace.Term{terms(`"a"`), terms(`"b"`), nil, nil} {
			got, err := value.Call("BNODE", args, env)
			again, _ := value.Call("BNODE", args, env)
			if err != nil || seen[got] || (got == again) != (args != nil) || !strings.HasPrefix(string(got), "_:z") {
				t.Errorf("BNODE%s in solution %d is %s, then %s, %v", args, solution, got, again, err)
			}
			seen[got], seen[again] = true, true
		}
	}
}

func TestRandomValues(t *testing.T) {
	t.Parallel()
	env := &value.Env{}
	seen := map[webrace.Term]bool{}
	for range 20 {
		for name, prefix := range map[string]string{"UUID": "<urn:uuid:", "STRUUID": `"`, "RAND": `"`} {
			got, err := value.Call(name, nil, env)
			if err != nil || seen[got] || !strings.HasPrefix(string(got), prefix) {
				t.Errorf("%s() is %s, %v", name, got, err)
			}
			seen[got] = true
			if name != "RAND" {
				if uuid := strings.TrimPrefix(rdf.Value(got), "urn:uuid:"); len(uuid) != 36 || uuid[14] != '4' {
					t.Errorf("%s() is %s", name, got)
				}
			} else if in, _ := value.Compare("<", got, term("1")); !in {
				t.Errorf("RAND() is %s", got)
			}
		}
	}
}

// Every function declares how many arguments it takes, and none panics at any kind of term.
func TestArity(t *testing.T) {
	t.Parallel()
	odd := terms("", "_:b", "<http://a/>", `""`, `"\\"`, `"a"@en`, "1", `"x"^^xsd:byte`, `"P"^^xsd:duration`, `"1"^^<http://t/>`)
	for name, want := range map[string][2]int{"BNODE": {0, 1}, "CONCAT": {0, -1}, "SUBSTR": {2, 3}, "REPLACE": {3, 4}, "REGEX": {2, 3},
		"NOW": {0, 0}, "STR": {1, 1}, "ISURI": {1, 1}, "TZ": {1, 1}, "SHA512": {1, 1}, rdf.XSDBoolean: {1, 1}} {
		least, most, ok := value.Arity(name)
		if !ok || least != want[0] || most != want[1] {
			t.Errorf("%s takes %d to %d arguments, %t, want %v", name, least, most, ok, want)
		}
		for _, a := range odd {
			for _, b := range odd {
				value.Call(name, []webrace.Term{a, b, b, a}[:max(least, min(2, most))], nil)
			}
		}
		if _, err := value.Call(name, make([]webrace.Term, 9), nil); err == nil {
			t.Errorf("%s takes nine unbound arguments", name)
		}
	}
	if _, _, ok := value.Arity("COALESCE"); ok {
		t.Error("COALESCE is a function")
	}
}
