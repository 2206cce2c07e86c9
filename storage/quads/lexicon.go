package quads

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/pointer"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// lexicon gives ids to terms, and remembers the terms that were asked for last.
//
// A term is given its id before the batch that writes it is applied, and others may use it meanwhile. So each batch
// writes all of its terms that are not stored yet, also those that another batch writes as well: whichever of them is
// the first to be durable, no quad comes before its terms.
type lexicon struct {
	db   pebbledb.DB
	most int // terms that each of the two maps remembers

	mu         sync.Mutex
	next       uint64
	young, old map[string]*entry // by lexicalKey
	rotations  int
}

// entry is a term that the lexicon remembers.
type entry struct {
	id      id
	pending int  // batches under way that write it
	stored  bool // changed only while both the lexicon and commits are locked
}

// remembered is how many terms the lexicon remembers in each of its two maps. When the young one is full it becomes the
// old one, and what is asked for again comes into the next young one.
const remembered = 1 << 15

func (l *lexicon) begin(db pebbledb.DB, next uint64) {
	l.db, l.next, l.most = db, next, remembered
	l.forget()
}

// forget is called when no batch is under way.
func (l *lexicon) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.young, l.old = make(map[string]*entry), make(map[string]*entry)
	l.rotations++
}

// fresh is a term that was given an id and is not stored yet.
type fresh struct {
	*entry
	term webrace.Term
	key  string
}

// resolve returns the ids of terms, each of which is there once. Those that are not stored yet are returned as well:
// the caller writes them, and calls settle, also if it fails.
func (l *lexicon) resolve(terms []webrace.Term) (ids []id, unstored []fresh, err error) {
	ids = make([]id, len(terms))
	missing, rotations := l.recall(terms, ids, &unstored)
	if len(missing) == 0 {
		return ids, unstored, nil
	}
	err = l.look(missing, ids)
	if err == nil {
		err = l.give(missing, ids, &unstored, rotations)
	}
	if err != nil {
		l.settle(unstored, false)
		return nil, nil, err
	}
	return ids, unstored, nil
}

// unknown is a term that is not remembered.
type unknown struct {
	at   int // in the list of terms
	term webrace.Term
	key  string
}

// recall finds the terms that are remembered.
func (l *lexicon) recall(terms []webrace.Term, ids []id, unstored *[]fresh) (missing []unknown, rotations int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, t := range terms {
		key := lexicalKey(t)
		if e := l.get(key); e != nil {
			ids[i] = e.id
			e.use(t, key, unstored)
			continue
		}
		missing = append(missing, unknown{i, t, key})
	}
	return missing, l.rotations
}

func (e *entry) use(t webrace.Term, key string, unstored *[]fresh) {
	if !e.stored {
		e.pending++
		*unstored = append(*unstored, fresh{e, t, key})
	}
}

// get is called with l.mu held.
func (l *lexicon) get(key string) *entry {
	e := l.young[key]
	if e == nil {
		if e = l.old[key]; e != nil {
			l.put(key, e)
		}
	}
	return e
}

// put is called with l.mu held.
func (l *lexicon) put(key string, e *entry) {
	if len(l.young) >= l.most {
		l.rotations++
		old := l.old
		l.old, l.young = l.young, make(map[string]*entry, l.most)
		for key, e := range old {
			if !e.stored && l.old[key] == nil {
				l.young[key] = e
			}
		}
	}
	l.young[strings.Clone(key)] = e // not a part of a whole document
}

// look finds the terms that are stored; the others keep the id 0.
func (l *lexicon) look(missing []unknown, ids []id) (err error) {
	slices.SortFunc(missing, func(a, b unknown) int { return strings.Compare(a.key, b.key) })
	it, err := l.db.NewIter(pebbledb.IterOptions{LowerBound: []byte{termKey}, UpperBound: []byte{termKey + 1}, UseL6Filters: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	var key []byte
	for _, m := range missing {
		key = append(append(key[:0], termKey), m.key...)
		if !it.SeekPrefixGE(key) || !bytes.Equal(it.Key(), key) {
			if err := it.Error(); err != nil {
				return err
			}
			continue
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if len(value) != idSize {
			return fmt.Errorf("%w: the id of %.200s is %x", errDamaged, m.term, value)
		}
		ids[m.at] = idOf(value)
	}
	return nil
}

// give remembers the terms that were found, and gives ids to the others, unless another call has done so meanwhile.
// What was given is remembered until the maps have changed places twice; after that, it may also have been stored, and
// forgotten.
func (l *lexicon) give(missing []unknown, ids []id, unstored *[]fresh, rotations int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rotations > rotations+1 {
		if err := l.look(missing, ids); err != nil {
			return err
		}
	}
	for _, m := range missing {
		e := l.get(m.key)
		switch {
		case e != nil:
		case ids[m.at] != 0:
			e = &entry{id: ids[m.at], stored: true}
			l.put(m.key, e)
		case l.next > lastNumber:
			return errors.New("the quad store has no numbers for terms left")
		default:
			e = &entry{id: newID(rdf.KindOf(m.term), l.next)}
			l.next++
			l.put(m.key, e)
		}
		ids[m.at] = e.id
		e.use(m.term, m.key, unstored)
	}
	return nil
}

// settle notes what became of the batch that writes terms. If it failed, those that no other batch writes are
// forgotten.
func (l *lexicon) settle(written []fresh, stored bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range written {
		f.pending--
		if stored {
			f.stored = true
		}
		if f.pending == 0 && !f.stored {
			delete(l.young, f.key)
			delete(l.old, f.key)
		}
	}
}

func (l *lexicon) nextNumber() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next
}

// skip has the lexicon give no number up to one.
func (l *lexicon) skip(number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = max(l.next, number+1)
}

// setTerm writes a term, without the words of a literal.
func setTerm(b pebbledb.Batch, t webrace.Term, n id) error {
	text := []byte(t)
	key := append([]byte{termKey}, lexicalKey(t)...)
	return errors.Join(b.Set(key, appendID(nil, n)), b.Set(keyOfID(idKey, n), text))
}

// findTerm returns the id of a term, 0 if it has none.
func findTerm(r pebbledb.Reader, t webrace.Term) (id, error) {
	value, err := pebbledb.Get(r, append([]byte{termKey}, lexicalKey(t)...))
	if err != nil || value == nil {
		return 0, err
	}
	if len(value) != idSize {
		return 0, fmt.Errorf("%w: the id of %.200s is %x", errDamaged, t, value)
	}
	return idOf(value), nil
}

// termOf returns the term of an id.
func termOf(r pebbledb.Reader, n id) (webrace.Term, error) {
	value, closer, err := r.Get(keyOfID(idKey, n))
	if errors.Is(err, pebbledb.ErrNotFound) {
		return "", fmt.Errorf("%w: nothing says which term has the id %x", errDamaged, uint64(n))
	}
	if err != nil {
		return "", err
	}
	t := webrace.Term(value)
	return t, closer.Close()
}

// termCache remembers the terms of ids, which never change: an id is never given to another term. The zero value is
// ready to use.
type termCache struct {
	places [1 << 13]pointer.Atomic[known]
}

type known struct {
	id   id
	term webrace.Term
}

// longestKnown bounds the memory that the cache takes.
const longestKnown = 1 << 10

var termSeed = maphash.MakeSeed()

func (c *termCache) term(r pebbledb.Reader, n id) (webrace.Term, error) {
	place := &c.places[maphash.Comparable(termSeed, n)%uint64(len(c.places))]
	if k := pointer.Load(place); k != nil && k.id == n {
		return k.term, nil
	}
	t, err := termOf(r, n)
	if err == nil && len(t) <= longestKnown {
		pointer.Store(place, &known{n, t})
	}
	return t, err
}
