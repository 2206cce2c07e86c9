package quads

import (
	"bytes"
	"hash/maphash"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/pointer"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

var checkSeed = maphash.MakeSeed()

// lexicon holds both directions of the lexicon against each other.
func (c *check) lexicon() error {
	damaged := &damage{kind: damagedValue, where: "terms"}
	byID, err := c.termsByID(damaged)
	if err != nil {
		return err
	}
	var byText digest
	err = c.each(termKey, "terms", func(key, value []byte) error {
		if len(value) != idSize {
			damaged.add("the id of %.100q is %x", key[1:], value)
			return c.Remove(key)
		}
		byText.add(maphash.Bytes(checkSeed, key[1:]), uint64(idOf(value)))
		return nil
	})
	if err == nil && byID != byText {
		err = c.mendLexicon()
	}
	c.tell(damaged)
	if err != nil {
		return err
	}
	return c.provenanceTerm()
}

// far is how far a number may be beyond the last that was given, and be taken for that of a term all the same.
const far = 1 << 24

// termsByID reads the terms, and takes down which there are.
func (c *check) termsByID(damaged *damage) (all digest, err error) {
	c.known, c.highest = nil, 0
	highest := c.store.lexicon.nextNumber() + far
	err = c.each(idKey, "ids of terms", func(key, value []byte) error {
		t := webrace.Term(value)
		if len(key) != idKeySize {
			damaged.add("the key of no term: %x", key)
			return c.Remove(key)
		}
		n := idOf(key[1:])
		number := numberOf(n)
		if !wellFormed(t) || rdf.KindOf(t) != kindOf(n) || c.known.of(number) != 0 || number > highest {
			damaged.add("the term of the id %012x is %.100q", uint64(n), t)
			return c.Remove(key)
		}
		c.known.set(n)
		c.highest = max(c.highest, number)
		c.store.lexicon.skip(number)
		all.add(maphash.String(checkSeed, lexicalKey(t)), uint64(n))
		return nil
	})
	return all, err
}

// mendLexicon finds where the two directions differ. A term whose text is in its key can be given back to its id.
func (c *check) mendLexicon() error {
	wrong, twice := &damage{kind: wrongTerm}, &damage{kind: wrongTerm, lost: true}
	err := c.each(termKey, "terms", func(key, value []byte) error {
		if len(value) != idSize {
			return nil // told of already
		}
		n, text := idOf(value), string(key[1:])
		have, err := pebbledb.Get(c.store.db, keyOfID(idKey, n))
		switch {
		case err != nil:
			return err
		case have != nil && lexicalKey(webrace.Term(have)) == text:
			return nil
		case have == nil && lexicalKey(webrace.Term(text)) == text && wellFormed(webrace.Term(text)) && rdf.KindOf(webrace.Term(text)) == kindOf(n):
			wrong.add("the id %012x of %.100s had no term", uint64(n), text)
			return c.Set(keyOfID(idKey, n), []byte(text))
		}
		wrong.add("%.100q has the id %012x, which is another's", text, uint64(n))
		return c.Remove(key)
	})
	if err != nil {
		return err
	}
	err = c.each(idKey, "ids of terms", func(key, value []byte) error {
		if len(key) != idKeySize || !c.known.has(idOf(key[1:])) {
			return nil
		}
		text := append([]byte{termKey}, lexicalKey(webrace.Term(value))...)
		have, err := pebbledb.Get(c.store.db, text)
		switch {
		case err != nil || bytes.Equal(have, key[1:]):
			return err
		case have == nil || len(have) != idSize || !c.known.has(idOf(have)):
			wrong.add("%.100s was not found by its text", value)
			return c.Set(text, bytes.Clone(key[1:]))
		}
		twice.add("%.100s has the ids %x and %x", value, have, key[1:])
		return nil
	})
	if err != nil {
		return err
	}
	c.tell(wrong, twice)
	c.forget()
	_, err = c.termsByID(&damage{}) // what was found is told
	return err
}

// forget has the store look up its terms anew.
func (c *check) forget() {
	c.store.lexicon.forget()
	for i := range c.store.terms.places {
		pointer.Store(&c.store.terms.places[i], nil)
	}
}

// provenanceTerm has the provenance graph be the first term.
func (c *check) provenanceTerm() error {
	if c.known.has(provenanceID) {
		return nil
	}
	wrong := &damage{kind: wrongTerm}
	wrong.add("the provenance graph has no term")
	if c.Repair {
		c.known.set(provenanceID)
		b := c.store.db.NewBatch()
		defer b.Close()
		if err := setTerm(b, rdf.NewIRI(ProvenanceGraph), provenanceID); err != nil {
			return err
		}
		if err := b.Commit(pebbledb.Sync); err != nil {
			return err
		}
	}
	c.tell(wrong)
	return nil
}

// words holds the words by which literals are found against the literals.
func (c *check) words() error {
	var want, have digest
	err := c.literals(func(t webrace.Term, n id) error {
		for _, stem := range stems(t) {
			want.add(maphash.Bytes(checkSeed, appendWord(nil, stem)), uint64(n))
		}
		return nil
	})
	if err != nil {
		return err
	}
	damaged := &damage{kind: damagedValue, where: "words"}
	err = c.each(wordKey, "words", func(key, _ []byte) error {
		word, n, err := wordOf(key)
		if err != nil {
			damaged.add("%v", err)
			return c.Remove(key)
		}
		have.add(maphash.Bytes(checkSeed, word), uint64(n))
		return nil
	})
	c.tell(damaged)
	if err != nil || want == have {
		return err
	}
	return c.mendWords()
}

// literals goes through all of them.
func (c *check) literals(visit func(webrace.Term, id) error) error {
	return c.each(idKey, "words of literals", func(key, value []byte) error {
		if len(key) != idKeySize {
			return nil // told of already
		}
		if n := idOf(key[1:]); kindOf(n) == rdf.Literal && c.known.has(n) {
			return visit(webrace.Term(value), n)
		}
		return nil
	})
}

func (c *check) mendWords() error {
	wrong := &damage{kind: wrongWords}
	err := c.literals(func(t webrace.Term, n id) error {
		for _, stem := range stems(t) {
			key := appendID(appendWord(nil, stem), n)
			has, err := c.Has(key)
			if err != nil {
				return err
			}
			if !has {
				wrong.add("%.100s was not found by %.60q", t, stem)
				if err := c.Set(key, nil); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = c.each(wordKey, "words", func(key, _ []byte) error {
		word, n, err := wordOf(key)
		if err != nil {
			return nil // told of already
		}
		var t webrace.Term
		if c.known.has(n) {
			if t, err = termOf(c.store.db, n); err != nil {
				return err
			}
		}
		for _, stem := range stems(t) {
			if bytes.Equal(word, appendWord(nil, stem)) {
				return nil
			}
		}
		wrong.add("%.60q found the id %012x, which does not have it", word[1:], uint64(n))
		return c.Remove(key)
	})
	c.tell(wrong)
	return err
}
