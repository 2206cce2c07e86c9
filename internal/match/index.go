package match

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/webrace/webrace/internal/analyze"
)

// Index holds profiles by ID, and finds those that a page may concern by the words in it. Changes are
// visible when they return; matching never waits for them, nor they for it. The zero value is empty and
// ready to use, by any number of goroutines.
//
// Each state of the index is immutable. The next one shares nearly all of it: adding a profile copies a
// few small nodes for each of its keywords, however many profiles there are. Removing one also copies the
// list of profiles that are found by the same word.
type Index struct {
	writing sync.Mutex
	free    []uint32 // numbers of removed profiles
	state   atomic.Pointer[snapshot]
}

// snapshot is one state of the index.
type snapshot struct {
	profiles trie[[]*entry] // by the hash of the ID
	postings trie[[]*entry] // by key
	always   []*entry       // those no page can be ruled out for
	posted   [kinds]int     // how many postings there are of each kind of key
	count    int
	numbers  uint32 // entries have numbers below this
}

// entry is a profile of the index; its number is unique within each state.
type entry struct {
	*Compiled
	number uint32
}

// key is what a profile is posted under.
type key struct {
	by     lookup
	hash   uint64
	length int // of the word, for guessing how rare it is
}

// lookup says how keys are looked up from the words of a page.
type lookup uint8

const (
	byStem   lookup = iota
	byPrefix        // the first bytes of a word, at most prefixBytes
	byGram          // any gramBytes in a row of a word
	kinds    = int(byGram) + 1
)

const (
	prefixBytes = 16
	gramBytes   = 3
)

// hashKey keeps the kinds of keys apart.
func hashKey(by lookup, part []byte) uint64 {
	return analyze.Hash(part) ^ uint64(by)*0xA24BAED4963EE407
}

func (a *atom) key() key {
	switch t := &a.terms[a.lead]; t.kind {
	case prefix:
		return key{byPrefix, hashKey(byPrefix, []byte(t.text[:wholeRunes(t.text, prefixBytes)])), len(t.text)}
	case inside:
		return key{byGram, hashKey(byGram, []byte(t.text[:gramBytes])), len(t.text)}
	default:
		return key{byStem, t.stem, len(t.text)}
	}
}

// Add adds the profiles, each instead of the one with its ID if there is one. All of them become visible
// at once.
func (x *Index) Add(profiles ...*Compiled) {
	x.change(func(next *snapshot) {
		for _, c := range profiles {
			x.remove(next, c.id)
			x.add(next, c)
		}
	})
}

// Remove removes the profiles with these IDs, as far as there are any, all at once.
func (x *Index) Remove(ids ...string) {
	x.change(func(next *snapshot) {
		for _, id := range ids {
			x.remove(next, id)
		}
	})
}

// Next returns an index with the same profiles, to be changed instead of this one: which stays as it is,
// and must not be changed any more.
func (x *Index) Next() *Index {
	x.writing.Lock()
	defer x.writing.Unlock()
	next := &Index{free: slices.Clone(x.free)}
	next.state.Store(x.state.Load())
	return next
}

// Len returns the number of profiles.
func (x *Index) Len() int {
	if s := x.state.Load(); s != nil {
		return s.count
	}
	return 0
}

// Profile returns the profile with the ID, or nil.
func (x *Index) Profile(id string) *Compiled {
	if s := x.state.Load(); s != nil {
		if e := s.find(id); e != nil {
			return e.Compiled
		}
	}
	return nil
}

func (x *Index) change(edit func(next *snapshot)) {
	x.writing.Lock()
	defer x.writing.Unlock()
	var next snapshot
	if s := x.state.Load(); s != nil {
		next = *s
	}
	edit(&next)
	x.state.Store(&next)
}

func (x *Index) add(s *snapshot, c *Compiled) {
	e := &entry{Compiled: c}
	if last := len(x.free) - 1; last >= 0 {
		e.number, x.free = x.free[last], x.free[:last]
	} else {
		e.number = s.numbers
		s.numbers++
	}
	s.count++
	insert(&s.profiles, hashID(c.id), e)
	for _, k := range c.keys {
		insert(&s.postings, k.hash, e)
		s.posted[k.by]++
	}
	if c.always {
		s.always = append(s.always, e)
	}
}

func (x *Index) remove(s *snapshot, id string) {
	e := s.find(id)
	if e == nil {
		return
	}
	x.free = append(x.free, e.number)
	s.count--
	discard(&s.profiles, hashID(id), e)
	for _, k := range e.keys {
		discard(&s.postings, k.hash, e)
		s.posted[k.by]--
	}
	if e.always {
		s.always = without(s.always, e)
	}
}

func hashID(id string) uint64 { return analyze.Hash([]byte(id)) }

// insert appends to the list in place. Earlier states share its array, but never look beyond their own
// length, and there is one writer only, who always has the longest list: discard makes a new array.
func insert(t *trie[[]*entry], hash uint64, e *entry) {
	list, _ := t.get(hash)
	*t = t.with(hash, append(list, e))
}

func discard(t *trie[[]*entry], hash uint64, e *entry) {
	list, _ := t.get(hash)
	if list = without(list, e); len(list) == 0 {
		*t = t.without(hash)
	} else {
		*t = t.with(hash, list)
	}
}

func without(list []*entry, e *entry) []*entry {
	return slices.DeleteFunc(slices.Clone(list), func(other *entry) bool { return other == e })
}

func (s *snapshot) find(id string) *entry {
	list, _ := s.profiles.get(hashID(id))
	for _, e := range list {
		if e.id == id {
			return e
		}
	}
	return nil
}

// concerned calls visit once for each profile that the page may concern.
func (s *snapshot) concerned(p *page, visit func(*entry)) {
	p.startVisits(int(s.numbers))
	once := func(list []*entry) {
		for _, e := range list {
			if p.firstVisit(e.number) {
				visit(e)
			}
		}
	}
	once(s.always)
	lookUp := func(hash uint64) {
		if list, ok := s.postings.get(hash); ok {
			once(list)
		}
	}
	for i := range p.words {
		if p.words[i].sameStem < 0 { // the first of its stem
			lookUp(p.words[i].Stem)
		}
		if s.posted[byPrefix] > 0 {
			word := p.folded(int32(i))
			for n := range word[:wholeRunes(word, prefixBytes)] {
				if n > 0 {
					lookUp(hashKey(byPrefix, []byte(word[:n])))
				}
			}
			lookUp(hashKey(byPrefix, []byte(word[:wholeRunes(word, prefixBytes)])))
		}
		if s.posted[byGram] > 0 {
			word := p.folded(int32(i))
			for n := 0; n+gramBytes <= len(word); n++ {
				lookUp(hashKey(byGram, []byte(word[n:n+gramBytes])))
			}
		}
	}
}
