package jsonld

import (
	"github.com/webrace/webrace/internal/hashtable"
)

// definition is what a context defines a term to be (JSON-LD 1.1 API, section 4.1). It does not change once it is made.
type definition struct {
	iri       string // the IRI, blank node or keyword that the term stands for; empty if it stands for nothing
	typ       string // what strings are taken for: @id, @vocab, @json, @none or the IRI of a datatype; else empty
	index     string // the property that the keys of an index map are values of; empty for none
	nest      string
	language  string
	direction string
	container containers

	prefix, protected, reverse bool
	hasLanguage, hasDirection  bool // a null is a language, too: none

	context *value  // the context that holds below the term; nil for none
	from    *source // where that is written
	base    string  // what URLs of contexts in it are resolved against
}

// sameButProtected reports whether two definitions are the same, but for whether they are protected.
func (d *definition) sameButProtected(o *definition) bool {
	a, b := *d, *o
	a.protected, a.context, a.from, a.base = b.protected, b.context, b.from, b.base
	return a == b && same(d.context, o.context)
}

// containers is a set of those keywords that @container can have.
type containers uint8

const (
	inList containers = 1 << iota
	inSet
	inIndex
	inLanguage
	inID
	inType
	inGraph
)

// containerOf has the keywords by name.
var containerOf = map[string]containers{
	"@list": inList, "@set": inSet, "@index": inIndex, "@language": inLanguage,
	"@id": inID, "@type": inType, "@graph": inGraph,
}

// active is an active context. Contexts have many terms, and are changed in few below many nodes: so terms are in a
// persistent map, and a change costs no copy.
type active struct {
	terms     hashtable.Map[*definition]
	protected int // how many terms are protected

	base      string // what relative IRIs are resolved against; empty for nothing
	vocab     string
	language  string
	direction string
	hasVocab  bool

	previous *active // what holds again in the next node, if this context does not propagate
}

// term returns what is said about a term; nil for nothing.
func (a *active) term(name string) *definition {
	d, _ := a.terms.Get(name)
	return d
}

func (a *active) set(name string, d, before *definition) {
	a.terms.Set(name, d)
	a.count(before, -1)
	a.count(d, 1)
}

func (a *active) remove(name string, d *definition) {
	if d != nil {
		a.terms.Delete(name)
		a.count(d, -1)
	}
}

func (a *active) count(d *definition, n int) {
	if d != nil && d.protected {
		a.protected += n
	}
}

// pristine reports whether nothing was said so far that the definitions of a context depend on.
func (a *active) pristine() bool { return a.terms.Len() == 0 && !a.hasVocab }

// isKeyword reports whether a string is a keyword of JSON-LD 1.1.
func isKeyword(s string) bool {
	switch s {
	case "@base", "@container", "@context", "@default", "@direction", "@embed", "@explicit", "@graph", "@id", "@import",
		"@included", "@index", "@json", "@language", "@list", "@nest", "@none", "@omitDefault", "@prefix", "@preserve",
		"@propagate", "@protected", "@requireAll", "@reverse", "@set", "@type", "@value", "@version", "@vocab":
		return true
	}
	return false
}

// looksLikeKeyword reports whether a string is "@" and letters: what is no keyword today may be one tomorrow.
func looksLikeKeyword(s string) bool {
	if len(s) < 2 || s[0] != '@' {
		return false
	}
	for i := 1; i < len(s); i++ {
		if c := s[i] | ' '; c < 'a' || c > 'z' {
			return false
		}
	}
	return true
}
