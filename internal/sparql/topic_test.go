package sparql

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/webrace/webrace"
)

func ask(t *testing.T, q *Query, d Dataset) bool {
	t.Helper()
	results, err := q.Run(t.Context(), d, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return results.Boolean
}

func TestTheTopicOfAQueryIsWhatItIsAboutWhateverTheValues(t *testing.T) {
	t.Parallel()
	data := NewMemory([]webrace.Triple{
		{Subject: "<http://example.org/o>", Predicate: "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", Object: "<http://example.org/Offer>"},
		{Subject: "<http://example.org/o>", Predicate: "<http://example.org/is>", Object: "<http://example.org/SoldOut>"},
		{Subject: "<http://example.org/o>", Predicate: "<http://example.org/price>", Object: `"120"`},
	})
	for rule, want := range map[string]bool{
		"{ ?o ex:is ex:InStock }":                                            true,
		"{ ?o a ex:Offer ; ex:is ex:InStock }":                               true,
		"{ ?o a ex:Event ; ex:is ex:InStock }":                               false,
		"{ ?o ex:availability ex:InStock }":                                  false,
		"{ <http://example.org/o> ex:is ex:InStock ; ex:price ?n }":          true,
		"{ <http://example.org/other> ex:is ex:InStock ; ex:price ?n }":      false,
		"{ ?o ex:price ?n FILTER(?n < 100) }":                                true,
		"{ ?o ex:weight ?n FILTER(?n < 100) }":                               false,
		"{ ?o ex:price ?n MINUS { ?o ex:is ex:SoldOut } }":                   true,
		"{ ?o ex:price ?n FILTER NOT EXISTS { ?o ex:is ex:SoldOut } }":       true,
		"{ VALUES ?is { ex:InStock ex:PreOrder } ?o ex:is ?is }":             true,
		"{ ?o ex:price ?n BIND(?n < 100 AS ?cheap) FILTER(?cheap) }":         true,
		"{ { ?o ex:was ex:InStock } UNION { ?o ex:is ex:InStock } }":         true,
		"{ ?o ex:name ?name OPTIONAL { ?o ex:price ?n } }":                   false,
		"{ ?x (ex:offers|ex:is) ex:InStock }":                                true,
		"SELECT ?n { ?o ex:is ex:InStock ; ex:price ?n } ORDER BY ?n":        true,
		"SELECT ?o { { SELECT ?o { ?o ex:is ex:InStock } } ?o ex:price ?n }": true,
	} {
		q, err := exampleRules.Parse(rule)
		if err != nil {
			t.Fatalf("%s: %v", rule, err)
		}
		if got := ask(t, q.Topic(), data); got != want {
			t.Errorf("%s: %v", rule, got)
		}
	}
}

// What has a solution states what it is about.
func TestRandomTopics(t *testing.T) {
	t.Parallel()
	var some, met int
	for seed := range uint64(*rounds) {
		r := rand.New(rand.NewPCG(seed, 28))
		text := "SELECT * { " + (&generator{Rand: r}).simple(1) + " }"
		q, err := Parse(text, "")
		if err != nil || strings.Contains(text, "GRAPH") || strings.Contains(text, ")*") || strings.Contains(text, ")?") {
			continue // rules have no graphs, and what a path of no length leads to need not be in the data
		}
		memory := NewMemory(nil)
		for _, quad := range randomQuads(r) {
			memory.Add(quad)
		}
		solutions, err := bag(q, memory)
		if err != nil {
			t.Fatal(err)
		}
		is := ask(t, q.Topic(), memory)
		if len(solutions) > 0 && !is {
			t.Fatalf("seed %d: %s has %d solutions, and is about nothing there", seed, text, len(solutions))
		}
		if is {
			some++
		}
		if len(solutions) > 0 {
			met++
		}
	}
	if met == 0 || some == met {
		t.Errorf("%d queries have a solution, %d a topic", met, some)
	}
}
