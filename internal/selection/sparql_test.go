package selection

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
	"github.com/webrace/webrace/internal/transform"
)

// The same offers, and a seller, in each of the syntaxes that a document may state them in.
var offers = map[string][2]string{
	"JSON-LD": {"application/ld+json", `{"@context": "https://schema.org", "@graph": [
		{"@type": "Offer", "@id": "#b", "name": "Bench", "price": 120.50},
		{"@type": "Offer", "@id": "#c", "name": "Chair", "price": 9e1},
		{"@type": "Organization", "name": "Shop"}]}`},
	"JSON": {"application/json", `{"@context": "http://schema.org/", "@graph": [
		{"@type": "Offer", "@id": "#c", "name": "Chair", "price": 90},
		{"@type": "Offer", "@id": "#b", "name": "Bench", "price": 120.5}]}`},
	"script": {"text/html", `<title>Shop</title><script type="application/ld+json">{"@context": "https://schema.org", "@graph": [
		{"@type": "Offer", "@id": "#c", "name": "Chair", "price": 90},
		{"@type": "Offer", "@id": "#b", "name": "Bench", "price": 120.5}]}</script><script type="application/ld+json">{broken</script>`},
	"Microdata": {"text/html", `<div itemscope itemtype="https://schema.org/Offer" itemid="#c"><b itemprop="name">Chair</b><data itemprop="price" value="90"></div>
		<div itemscope itemtype="https://schema.org/Offer" itemid="#b"><b itemprop="name">Bench</b><meta itemprop="price" content="120.50"></div>`},
	"RDFa": {"text/html", `<div vocab="https://schema.org/"><p typeof="Offer" resource="#c"><b property="name">Chair</b>
		<b property="price" datatype="xsd:decimal" content="90.00">90 euros</b></p>
		<p typeof="schema:Offer" resource="#b"><b property="name">Bench</b><b property="price">120.5</b></p></div>`},
	"Turtle": {"text/turtle", `@prefix schema: <http://schema.org/>. <#c> a schema:Offer; schema:name "Chair"; schema:price 90 .
		<#b> a schema:Offer; schema:name "Bench"; schema:price 120.50 .`},
	"N-Triples in plain text": {"text/plain", `<http://a.example/#c> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Offer> .
<http://a.example/#c> <http://schema.org/name> "Chair" .
<http://a.example/#c> <http://schema.org/price> "90"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://a.example/#b> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Offer> .
<http://a.example/#b> <http://schema.org/name> "Bench" .
<http://a.example/#b> <http://schema.org/price> "120.50" .
`},
	"RDF/XML": {"application/rdf+xml", `<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://schema.org/" xml:base="http://a.example/">
		<Offer r:ID="c"><name>Chair</name><price>90</price></Offer><Offer r:ID="b"><name>Bench</name><price>120.5</price></Offer></r:RDF>`},
	"Markdown": {"text/markdown", "# Shop\n\n<p vocab=\"http://schema.org/\"><span typeof=Offer resource=\"#c\"><b property=name>Chair</b> <b property=price>90</b></span>" +
		"<span typeof=Offer resource=\"#b\"><b property=name>Bench</b> <b property=price>120.5</b></span></p>\n"},
}

func TestSPARQLAsksWhatDocumentsSay(t *testing.T) {
	t.Parallel()
	for syntax, d := range offers {
		for _, c := range []struct{ rule, want string }{
			{`{ ?o a schema:Offer ; schema:name ?name ; schema:price ?n FILTER(xsd:decimal(?n) < 100) }`, "o: http://a.example/#c · name: Chair · n: 90"},
			{`SELECT ?name { ?o a schema:Offer ; schema:name ?name }`, "name: Bench|name: Chair"},
			{`SELECT ?name { ?o a <https://schema.org/Offer> ; schema:name ?name ; schema:price ?n } ORDER BY xsd:decimal(?n)`, "name: Chair|name: Bench"},
			{`SELECT (MIN(xsd:decimal(?n)) AS ?least) { ?o schema:price ?n }`, "least: 90"},
			{`PREFIX s: <http://schema.org/> { <http://a.example/#c> s:name ?name }`, "name: Chair"},
			{`{ ?o schema:name ?name OPTIONAL { ?o schema:nothing ?x } FILTER(STRSTARTS(?name, "Ch")) }`, "o: http://a.example/#c · name: Chair"},
			{`{ ?o a schema:Event }`, ""},
		} {
			got, part := blocks(t, d[1], d[0], "sparql "+c.rule)
			if got != c.want {
				t.Errorf("%s, %s: %q, want %q", syntax, c.rule, got, c.want)
			}
			if unmatched := len(part.Unmatched) > 0; unmatched != (c.want == "") {
				t.Errorf("%s, %s: %s is unmatched", syntax, c.rule, part.Unmatched)
			}
			if wrong := len(part.Problems) > 0; wrong != (syntax == "script") {
				t.Errorf("%s has problems: %s", syntax, part.Problems)
			}
		}
	}
}

func TestSolutionsAreWrittenAsPlainText(t *testing.T) {
	t.Parallel()
	body := `@prefix : <http://a.example/>. :a :v "a\n  b"@el, ".0"^^<http://www.w3.org/2001/XMLSchema#decimal>, 1.50, "007"^^<http://www.w3.org/2001/XMLSchema#integer>, 1e2, 3, "12"^^<http://x>, "x · v: y", "INF"^^<http://www.w3.org/2001/XMLSchema#double>, "" .
		:b :of [ :name "Bolt" ], [ :name "Nut" ], [ :name "Nut" ] . :c :only [] .`
	for _, c := range []struct {
		rules []string
		want  string
	}{
		{[]string{`sparql { <http://a.example/a> <http://a.example/v> ?v }`}, "v: 0|v: 1.5|v: 3|v: 007|v: 100|v: 12|v: INF|v: a b|v: x · v: y"},
		{[]string{`sparql SELECT ?v { <http://a.example/a> <http://a.example/v> ?v FILTER isNumeric(?v) } ORDER BY DESC(?v) LIMIT 2`}, "v: INF|v: 100"},
		{[]string{`sparql { ?s <http://a.example/of> ?part . ?part <http://a.example/name> ?name }`}, "s: http://a.example/b · name: Bolt|s: http://a.example/b · name: Nut"},
		{[]string{`sparql { <http://a.example/c> <http://a.example/only> ?part }`}, "part: []"},
		{[]string{`sparql { ?s <http://a.example/name> ?name }`, `regex B\w+`}, "Bolt"},
		{[]string{`sparql { ?s <http://a.example/name> ?name }`, `ignore regex name:`}, "Bolt|Nut"},
		{[]string{`sparql { ?s <http://a.example/name> "Bolt" BIND("a" AS ?x) }`, `sparql { ?s <http://a.example/name> "Nut" BIND("b" AS ?y) }`}, "x: a|y: b"},
	} {
		if got, _ := blocks(t, body, "text/turtle", c.rules...); got != c.want {
			t.Errorf("%s: %q, want %q", c.rules, got, c.want)
		}
	}
	page := `<title>Shop</title><h1>Chairs</h1><p vocab="http://schema.org/" typeof="Thing"><b property="name">Chair</b></p>`
	for _, c := range []struct {
		rules []string
		want  string
	}{
		{[]string{`sparql { ?s schema:name ?name }`, `css h1`}, "Chairs|name: Chair"},
		{[]string{`sparql { ?s schema:name ?name }`, `ignore css h1`}, "name: Chair"},
		{[]string{`css h1`}, "Chairs"},
	} {
		if got, _ := blocks(t, page, "text/html", c.rules...); got != c.want {
			t.Errorf("%s: %q, want %q", c.rules, got, c.want)
		}
	}
}

// What comes first in the document decides nothing of what is new.
func TestTheOrderOfWhatIsSaidDoesNotMatter(t *testing.T) {
	t.Parallel()
	one := `[] <http://x/n> 9, 10, "z" ; <http://x/p> [ <http://x/n> 11 ] .`
	other := `[] <http://x/p> [ <http://x/n> 11 ] ; <http://x/n> "z", 10, 9 .`
	for _, rule := range []string{`sparql { ?s <http://x/n> ?n }`, `sparql SELECT ?n { ?s <http://x/n> ?n }`, `sparql SELECT ?n ?m { ?s <http://x/n> ?n . ?t <http://x/n> ?m }`} {
		a, _ := blocks(t, one, "text/turtle", rule)
		b, _ := blocks(t, other, "text/turtle", rule)
		if a != b || a == "" {
			t.Errorf("%s: %q and %q", rule, a, b)
		}
	}
}

func TestSPARQLThatIsNoneIsRefusedWithItsPlace(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		`{ ?p a schema:Offer`:                         `at character 20: a triple, a FILTER,`,
		`{ ?p a shema:Offer }`:                        `at character 8: the prefix "shema" is not declared`,
		"{ ?p a schema:Offer ;\n  price ?n }":         `at line 2, character 3: `,
		`ASK { ?s ?p ?o }`:                            "at character 1: ASK is refused: a rule selects solutions",
		`CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }`:         "at character 1: CONSTRUCT is refused",
		`DESCRIBE ?s { ?s ?p ?o }`:                    "at character 1: DESCRIBE is refused",
		`SELECT * FROM <http://a> { ?s ?p ?o }`:       "at character 10: FROM is refused: a document has one graph",
		`{ GRAPH ?g { ?s ?p ?o } }`:                   "at character 3: GRAPH is refused: a document has one graph",
		`{ { SELECT ?s { GRAPH ?g { ?s ?p ?o } } } }`: "at character 17: GRAPH is refused",
		`{ SERVICE <http://a> { ?s ?p ?o } }`:         "at character 3: SERVICE is refused",
		`{ ?s ?p ?o FILTER(?o < NOW()) }`:             "at character 24: NOW is refused: it gives another answer each time",
		`{ ?s ?p ?o BIND(rand() AS ?x) }`:             "at character 17: RAND is refused",
		`{ <http://a> a <http://b> }`:                 "at character 1: it has no variable",
		`{ ?s ?p ?o } GROUP BY ?s`:                    "at character 1: a pattern alone has no groups",
		`{ ?s ?p ?o } x`:                              "at character 14: the end of the rule is expected",
		`INSERT DATA { }`:                             "at character 1: a pattern, { … }, or SELECT is expected",
		`.price`:                                      "at character 1: a pattern, { … }, or SELECT is expected",
		`{ ?s ?p <#a> }`:                              "at character 9: ",
	} {
		err := Rule{Language: SPARQL, Text: rule}.Check()
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", rule, err, want)
		}
	}
	if err := (Rule{Ignore: true, Language: SPARQL, Text: "{ ?s ?p ?o }"}).Check(); err == nil || !strings.Contains(err.Error(), "FILTER or MINUS") {
		t.Error(err)
	}
	if _, err := NewFinder(SPARQL, "{ ?s ?p ?o }"); err == nil {
		t.Error("a query finds elements")
	}
}

// What cannot be read is not taken for what is not said.
func TestADocumentThatCannotBeReadHasNoSolutions(t *testing.T) {
	t.Parallel()
	for _, d := range []struct{ mediaType, body, says string }{
		{"text/turtle", "<http://a> a <http://b> .\n<http://c> a ", "line 2"},
		{"application/ld+json", `{"@context": "https://unknown.example/", "a": 1}`, "unknown.example"},
		{"application/rdf+xml", `<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><a>`, "line 1"},
	} {
		s, err := Compile([]Rule{{Language: SPARQL, Text: "{ ?s ?p ?o }"}})
		if err != nil {
			t.Fatal(err)
		}
		document := opened(t, d.body, d.mediaType)
		for range 2 {
			if _, err := s.Apply(t.Context(), document, NewBudget()); !errors.Is(err, ErrUnread) || !strings.Contains(err.Error(), d.says) {
				t.Errorf("%s: %v", d.mediaType, err)
			}
		}
	}
	s, _ := Compile([]Rule{{Language: SPARQL, Text: "{ ?s ?p ?o }"}})
	large := Open("http://a.example/", make([]byte, htmltree.MaxInput+1), "text/turtle", "utf-8", nil)
	if _, err := s.Apply(t.Context(), large, NewBudget()); !errors.Is(err, htmltree.ErrTooLarge) {
		t.Error(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	d := opened(t, "<http://a> <http://b> 1 .", "text/turtle")
	if _, err := s.Apply(ended, d, NewBudget()); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if part, err := s.Apply(t.Context(), d, NewBudget()); err != nil || len(part.Text.Blocks) != 1 {
		t.Errorf("after one that was cancelled: %v, %v", part, err)
	}
}

// TestHostileSPARQLEndsWithTheBudget asks for what is costly: it ends with the steps of the owner, on whatever machine.
func TestHostileSPARQLEndsWithTheBudget(t *testing.T) {
	if testing.Short() {
		t.Skip("a lot to compute: not in short mode")
	}
	t.Parallel()
	var many strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&many, "<http://x/%d> <http://x/next> <http://x/%d> ; <http://x/text> \"%d%s\" .\n", i, (i*7+1)%2000, i, strings.Repeat("ab ", 100))
	}
	d := opened(t, many.String(), "text/turtle")
	for name, rule := range map[string]string{
		"cross product":          `{ ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(?a = ?i) }`,
		"sorted cross product":   `SELECT ?a ?d { ?a ?b ?c . ?d ?e ?f } ORDER BY ?d ?a`,
		"counted cross product":  `SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }`,
		"paths":                  `{ ?a (<http://x/next>|^<http://x/next>)* ?b . ?b (<http://x/next>|<http://x/none>)+ ?c . ?c !<http://x/none> ?d FILTER(?d = ?a) }`,
		"regular expressions":    `{ ?a <http://x/text> ?b . ?c <http://x/text> ?d FILTER(REGEX(?b, "(a|b|ab| )*z") || REGEX(?d, "(.*b)*z")) }`,
		"texts that are doubled": `{ ?a <http://x/text> ?b BIND(CONCAT(?b, ?b, ?b, ?b, ?b, ?b, ?b, ?b) AS ?c) BIND(CONCAT(?c, ?c, ?c, ?c, ?c, ?c, ?c, ?c) AS ?d) BIND(CONCAT(?d, ?d, ?d, ?d, ?d, ?d, ?d) AS ?e) FILTER(CONTAINS(REPLACE(?e, "a", "b"), "x")) }`,
		"subqueries":             `SELECT ?a { { SELECT DISTINCT ?a ?c { ?a ?b ?c . ?d ?e ?f } } { SELECT ?d { ?d ?e ?f . ?g ?h ?i } } }`,
	} {
		s, err := Compile([]Rule{{Language: SPARQL, Text: rule}})
		if err != nil {
			t.Fatal(err)
		}
		budget, began := NewBudget(), time.Now()
		_, err = s.Apply(t.Context(), d, budget)
		t.Log(name, time.Since(began))
		if !errors.Is(err, ErrBudget) || !strings.Contains(err.Error(), "select sparql") {
			t.Errorf("%s: %v with %d steps left", name, err, budget.Left())
		}
	}
}

// The same rule costs the same on the same document, whoever asked before.
func TestSPARQLCostsTheSameEachTime(t *testing.T) {
	t.Parallel()
	d, left := opened(t, offers["Turtle"][1], "text/turtle"), 0
	s, err := Compile([]Rule{{Language: SPARQL, Text: `{ ?a ?b ?c . ?d ?e ?f FILTER(STR(?a) != STR(?f)) }`}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		budget := NewBudget()
		if _, err := s.Apply(t.Context(), d, budget); err != nil {
			t.Fatal(err)
		}
		if i > 0 && budget.Left() != left || budget.Left() == maxSteps {
			t.Errorf("%d steps are left, then %d", left, budget.Left())
		}
		left = budget.Left()
	}
}

func TestTheNumberOfASolution(t *testing.T) {
	t.Parallel()
	body := `@prefix x: <http://x/>. <http://x/7> x:name "Chair 3000" ; x:price 90.5 ; x:text "from 1.234,56 €" . <http://x/8> x:name "x" ; x:price "1.234" .`
	for rule, want := range map[string]string{
		`{ ?o <http://x/name> ?name ; <http://x/price> ?n }`:     "90.5",
		`{ ?o <http://x/text> ?text }`:                           "of from 1.234,56 €",
		`{ <http://x/8> <http://x/price> ?n }`:                   "1.234",
		`{ <http://x/7> ?p "Chair 3000" }`:                       "none",
		`SELECT ?n { ?o <http://x/price> ?n } ORDER BY DESC(?o)`: "1.234",
	} {
		s, err := Compile([]Rule{{Language: SPARQL, Text: rule}})
		if err != nil {
			t.Fatal(err)
		}
		part, err := s.Apply(t.Context(), opened(t, body, "text/turtle"), NewBudget())
		if err != nil {
			t.Fatal(err)
		}
		got := "none"
		if n, rest, found := s.Number(part.Text); found {
			got = fmt.Sprint(n)
		} else if rest != "" {
			got = "of " + rest
		}
		if got != want {
			t.Errorf("%s: %q, want %q", rule, got, want)
		}
	}
}

// FuzzSPARQL holds that no rule harms on any document: it is refused, or ends with text that is sound, the same one
// twice, or with the budget.
func FuzzSPARQL(f *testing.F) {
	for _, rule := range []string{`{ ?o a schema:Offer ; schema:price ?n FILTER(?n < 100) }`, `SELECT ?a (COUNT(?b) AS ?n) { ?a ?p ?b } GROUP BY ?a ORDER BY DESC(?n)`,
		`PREFIX x: <http://x/> { ?s x:a|^x:b+ ?o OPTIONAL { ?o ?p [] } MINUS { ?s a ?o } }`, `{ VALUES (?a ?b) { (1 "x"@el) (UNDEF <http://a>) } BIND(CONCAT(STR(?a), "é") AS ?c) }`,
		`{ { SELECT * { ?a ?b ?c } } UNION { ?a ?b "\u00e9" } }`} {
		for _, d := range offers {
			f.Add(rule, d[1], d[0])
		}
	}
	f.Fuzz(func(t *testing.T, rule, body, mediaType string) {
		if len(body) > 4<<10 {
			return
		}
		s, err := Compile([]Rule{{Language: SPARQL, Text: rule}})
		if err != nil {
			return
		}
		apply := func() (string, error) {
			part, err := s.Apply(context.Background(), Open("http://a.example/", []byte(body), mediaType, "", nil), &Budget{1 << 18})
			if err != nil {
				return "", err
			}
			mustBeSound(t, part.Text)
			s.Number(part.Text)
			return string(part.Text.Bytes), nil
		}
		first, err := apply()
		if err != nil {
			if !errors.Is(err, ErrBudget) && !errors.Is(err, htmltree.ErrTooLarge) && !errors.Is(err, ErrUnread) {
				t.Fatal(err)
			}
			return
		}
		if second, err := apply(); err != nil || second != first {
			t.Fatalf("%q, then %q, %v", first, second, err)
		}
	})
}

// What a rule selects is what the query answers over the triples of the document, in the naive way of writing it.
func TestSPARQLSelectsWhatTheQueryAnswers(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(17, 4))
	one := func(all ...string) string { return all[random.IntN(len(all))] }
	node := func() string { return fmt.Sprintf("<http://x/%d>", random.IntN(6)) }
	for range 300 {
		var said strings.Builder
		for range 1 + random.IntN(30) {
			fmt.Fprintf(&said, "%s %s %s .\n", one(node(), node(), "_:b"), node(), one(node(), fmt.Sprint(random.IntN(200)), `"some text"`, "_:b"))
		}
		triple := func() string {
			return one("?a", "?b", node()) + " " + one("?p", node()) + " " + one("?a", "?b", "?c", node()) + " . "
		}
		rule := "{ ?a ?p ?c . " + triple() + one("", triple(), "OPTIONAL { "+triple()+"} ", "MINUS { "+triple()+"} ") + one("", "FILTER(?c < 100) ", "FILTER(isIRI(?a)) ") + "}" + one("", " ORDER BY ?c", " LIMIT 1000")
		got, part := blocks(t, said.String(), "text/turtle", "sparql "+rule)
		want := answered(t, said.String(), rule)
		ours := slices.DeleteFunc(strings.Split(got, "|"), func(s string) bool { return s == "" })
		if len(want) == 0 != (len(part.Unmatched)+len(part.Unmet) > 0) || part.Text.Unmet != (len(part.Unmet) > 0) {
			t.Errorf("%s: unmatched %s, unmet %s", rule, part.Unmatched, part.Unmet)
		}
		if slices.Sort(ours); !slices.Equal(ours, want) {
			t.Fatalf("%s of\n%s%q, want %q", rule, said.String(), ours, want)
		}
	}
}

// answered asks a document directly, and returns what differs of the solutions, sorted.
func answered(t *testing.T, body, rule string) (all []string) {
	t.Helper()
	graph, err := transform.Document(t.Context(), []byte(body), "text/turtle", "http://a.example/", transform.Options{})
	if err != nil || !graph.Whole {
		t.Fatal(err, graph.Problems)
	}
	query, err := sparql.Parse("SELECT * "+rule, "")
	if err != nil {
		t.Fatal(err)
	}
	results, err := query.Run(t.Context(), sparql.NewMemory(graph.Triples), sparql.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for terms, err := range results.Solutions() {
		if err != nil {
			t.Fatal(err)
		}
		var named, blank []string
		for i, term := range terms {
			switch rdf.KindOf(term) {
			case rdf.Blank:
				blank = append(blank, results.Vars[i]+": []")
			case rdf.IRI, rdf.Literal:
				named = append(named, results.Vars[i]+": "+rdf.Value(term))
			}
		}
		if len(named) == 0 {
			named = blank
		}
		all = append(all, strings.Join(named, " · "))
	}
	slices.Sort(all)
	return slices.Compact(all)
}
