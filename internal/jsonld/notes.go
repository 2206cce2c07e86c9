package jsonld

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/webrace/webrace/internal/rdf"
)

// The codes of what is told of a document that is read.
const (
	leftOut = "left out" // what states nothing in RDF, as the standard has it
	readAs  = "read as"  // what is taken for something else than is written
)

// mostTold is how many things are told of a document; of others, how many they are.
const mostTold = 10

// notes are what is told of a document, each thing once.
type notes struct {
	tell func(*Error)
	told map[note]bool
	more int
	last int32 // where the last of those is that are not told
}

// note is a thing that is told: what happened, and the text of the document that it happened to.
type note struct{ says, of string }

// note tells of a thing, unless it was told before.
func (w *watch) note(at int32, code, says, of string) {
	n := note{says, of}
	if w.notes.tell == nil || w.notes.told[n] {
		return
	}
	if len(w.notes.told) >= mostTold {
		w.notes.more++
		w.notes.last = at
		return
	}
	if w.notes.told == nil {
		w.notes.told = map[note]bool{}
	}
	w.notes.told[n] = true
	if of != "" {
		says += ": " + strconv.Quote(of[:min(len(of), maxSays)])
	}
	w.notes.tell(w.errorAt(at, code, says))
}

// noteMore tells how many things there are beside those that were told.
func (w *watch) noteMore() {
	if w.notes.more > 0 {
		w.notes.tell(w.errorAt(w.notes.last, leftOut, fmt.Sprintf("or read as something else: %d things more, of which this is the last", w.notes.more)))
	}
}

// unowned is what is told of values and lists where nodes are.
const unowned = "what is no value of a property says nothing"

// iri returns what is an IRI of RDF; ok is false if it is none. If the options ask for it, one that has what no IRI can
// have is percent-encoded.
func (w *watch) iri(s string) (iri string, ok bool) {
	switch {
	case isIRI(s):
		return s, true
	case !w.escape || !rdf.IsAbsolute(s):
		return "", false
	}
	w.note(w.at, readAs, "an IRI is percent-encoded, since it has what no IRI can have", s)
	before, fragment, found := strings.Cut(rdf.EscapeIRI(s), "#")
	if found {
		before += "#" + strings.ReplaceAll(fragment, "#", "%23")
	}
	return before, true
}

// trimmed returns a reference without the white space around it, which means nothing in a page either.
func (w *watch) trimmed(s string) string {
	if !w.escape {
		return s
	}
	t := strings.Trim(s, " \t\r\n\f")
	if t != s {
		w.note(w.at, readAs, "the white space around an IRI is left out", s)
	}
	return t
}
