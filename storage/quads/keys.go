package quads

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
	"github.com/webrace/webrace/internal/sparql"
)

// Keys of the database. An id has 6 bytes, big-endian: two bits for the kind of its term, and a number that no other
// term has or will have.
//
//	f                    format
//	n                    next number, counts, revision
//	c                    how many commits there were
//	t<text>  i<id>       term → id → term; the key of a text above 512 bytes is t\0<sha256>
//	0…5<id><id><id><id>  SPOC POSC OSPC CSPO CPOS COSP, no value
//	g<id>                the record of a context
//	w<stem>\0<id>        the literals that have a word
//
// Six orders are needed so that every pattern of bound places is the beginning of one of them. These six also have the
// contexts of a triple side by side for every pattern without a context, so the union of all graphs is read without
// remembering what was there.
const (
	formatKey     = "f"
	countsKey     = "n"
	generationKey = "c"
	termKey       = 't'
	idKey         = 'i'
	contextKey    = 'g'
	wordKey       = 'w'
	firstOrder    = '0'
)

// id stands for a term.
type id = sparql.ID

const (
	idSize     = 6
	idKeySize  = 1 + idSize
	quadSize   = 1 + 4*idSize
	numberBits = 46
	lastNumber = 1<<numberBits - 1
)

// provenanceID is the first id of every store.
const provenanceID = id(rdf.IRI)<<numberBits | 1

func newID(kind rdf.Kind, number uint64) id { return id(kind)<<numberBits | id(number) }

func kindOf(n id) rdf.Kind { return rdf.Kind(n >> numberBits) }

func numberOf(n id) uint64 { return uint64(n) & lastNumber }

func appendID(key []byte, n id) []byte {
	return append(key, byte(n>>40), byte(n>>32), byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

func idOf(key []byte) id {
	return id(key[0])<<40 | id(key[1])<<32 | id(binary.BigEndian.Uint32(key[2:]))
}

// The places of a quad.
const (
	subject = iota
	predicate
	object
	graph
)

// quad has the ids of its places.
type quad [4]id

func (q quad) pattern() sparql.Pattern {
	return sparql.Pattern{Subject: q[subject], Predicate: q[predicate], Object: q[object], Graph: q[graph]}
}

// order is one of the orders in which quads are kept.
type order struct {
	key    byte
	places [4]int
	name   string
}

// The orders, by the last byte of their names.
var (
	spoc = &order{firstOrder, [4]int{subject, predicate, object, graph}, "SPOC"}
	posc = &order{firstOrder + 1, [4]int{predicate, object, subject, graph}, "POSC"}
	ospc = &order{firstOrder + 2, [4]int{object, subject, predicate, graph}, "OSPC"}
	cspo = &order{firstOrder + 3, [4]int{graph, subject, predicate, object}, "CSPO"}
	cpos = &order{firstOrder + 4, [4]int{graph, predicate, object, subject}, "CPOS"}
	cosp = &order{firstOrder + 5, [4]int{graph, object, subject, predicate}, "COSP"}

	orders = [...]*order{spoc, posc, ospc, cspo, cpos, cosp}
)

// append writes the key of a quad.
func (o *order) append(key []byte, q quad) []byte {
	key = append(key, o.key)
	for _, place := range o.places {
		key = appendID(key, q[place])
	}
	return key
}

// quad reads a key.
func (o *order) quad(key []byte) (q quad) {
	for i, place := range o.places {
		q[place] = idOf(key[1+i*idSize:])
	}
	return q
}

// subjectEnd returns where the subject of a key ends.
func (o *order) subjectEnd() int { return 1 + (slices.Index(o.places[:], subject)+1)*idSize }

func (o *order) start() []byte { return []byte{o.key} }
func (o *order) end() []byte   { return []byte{o.key + 1} }

// orderOf returns the order whose keys begin with the bound places of a pattern, by which places these are.
var orderOf = [16]*order{
	0:                                     spoc,
	1 << subject:                          spoc,
	1 << predicate:                        posc,
	1 << object:                           ospc,
	1<<subject | 1<<predicate:             spoc,
	1<<predicate | 1<<object:              posc,
	1<<subject | 1<<object:                ospc,
	1<<subject | 1<<predicate | 1<<object: spoc,

	1 << graph:                                       cspo,
	1<<graph | 1<<subject:                            cspo,
	1<<graph | 1<<predicate:                          cpos,
	1<<graph | 1<<object:                             cosp,
	1<<graph | 1<<subject | 1<<predicate:             cspo,
	1<<graph | 1<<predicate | 1<<object:              cpos,
	1<<graph | 1<<subject | 1<<object:                cosp,
	1<<graph | 1<<subject | 1<<predicate | 1<<object: cspo,
}

// bound is a pattern as it is looked for: what its places are bound to, 0 for those that are not.
func bound(p sparql.Pattern) (q quad, union bool) {
	q = quad{p.Subject, p.Predicate, p.Object, p.Graph}
	if p.Graph == sparql.Union {
		q[graph] = 0
		return q, true
	}
	return q, false
}

// prefix writes what the keys begin with of the quads that fit, and returns in which order that is.
func prefix(key []byte, q quad) ([]byte, *order) {
	places := 0
	for place, n := range q {
		if n != 0 {
			places |= 1 << place
		}
	}
	o := orderOf[places]
	key = append(key, o.key)
	for _, place := range o.places {
		if q[place] == 0 {
			break
		}
		key = appendID(key, q[place])
	}
	return key, o
}

// longText is from which length on the key of a term is made of its digest.
const longText = 512

// lexicalKey returns what the lexicon finds a term by: its text, or what stands for it, which begins like no text.
func lexicalKey(t webrace.Term) string {
	if len(t) <= longText {
		return string(t)
	}
	sum := sha256.Sum256([]byte(t))
	return "\x00" + string(sum[:])
}

// checkKey refuses a key of another length than those of its kind have.
func checkKey(key []byte, length int) error {
	if len(key) != length {
		return fmt.Errorf("%w: the key %x", errDamaged, key)
	}
	return nil
}

func keyOfID(kind byte, n id) []byte { return appendID([]byte{kind}, n) }

// longStem is from which length on the key of a word is made of its digest.
const longStem = 64

// appendWord writes what the keys of a word begin with. No stem holds a zero byte, or begins as what stands for a long
// one.
func appendWord(key []byte, stem string) []byte {
	key = append(key, wordKey)
	if len(stem) > longStem {
		sum := sha256.Sum256([]byte(stem))
		key = append(append(key, 0xff), sum[:]...)
	} else {
		key = append(key, stem...)
	}
	return append(key, 0)
}

// wordOf splits the key of a word into what comes before the id, and the id.
func wordOf(key []byte) (word []byte, n id, err error) {
	at := len(key) - idSize
	if at < 2 || key[at-1] != 0 {
		return nil, 0, fmt.Errorf("the key of no word: %x", key)
	}
	return key[:at], idOf(key[at:]), nil
}
