package match

import "fmt"

// node is a step of a condition and what it combines: the condition as a syntax tree.
type node struct {
	step
	members []*node
}

func (c condition) tree() *node {
	var stack []*node
	for _, s := range c {
		n := &node{step: s}
		if !s.push {
			from := len(stack) - s.n
			n.members = append(n.members, stack[from:]...)
			stack = stack[:from]
		}
		stack = append(stack, n)
	}
	return stack[0]
}

// belief is what must be so of an atom, or is so of a node, on every page on which the condition holds.
type belief uint8

const (
	open    belief = iota // either
	absent                // false
	certain               // true
)

func believed(is bool) belief {
	if is {
		return certain
	}
	return absent
}

// deduction finds what follows for the atoms from the condition's holding.
type deduction struct {
	of       []belief // by atom
	against  int      // an atom that had to be found and absent; -1 for none
	hopeless bool     // the condition holds on no page
	learned  bool     // in this round
}

// deduce draws the conclusions of one node at a time, over and over, as groups can be nested deep. What
// it finds is certain; a contradiction that only shows when several are tried together it misses.
func (c condition) deduce(atoms int) *deduction {
	d := &deduction{of: make([]belief, atoms), against: -1}
	if len(c) == 0 {
		return d
	}
	root := c.tree()
	for range deepestGroup {
		d.learned = false
		if d.require(root, true); d.hopeless || !d.learned {
			break
		}
	}
	return d
}

// decided returns an atom of a node that something is certain of; -1 if there is none.
func (d *deduction) decided(n *node) int {
	if n.push {
		return n.n
	}
	for _, m := range n.members {
		if i := d.decided(m); i >= 0 && d.of[i] != open {
			return i
		}
	}
	return -1
}

// is returns what is certain of a node.
func (d *deduction) is(n *node) belief {
	if n.push {
		return d.of[n.n]
	}
	sure, possible := 0, 0 // members that are so
	for _, m := range n.members {
		switch d.is(m) {
		case certain:
			sure++
			possible++
		case open:
			possible++
		}
	}
	least, most := n.mode.satisfied(sure, len(n.members)), n.mode.satisfied(possible, len(n.members))
	if least == most {
		return believed(least)
	}
	return open
}

// require concludes what follows from a node's being so.
func (d *deduction) require(n *node, so bool) {
	switch now := d.is(n); {
	case d.hopeless:
		return
	case now != open && now != believed(so):
		d.hopeless, d.against = true, d.decided(n)
		return
	case n.push:
		d.learned = d.learned || now == open
		d.of[n.n] = believed(so)
		return
	}
	way := so == (n.mode != None)
	if each := so == (n.mode != Any); each {
		for _, m := range n.members {
			d.require(m, way)
		}
		return
	}
	var last *node // of the members, one of which has to be so
	for _, m := range n.members {
		switch d.is(m) {
		case believed(way):
			return // it is so already
		case open:
			if last != nil {
				return
			}
			last = m
		}
	}
	if last != nil {
		d.require(last, way)
	}
}

// checkConditions warns if no page meets the profile's conditions, whatever it holds, and returns what else
// follows from them.
func (b *builder) checkConditions() *deduction {
	d := b.condition.deduce(len(b.atoms))
	switch {
	case !d.hopeless:
	case d.against < 0:
		b.useless("can never alert: its groups contradict one another")
	default:
		b.useless("can never alert: its groups ask both that %q is found and that it is not; take it out of one of them", b.atoms[d.against].written)
	}
	return d
}

func (b *builder) useless(format string, args ...any) {
	b.warnings = append(b.warnings, Warning{Message: fmt.Sprintf(format, args...), Useless: true})
}

// warnUnreachable warns of a threshold that no page exceeds. If there is nothing but words of nearly every page
// to exceed it, no other weights would make a use of them.
func (b *builder) warnUnreachable(d *deduction) {
	if len(b.atoms) == 0 || d != nil && d.hopeless {
		return
	}
	rest, common := 1.0, true
	for i := range b.atoms {
		a := &b.atoms[i]
		if a.weight == 0 || d != nil && d.of[i] == absent {
			continue
		}
		rest *= 1 - contribution(a.weight, mostSaturation)
		common = common && b.common[i]
	}
	switch best := relevance(rest); {
	case best > int(b.threshold):
	case common && best > 0:
		b.useless("can never alert: its keywords are words of nearly every page, and with these weights none has a relevance above %d, where the threshold is %d; look for rarer words", best, b.threshold)
	default:
		b.warnings = append(b.warnings, Warning{Message: fmt.Sprintf("can never alert: with these weights no page has a relevance above %d, and the threshold is %d", best, b.threshold)})
	}
}
