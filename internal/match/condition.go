package match

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

func (m Mode) satisfied(found, members int) bool {
	switch m {
	case All:
		return found == members
	case None:
		return found == 0
	}
	return found > 0 || members == 0
}
