package match

// gate is the condition of a profile: its groups as a program in postfix order over the presence of its
// atoms.
type gate []step

// step pushes the presence of an atom, or replaces the last n values by whether as many of them are true
// as the mode asks for. Any of nothing is true: a group without members asks for nothing.
type step struct {
	push bool
	mode Mode
	n    int // the atom, or the number of values
}

func (g *gate) push(atom int)                  { *g = append(*g, step{push: true, n: atom}) }
func (g *gate) combine(mode Mode, members int) { *g = append(*g, step{mode: mode, n: members}) }

// holds runs the program on the stack, which it may grow, and returns the outcome and the stack.
func (g gate) holds(present func(atom int) bool, stack []bool) (bool, []bool) {
	stack = stack[:0]
	for _, s := range g {
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
