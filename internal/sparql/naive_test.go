package sparql

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql/value"
)

// The slow oracle: groups are evaluated from the inside out, each to a bag of solutions that is joined with others by
// comparing all with all, as section 18.5 defines it. It shares the parser with what it is compared to, and nothing
// else.

type naiveSolution map[variable]webrace.Term

type naive struct {
	query    *Query
	quads    []rdf.Quad
	defaults []webrace.Term // FROM
	named    []webrace.Term // all names, or FROM NAMED
	given    naiveSolution  // what EXISTS has put in

	inClosure bool // of a path
}

func newNaive(q *Query, quads []rdf.Quad) *naive {
	n := &naive{query: q, quads: quads, defaults: []webrace.Term{""}, given: naiveSolution{}}
	for _, quad := range quads {
		if quad.Graph != "" && !slices.Contains(n.named, quad.Graph) {
			n.named = append(n.named, quad.Graph)
		}
	}
	if len(q.from)+len(q.named) > 0 {
		n.defaults, n.named = q.from, q.named
	}
	return n
}

// triples returns those of a graph; of the default graph if the name is empty.
func (n *naive) triples(graph webrace.Term) (all []webrace.Triple) {
	names := []webrace.Term{graph}
	if graph == "" {
		names = n.defaults
	}
	seen := map[webrace.Triple]bool{}
	for _, q := range n.quads {
		if slices.Contains(names, q.Graph) && !seen[q.Triple] {
			seen[q.Triple] = true
			all = append(all, q.Triple)
		}
	}
	return all
}

func compatible(a, b naiveSolution) (shared, ok bool) {
	for v, t := range a {
		if other, both := b[v]; both {
			shared = true
			if other != t {
				return true, false
			}
		}
	}
	return shared, true
}

func merge(a, b naiveSolution) naiveSolution {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return both
}

func naiveJoin(left, right []naiveSolution) (all []naiveSolution) {
	for _, a := range left {
		for _, b := range right {
			if _, ok := compatible(a, b); ok {
				all = append(all, merge(a, b))
			}
		}
	}
	return all
}

func (n *naive) group(g *group, graph webrace.Term) []naiveSolution {
	if g.sub != nil {
		return n.selectQuery(g.sub, graph)
	}
	all := []naiveSolution{{}}
	var filters []expression
	for _, e := range g.elements {
		switch e := e.(type) {
		case *filterElement:
			filters = append(filters, e.expression)
		case *triplesElement:
			for _, p := range e.patterns {
				all = naiveJoin(all, n.pattern(p, graph))
			}
		case *optionalElement:
			all = n.optional(all, e.group, graph)
		case *minusElement:
			right := n.group(e.group, graph)
			all = slices.DeleteFunc(all, func(a naiveSolution) bool {
				return slices.ContainsFunc(right, func(b naiveSolution) bool {
					shared, ok := compatible(a, b)
					return shared && ok
				})
			})
		case *unionElement:
			var parts []naiveSolution
			for _, part := range e.groups {
				parts = append(parts, n.group(part, graph)...)
			}
			all = naiveJoin(all, parts)
		case *graphElement:
			all = naiveJoin(all, n.graph(e))
		case *bindElement:
			for i, a := range all {
				if t, err := n.compute(e.expression, a, graph); err == nil {
					all[i] = merge(a, naiveSolution{e.variable: t})
				}
			}
		case *valuesElement:
			all = naiveJoin(all, n.fitting(naiveValues(e)))
		}
	}
	return n.filter(all, filters, graph)
}

func naiveValues(e *valuesElement) (rows []naiveSolution) {
	for _, row := range e.rows {
		s := naiveSolution{}
		for i, t := range row {
			if t != "" {
				s[e.variables[i]] = t
			}
		}
		rows = append(rows, s)
	}
	return rows
}

// fitting returns those that what EXISTS has put in is compatible with.
func (n *naive) fitting(rows []naiveSolution) []naiveSolution {
	return slices.DeleteFunc(rows, func(row naiveSolution) bool {
		_, ok := compatible(row, n.given)
		return !ok
	})
}

func (n *naive) filter(all []naiveSolution, filters []expression, graph webrace.Term) (kept []naiveSolution) {
	for _, a := range all {
		if n.holds(filters, a, graph) {
			kept = append(kept, a)
		}
	}
	return kept
}

func (n *naive) holds(filters []expression, s naiveSolution, graph webrace.Term) bool {
	for _, f := range filters {
		t, err := n.compute(f, s, graph)
		if err != nil {
			return false
		}
		if ok, err := value.Boolean(t); err != nil || !ok {
			return false
		}
	}
	return true
}

// optional is LeftJoin: the filters of the group see both sides.
func (n *naive) optional(left []naiveSolution, g *group, graph webrace.Term) (all []naiveSolution) {
	var filters []expression
	inner := &group{sub: g.sub}
	for _, e := range g.elements {
		if f, ok := e.(*filterElement); ok {
			filters = append(filters, f.expression)
		} else {
			inner.elements = append(inner.elements, e)
		}
	}
	right := n.group(inner, graph)
	for _, a := range left {
		found := n.filter(naiveJoin([]naiveSolution{a}, right), filters, graph)
		if len(found) == 0 {
			found = []naiveSolution{a}
		}
		all = append(all, found...)
	}
	return all
}

func (n *naive) graph(e *graphElement) (all []naiveSolution) {
	name := n.term(e.name)
	for _, graph := range n.named {
		switch {
		case name == "":
			bound := []naiveSolution{{e.name.variable: graph}}
			all = append(all, naiveJoin(bound, n.group(e.group, graph))...)
		case name == graph:
			all = append(all, n.group(e.group, graph)...)
		}
	}
	return all
}

// term returns a constant, also one that EXISTS has made of a variable; empty for variables.
func (n *naive) term(p varOrTerm) webrace.Term {
	if p.variable != 0 {
		return n.given[p.variable]
	}
	return p.term
}

func (n *naive) match(s naiveSolution, p varOrTerm, t webrace.Term) bool {
	if want := n.term(p); want != "" {
		return want == t
	}
	if want, ok := s[p.variable]; ok {
		return want == t
	}
	s[p.variable] = t
	return true
}

func (n *naive) pattern(p pattern, graph webrace.Term) (all []naiveSolution) {
	switch p := p.(type) {
	case *triplePattern:
		for _, t := range n.triples(graph) {
			s := naiveSolution{}
			if n.match(s, p.subject, t.Subject) && n.match(s, p.predicate, t.Predicate) && n.match(s, p.object, t.Object) {
				all = append(all, s)
			}
		}
	case *textPattern:
		seen := map[webrace.Term]bool{}
		for _, t := range n.triples(graph) {
			s := naiveSolution{}
			if strings.Contains(string(t.Object), "red") && (p.property == "" || p.property == t.Predicate) &&
				!seen[t.Subject] && n.match(s, p.subject, t.Subject) {
				seen[t.Subject] = true
				all = append(all, s)
			}
		}
	case *pathPattern:
		for _, pair := range n.path(p.path, graph, n.term(p.subject), n.term(p.object)) {
			s := naiveSolution{}
			if n.match(s, p.subject, pair[0]) && n.match(s, p.object, pair[1]) {
				all = append(all, s)
			}
		}
	}
	return all
}

func (n *naive) compute(e expression, s naiveSolution, graph webrace.Term) (webrace.Term, error) {
	of := func(e expression) (webrace.Term, error) { return n.compute(e, s, graph) }
	is := func(e expression) (bool, error) {
		t, err := of(e)
		if err != nil {
			return false, err
		}
		return value.Boolean(t)
	}
	switch e := e.(type) {
	case *termExpr:
		return e.term, nil
	case *variableExpr:
		if t, ok := s[e.variable]; ok {
			return t, nil
		}
		if t, ok := n.given[e.variable]; ok {
			return t, nil
		}
		return "", errUnbound
	case *existsExpr:
		inner := *n
		inner.given = merge(n.given, s)
		return value.Of((len(inner.group(e.group, graph)) > 0) != e.not), nil
	case *chainExpr:
		sum, err := of(e.first)
		for i, next := range e.rest {
			t, err2 := of(next)
			if err != nil || err2 != nil {
				return "", errUnbound
			}
			sum, err = value.Arithmetic(e.operators[i], sum, t)
		}
		return sum, err
	case *operatorExpr:
		switch e.operator {
		case "BOUND":
			_, err := of(e.arguments[0])
			return value.Of(err == nil), nil
		case "!":
			ok, err := is(e.arguments[0])
			return value.Of(!ok), err
		case "&&", "||":
			a, err1 := is(e.arguments[0])
			b, err2 := is(e.arguments[1])
			decides := e.operator == "||"
			switch {
			case err1 == nil && a == decides, err2 == nil && b == decides:
				return value.Of(decides), nil
			case err1 != nil || err2 != nil:
				return "", errUnbound
			}
			return value.Of(!decides), nil
		case "COALESCE":
			for _, a := range e.arguments {
				if t, err := of(a); err == nil {
					return t, nil
				}
			}
			return "", errUnbound
		default:
			a, err1 := of(e.arguments[0])
			b, err2 := of(e.arguments[1])
			if err1 != nil || err2 != nil {
				return "", errUnbound
			}
			ok, err := value.Compare(e.operator, a, b)
			return value.Of(ok), err
		}
	}
	panic(fmt.Sprintf("%T", e))
}

func (n *naive) selectQuery(q *selectQuery, graph webrace.Term) []naiveSolution {
	all := n.group(q.where, graph)
	if q.grouped {
		all = n.grouped(q, all, graph)
		all = n.filter(all, q.having, graph)
	}
	if q.values != nil {
		all = naiveJoin(all, naiveValues(q.values))
	}
	for _, item := range q.items {
		for i, s := range all {
			if item.expression == nil {
				continue
			}
			if t, err := n.compute(item.expression, s, graph); err == nil {
				all[i] = merge(s, naiveSolution{item.variable: t})
			}
		}
	}
	var projected []naiveSolution
	seen := map[string]bool{}
	for _, s := range all {
		row := naiveSolution{}
		for v, t := range s {
			listed := slices.ContainsFunc(q.items, func(i selectItem) bool { return i.variable == v })
			if listed || q.star && n.query.names[v] != "" {
				row[v] = t
			}
		}
		if key := n.write(row); !q.distinct || !seen[key] {
			seen[key] = true
			projected = append(projected, row)
		}
	}
	return projected
}

func (n *naive) grouped(q *selectQuery, all []naiveSolution, graph webrace.Term) (groups []naiveSolution) {
	members := map[string][]naiveSolution{}
	keys := map[string]naiveSolution{}
	if len(q.groupBy) == 0 {
		members[""], keys[""] = nil, naiveSolution{}
	}
	for _, s := range all {
		key := naiveSolution{}
		for _, item := range q.groupBy {
			if t, ok := s[item.variable]; ok {
				key[item.variable] = t
			}
		}
		members[n.write(key)] = append(members[n.write(key)], s)
		keys[n.write(key)] = key
	}
	for name, key := range keys {
		for _, a := range q.aggregates {
			result, seen := value.NewAggregate(a.name, a.separator), map[webrace.Term]bool{}
			for _, s := range members[name] {
				t, err := value.True, error(nil)
				if a.argument != nil {
					t, err = n.compute(a.argument, s, graph)
				}
				switch {
				case err != nil:
					result.Failed()
				case !a.distinct || !seen[t]:
					seen[t] = true
					result.Add(t)
				}
			}
			if t, err := result.Result(); err == nil {
				key = merge(key, naiveSolution{a.variable: t})
			}
		}
		groups = append(groups, key)
	}
	return groups
}

func (n *naive) write(s naiveSolution) string {
	var b strings.Builder
	for _, v := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&b, "?%s=%s ", n.query.names[v], s[v])
	}
	return b.String()
}
