package objects

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
	"strconv"
	"sync"

	"github.com/webrace/webrace"
)

// This file is what makes a check fast, and decides nothing. It reads the index and the segments in the order in which
// they lie on the disk, joins what belongs together in memory (a sort-merge join), and tells which versions it found
// anything but sound: at those the steps of the check look one by one, and at no others. What is sound here is so for
// them as well, which tests hold against each other.

// screened is how many keys, or records of segments, are joined at a time: more take further passes over the index, and
// less memory.
const screened = 1 << 19

// screening is what the joins found.
type screening struct {
	extents  map[uint32]int64 // how far records of each segment were looked at
	versions suspects[uint64] // by sequence number
	bodies   suspects[webrace.Digest]
}

// suspects want a closer look. When there are too many to be kept, everything does.
type suspects[T comparable] struct {
	mu   sync.Mutex
	of   map[T]struct{}
	full bool
}

func (s *suspects[T]) add(v T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[T]struct{}{}
	}
	if s.of[v] = struct{}{}; len(s.of) >= 1<<20 {
		s.full = true
		clear(s.of)
	}
}

// has is called when all were added.
func (s *suspects[T]) has(v T) bool {
	_, ok := s.of[v]
	return ok || s.full
}

// sound reports whether nothing is wrong with a version and what belongs to it.
func (c *check) sound(e *entry) bool {
	s := c.screening
	return s != nil && e.record.offset+e.whole().length <= s.extents[e.record.segment] && !s.versions.has(e.Seq) && !s.bodies.has(e.Digest)
}

// soundEntry reports whether what is kept under a sequence number belongs to a version.
func (c *check) soundEntry(seq uint64) bool {
	return c.screening != nil && !c.screening.versions.has(seq)
}

// screen looks at all that is stored.
func (c *check) screen() error {
	if c.screening = nil; c.slowly {
		return nil
	}
	s := &screener{check: c, found: &screening{extents: map[uint32]int64{}}, seed: maphash.MakeSeed()}
	for _, join := range []func() error{s.joinNumbers, s.joinBodies, s.joinRecords} {
		if err := join(); err != nil {
			return err
		}
	}
	c.screening = s.found
	return nil
}

type screener struct {
	*check
	found *screening
	seed  maphash.Seed
}

// passes calls join for each part of what is keyed; mine chooses those of a part.
func (s *screener) passes(join func(mine func(key uint64) bool) error) error {
	n := s.store.Stats().Versions/screened + 1
	for pass := range n {
		if err := join(func(key uint64) bool { return key%n == pass }); err != nil {
			return err
		}
	}
	return nil
}

// eachVersion visits what the index has of every version. Where a URL has no latest one, none is found by its number.
func (s *screener) eachVersion(visit func(*entry)) error {
	return s.store.walk(s.ctx, func(k *known) error {
		if !k.inOrder() {
			for _, e := range k.all() {
				s.found.versions.add(e.Seq)
			}
		}
		for i := range k.older {
			visit(&k.older[i])
		}
		if k.latest != nil {
			visit(k.latest)
		}
		return nil
	})
}

// numbered is a version by its sequence number: the log must have it under that, and its links.
type numbered struct {
	seq, sum      uint64
	logged, links bool
}

// joinNumbers joins versions with the log and with their links.
func (s *screener) joinNumbers() error {
	return s.passes(func(mine func(uint64) bool) error {
		var all []numbered
		if err := s.eachVersion(func(e *entry) {
			if mine(e.Seq) {
				all = append(all, numbered{seq: e.Seq, sum: s.sum(e.View(), strconv.Itoa(e.Number))})
			}
		}); err != nil {
			return err
		}
		slices.SortFunc(all, func(a, b numbered) int { return cmp.Compare(a.seq, b.seq) })
		if err := s.merge("l/", all, mine, func(n *numbered, value []byte) {
			view, number, err := decodeLog(value)
			n.logged = err == nil && s.sum(view, strconv.Itoa(number)) == n.sum
		}); err != nil {
			return err
		}
		if err := s.merge("k/", all, mine, func(n *numbered, value []byte) {
			_, err := decodeLinks(value)
			n.links = err == nil
		}); err != nil {
			return err
		}
		for i, n := range all {
			if !n.logged || !n.links || i > 0 && all[i-1].seq == n.seq {
				s.found.versions.add(n.seq)
			}
		}
		return nil
	})
}

// merge goes over what is kept by sequence number, beside the versions.
func (s *screener) merge(prefix string, all []numbered, mine func(uint64) bool, match func(*numbered, []byte)) error {
	return s.sequences(prefix, func(_ []byte, seq uint64, value []byte) error {
		if !mine(seq) {
			return nil
		}
		for len(all) > 0 && all[0].seq < seq {
			all = all[1:]
		}
		if len(all) == 0 || all[0].seq != seq {
			s.found.versions.add(seq) // of no version
			return nil
		}
		match(&all[0], value)
		return nil
	})
}

// sum is a hash of words, under a key of this screening.
func (s *screener) sum(words ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(s.seed)
	for _, word := range words {
		h.WriteString(word)
		h.WriteByte(0)
	}
	return h.Sum64()
}

// joinBodies joins versions with what the index has of bodies.
func (s *screener) joinBodies() error {
	return s.passes(func(mine func(uint64) bool) error {
		var all []webrace.Digest
		if err := s.eachVersion(func(e *entry) {
			if mine(uint64(e.Digest[0])<<16 | uint64(e.Digest[1])<<8 | uint64(e.Digest[2])) {
				all = append(all, e.Digest)
			}
		}); err != nil {
			return err
		}
		slices.SortFunc(all, func(a, b webrace.Digest) int { return bytes.Compare(a[:], b[:]) })
		all = slices.Compact(all)
		if err := s.store.eachPayload(s.ctx, func(d webrace.Digest, p *payload, _ error) error {
			for len(all) > 0 && bytes.Compare(all[0][:], d[:]) < 0 {
				s.found.bodies.add(all[0])
				all = all[1:]
			}
			if p != nil && len(all) > 0 && all[0] == d {
				all = all[1:]
			}
			return nil
		}); err != nil {
			return err
		}
		for _, d := range all {
			s.found.bodies.add(d)
		}
		return nil
	})
}
