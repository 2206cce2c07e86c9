package quads

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/storage/internal/pebbledb"
)

// Replace makes a context state a graph and nothing else, in one step: readers see the state before or after. What is
// not whole, or older than what is indexed, changes no quad; of what is not whole, the problems are noted. The change
// is visible when Replace returns; done is called once it is durable, and so is all that was indexed of the context
// before, or with the reason why it never will be. Done must not block, and may be nil. If Replace returns an error,
// nothing was changed, and done is not called.
func (s *Store) Replace(c Context, g *webrace.Graph, done func(error)) (Change, error) {
	leave, err := s.change()
	if err != nil {
		return Change{}, err
	}
	defer leave()
	change, err := s.replace(c, g, done)
	if err != nil {
		return Change{}, fmt.Errorf("index what %s says: %w", c.URL, err)
	}
	return change, nil
}

func (s *Store) replace(c Context, g *webrace.Graph, done func(error)) (Change, error) {
	if err := checkURL(c.URL); err != nil {
		return Change{}, err
	}
	c.At = c.At.UTC().Round(0) // as it is when it is read
	given := fingerprint(g)
	defer s.lock(c.URL)()
	e, err := s.edit(c.URL)
	if err != nil {
		return Change{}, err
	}
	next := e.record
	next.Seen, next.Problems, next.Imported = c.Version, g.Problems, false
	switch {
	case e.found && !e.record.Imported && c.Version < max(e.record.Version, e.record.Seen):
		s.settled(done)
		return Change{Older: true}, nil
	case !g.Whole:
		next.Imported = e.record.Imported
		return Change{Kept: true}, e.note(next, done)
	}
	if c.Version == e.record.Version && c.Digest == e.record.Digest && c.MediaType == e.record.MediaType && e.found && !e.record.At.IsZero() {
		c.At = e.record.At // the version is the same, and was fetched again
	}
	next.Context, next.fingerprint = c, given
	if e.found && given == e.record.fingerprint {
		return Change{}, e.note(next, done)
	}
	for _, t := range g.Triples {
		if err := checkTriple(t); err != nil {
			return Change{}, err
		}
	}
	return e.say(next, g.Triples, done)
}

// checkURL refuses what can be no context.
func checkURL(url string) error {
	switch {
	case url == ProvenanceGraph:
		return errors.New("the graph " + ProvenanceGraph + " is the store's own, and no document's")
	case !strings.Contains(url, ":") || !utf8.ValidString(url):
		return fmt.Errorf("%.200q is no absolute URL", url)
	}
	return nil
}

// checkTriple refuses what is no triple of RDF in canonical N-Triples, so far as that can be seen at once.
func checkTriple(t webrace.Triple) error {
	s, p, o := rdf.KindOf(t.Subject), rdf.KindOf(t.Predicate), rdf.KindOf(t.Object)
	for _, term := range []webrace.Term{t.Subject, t.Predicate, t.Object} {
		if !wellFormed(term) {
			return fmt.Errorf("%.200q is no term in canonical N-Triples", term)
		}
	}
	if s == rdf.Literal || p != rdf.IRI || o == 0 {
		return fmt.Errorf("%.200s %.200s %.200s is no triple of RDF", t.Subject, t.Predicate, t.Object)
	}
	return nil
}

func wellFormed(t webrace.Term) bool {
	text := string(t)
	if strings.IndexByte(text, '\n') >= 0 || strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text) {
		return false
	}
	switch rdf.KindOf(t) {
	case rdf.IRI:
		return len(text) > 2 && text[len(text)-1] == '>'
	case rdf.Literal:
		return strings.LastIndexByte(text, '"') > 0
	case rdf.Blank:
		return len(text) > 2 && text[:2] == "_:"
	}
	return false
}

// fingerprint is a digest of a graph in the order in which it was given, which is the same for the same document.
func fingerprint(g *webrace.Graph) (sum [16]byte) {
	text := make([]byte, 0, 4096)
	hash := sha256.New()
	for _, t := range g.Triples {
		text = append(text, t.Subject...)
		text = append(text, ' ')
		text = append(text, t.Predicate...)
		text = append(text, ' ')
		text = append(text, t.Object...)
		text = append(text, '\n')
		if len(text) > 1<<15 {
			hash.Write(text)
			text = text[:0]
		}
	}
	hash.Write(text)
	copy(sum[:], hash.Sum(nil))
	return sum
}

// edit is a change of one context.
type edit struct {
	store   *Store
	record  Record
	found   bool
	extends bool // what the context states stays

	list  []webrace.Term // the terms that the change needs; the context is the first
	place map[webrace.Term]int
	ids   []id // of these, as far as they are known
}

// edit begins one. The context is locked.
func (s *Store) edit(url string) (*edit, error) {
	e := s.newEdit(url)
	n, err := findTerm(s.db, e.list[0])
	if err != nil || n == 0 {
		return e, err
	}
	e.ids = append(e.ids, n)
	value, err := pebbledb.Get(s.db, keyOfID(contextKey, n))
	if err != nil || value == nil {
		return e, err
	}
	e.found = true
	e.record, err = decodeRecord(rdf.EscapeIRI(url), value)
	return e, err
}

// newEdit is an edit of a context of which nothing is known.
func (s *Store) newEdit(url string) *edit {
	e := &edit{store: s, record: Record{Context: Context{URL: url}}, place: make(map[webrace.Term]int)}
	e.add(contextTerm(url))
	return e
}

// note changes what is known of a context, but not what it states.
func (e *edit) note(next Record, done func(error)) error {
	if e.found && next.same(&e.record) {
		e.store.settled(done)
		return nil
	}
	w, err := e.begin(next, nil)
	if err != nil {
		return err
	}
	return w.end(next, done)
}

// say has a context state triples, and nothing else.
func (e *edit) say(next Record, say []webrace.Triple, done func(error)) (Change, error) {
	next.Quads = len(say)
	w, err := e.begin(next, say)
	if err != nil {
		return Change{}, err
	}
	change, err := w.difference(e.quads(say, e.ids[0]))
	if err != nil {
		return Change{}, errors.Join(err, e.store.abandon(w.step))
	}
	if said := e.record.Quads + change.Added - change.Removed; said != next.Quads { // a triple was given twice, or others stay
		next.Quads = said
		w.provenance(next)
	}
	return change, w.end(next, done)
}

// begin gives ids to the terms of a change: of the context, of what it is to state, and of the provenance that changes.
func (e *edit) begin(next Record, say []webrace.Triple) (*writer, error) {
	for _, t := range say {
		e.addTriple(t)
	}
	w := &writer{edit: e, step: &step{batch: e.store.db.NewBatch()}}
	w.provenance(next)
	if err := w.resolve(); err != nil {
		return nil, errors.Join(err, e.store.abandon(w.step))
	}
	return w, nil
}

func (e *edit) add(t webrace.Term) {
	if _, ok := e.place[t]; !ok {
		e.place[t] = len(e.list)
		e.list = append(e.list, t)
	}
}

func (e *edit) addTriple(t webrace.Triple) {
	e.add(t.Subject)
	e.add(t.Predicate)
	e.add(t.Object)
}

func (e *edit) id(t webrace.Term) id { return e.ids[e.place[t]] }

// quads returns triples as quads of a graph, in the order of CSPO, each once.
func (e *edit) quads(say []webrace.Triple, in id) []quad {
	all := make([]quad, len(say))
	for i, t := range say {
		all[i] = quad{e.id(t.Subject), e.id(t.Predicate), e.id(t.Object), in}
	}
	slices.SortFunc(all, compareQuads)
	return slices.Compact(all)
}

// compareQuads compares quads of one graph.
func compareQuads(a, b quad) int {
	return cmp.Or(cmp.Compare(a[subject], b[subject]), cmp.Compare(a[predicate], b[predicate]), cmp.Compare(a[object], b[object]))
}

// writer writes the step of an edit.
type writer struct {
	edit         *edit
	step         *step
	lost, gained []webrace.Triple // of the provenance
}

// provenance finds what changes of it, whose terms the edit then needs.
func (w *writer) provenance(next Record) {
	before, now := w.edit.record.provenance(), next.provenance()
	w.lost, w.gained = without(before, now), without(now, before)
	for _, t := range slices.Concat(w.lost, w.gained) {
		w.edit.addTriple(t)
	}
}

// resolve gives ids to the terms of the edit that have none yet, and writes those that are not stored.
func (w *writer) resolve() error {
	e, b := w.edit, w.step.batch
	if len(e.ids) == len(e.list) {
		return nil
	}
	ids, unstored, err := e.store.lexicon.resolve(e.list[len(e.ids):])
	if err != nil {
		return err
	}
	e.ids = append(e.ids, ids...)
	w.step.terms = append(w.step.terms, unstored...)
	for _, f := range unstored {
		if err := errors.Join(setTerm(b, f.term, f.id), setWords(b, f.term, f.id)); err != nil {
			return err
		}
	}
	return nil
}

// difference writes what the context does not state yet, and removes what it is not to state any more.
func (w *writer) difference(wanted []quad) (change Change, err error) {
	e := w.edit
	if !e.found {
		change.Added = len(wanted)
		return change, setQuads(w.step.batch, wanted)
	}
	var added, removed []quad
	lower := appendID(cspo.start(), e.ids[0])
	err = pebbledb.Scan(e.store.db, lower, pebbledb.After(lower), func(key, _ []byte) (bool, error) {
		if err := checkKey(key, quadSize); err != nil {
			return false, err
		}
		old := cspo.quad(key)
		for len(wanted) > 0 && compareQuads(wanted[0], old) < 0 {
			added, wanted = append(added, wanted[0]), wanted[1:]
		}
		if len(wanted) > 0 && wanted[0] == old {
			wanted = wanted[1:]
		} else if !e.extends {
			removed = append(removed, old)
		}
		return true, nil
	})
	added = append(added, wanted...)
	change.Added, change.Removed = len(added), len(removed)
	return change, errors.Join(err, setQuads(w.step.batch, added), deleteQuads(w.step.batch, removed))
}

// end writes the record of the context and its provenance, and commits.
func (w *writer) end(next Record, done func(error)) error {
	e, b := w.edit, w.step.batch
	err := w.resolve()
	if err == nil {
		err = errors.Join(
			deleteQuads(b, e.quads(w.lost, provenanceID)), setQuads(b, e.quads(w.gained, provenanceID)),
			b.Set(keyOfID(contextKey, e.ids[0]), next.encode()),
		)
	}
	w.step.quads += int64(next.Quads - e.record.Quads)
	w.step.provenance += int64(len(w.gained) - len(w.lost))
	if !e.found {
		w.step.contexts++
	}
	if err != nil {
		return errors.Join(err, e.store.abandon(w.step))
	}
	return e.store.commit(w.step, done)
}

// without returns the triples of the one list that are not in the other.
func without(all, others []webrace.Triple) (rest []webrace.Triple) {
	for _, t := range all {
		if !slices.Contains(others, t) {
			rest = append(rest, t)
		}
	}
	return rest
}

// setQuads writes quads in all orders.
func setQuads(b pebbledb.Batch, all []quad) error {
	for _, key := range quadKeys(all) {
		if err := b.Set(key, nil); err != nil {
			return err
		}
	}
	return nil
}

func deleteQuads(b pebbledb.Batch, all []quad) error {
	for _, key := range quadKeys(all) {
		if err := b.Delete(key); err != nil {
			return err
		}
	}
	return nil
}

// quadKeys returns the keys of quads in all orders, sorted: the database then finds the place of each beside that of
// the one before.
func quadKeys(all []quad) [][]byte {
	if len(all) == 0 {
		return nil
	}
	keys := make([][]byte, 0, len(orders)*len(all))
	data := make([]byte, 0, len(orders)*len(all)*quadSize)
	for _, o := range orders {
		first := len(keys)
		for _, q := range all {
			data = o.append(data, q)
			keys = append(keys, data[len(data)-quadSize:])
		}
		slices.SortFunc(keys[first:], bytes.Compare)
	}
	return keys
}

// Remove forgets what contexts state, and that they are there. It returns when that is durable; URLs that are no
// contexts do no harm.
func (s *Store) Remove(ctx context.Context, urls ...string) error {
	leave, err := s.change()
	if err != nil {
		return err
	}
	defer leave()
	durable := make(chan error, 1)
	for _, url := range urls {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := s.remove(url, nil); err != nil {
			return fmt.Errorf("remove what %s says: %w", url, err)
		}
	}
	s.settled(func(err error) { durable <- err })
	return <-durable
}

// remove removes a context, and reports whether it did: if it is to be what a record describes, only if it is that
// still.
func (s *Store) remove(url string, as *Record) (bool, error) {
	defer s.lock(url)()
	e, err := s.edit(url)
	if err != nil || !e.found || as != nil && !as.same(&e.record) {
		return false, err
	}
	nothing := Record{Context: Context{URL: url}}
	w, err := e.begin(nothing, nil)
	if err != nil {
		return false, err
	}
	_, err = w.difference(nil)
	if err == nil {
		err = errors.Join(deleteQuads(w.step.batch, e.quads(w.lost, provenanceID)), w.step.batch.Delete(keyOfID(contextKey, e.ids[0])))
	}
	if err != nil {
		return false, errors.Join(err, s.abandon(w.step))
	}
	w.step.contexts, w.step.quads, w.step.provenance = -1, -int64(e.record.Quads), -int64(len(w.lost))
	return true, s.commit(w.step, nil)
}
