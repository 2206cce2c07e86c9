package quads

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/storage/internal/values"
)

var errDamaged = errors.New("damaged")

// counts are what a step changes of the whole store.
type counts struct {
	next       uint64 // number of a term
	contexts   int64
	quads      int64
	provenance int64
	terms      int64
	revision   uint64
}

func (c counts) stats(bytes uint64) Stats {
	return Stats{Contexts: c.contexts, Quads: c.quads, Provenance: c.provenance, Terms: c.terms, Revision: c.revision, Bytes: int64(bytes)}
}

const countsVersion = 1

func (c counts) encode() []byte {
	w := values.Writer{countsVersion}
	for _, n := range []uint64{c.next, uint64(c.contexts), uint64(c.quads), uint64(c.provenance), uint64(c.terms), c.revision} {
		w.Uint(n)
	}
	return w
}

func decodeCounts(value []byte) (c counts, err error) {
	r, err := newReader(value, countsVersion)
	if err != nil {
		return c, fmt.Errorf("what is counted: %w", err)
	}
	c.next, c.contexts, c.quads, c.provenance, c.terms = r.Uint(), int64(r.Uint()), int64(r.Uint()), int64(r.Uint()), int64(r.Uint())
	c.revision = r.Uint()
	return c, r.done()
}

const recordVersion = 1

// The flags of a record.
const (
	isDated = 1 << iota
	isImported
	hasURL // the URL is not the IRI of the context
)

// contextTerm is the context that a document is: the IRI of its URL.
func contextTerm(url string) webrace.Term { return rdf.NewIRI(rdf.EscapeIRI(url)) }

// encode leaves out a URL that is an IRI: it is the term of the key.
func (r *Record) encode() []byte {
	flags := byte(0)
	if !r.At.IsZero() {
		flags |= isDated
	}
	if r.Imported {
		flags |= isImported
	}
	if !rdf.ValidIRI(r.URL) {
		flags |= hasURL
	}
	w := values.Writer{recordVersion, flags}
	w.Fixed(r.Digest[:])
	w.Fixed(r.fingerprint[:])
	w.Uint(uint64(r.Version))
	w.Uint(uint64(r.Seen))
	w.Uint(uint64(r.Quads))
	if flags&isDated != 0 {
		w.Int(r.At.Unix())
		w.Uint(uint64(r.At.Nanosecond()))
	}
	w.Text(r.MediaType)
	w.Uint(uint64(len(r.Problems)))
	for _, p := range r.Problems {
		w.Text(p)
	}
	if flags&hasURL != 0 {
		w.Text(r.URL)
	}
	return w
}

// decodeRecord reads the record of a context by its IRI.
func decodeRecord(iri string, value []byte) (rec Record, err error) {
	r, err := newReader(value, recordVersion)
	if err != nil {
		return rec, err
	}
	rec.URL = iri
	flags := r.Small(math.MaxUint8)
	rec.Imported = flags&isImported != 0
	copy(rec.Digest[:], r.Fixed(len(rec.Digest)))
	copy(rec.fingerprint[:], r.Fixed(len(rec.fingerprint)))
	rec.Version, rec.Seen, rec.Quads = int(r.Uint()), int(r.Uint()), int(r.Uint())
	if flags&isDated != 0 {
		seconds := r.Int()
		rec.At = time.Unix(seconds, int64(r.Uint())).UTC()
	}
	rec.MediaType = r.Text()
	for range r.Count(1) {
		rec.Problems = append(rec.Problems, r.Text())
	}
	if flags&hasURL != 0 {
		rec.URL = r.Text()
	}
	return rec, r.done()
}

// same reports whether two records hold the same.
func (r *Record) same(o *Record) bool {
	return r.Context == o.Context && r.Quads == o.Quads && r.Imported == o.Imported && r.Seen == o.Seen &&
		r.fingerprint == o.fingerprint && slices.Equal(r.Problems, o.Problems)
}

// Has reports whether a version of the document was looked at, or a later one, and nothing is lost of what that states.
// What was imported stands for all versions.
func (r *Record) Has(version int) bool {
	lost := r.Version > 0 && r.fingerprint == [16]byte{} // the check found so
	return r.Imported || version <= max(r.Version, r.Seen) && !lost
}

// The predicates of provenance.
const (
	dcterms     = "http://purl.org/dc/terms/"
	modified    = webrace.Term("<" + dcterms + "modified>")
	mediaFormat = webrace.Term("<" + dcterms + "format>")
	identifier  = webrace.Term("<" + dcterms + "identifier>")
	versionInfo = webrace.Term("<http://www.w3.org/2002/07/owl#versionInfo>")
	triples     = webrace.Term("<http://rdfs.org/ns/void#triples>")
)

// provenance returns what the provenance graph states of a context: what is known of its document, and how many quads
// it states if anything is. It is all in the record.
func (r *Record) provenance() (all []webrace.Triple) {
	say := func(known bool, predicate, object webrace.Term) {
		if known {
			all = append(all, webrace.Triple{Subject: contextTerm(r.URL), Predicate: predicate, Object: object})
		}
	}
	say(!r.At.IsZero(), modified, rdf.NewTyped(r.At.UTC().Format(time.RFC3339Nano), rdf.XSD+"dateTime"))
	say(r.MediaType != "", mediaFormat, rdf.NewString(r.MediaType))
	say(r.Digest != webrace.Digest{}, identifier, rdf.NewString(r.Digest.String()))
	say(r.Version > 0, versionInfo, rdf.NewString(strconv.Itoa(r.Version)))
	say(len(all) > 0, triples, rdf.NewTyped(strconv.Itoa(r.Quads), rdf.XSDInteger))
	return all
}

// read takes a triple of the provenance graph into the record, and reports whether it is one that this package writes:
// another changes nothing. Quads becomes what the triple states.
func (r *Record) read(t webrace.Triple) bool {
	next, text := *r, rdf.Value(t.Object)
	var err error
	switch t.Predicate {
	case modified:
		next.At, err = time.Parse(time.RFC3339Nano, text)
		next.At = next.At.UTC()
	case mediaFormat:
		next.MediaType = text
	case identifier:
		err = next.Digest.UnmarshalText([]byte(text))
	case versionInfo:
		next.Version, err = strconv.Atoi(text)
		next.Seen = next.Version
	case triples:
		next.Quads, err = strconv.Atoi(text)
		if err == nil && next.Quads >= 0 {
			r.Quads = next.Quads
			return true
		}
		return false
	}
	if err != nil || !slices.Contains(next.provenance(), t) {
		return false
	}
	*r = next
	return true
}

// reader reads a value.
type reader struct{ values.Reader }

func newReader(value []byte, version byte) (*reader, error) {
	if len(value) == 0 || value[0] != version {
		return nil, fmt.Errorf("%w: it begins with %.1x, and not with the version %d", errDamaged, value, version)
	}
	return &reader{values.Reader{Rest: value[1:]}}, nil
}

func (r *reader) done() error {
	switch {
	case r.Failed:
		return fmt.Errorf("%w: it ends too soon", errDamaged)
	case len(r.Rest) > 0:
		return fmt.Errorf("%w: %d bytes follow", errDamaged, len(r.Rest))
	}
	return nil
}
