package pipeline

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"io"
	"maps"
)

// KeyOf returns what identifies an item to the world outside: forty hexadecimal digits that are the same
// whenever the item comes again, after a retry, a crash, through a queue that is on disk or as a dead letter that is
// replayed, so that a receiver which remembers keys gets each item once. No other item has them, even if it has the
// same value.
//
// The key is made of what the source, or the queue, gives to [Item.From]. An item that is made of another has the key
// of that; of several, each has one of its own by its place among them, so they must be emitted in an order that does
// not change. What is made of a group has a key that is made of those of the group. An item whose source gives
// nothing has a key that it keeps in queues and dead letters, but not if the source brings it again.
//
// An item that has not been emitted, and belongs to none that has, has no key: "".
func KeyOf(it *Item) string {
	if it.lease == nil {
		return ""
	}
	key := it.lease.key()
	if of := it.branch.unsent(); of != 0 {
		return digest(uint64(of), key)
	}
	return key
}

// KeysOf returns keys for the values of a list, each for itself: those of the items that the list was made of, so that
// they are the same in whatever lists these come again, or else that of the list and the place in it.
func KeysOf(it *Item, values int) []string {
	keys, members, of := make([]string, values), Members(it), it.branch.unsent()
	for i := range keys {
		switch {
		case len(members) != values:
			keys[i] = digest(uint64(i), KeyOf(it), "value")
		case of == 0:
			keys[i] = KeyOf(members[i])
		default:
			keys[i] = digest(uint64(of), KeyOf(members[i]))
		}
	}
	return keys
}

// From sets where the item comes from, and so its key: see [KeyOf]. The place is what a source goes on reading after
// a restart, by a name that is never that of something else (the path of a file and when it was made, the id of a
// request, the URL of a document), and the number what the item is in it: an offset, an index, a version. It is for
// sources, before they emit the item, and for the items of leases of queues.
func (it *Item) From(place string, number uint64) *Item {
	if it.lease == nil {
		it.lease = newLease(nil)
	}
	end, _ := it.lease.origin.(ending)
	it.lease.origin = &placed{end, place, number}
	return it
}

// Branch returns a copy of the item with a key of its own, which is that of the item and a name. It is for stages
// that make several items of one in other calls than one: in a call, the items that it emits have keys of their own.
func (it *Item) Branch(name string) *Item {
	return it.branched(it.branch.unsent().named(name))
}

func (it *Item) branched(b branch) *Item {
	return &Item{Value: it.Value, Meta: it.Meta, lease: it.lease, branch: b}
}

// placed is the lease of an item whose source tells where it comes from.
type placed struct {
	end    ending
	place  string
	number uint64
}

func (*placed) Item() *Item { return nil }

func (p *placed) Done(o Outcome) {
	if p.end != nil {
		p.end(o)
	}
}

// key returns the key of the item that the lease began with.
func (l *lease) key() string {
	switch origin := l.origin.(type) {
	case nil:
	case *placed:
		return digest(origin.number, origin.place)
	case *replayed:
		if key := origin.letter.Key; key != "" {
			return key
		}
	case *alone:
		if origin.key != "" {
			return origin.key
		}
	case *joint:
		if len(origin.members) > 0 {
			return origin.key()
		}
	default:
		if it := origin.Item(); it != nil && it.lease != nil { // of a queue
			return KeyOf(it)
		}
	}
	return l.ownKey()
}

// key returns the key of a group: that of its member, if it has one.
func (j *joint) key() string {
	keys := make([]string, len(j.members))
	for i, member := range j.members {
		keys[i] = KeyOf(member)
	}
	if len(keys) == 1 {
		return keys[0]
	}
	return digest(uint64(len(keys)), keys...)
}

// ownKey returns the key of an item of which nobody tells where it comes from.
func (l *lease) ownKey() (key string) {
	l.update(func(s *leaseState) {
		if s.key == "" {
			s.key = digest(0, rand.Text())
		}
		key = s.key
	})
	return key
}

// digest is a key of a number and some texts, of which none runs into the next.
func digest(number uint64, texts ...string) string {
	h := sha256.New()
	var b [8]byte
	_, _ = h.Write(binary.BigEndian.AppendUint64(b[:0], number))
	for _, text := range texts {
		_, _ = h.Write(binary.BigEndian.AppendUint64(b[:0], uint64(len(text))))
		_, _ = io.WriteString(h, text)
	}
	return hex.EncodeToString(h.Sum(b[:0])[:20])
}

// branch numbers the items that are made of that of a lease; the first, or the only one, has 0. Its lowest bit tells
// that the item has been emitted, so that others may read it: an item has a word for both, as there are so many.
type branch uint64

const sent branch = 1

func (b branch) sent() bool     { return b&sent != 0 }
func (b branch) unsent() branch { return b &^ sent }

// send notes that the item is emitted.
func (it *Item) send() {
	if !it.branch.sent() {
		it.branch |= sent
	}
}

// named returns a branch of this one.
func (b branch) named(name string) branch {
	h := fnv.New64a()
	var of [8]byte
	_, _ = h.Write(binary.BigEndian.AppendUint64(of[:0], uint64(b)))
	_, _ = io.WriteString(h, name)
	return branch(h.Sum64()) << 1
}

// nth returns the branch of the item that a call of a stage emits after n others. The stage is told apart, because
// the first item has the branch of what it is made of, and may be split again.
func (b branch) nth(stage branch, n int) branch {
	x := uint64(b^stage)>>1 + uint64(n)*0x9e3779b97f4a7c15 // the steps of splitmix64, which has an inverse
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return branch(x^x>>31) << 1
}

// findMeetings finds the ports whose branches meet again, before a queue or at one.
func (r *Run) findMeetings() {
	for _, n := range r.nodes {
		for _, o := range n.ports {
			seen := make(map[*node]bool)
			for _, first := range o.nodes {
				reached := first.untilQueues()
				for next := range reached {
					o.meet = o.meet || seen[next]
				}
				maps.Copy(seen, reached)
			}
		}
	}
}

// untilQueues returns the node and those that its items come to, of the same lease.
func (n *node) untilQueues() map[*node]bool {
	reached, next := map[*node]bool{n: true}, []*node{n}
	for ; len(next) > 0; next = next[1:] {
		if next[0].queue != nil {
			continue
		}
		for _, o := range next[0].ports {
			for _, to := range o.nodes {
				if !reached[to] {
					reached[to] = true
					next = append(next, to)
				}
			}
		}
	}
	return reached
}

// item returns what one of the branches is given.
func (o *outlet) item(it *Item, target int) *Item {
	if !o.meet {
		return it
	}
	branch := it.Branch(o.nodes[target].name)
	branch.send()
	return branch
}
