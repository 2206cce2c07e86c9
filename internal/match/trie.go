package match

import (
	"math/bits"
	"slices"
)

// trie is a persistent map from hashes: with and without return a changed trie and leave the old one as
// it was, sharing all but the few nodes on the way to the change. So one writer can build the next state
// while any number of readers keep theirs. The zero value is empty.
type trie[V any] struct{ root *node[V] }

// node holds a leaf or a further node for each of the 32 values of the next 5 bits that occurs.
type node[V any] struct {
	present  uint32
	branches []branch[V]
}

type branch[V any] struct {
	below *node[V]
	hash  uint64 // of the leaf, if there is nothing below
	value V
}

const branchBits = 5

// at returns the bit of the hash's branch and its index among the branches that are present.
func (n *node[V]) at(hash uint64, depth int) (bit uint32, index int) {
	bit = 1 << (hash >> (depth * branchBits) & (1<<branchBits - 1))
	return bit, bits.OnesCount32(n.present & (bit - 1))
}

func (t trie[V]) get(hash uint64) (value V, ok bool) {
	n := t.root
	for depth := 0; n != nil; depth++ {
		bit, i := n.at(hash, depth)
		if n.present&bit == 0 {
			break
		}
		b := &n.branches[i]
		if b.below == nil {
			if b.hash == hash {
				return b.value, true
			}
			break
		}
		n = b.below
	}
	return value, false
}

func (t trie[V]) with(hash uint64, value V) trie[V] {
	return trie[V]{t.root.with(branch[V]{hash: hash, value: value}, 0)}
}

func (n *node[V]) with(leaf branch[V], depth int) *node[V] {
	if n == nil {
		n = &node[V]{}
	}
	bit, i := n.at(leaf.hash, depth)
	if n.present&bit == 0 {
		branches := make([]branch[V], len(n.branches)+1)
		copy(branches, n.branches[:i])
		branches[i] = leaf
		copy(branches[i+1:], n.branches[i:])
		return &node[V]{n.present | bit, branches}
	}
	branches := slices.Clone(n.branches)
	switch b := &branches[i]; {
	case b.below != nil:
		b.below = b.below.with(leaf, depth+1)
	case b.hash == leaf.hash:
		*b = leaf
	default:
		var both *node[V]
		both = both.with(*b, depth+1)
		*b = branch[V]{below: both.with(leaf, depth+1)}
	}
	return &node[V]{n.present, branches}
}

func (t trie[V]) without(hash uint64) trie[V] { return trie[V]{t.root.without(hash, 0)} }

// without returns nil for a node that would be left with nothing.
func (n *node[V]) without(hash uint64, depth int) *node[V] {
	if n == nil {
		return nil
	}
	bit, i := n.at(hash, depth)
	if n.present&bit == 0 {
		return n
	}
	b := n.branches[i]
	if b.below != nil {
		below := b.below.without(hash, depth+1)
		if below == b.below {
			return n
		}
		if below != nil {
			branches := slices.Clone(n.branches)
			branches[i] = branch[V]{below: below}
			return &node[V]{n.present, branches}
		}
	} else if b.hash != hash {
		return n
	}
	if len(n.branches) == 1 {
		return nil
	}
	branches := make([]branch[V], len(n.branches)-1)
	copy(branches, n.branches[:i])
	copy(branches[i:], n.branches[i+1:])
	return &node[V]{n.present &^ bit, branches}
}
