package match

import "slices"

// condition is what the groups of a profile ask for: a Boolean expression over the presence of its atoms, in postfix
// order.
type condition []step

// step pushes the presence of an atom, or replaces the last n values by whether as many of them are true
// as the mode asks for. Any of nothing is true: a group without members asks for nothing.
type step struct {
	push bool
	mode Mode
	n    int // the atom, or the number of values
}

func (c *condition) push(atom int)                  { *c = append(*c, step{push: true, n: atom}) }
func (c *condition) combine(mode Mode, members int) { *c = append(*c, step{mode: mode, n: members}) }

// holds evaluates the condition on the stack, which it may grow, and returns the outcome and the stack.
func (c condition) holds(present func(atom int) bool, stack []bool) (bool, []bool) {
	stack = stack[:0]
	for _, s := range c {
		if s.push {
			stack = append(stack, present(s.n))
			continue
		}
		members := stack[len(stack)-s.n:]
		found := 0
		for _, is := range members {
			if is {
				found++
			}
		}
		stack = append(stack[:len(stack)-s.n], s.mode.satisfied(found, s.n))
	}
	return stack[0], stack
}

// supports calls visit for each atom that makes the condition hold: one that is present, and that every group around it
// has use for, because it holds itself, and by what it has.
func (c condition) supports(present func(atom int) bool, visit func(atom int)) {
	holds, first := make([]bool, len(c)), make([]int, len(c)) // of what each step ends: its value, and the first step
	var values []int                                          // on the stack, as the steps that end them
	for i, s := range c {
		if first[i] = i; s.push {
			holds[i] = present(s.n)
		} else {
			members := values[len(values)-s.n:]
			found := 0
			for k, member := range members {
				if k == 0 {
					first[i] = first[member]
				}
				if holds[member] {
					found++
				}
			}
			holds[i], values = s.mode.satisfied(found, s.n), values[:len(values)-s.n]
		}
		values = append(values, i)
	}
	var walk func(end int)
	walk = func(end int) {
		switch s := c[end]; {
		case !holds[end]:
		case s.push:
			visit(s.n)
		case s.mode != None:
			for member, left := end-1, s.n; left > 0; left-- {
				walk(member)
				member = first[member] - 1
			}
		}
	}
	walk(len(c) - 1)
}

// negates reports whether the condition may hold because something is absent.
func (c condition) negates() bool {
	return slices.ContainsFunc(c, func(s step) bool { return !s.push && s.mode == None && s.n > 0 })
}

func (m Mode) satisfied(found, members int) bool {
	switch m {
	case All:
		return found == members
	case None:
		return found == 0
	}
	return found > 0 || members == 0
}
