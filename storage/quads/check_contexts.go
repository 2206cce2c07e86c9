package quads

import (
	"errors"
	"fmt"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// contexts holds the records against what the contexts state, and the provenance against the records. A record that is
// lost is made again of the provenance.
func (c *check) contexts() error {
	said, err := c.said()
	if err != nil {
		return err
	}
	damaged := &damage{kind: damagedValue, where: "contexts"}
	err = c.each(contextKey, "contexts", func(key, _ []byte) error {
		if len(key) == idKeySize && c.known.has(idOf(key[1:])) && kindOf(idOf(key[1:])) == rdf.IRI && idOf(key[1:]) != provenanceID {
			said[idOf(key[1:])] += 0
			return nil
		}
		damaged.add("the record of no context: %x", key)
		return c.Remove(key)
	})
	c.tell(damaged)
	if err != nil {
		return err
	}
	record, provenance := &damage{kind: wrongRecord}, &damage{kind: wrongProvenance}
	for n, quads := range said {
		if err := c.context(n, quads, record, provenance); err != nil {
			return err
		}
	}
	c.tell(record, provenance)
	return nil
}

// said counts what each context states, and names those that provenance alone is there of. Memory grows with the number
// of contexts.
func (c *check) said() (map[id]int, error) {
	said := make(map[id]int)
	err := c.each(cspo.key, "contexts", func(key, _ []byte) error {
		if len(key) != quadSize {
			return nil
		}
		q := cspo.quad(key)
		switch {
		case c.unsound(q) != "":
		case q[graph] == provenanceID:
			said[q[subject]] += 0
		default:
			said[q[graph]]++
		}
		return nil
	})
	return said, err
}

// context checks one.
func (c *check) context(n id, quads int, record, provenance *damage) error {
	t, err := termOf(c.store.db, n)
	if err != nil {
		return err
	}
	url := rdf.Value(t)
	own, err := c.provenanceOf(n)
	if err != nil {
		return err
	}
	value, err := pebbledb.Get(c.store.db, keyOfID(contextKey, n))
	if err != nil {
		return err
	}
	r, err := decodeRecord(url, value)
	wrong := ""
	if err != nil {
		wrong = err.Error()
		r = Record{Context: Context{URL: url}}
		counted := false
		for _, t := range own {
			counted = r.read(t.triple) && t.triple.Predicate == triples || counted
		}
		if value == nil && quads == 0 && !(counted && r.Quads == 0) {
			provenance.add("%s: it is no context", url)
			return c.removeProvenance(own)
		}
		r.Imported = r.Version == 0
	} else if r.Quads != quads {
		wrong = fmt.Sprintf("it says %d quads, and its context says %d", r.Quads, quads)
	}
	r.Quads = quads
	switch {
	case wrong != "":
		record.add("%s: %s", url, wrong)
		r.fingerprint = [16]byte{}
	case sameTriples(own, r.provenance()):
		return nil
	default:
		provenance.add("%s: it is not what the record says", url)
	}
	return c.restore(n, r, own)
}

// owned is a quad of the provenance graph.
type owned struct {
	quad   quad
	triple webrace.Triple
}

// provenanceOf returns what the provenance graph states of a context.
func (c *check) provenanceOf(n id) (own []owned, err error) {
	lower := appendID(appendID(cspo.start(), provenanceID), n)
	err = pebbledb.Scan(c.store.db, lower, pebbledb.After(lower), func(key, _ []byte) (bool, error) {
		if len(key) != quadSize {
			return true, nil // told of already
		}
		o := owned{quad: cspo.quad(key)}
		if c.unsound(o.quad) != "" {
			return true, nil
		}
		for place, to := range []*webrace.Term{&o.triple.Subject, &o.triple.Predicate, &o.triple.Object} {
			var err error
			if *to, err = termOf(c.store.db, o.quad[place]); err != nil {
				return false, err
			}
		}
		own = append(own, o)
		return true, nil
	})
	return own, err
}

func sameTriples(own []owned, want []webrace.Triple) bool {
	return len(own) == len(want) && !slices.ContainsFunc(own, func(o owned) bool { return !slices.Contains(want, o.triple) })
}

func (c *check) removeProvenance(own []owned) error {
	if !c.Repair {
		return nil
	}
	b := c.store.db.NewBatch()
	defer b.Close()
	for _, o := range own {
		if err := deleteQuads(b, []quad{o.quad}); err != nil {
			return err
		}
	}
	return b.Commit(pebbledb.NoSync) // Check ends with a sync
}

// restore writes a record and its provenance. What is counted is put right later.
func (c *check) restore(n id, r Record, own []owned) error {
	if !c.Repair {
		return nil
	}
	if err := c.removeProvenance(own); err != nil {
		return err
	}
	e := c.store.newEdit(r.URL)
	e.ids, e.found = []id{n}, true
	w, err := e.begin(r, nil)
	if err != nil {
		return err
	}
	if err := w.end(r, nil); err != nil {
		return err
	}
	for _, f := range w.step.terms {
		c.known.set(f.id)
	}
	return nil
}

// totals counts everything anew.
func (c *check) totals() error {
	s := c.store
	s.committing.Lock()
	defer s.committing.Unlock()
	want := counts{next: s.lexicon.nextNumber(), revision: s.counts.revision}
	err := errors.Join(
		c.each(idKey, "totals", func([]byte, []byte) error { want.terms++; return nil }),
		c.each(contextKey, "totals", func([]byte, []byte) error { want.contexts++; return nil }),
		c.each(cspo.key, "totals", func(key, _ []byte) error {
			if len(key) == quadSize && cspo.quad(key)[graph] == provenanceID {
				want.provenance++
			} else {
				want.quads++
			}
			return nil
		}),
	)
	if err != nil {
		return err
	}
	value, err := pebbledb.Get(s.db, []byte(countsKey))
	if err != nil {
		return err
	}
	have, err := decodeCounts(value)
	wrong := &damage{kind: wrongTotals}
	switch {
	case err != nil:
		wrong.add("%v", err)
	case have.next <= c.highest:
		wrong.add("the next term would get the number %d, and there are terms up to %d", have.next, c.highest)
	case have.contexts != want.contexts || have.quads != want.quads || have.provenance != want.provenance || have.terms != want.terms:
		wrong.add("%+v are written, %+v were found", have.stats(0), want.stats(0))
	}
	if c.tell(wrong); wrong.n == 0 || !c.Repair {
		return nil
	}
	want.revision++
	s.counts = want
	return s.db.Set([]byte(countsKey), want.encode(), pebbledb.Sync)
}
