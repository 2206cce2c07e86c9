package sparql

import (
	"slices"

	"github.com/webrace/webrace"
)

type pair [2]webrace.Term

// path returns the ends of all paths, as a bag. Constant ends are nodes, also if the graph does not have them.
func (n *naive) path(p *path, graph, from, to webrace.Term) (all []pair) {
	switch p.op {
	case pathLink, pathNegated:
		for _, t := range n.triples(graph) {
			if p.op == pathLink && t.Predicate == p.iri ||
				p.op == pathNegated && p.forward && !slices.Contains(p.not, t.Predicate) {
				all = append(all, pair{t.Subject, t.Object})
			}
			if p.op == pathNegated && p.backward && !slices.Contains(p.notBack, t.Predicate) {
				all = append(all, pair{t.Object, t.Subject})
			}
		}
	case pathInverse:
		for _, one := range n.path(p.parts[0], graph, to, from) {
			all = append(all, pair{one[1], one[0]})
		}
	case pathAlternative:
		for _, part := range p.parts {
			all = append(all, n.path(part, graph, from, to)...)
		}
	case pathSequence:
		all = n.path(p.parts[0], graph, from, "")
		for i, part := range p.parts[1:] {
			end := webrace.Term("")
			if i == len(p.parts)-2 {
				end = to
			}
			var longer []pair
			for _, a := range all {
				middle := a[1]
				if !n.inClosure { // a variable, by the translation of section 18.2.2.4
					middle = ""
				}
				for _, b := range n.path(part, graph, middle, end) {
					if a[1] == b[0] {
						longer = append(longer, pair{a[0], b[1]})
					}
				}
			}
			all = longer
		}
	default:
		return n.closure(p, graph, from, to)
	}
	return all
}

// closure adds steps to pairs until there is no new one: a set.
func (n *naive) closure(p *path, graph, from, to webrace.Term) (all []pair) {
	seen := map[pair]bool{}
	add := func(one pair) bool {
		if seen[one] {
			return false
		}
		seen[one] = true
		all = append(all, one)
		return true
	}
	outer := n.inClosure
	n.inClosure = true
	defer func() { n.inClosure = outer }()
	nodes := map[webrace.Term]bool{}
	for _, t := range n.triples(graph) {
		nodes[t.Subject], nodes[t.Object] = true, true
	}
	for _, end := range []webrace.Term{from, to} {
		if end != "" {
			nodes[end] = true
		}
	}
	var step []pair
	for node := range nodes {
		for _, one := range n.path(p.parts[0], graph, node, "") {
			if one[0] == node {
				step = append(step, one)
			}
		}
		if p.op != pathOneOrMore {
			add(pair{node, node})
		}
	}
	for _, one := range step {
		add(one)
	}
	for more := p.op != pathZeroOrOne; more; {
		more = false
		for _, a := range slices.Clone(all) {
			for _, b := range step {
				if a[1] == b[0] && add(pair{a[0], b[1]}) {
					more = true
				}
			}
		}
	}
	return all
}
