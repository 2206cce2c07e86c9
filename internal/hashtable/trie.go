package hashtable

import (
	"math/bits"
	"slices"
)

// trie is a persistent map from hashes: the copy that editable returns can be changed and leaves the one
// it was made of as it was, sharing all but the few nodes on the way to each change. The zero value is
// empty.
type trie[V comparable] struct {
	root *node[V]
	edit *edit
}

// edit marks the nodes that one series of changes has made, and may go on changing, as Clojure's transients do.
type edit struct{ _ byte }

// node holds a leaf or a further node for each of the 32 values of the next 5 bits that occurs.
type node[V comparable] struct {
	edit     *edit
	present  uint32
	branches []branch[V]
}

type branch[V comparable] struct {
	below *node[V]
	hash  uint64 // of the leaf, if there is nothing below
	value V
}

const branchBits = 5

// editable returns a copy to be changed.
func (t trie[V]) editable() trie[V] { return trie[V]{t.root, new(edit)} }

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

// set gives the hash another value, made of the one it has; it has none if that is the zero value.
func (t *trie[V]) set(hash uint64, change func(old V) V) {
	var none V
	old, _ := t.get(hash)
	if value := change(old); value == none {
		t.root = t.root.without(t.edit, hash, 0)
	} else {
		t.root = t.root.with(t.edit, branch[V]{hash: hash, value: value}, 0)
	}
}

// mine returns the node, or a copy of it that this edit may change.
func (n *node[V]) mine(e *edit) *node[V] {
	if n.edit == e {
		return n
	}
	return &node[V]{e, n.present, slices.Clone(n.branches)}
}

func (n *node[V]) with(e *edit, leaf branch[V], depth int) *node[V] {
	if n == nil {
		n = &node[V]{edit: e}
	}
	n = n.mine(e)
	bit, i := n.at(leaf.hash, depth)
	if n.present&bit == 0 {
		n.branches = slices.Insert(n.branches, i, leaf)
		n.present |= bit
		return n
	}
	switch b := &n.branches[i]; {
	case b.below != nil:
		b.below = b.below.with(e, leaf, depth+1)
	case b.hash == leaf.hash:
		*b = leaf
	default:
		var both *node[V]
		both = both.with(e, *b, depth+1)
		*b = branch[V]{below: both.with(e, leaf, depth+1)}
	}
	return n
}

// without returns nil for a node that would be left with nothing.
func (n *node[V]) without(e *edit, hash uint64, depth int) *node[V] {
	if n == nil {
		return nil
	}
	bit, i := n.at(hash, depth)
	if n.present&bit == 0 || n.branches[i].below == nil && n.branches[i].hash != hash {
		return n
	}
	n = n.mine(e)
	if b := &n.branches[i]; b.below != nil {
		if b.below = b.below.without(e, hash, depth+1); b.below != nil {
			return n
		}
	}
	n.branches = slices.Delete(n.branches, i, i+1)
	if n.present &^= bit; n.present == 0 {
		return nil
	}
	return n
}

// each calls visit for every value until it returns false.
func (n *node[V]) each(visit func(V) bool) bool {
	if n == nil {
		return true
	}
	for i := range n.branches {
		b := &n.branches[i]
		if b.below == nil && !visit(b.value) || !b.below.each(visit) {
			return false
		}
	}
	return true
}
