package quads

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// Collected is what a collection of garbage removed.
type Collected struct {
	Contexts int
	Quads    int // of these
	Terms    int // that nothing uses any more
}

// collectPart is how many terms are looked at while no context can change.
const collectPart = 500

// Collect removes the contexts of documents that are not stored any more, and terms that nothing uses. Those that were
// imported, or of which no version was ever stored, stay until they are removed, or replaced by a document. The store
// may be in use: contexts wait for a moment now and then. What is removed is durably so when Collect returns.
func (s *Store) Collect(ctx context.Context, stored func(url string) (bool, error)) (c Collected, err error) {
	leave, err := s.change()
	if err != nil {
		return c, err
	}
	defer leave()
	if err = s.collectContexts(ctx, stored, &c); err == nil {
		err = s.collectTerms(ctx, &c)
	}
	durable := make(chan error, 1)
	s.settled(func(err error) { durable <- err })
	if err := errors.Join(err, <-durable); err != nil {
		return c, fmt.Errorf("collect garbage of the quad store: %w", err)
	}
	return c, nil
}

func (s *Store) collectContexts(ctx context.Context, stored func(url string) (bool, error), c *Collected) error {
	snapshot, err := s.Snapshot()
	if err != nil {
		return err
	}
	defer snapshot.Close()
	for r, err := range snapshot.Contexts(ctx, "") {
		if err != nil {
			return err
		}
		if r.Imported || max(r.Version, r.Seen) == 0 {
			continue
		}
		if is, err := stored(r.URL); err != nil || is {
			if err != nil {
				return err
			}
			continue
		}
		removed, err := s.remove(r.URL, &r)
		if err != nil {
			return err
		}
		if removed {
			c.Contexts++
			c.Quads += r.Quads
		}
	}
	return nil
}

// collectTerms finds terms that nothing used in one state, and removes those that nothing uses now either.
func (s *Store) collectTerms(ctx context.Context, c *Collected) error {
	snapshot, err := s.Snapshot()
	if err != nil {
		return err
	}
	defer snapshot.Close()
	used, err := usesOf(snapshot.state)
	if err != nil {
		return err
	}
	defer used.close()
	var unused []id
	err = pebbledb.Scan(snapshot.state, []byte{idKey}, []byte{idKey + 1}, func(key, _ []byte) (bool, error) {
		if err := checkKey(key, idKeySize); err != nil {
			return false, err
		}
		n := idOf(key[1:])
		is, err := used.has(n)
		if err != nil || is || n == provenanceID {
			return err == nil, err
		}
		if unused = append(unused, n); len(unused) < collectPart {
			return true, ctx.Err()
		}
		err = s.removeTerms(unused, c)
		unused = unused[:0]
		return err == nil, err
	})
	if err != nil {
		return err
	}
	return s.removeTerms(unused, c)
}

// removeTerms removes those of some terms that nothing uses now. A context that changes meanwhile could come to use
// one, so it waits.
func (s *Store) removeTerms(ids []id, c *Collected) error {
	if len(ids) == 0 {
		return nil
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	used, err := usesOf(s.db)
	if err != nil {
		return err
	}
	defer used.close()
	st := &step{batch: s.db.NewBatch()}
	for _, n := range ids {
		is, err := used.has(n)
		if err == nil && !is {
			err = s.removeTerm(st, n)
		}
		if err != nil {
			return errors.Join(err, s.abandon(st))
		}
	}
	if st.forgotten == 0 {
		return s.abandon(st)
	}
	if err := s.commit(st, nil); err != nil {
		return err
	}
	s.lexicon.forget()
	c.Terms += int(st.forgotten)
	return nil
}

func (s *Store) removeTerm(st *step, n id) error {
	t, err := termOf(s.db, n)
	if err != nil {
		return err
	}
	st.forgotten++
	err = errors.Join(st.batch.Delete(append([]byte{termKey}, lexicalKey(t)...)), st.batch.Delete(keyOfID(idKey, n)))
	for _, stem := range stems(t) {
		err = errors.Join(err, st.batch.Delete(appendID(appendWord(nil, stem), n)))
	}
	return err
}

// uses tells which terms are used, to a caller that asks for one id after the other, in ascending order.
type uses struct {
	places [5]firsts // four places of quads, and contexts
}

// firsts goes through the ids that keys of a kind begin with.
type firsts struct {
	kind byte
	it   *pebbledb.Iterator
	at   id // of the iterator; before at the beginning, 0 at the end
}

func usesOf(r pebbledb.Reader) (*uses, error) {
	u := &uses{}
	for i, kind := range []byte{spoc.key, posc.key, ospc.key, cspo.key, contextKey} {
		it, err := r.NewIter(pebbledb.Under([]byte{kind}))
		if err != nil {
			return nil, errors.Join(err, u.close())
		}
		u.places[i] = firsts{kind, it, before}
	}
	return u, nil
}

func (u *uses) close() (err error) {
	for _, f := range u.places {
		if f.it != nil {
			err = errors.Join(err, f.it.Close())
		}
	}
	return err
}

func (u *uses) has(n id) (bool, error) {
	for i := range u.places {
		f := &u.places[i]
		if i == 0 && kindOf(n) == rdf.Literal || i == 1 && kindOf(n) != rdf.IRI {
			continue // it cannot stand there
		}
		if err := f.seek(n); err != nil || f.at == n {
			return f.at == n, err
		}
	}
	return false, nil
}

// seek goes to the first id of at least n.
func (f *firsts) seek(n id) error {
	if f.at == 0 || f.at != before && f.at >= n {
		return nil
	}
	want := keyOfID(f.kind, n)
	valid := f.at != before && f.it.Next() && bytes.Compare(f.it.Key(), want) >= 0
	if !valid {
		valid = f.it.SeekGE(want)
	}
	f.at = 0
	if !valid {
		return f.it.Error()
	}
	key := f.it.Key()
	if len(key) < idKeySize {
		return checkKey(key, idKeySize)
	}
	f.at = idOf(key[1:])
	return nil
}
