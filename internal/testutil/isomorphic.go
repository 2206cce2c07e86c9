package testutil

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// Isomorphic returns how two sets of quads differ; empty if they are the same but for the labels of blank nodes. Quads
// that stand twice count once. Where blank nodes are so alike that it would take too long to tell, it returns that.
func Isomorphic(want, got []rdf.Quad) (difference string) {
	a, b := newColouring(want), newColouring(got)
	if d := compareGround(a, b); d != "" {
		return d
	}
	steps := 250_000 + 100*(len(want)+len(got))
	a.steps, b.steps = &steps, &steps
	switch found := match(a, b); {
	case found:
		return ""
	case steps <= 0:
		return "the blank nodes are too many and too alike to tell whether the graphs are the same"
	}
	return describe(a, b)
}

// colouring gives each blank node of a graph a colour: nodes that can be told apart by what is said of them get
// different ones, in both graphs the same.
type colouring struct {
	quads   []rdf.Quad // those with blank nodes
	ground  map[rdf.Quad]bool
	colours map[webrace.Term]uint64
	steps   *int // that may still be taken to compare
}

func newColouring(quads []rdf.Quad) *colouring {
	c := &colouring{ground: map[rdf.Quad]bool{}, colours: map[webrace.Term]uint64{}}
	seen := map[rdf.Quad]bool{}
	for _, q := range quads {
		if seen[q] {
			continue
		}
		seen[q] = true
		blank := false
		for _, t := range places(q) {
			if rdf.KindOf(t) == rdf.Blank {
				c.colours[t] = 0
				blank = true
			}
		}
		if blank {
			c.quads = append(c.quads, q)
		} else {
			c.ground[q] = true
		}
	}
	return c
}

func places(q rdf.Quad) [4]webrace.Term {
	return [4]webrace.Term{q.Subject, q.Predicate, q.Object, q.Graph}
}

// refine colours the nodes by their neighbours, again and again, until no more of them can be told apart.
func (c *colouring) refine() {
	for count := 0; ; {
		n := len(c.classes())
		if n == count || n == len(c.colours) || *c.steps <= 0 {
			return
		}
		count = n
		c.round()
	}
}

// round gives each node a colour that depends on what is said of it, with the colours of its neighbours.
func (c *colouring) round() {
	next := make(map[webrace.Term]uint64, len(c.colours))
	for node, colour := range c.colours {
		next[node] = hash(fmt.Sprint(colour))
	}
	for _, q := range c.quads {
		of := places(q)
		for i, node := range of {
			if rdf.KindOf(node) == rdf.Blank {
				next[node] += hash(c.said(of, i, node)) // a sum: the order of quads does not count
			}
		}
	}
	c.colours = next
	*c.steps -= 1 + len(c.quads)
}

// said writes a quad as one of its nodes sees it.
func (c *colouring) said(of [4]webrace.Term, place int, node webrace.Term) string {
	var b strings.Builder
	fmt.Fprint(&b, place)
	for _, t := range of {
		switch {
		case t == node:
			b.WriteString(" self")
		case rdf.KindOf(t) == rdf.Blank:
			fmt.Fprintf(&b, " %x", c.colours[t])
		default:
			fmt.Fprintf(&b, " %s", t)
		}
	}
	return b.String()
}

func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}

func (c *colouring) classes() map[uint64][]webrace.Term {
	classes := map[uint64][]webrace.Term{}
	for node, colour := range c.colours {
		classes[colour] = append(classes[colour], node)
	}
	return classes
}

func (c *colouring) with(node webrace.Term, colour uint64) *colouring {
	copied := *c
	copied.colours = maps.Clone(c.colours)
	copied.colours[node] = colour
	return &copied
}

// coloured writes the quads with colours in place of labels, sorted.
func (c *colouring) coloured() []string {
	var lines []string
	for _, q := range c.quads {
		var b strings.Builder
		for _, t := range places(q) {
			if rdf.KindOf(t) == rdf.Blank {
				fmt.Fprintf(&b, "_:%x ", c.colours[t])
			} else if t != "" {
				fmt.Fprintf(&b, "%s ", t)
			}
		}
		lines = append(lines, b.String()+".")
	}
	slices.Sort(lines)
	return lines
}

// match looks for a node of b for each node of a. Where several are alike, it tries each for the first of a.
func match(a, b *colouring) bool {
	a.refine()
	b.refine()
	ofA, ofB := a.classes(), b.classes()
	if len(ofA) != len(ofB) {
		return false
	}
	var alike uint64
	for colour, nodes := range ofA {
		if len(ofB[colour]) != len(nodes) {
			return false
		}
		if n := len(ofA[alike]); len(nodes) > 1 && (n < 2 || len(nodes) < n || len(nodes) == n && colour < alike) {
			alike = colour
		}
	}
	if len(ofA[alike]) < 2 {
		return slices.Equal(a.coloured(), b.coloured())
	}
	colour := hash(fmt.Sprint("chosen", alike))
	chosen := slices.Min(ofA[alike])
	for _, node := range slices.Sorted(slices.Values(ofB[alike])) {
		if match(a.with(chosen, colour), b.with(node, colour)) {
			return true
		}
		if *a.steps <= 0 {
			return false
		}
	}
	return false
}

func compareGround(a, b *colouring) string {
	var lines []string
	for q := range a.ground {
		if !b.ground[q] {
			lines = append(lines, "missing: "+line(q))
		}
	}
	for q := range b.ground {
		if !a.ground[q] {
			lines = append(lines, "too much: "+line(q))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// describe returns what differs, by colours that the nodes get in both graphs.
func describe(a, b *colouring) string {
	for _, c := range []*colouring{a, b} {
		clear(c.colours)
		for _, q := range c.quads {
			for _, t := range places(q) {
				if rdf.KindOf(t) == rdf.Blank {
					c.colours[t] = 0
				}
			}
		}
		c.round()
	}
	differ := map[string]int{}
	for _, l := range a.coloured() {
		differ[l]++
	}
	for _, l := range b.coloured() {
		differ[l]--
	}
	var lines []string
	for l, n := range differ {
		if n > 0 {
			lines = append(lines, "missing: "+l)
		} else if n < 0 {
			lines = append(lines, "too much: "+l)
		}
	}
	if len(lines) == 0 {
		return "the blank nodes are connected otherwise"
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func line(q rdf.Quad) string {
	var parts []string
	for _, t := range places(q) {
		if t != "" {
			parts = append(parts, string(t))
		}
	}
	return strings.Join(append(parts, "."), " ")
}
