package sparql

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql/value"
)

var rounds = flag.Int("rounds", 1500, "random queries that are compared to the naive evaluator")

// In tests tables are made early, so that random queries of small datasets have them.
func init() { leastSeeks = 2 }

// generator writes random queries.
type generator struct {
	*rand.Rand
	binds int
}

func (g *generator) one(of ...string) string { return of[g.IntN(len(of))] }

func (g *generator) variable() string { return g.one("?a", "?b", "?c", "?d") }

func (g *generator) node() string {
	if g.IntN(4) == 0 {
		return g.one("<n:1>", "<n:2>", "<n:3>", "1", "2")
	}
	return g.variable()
}

func (g *generator) path(depth int) string {
	if depth == 0 || g.IntN(3) == 0 {
		return g.one("<p:1>", "<p:2>", "<p:3>", "!<p:1>", "!(<p:1>|^<p:2>)")
	}
	inner := g.path(depth - 1)
	switch g.IntN(6) {
	case 0:
		return "(" + inner + ")*"
	case 1:
		return "(" + inner + ")+"
	case 2:
		return "(" + inner + ")?"
	case 3:
		return "^(" + inner + ")"
	case 4:
		return "(" + inner + "/" + g.path(depth-1) + ")"
	default:
		return "(" + inner + "|" + g.path(depth-1) + ")"
	}
}

func (g *generator) triple() string {
	switch g.IntN(7) {
	case 6:
		return g.node() + " " + string(textQuery) + g.one(` "red" . `, ` (<p:1> "ship RED") . `)
	case 0:
		return g.node() + " " + g.path(2) + " " + g.node() + " . "
	case 1:
		return g.node() + " " + g.variable() + " " + g.node() + " . "
	default:
		return g.node() + " " + g.one("<p:1>", "<p:2>", "<p:3>") + " " + g.node() + " . "
	}
}

func (g *generator) filter(depth int) string {
	if depth > 0 {
		switch g.IntN(5) {
		case 0:
			return "(" + g.filter(depth-1) + g.one(" && ", " || ") + g.filter(depth-1) + ")"
		case 1:
			return "!(" + g.filter(depth-1) + ")"
		case 2:
			return g.one("", "NOT ") + "EXISTS {" + g.simple(depth-1) + "}"
		}
	}
	switch g.IntN(4) {
	case 0:
		return "BOUND(" + g.variable() + ")"
	case 1:
		return g.variable() + g.one(" = ", " != ") + g.one("<n:1>", "<n:2>")
	default:
		return g.variable() + g.one(" = ", " != ", " < ", " >= ") + g.one("1", "2", g.variable(), g.variable()+" + 1")
	}
}

// simple writes a pattern as it may stand in EXISTS, for which substitution has only one meaning.
func (g *generator) simple(depth int) string {
	text := g.triple()
	switch g.IntN(8) {
	case 0:
		text += "FILTER(" + g.filter(depth) + ")"
	case 1:
		text += "OPTIONAL {" + g.triple() + "FILTER(" + g.filter(0) + ")} "
	case 2:
		text += "{" + g.triple() + "} UNION {" + g.triple() + "} "
	case 3:
		text += g.triple()
	case 4:
		text += "GRAPH " + g.one("?a", "?g", "<g:1>") + " {" + g.triple() + "} "
	case 5:
		text += "VALUES (?a ?d) { (1 UNDEF) (<n:1> <n:2>) (UNDEF 2) } "
	}
	return text
}

func (g *generator) group(depth int) string {
	if depth > 0 && g.IntN(10) == 0 {
		return g.query(depth - 1)
	}
	var b strings.Builder
	for range 1 + g.IntN(4) {
		kind := g.IntN(16)
		if depth == 0 && kind > 6 && kind < 14 {
			kind = 0
		}
		switch kind {
		case 0, 1, 2, 3:
			b.WriteString(g.triple())
		case 4, 5:
			fmt.Fprintf(&b, "FILTER(%s) ", g.filter(2))
		case 6:
			fmt.Fprintf(&b, "VALUES (%s ?d) { (1 UNDEF) (<n:1> <n:2>) (UNDEF 2) } ", g.one("?a", "?b"))
		case 7, 8:
			fmt.Fprintf(&b, "OPTIONAL { %s } ", g.group(depth-1))
		case 9:
			fmt.Fprintf(&b, "MINUS { %s } ", g.group(depth-1))
		case 10, 11:
			fmt.Fprintf(&b, "{ %s } UNION { %s } ", g.group(depth-1), g.group(depth-1))
		case 12, 13:
			fmt.Fprintf(&b, "GRAPH %s { %s } ", g.one("?a", "?g", "<g:1>", "<g:9>"), g.group(depth-1))
		case 14:
			g.binds++
			fmt.Fprintf(&b, "BIND(%s AS ?x%d) ", g.one("?a", "?a + 1", "COALESCE(?b, ?c)", "BOUND(?d)"), g.binds%4)
		case 15:
			fmt.Fprintf(&b, "{ %s } ", g.triple())
		}
	}
	return b.String()
}

func (g *generator) query(depth int) string {
	switch g.IntN(5) {
	case 0:
		return fmt.Sprintf("SELECT DISTINCT ?a ?b { %s }", g.group(depth))
	case 1:
		return fmt.Sprintf("SELECT ?a (COUNT(%s) AS ?n) (SUM(?c) AS ?s) { %s } GROUP BY ?a %s",
			g.one("*", "DISTINCT ?b", "?b"), g.group(depth), g.one("", "HAVING(COUNT(?b) > 1)", "VALUES ?a { 1 <n:1> }"))
	case 2:
		return fmt.Sprintf("SELECT ?a (?b + 1 AS ?y) { %s } VALUES ?b { 1 2 <n:1> }", g.group(depth))
	default:
		return fmt.Sprintf("SELECT * { %s }", g.group(depth))
	}
}

func randomQuads(r *rand.Rand) (quads []rdf.Quad) {
	node := func(terms ...webrace.Term) webrace.Term { return terms[r.IntN(len(terms))] }
	for range 3 + r.IntN(12) {
		quads = append(quads, rdf.Quad{Graph: node("", "", "", "<g:1>", "<g:2>"), Triple: webrace.Triple{
			Subject:   node("<n:1>", "<n:2>", "<n:3>", "_:b", "<g:1>"),
			Predicate: node("<p:1>", "<p:2>", "<p:3>"),
			Object: node("<n:1>", "<n:2>", "<n:3>", "_:b", "<g:2>", rdf.NewTyped("1", rdf.XSDInteger),
				rdf.NewTyped("2", rdf.XSDInteger), rdf.NewTyped("1.0", rdf.XSDDecimal), rdf.NewString("a red ship")),
		}})
	}
	return quads
}

// counted knows how many of its cursors are open, and not which graphs it has.
type counted struct {
	Dataset
	open int
}

type countedCursor struct {
	Cursor
	of *counted
}

func (c *counted) Cursor(p Pattern) (Cursor, error) {
	inner, err := c.Dataset.Cursor(p)
	c.open++
	return &countedCursor{inner, c}, err
}

func (c *countedCursor) Close() error {
	c.of.open--
	return c.Cursor.Close()
}

func bag(q *Query, d Dataset) ([]string, error) {
	results, err := q.Run(context.Background(), d, Limits{})
	if err != nil {
		return nil, err
	}
	n := naive{query: q}
	var all []string
	for row, err := range results.Solutions() {
		if err != nil {
			return nil, err
		}
		s := naiveSolution{}
		for i, t := range row {
			if t != "" {
				s[q.root.project[i]] = t
			}
		}
		all = append(all, n.write(s))
	}
	slices.Sort(all)
	return all, nil
}

// TestRandomQueries holds that plans give what the definition of the algebra gives: the same bag of solutions.
func TestRandomQueries(t *testing.T) {
	t.Parallel()
	some := 0
	for seed := range uint64(*rounds) {
		r := rand.New(rand.NewPCG(seed, 17))
		quads := randomQuads(r)
		g := &generator{Rand: r}
		text := g.query(2)
		if r.IntN(8) == 0 {
			text = strings.Replace(text, "{", "FROM <g:1> FROM <g:2> FROM NAMED <g:2> {", 1)
		}
		q, err := Parse(text, "")
		if err != nil {
			continue // a BIND to what is bound
		}
		memory := NewMemory(nil)
		for _, quad := range quads {
			memory.Add(quad)
		}
		data := &counted{Dataset: memory}
		got, err := bag(q, data)
		if err != nil || data.open != 0 {
			t.Fatalf("seed %d: %s: %v, %d cursors open", seed, text, err, data.open)
		}
		n := newNaive(q, quads)
		want := []string(nil)
		for _, s := range n.selectQuery(q.query, "") {
			want = append(want, n.write(s))
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %s\nover %v\ngives %d\n%s\nwant %d\n%s", seed, text, quads,
				len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
		}
		if len(got) > 0 {
			some++
		}
	}
	if some < *rounds/5 {
		t.Errorf("only %d of %d queries have a solution", some, *rounds)
	}
}

// TestQueriesRunAtOnce wants the race detector.
func TestQueriesRunAtOnce(t *testing.T) {
	t.Parallel()
	data := NewMemory(nil)
	for _, q := range randomQuads(rand.New(rand.NewPCG(1, 2))) {
		data.Add(q)
	}
	q, err := Parse("SELECT * { ?a ?p ?b OPTIONAL { ?b <p:1>*/<p:2> ?c FILTER(?c > ?a) } FILTER NOT EXISTS { ?b ?q ?a } "+
		"BIND(CONCAT(STR(?a), 'x') AS ?x) } ORDER BY ?x VALUES ?p { <p:1> <p:2> }", "")
	if err != nil {
		t.Fatal(err)
	}
	want, err := bag(q, data)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 10 {
				if got, err := bag(q, data); err != nil || !slices.Equal(got, want) {
					t.Errorf("it gives %v, %v; alone it gives %v", got, err, want)
				}
			}
		})
	}
	all.Wait()
}

// TestOrderWithLimit holds that what a heap keeps is the beginning of what sorting all gives, and that this is in
// order.
func TestOrderWithLimit(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	memory := NewMemory(nil)
	for range 10 {
		for _, q := range randomQuads(r) {
			q.Graph = ""
			memory.Add(q)
		}
	}
	run := func(text string) (rows [][]webrace.Term) {
		q, err := Parse(text, "")
		if err != nil {
			t.Fatal(err)
		}
		results, err := q.Run(t.Context(), memory, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for row, err := range results.Solutions() {
			if err != nil {
				t.Fatal(err)
			}
			rows = append(rows, row)
		}
		return rows
	}
	const query = "SELECT ?o ?s { ?s ?p ?o } ORDER BY DESC(?o) ?s"
	all := run(query)
	for i := 1; i < len(all); i++ {
		if c := value.Order(all[i-1][0], all[i][0]); c < 0 || c == 0 && value.Order(all[i-1][1], all[i][1]) > 0 {
			t.Errorf("%v stands before %v", all[i-1], all[i])
		}
	}
	for _, slice := range [][2]int{{0, 0}, {0, 1}, {3, 5}, {0, 1000}, {1000, 5}} {
		got := run(fmt.Sprintf("%s OFFSET %d LIMIT %d", query, slice[0], slice[1]))
		want := all[min(slice[0], len(all)):min(slice[0]+slice[1], len(all))]
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("OFFSET %d LIMIT %d gives %v, want %v", slice[0], slice[1], got, want)
		}
	}
}
