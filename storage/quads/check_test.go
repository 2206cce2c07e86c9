package quads

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/storage/fsck"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// findings checks a store, and returns the kinds of damage.
func findings(t testing.TB, s *Store, repair bool) (kinds []string) {
	t.Helper()
	must(t, s.Check(t.Context(), repair, func(f fsck.Finding) {
		if f.Store != "quads" || f.Detail == "" || f.Repaired && !repair {
			t.Errorf("finding %+v", f)
		}
		kinds = append(kinds, f.Kind)
	}))
	slices.Sort(kinds)
	return slices.Compact(kinds)
}

// sound fails a test whose store has damage.
func sound(t testing.TB, s *Store) {
	t.Helper()
	must(t, s.Check(t.Context(), false, func(f fsck.Finding) { t.Errorf("damage: %v", f) }))
}

// damaging changes the database of a store behind its back.
type damaging struct {
	t testing.TB
	s *Store
}

// key returns the first key of a kind for which want holds, and its value.
func (d damaging) key(kind byte, want func(key, value []byte) bool) (k, v []byte) {
	d.t.Helper()
	must(d.t, pebbledb.Scan(d.s.db, []byte{kind}, []byte{kind + 1}, func(key, value []byte) (bool, error) {
		if want == nil || want(key, value) {
			k, v = bytes.Clone(key), bytes.Clone(value)
		}
		return k == nil, nil
	}))
	if k == nil {
		d.t.Fatalf("there is no key of kind %c", kind)
	}
	return k, v
}

func (d damaging) remove(kind byte, want func(key, value []byte) bool) {
	d.t.Helper()
	k, _ := d.key(kind, want)
	must(d.t, d.s.db.Delete(k, pebbledb.Sync))
}

func (d damaging) set(key, value []byte) {
	d.t.Helper()
	must(d.t, d.s.db.Set(key, value, pebbledb.Sync))
}

func inContext(key, _ []byte) bool { return cspo.quad(key)[graph] != provenanceID }

func damagedStore(t testing.TB) (*Store, model, damaging) {
	s, m := open(t, vfs.NewMem()), model{}
	rng := rand.New(rand.NewPCG(9, 9))
	for n := range 5 {
		c := Context{URL: string(rdf.Value(rdf.NewIRI("http://example.org/" + string(rune('0'+n))))), Version: 1, At: someTime, MediaType: "text/turtle"}
		g := randomGraph(rng, 15)
		g.Whole = true
		g.Triples = append(g.Triples, webrace.Triple{Subject: "<http://example.org/>", Predicate: rdf.NewIRI("http://example.org/label"), Object: rdf.NewString("ferries to " + c.URL)})
		durably(t, s, c, g)
		m.replace(c, g)
	}
	return s, m, damaging{t, s}
}

// Each damage is found, and named; repaired, the store is sound, and holds what it held but for what the damage lost.
func TestDamageIsFoundAndRepaired(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine computes: not in short mode")
	}
	t.Parallel()
	short := func(_, value []byte) bool { return len(value) < longText && value[0] == '<' }
	for name, c := range map[string]struct {
		kind   string
		lost   bool // some quads
		damage func(d damaging)
	}{
		"nothing":                     {"", false, func(damaging) {}},
		"a quad is missing from SPOC": {missingQuads, false, func(d damaging) { d.remove(spoc.key, nil) }},
		"a quad is missing from POSC": {missingQuads, false, func(d damaging) { d.remove(posc.key, nil) }},
		"a quad is missing from OSPC": {missingQuads, false, func(d damaging) { d.remove(ospc.key, nil) }},
		"a quad is missing from CPOS": {missingQuads, false, func(d damaging) { d.remove(cpos.key, nil) }},
		"a quad is missing from COSP": {missingQuads, false, func(d damaging) { d.remove(cosp.key, nil) }},
		"a quad is missing from CSPO": {strayQuads, true, func(d damaging) { d.remove(cspo.key, inContext) }},
		"a stray quad": {strayQuads, false, func(d damaging) {
			k, _ := d.key(cspo.key, nil)
			q := cspo.quad(k)
			q[subject], q[graph] = q[predicate], q[predicate]
			d.set(ospc.append(nil, q), nil)
		}},
		"a quad of no terms": {unknownTerm, false, func(d damaging) {
			q := quad{newID(rdf.IRI, 9999), newID(rdf.IRI, 9999), newID(rdf.IRI, 9999), newID(rdf.IRI, 9999)}
			d.set(cspo.append(nil, q), nil)
		}},
		"a literal as predicate": {unknownTerm, false, func(d damaging) {
			k, _ := d.key(idKey, func(_, value []byte) bool { return value[0] == '"' })
			q, _ := d.key(cspo.key, inContext)
			bad := cspo.quad(q)
			bad[predicate] = idOf(k[1:])
			for _, o := range orders {
				d.set(o.append(nil, bad), nil)
			}
		}},
		"no key of a quad":         {damagedValue, false, func(d damaging) { d.set([]byte{cspo.key, 1, 2}, nil) }},
		"no key of a quad by POSC": {damagedValue, false, func(d damaging) { d.set([]byte{posc.key, 1, 2}, nil) }},
		"no key of a term":         {damagedValue, false, func(d damaging) { d.set([]byte{idKey, 0xbf}, []byte(`"x"`)) }},
		"no key of provenance": {damagedValue, false, func(d damaging) {
			k, _ := d.key(cspo.key, func(k, v []byte) bool { return !inContext(k, v) })
			d.set(k[:1+2*idSize+1], nil)
		}},
		"no text of an id":       {wrongTerm, false, func(d damaging) { d.remove(idKey, short) }},
		"no text of a long term": {unknownTerm, true, func(d damaging) { d.remove(idKey, func(_, v []byte) bool { return len(v) > longText }) }},
		"no id of a text":        {wrongTerm, false, func(d damaging) { d.remove(termKey, nil) }},
		"no provenance graph": {wrongTerm, false, func(d damaging) {
			d.remove(idKey, func(k, _ []byte) bool { return idOf(k[1:]) == provenanceID })
			d.remove(termKey, func(_, v []byte) bool { return idOf(v) == provenanceID })
		}},
		"a damaged id":           {damagedValue, false, func(d damaging) { k, _ := d.key(termKey, nil); d.set(k, []byte{1}) }},
		"a damaged text":         {damagedValue, false, func(d damaging) { k, _ := d.key(idKey, short); d.set(k, []byte("<http")) }},
		"a number that is none":  {damagedValue, false, func(d damaging) { d.set(keyOfID(idKey, newID(rdf.IRI, lastNumber)), []byte("<http://a/>")) }},
		"the id of another text": {wrongTerm, false, func(d damaging) { d.set(append([]byte{termKey}, "<http://never/>"...), appendID(nil, provenanceID)) }},
		"a missing word":         {wrongWords, false, func(d damaging) { d.remove(wordKey, nil) }},
		"a stray word":           {wrongWords, false, func(d damaging) { d.set(appendID(appendWord(nil, "never"), provenanceID), nil) }},
		"no key of a word":       {damagedValue, false, func(d damaging) { d.set([]byte("wx"), nil) }},
		"a record is lost":       {wrongRecord, false, func(d damaging) { d.remove(contextKey, nil) }},
		"a damaged record":       {wrongRecord, false, func(d damaging) { k, _ := d.key(contextKey, nil); d.set(k, []byte{77}) }},
		"a record of nothing":    {damagedValue, false, func(d damaging) { d.set(keyOfID(contextKey, newID(rdf.IRI, 9999)), nil) }},
		"a record that counts wrong": {wrongRecord, false, func(d damaging) {
			k, v := d.key(contextKey, nil)
			r, _ := decodeRecord("x:", v)
			r.Quads++
			d.set(k, r.encode())
		}},
		"provenance is lost": {wrongProvenance, false, func(d damaging) {
			k, _ := d.key(cspo.key, func(k, v []byte) bool { return !inContext(k, v) })
			q := cspo.quad(k)
			for _, o := range orders {
				must(d.t, d.s.db.Delete(o.append(nil, q), pebbledb.Sync))
			}
		}},
		"provenance of no context": {wrongProvenance, false, func(d damaging) {
			k, _ := d.key(cspo.key, func(k, v []byte) bool { return !inContext(k, v) })
			q := cspo.quad(k)
			q[subject] = q[predicate]
			for _, o := range orders {
				d.set(o.append(nil, q), nil)
			}
		}},
		"the format is lost":         {"", false, func(d damaging) { must(d.t, d.s.db.Delete([]byte(kind.FormatKey), pebbledb.Sync)) }},
		"wrong totals":               {wrongTotals, false, func(d damaging) { d.set([]byte(countsKey), counts{next: 500, quads: 5}.encode()) }},
		"damaged totals":             {wrongTotals, false, func(d damaging) { d.set([]byte(countsKey), []byte{9}) }},
		"the next number is too low": {wrongTotals, false, func(d damaging) { c := d.s.counts; c.next = 3; d.set([]byte(countsKey), c.encode()) }},
	} {
		t.Run(name, func(t *testing.T) {
			s, m, d := damagedStore(t)
			c.damage(d)
			fs := s.db.FS
			must(t, s.Close())
			s = open(t, fs)
			found := findings(t, s, false)
			if c.kind == "" && len(found) > 0 || c.kind != "" && !slices.Contains(found, c.kind) {
				t.Fatalf("found %q, want %q", found, c.kind)
			}
			if repaired := findings(t, s, true); c.kind != "" && !slices.Contains(repaired, c.kind) {
				t.Errorf("the repair finds %q", repaired)
			}
			sound(t, s)
			for url, r := range contextURLs(t, s) {
				if has := r.Has(1); !has && r.Quads == len(m[url].triples) && c.kind != wrongRecord || has && r.Quads < len(m[url].triples) {
					t.Errorf("%s says %d quads of %d, and that it has them is %v", url, r.Quads, len(m[url].triples), has)
				}
			}
			if !c.lost {
				matches(t, s, m)
			} else if got := all(t, s); len(got) == 0 || len(got) >= len(m.quads()) {
				t.Errorf("%d quads are left of %d", len(got), len(m.quads()))
			}
			must(t, s.Close())
			s = open(t, fs)
			for url := range m { // what was repaired can be replaced
				c, g := Context{URL: url, Version: 2, At: someTime}, randomGraph(rand.New(rand.NewPCG(3, 3)), 9)
				durably(t, s, c, g)
				m.replace(c, g)
			}
			sound(t, s)
			if !c.lost {
				matches(t, s, m)
			}
		})
	}
}

// A key that cannot be is an error to those who meet it.
func TestKeysThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, kind := range []byte{idKey, contextKey, cspo.key} {
		s, _, d := damagedStore(t)
		k, _ := d.key(kind, nil)
		d.set(k[:3], nil)
		snapshot, err := s.Snapshot()
		must(t, err)
		var errs []error
		for _, err := range snapshot.Contexts(t.Context(), "") {
			errs = append(errs, err)
		}
		_, err = snapshot.Graphs(t.Context())
		errs = append(errs, err, snapshot.Export(t.Context(), io.Discard), snapshot.Close())
		_, err = s.Collect(t.Context(), func(string) (bool, error) { return true, nil })
		if errs = append(errs, err); !errors.Is(errors.Join(errs...), errDamaged) {
			t.Errorf("keys of kind %c: %v", kind, errs)
		}
	}
}
