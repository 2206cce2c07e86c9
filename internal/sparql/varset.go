package sparql

import "math/bits"

// varSet is a set of variables.
type varSet []uint64

func setOf(variables ...variable) varSet {
	var s varSet
	for _, v := range variables {
		s.add(v)
	}
	return s
}

func (s *varSet) add(v variable) {
	if v == 0 {
		return
	}
	for len(*s) <= int(v)/64 {
		*s = append(*s, 0)
	}
	(*s)[v/64] |= 1 << (v % 64)
}

func (s varSet) has(v variable) bool { return int(v)/64 < len(s) && s[v/64]&(1<<(v%64)) != 0 }

// addAll makes a set the union of itself and another.
func (s *varSet) addAll(o varSet) {
	for len(*s) < len(o) {
		*s = append(*s, 0)
	}
	for i, word := range o {
		(*s)[i] |= word
	}
}

func (s varSet) union(o varSet) varSet {
	sum := append(varSet(nil), s...)
	sum.addAll(o)
	return sum
}

func (s varSet) intersect(o varSet) varSet {
	both := make(varSet, min(len(s), len(o)))
	for i := range both {
		both[i] = s[i] & o[i]
	}
	return both
}

func (s varSet) minus(o varSet) varSet {
	rest := append(varSet(nil), s...)
	for i := range min(len(s), len(o)) {
		rest[i] &^= o[i]
	}
	return rest
}

func (s varSet) meets(o varSet) bool {
	for i := range min(len(s), len(o)) {
		if s[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// within reports whether another set has all of this one.
func (s varSet) within(o varSet) bool { return !s.minus(o).any() }

func (s varSet) len() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// list returns the variables of a set in their order.
func (s varSet) list() []variable {
	var list []variable
	for i, word := range s {
		for ; word != 0; word &= word - 1 {
			list = append(list, variable(i*64+bits.TrailingZeros64(word)))
		}
	}
	return list
}

func (s varSet) any() bool {
	for _, word := range s {
		if word != 0 {
			return true
		}
	}
	return false
}
