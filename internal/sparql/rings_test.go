package sparql_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
)

// TestRings joins patterns of which each has many triples: what is asked of the dataset must not grow as if each
// triple were looked for by itself, and the answers are those of loops over everything.
func TestRings(t *testing.T) {
	t.Parallel()
	const size = 4000
	for name, nodes := range map[string]int{"few meet": size, "many meet": size / 4} {
		data, edges := ring(size, nodes)
		for _, c := range []struct {
			where string
			want  []string
		}{
			{"?a :p ?b . ?b :q ?c . ?c :r ?d . ?d :s ?a", loops(edges, "pqrs", true)},
			{"?d :s ?a . ?b :q ?c . ?a :p ?b . ?c :r ?d", loops(edges, "pqrs", true)},
			{"?a :p ?b . ?b :q ?c . ?c :r ?a BIND(?a AS ?d)", loops(edges, "pqr", true)},
			{"?a :p ?b . ?b :q ?c . ?c :r ?d", loops(edges, "pqr", false)},
			{"?a :p ?b . ?b :q ?c . ?c :r ?d FILTER(?a != ?b && STRLEN(STR(?a)) > 0) FILTER EXISTS { ?d :s ?a }", loops(edges, "pqrs", true)},
		} {
			counted := &counting{Dataset: data}
			got := rows(t, "PREFIX : <http://example.org/> SELECT ?a ?b ?c ?d { "+c.where+" }", counted)
			want := slices.Clone(c.want)
			if strings.Contains(c.where, "!=") {
				want = slices.DeleteFunc(want, func(row string) bool { return strings.Fields(row)[0] == strings.Fields(row)[1] })
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %d solutions, want %d", name, c.where, len(got), len(want))
			}
			if strings.Contains(c.where, "EXISTS") { // is asked for each solution
				continue
			}
			// Three tables or fewer are read after an eighth as many searches; the first pattern is read, too.
			if most := 3*size/8 + 100; counted.seeks > most || counted.nexts > 4*size+5*most {
				t.Errorf("%s, %s: %d searches and %d steps of cursors, want %d at most", name, c.where, counted.seeks, counted.nexts, most)
			}
		}
		// What ends early reads no more than it needs.
		counted := &counting{Dataset: data}
		if got := rows(t, "PREFIX : <http://example.org/> SELECT ?a { ?a :p ?b . ?b :q ?c } LIMIT 5", counted); len(got) != 5 || counted.nexts > 200 {
			t.Errorf("%s: %d solutions take %d steps of cursors", name, len(got), counted.nexts)
		}
	}
}

// ring returns a dataset with size triples of each of four properties between so many nodes, and the same as lists.
func ring(size, nodes int) (*sparql.Memory, map[byte]map[int][]int) {
	r := rand.New(rand.NewPCG(27, uint64(nodes)))
	data, edges := sparql.NewMemory(nil), map[byte]map[int][]int{}
	for _, property := range []byte("pqrs") {
		edges[property] = map[int][]int{}
		for range size {
			from, to := r.IntN(nodes), r.IntN(nodes)
			if slices.Contains(edges[property][from], to) {
				continue
			}
			edges[property][from] = append(edges[property][from], to)
			data.Add(rdf.Quad{Triple: webrace.Triple{
				Subject: ringNode(from), Predicate: rdf.NewIRI("http://example.org/" + string(property)), Object: ringNode(to),
			}})
		}
	}
	return data, edges
}

func ringNode(n int) webrace.Term { return rdf.NewIRI(fmt.Sprintf("http://example.org/n%d", n)) }

// loops returns the walks along properties, sorted; only those that end where they begin, if they are to be closed.
func loops(edges map[byte]map[int][]int, properties string, closed bool) (rows []string) {
	var walk func(path []int)
	walk = func(path []int) {
		if len(path) <= len(properties) {
			for _, to := range edges[properties[len(path)-1]][path[len(path)-1]] {
				walk(append(slices.Clone(path), to))
			}
			return
		}
		if closed && path[0] != path[len(path)-1] {
			return
		}
		var b strings.Builder
		for _, n := range path[:4] {
			b.WriteString(string(ringNode(n)) + " ")
		}
		rows = append(rows, b.String())
	}
	for from := range edges[properties[0]] {
		walk([]int{from})
	}
	slices.Sort(rows)
	return rows
}

func rows(t *testing.T, text string, d sparql.Dataset) (rows []string) {
	t.Helper()
	query, err := sparql.Parse(text, "")
	if err != nil {
		t.Fatal(err)
	}
	results, err := query.Run(t.Context(), d, sparql.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range results.Solutions() {
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, term := range row {
			b.WriteString(string(term) + " ")
		}
		rows = append(rows, b.String())
	}
	return rows
}

// counting counts what is asked of a dataset.
type counting struct {
	sparql.Dataset
	seeks, nexts int
}

func (c *counting) Cursor(p sparql.Pattern) (sparql.Cursor, error) {
	cursor, err := c.Dataset.Cursor(p)
	return &countingCursor{cursor, c}, err
}

type countingCursor struct {
	sparql.Cursor
	of *counting
}

func (c *countingCursor) Seek(p sparql.Pattern) bool {
	c.of.seeks++
	return c.Cursor.Seek(p)
}

func (c *countingCursor) Next() bool {
	c.of.nexts++
	return c.Cursor.Next()
}
