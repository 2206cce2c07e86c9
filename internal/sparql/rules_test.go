package sparql

import (
	"errors"
	"strings"
	"testing"

	"github.com/webrace/webrace"
)

var exampleRules = Rules{
	Prefixes: map[string]string{"ex": "http://example.org/"},
	Means:    func(iri string) string { return strings.Replace(iri, "https://", "http://", 1) },
}

func TestRulesAreQueriesOrPatterns(t *testing.T) {
	t.Parallel()
	data := NewMemory([]webrace.Triple{{Subject: "<http://example.org/a>", Predicate: "<http://example.org/p>", Object: `"1"`}})
	for _, rule := range []string{
		"{ ?s ex:p ?o }", "WHERE", "SELECT ?s { ?s ex:p ?o }", "{ ?s <https://example.org/p> ?o } LIMIT 1",
		"PREFIX ex: <https://example.org/> { ?s ex:p ?o }", "BASE <http://example.org/> { ?s <p> ?o } ORDER BY ?s",
	} {
		query, err := exampleRules.Parse(rule)
		if rule == "WHERE" {
			var fault *SyntaxError
			if !errors.As(err, &fault) || fault.Column != 1 {
				t.Errorf("%s: %v", rule, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", rule, err)
			continue
		}
		if query.IsOrdered() != strings.Contains(rule, "ORDER") {
			t.Errorf("%s: its order is %t", rule, query.IsOrdered())
		}
		results, err := query.Run(t.Context(), data, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range results.Solutions() {
			if n++; err != nil {
				t.Fatal(err)
			}
		}
		if n != 1 || results.Vars[0] != "s" {
			t.Errorf("%s: %d solutions of %s", rule, n, results.Vars)
		}
	}
	if exampleRules.Prefixes["ex"] != "http://example.org/" {
		t.Error("a rule declares a prefix for others")
	}
	if _, err := Parse("SELECT * { ?s ex:p ?o }", ""); err == nil {
		t.Error("a query knows the prefixes of rules")
	}
}

// The steps of a query are paid for, all of them, the same each time; and who does not pay gets no answer.
func TestTheStepsOfAQueryArePaidFor(t *testing.T) {
	t.Parallel()
	var triples []webrace.Triple
	for _, s := range strings.Split("abcdefgh", "") {
		for _, o := range strings.Split("abcdefghijklmnop", "") {
			triples = append(triples, webrace.Triple{Subject: webrace.Term("<http://x/" + s + ">"), Predicate: "<http://x/p>", Object: webrace.Term("<http://x/" + o + ">")})
		}
	}
	query, err := Parse(`SELECT * { ?a ?b ?c . ?d ?e ?f FILTER(REGEX(STR(?a), "a$") || STR(?c) = STR(?f)) }`, "")
	if err != nil {
		t.Fatal(err)
	}
	unpaid := errors.New("there is nothing left")
	run := func(most int) (paid, solutions int, err error) {
		results, err := query.Run(t.Context(), NewMemory(triples), Limits{Pay: func(steps int) error {
			if paid += steps; paid > most {
				return unpaid
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range results.Solutions() {
			if err != nil {
				return paid, solutions, err
			}
			solutions++
		}
		return paid, solutions, nil
	}
	all, solutions, err := run(1 << 40)
	if err != nil || all < len(triples)*len(triples) || solutions == 0 {
		t.Fatalf("%d steps for %d solutions: %v", all, solutions, err)
	}
	if again, _, err := run(all); err != nil || again != all {
		t.Errorf("%d steps, then %d: %v", all, again, err)
	}
	for _, most := range []int{0, 1000, all - 1} {
		if paid, some, err := run(most); !errors.Is(err, unpaid) || paid > most+all/4 || some > solutions {
			t.Errorf("of %d steps %d were paid for %d solutions: %v", most, paid, some, err)
		}
	}
}

// FuzzRules holds that whatever the text of a rule, it is read as a SELECT, or refused with a place in it.
func FuzzRules(f *testing.F) {
	for _, rule := range []string{"{ ?s ex:p ?o }", "SELECT (COUNT(*) AS ?n) { { ?s a [] } UNION { ?s ex:p* ?o } } HAVING(?n > 1)", "ASK {}", "{ GRAPH ?g {} }",
		"{ ?s ?p NOW }", "{ ?s ?p ?o FILTER EXISTS { ?o ex:q \"\\u00e9\" } } ORDER BY DESC(?o) LIMIT 3", "PREFIX : <#> { ?s : 1 }", "{\n?s"} {
		f.Add(rule)
	}
	f.Fuzz(func(t *testing.T, rule string) {
		query, err := exampleRules.Parse(rule)
		var fault *SyntaxError
		var limit *LimitError
		switch {
		case err == nil:
			if query.Form() != Select || len(query.Vars()) == 0 || len(query.from)+len(query.named) > 0 {
				t.Fatalf("%q is no rule", rule)
			}
		case errors.As(err, &fault):
			if lines := strings.Count(rule, "\n") + 1; fault.Line < 1 || fault.Line > lines+strings.Count(rule, `\`) || fault.Column < 1 {
				t.Fatalf("%q: %v", rule, err)
			}
		case !errors.As(err, &limit):
			t.Fatalf("%q: %v", rule, err)
		}
	})
}
