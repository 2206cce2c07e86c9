package transform

import (
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

const (
	xhv     = "http://www.w3.org/1999/xhtml/vocab#"
	rdfaNS  = "http://www.w3.org/ns/rdfa#"
	powder  = "http://www.w3.org/2007/05/powder-s#"
	dcterms = "http://purl.org/dc/terms/"
)

var (
	usesVocabulary = rdf.NewIRI(rdfaNS + "usesVocabulary")
	copyTerm       = rdf.NewIRI(rdfaNS + "copy")
	patternTerm    = rdf.NewIRI(rdfaNS + "Pattern")
)

// openGraph are the prefixes that pages use in elements meta and rarely declare, as those for whom they are written do
// not ask for it.
var openGraph = map[string]string{
	"article": "http://ogp.me/ns/article#", "book": "http://ogp.me/ns/book#", "fb": "http://ogp.me/ns/fb#",
	"music": "http://ogp.me/ns/music#", "product": "http://ogp.me/ns/product#", "profile": "http://ogp.me/ns/profile#",
	"video": "http://ogp.me/ns/video#", "website": "http://ogp.me/ns/website#",
}

// rdfaTerms are the words that RDFa knows without a vocabulary.
var rdfaTerms = map[string]string{"describedby": powder + "describedby", "license": xhv + "license", "role": xhv + "role"}

// term returns what a word means where a term, a CURIE or an absolute IRI may stand, which is no blank node.
func (r *rdfa) term(word string, local *evaluation) (webrace.Term, bool) {
	return r.termIn(word, local, local.vocabulary, true)
}

// termIn is term in a vocabulary. Where there is none, the words that RDFa knows have a meaning.
func (r *rdfa) termIn(word string, local *evaluation, vocabulary string, warns bool) (webrace.Term, bool) {
	if r.textLeft < 0 { // which ends the part
		return "", false
	}
	if !strings.Contains(word, ":") {
		if word == "" || !isTerm(word) {
			return "", false
		}
		if vocabulary != "" {
			return r.iri(vocabulary + word)
		}
		if iri, ok := rdfaTerms[strings.ToLower(word)]; ok {
			return rdf.NewIRI(iri), true
		}
		if warns {
			r.warned("UnresolvedTerm")
		}
		return "", false
	}
	term, ok := r.curie(word, local)
	if !ok {
		term, ok = r.iri(word)
	}
	return term, ok && rdf.KindOf(term) == rdf.IRI
}

// isTerm reports whether a word has the form of a term: it begins as a name does.
func isTerm(word string) bool {
	c := word[0]
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80
}

// iri returns the term of an absolute IRI; false for what is none.
func (r *rdfa) iri(iri string) (webrace.Term, bool) {
	if !rdf.IsAbsolute(iri) || !r.takes(iri) {
		return "", false
	}
	return rdf.NewIRI(iri), true
}

// curie returns what a CURIE means; false for what is none, or has a prefix that is not known.
func (r *rdfa) curie(word string, local *evaluation) (webrace.Term, bool) {
	prefix, reference, ok := strings.Cut(word, ":")
	if !ok || strings.HasPrefix(reference, "//") {
		return "", false
	}
	if prefix == "_" {
		return r.labelled(reference), true
	}
	if prefix == "" {
		return r.iri(xhv + reference)
	}
	prefix = strings.ToLower(prefix)
	for scope := local.prefixes; scope != nil; scope = scope.around {
		if iri, ok := scope.own[prefix]; ok {
			return r.iri(iri + reference)
		}
	}
	for _, prefixes := range []map[string]string{rdf.KnownPrefixes, openGraph} {
		if iri, ok := prefixes[prefix]; ok {
			return r.iri(iri + reference)
		}
	}
	return "", false
}

// labelled returns the blank node of a label.
func (r *rdfa) labelled(label string) webrace.Term {
	if r.blanks[label] == "" {
		r.blanks[label] = r.newBlank()
	}
	return r.blanks[label]
}

// resource returns what an attribute means where a safe CURIE, a CURIE or an IRI may stand; false if it means nothing.
func (r *rdfa) resource(reference *string, local *evaluation) (webrace.Term, bool) {
	if reference == nil {
		return "", false
	}
	word := strings.Trim(*reference, white)
	if safe, ok := strings.CutPrefix(word, "["); ok && strings.HasSuffix(safe, "]") {
		term, ok := r.curie(strings.TrimSuffix(safe, "]"), local)
		if !ok && safe != "]" {
			r.warned("UnresolvedCURIE")
		}
		return term, ok
	}
	if term, ok := r.curie(word, local); ok {
		return term, true
	}
	return r.resolve(word)
}

// finish copies patterns (HTML+RDFa, section 3.5), adds what follows from vocabularies, and hands over what was said.
func (r *rdfa) finish() error {
	said, err := r.copied()
	if err != nil {
		return err
	}
	for _, t := range said {
		if err := r.add(t.Subject, t.Predicate, t.Object); err != nil {
			return err
		}
		if err := r.follows(t); err != nil {
			return err
		}
	}
	return nil
}

// follows adds what follows from a triple by the vocabularies that the page names.
func (r *rdfa) follows(t webrace.Triple) error {
	for _, used := range r.used {
		v := r.options.Vocabularies[used]
		for _, property := range v.Properties[rdf.Value(t.Predicate)] {
			if err := r.add(t.Subject, rdf.NewIRI(property), t.Object); err != nil {
				return err
			}
		}
		if t.Predicate == typeTerm && rdf.KindOf(t.Object) == rdf.IRI {
			for _, class := range v.Classes[rdf.Value(t.Object)] {
				if err := r.add(t.Subject, typeTerm, rdf.NewIRI(class)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// copied returns what was said, with the patterns in the place of the references to them.
func (r *rdfa) copied() ([]webrace.Triple, error) {
	patterns := make(map[webrace.Term][]webrace.Triple)
	for _, t := range r.said {
		if t.Predicate == typeTerm && t.Object == patternTerm {
			patterns[t.Subject] = nil
		}
	}
	if len(patterns) == 0 {
		return r.said, nil
	}
	referred := make(map[webrace.Term]bool)
	for _, t := range r.said {
		if _, ok := patterns[t.Subject]; ok {
			patterns[t.Subject] = append(patterns[t.Subject], t)
		}
		if _, ok := patterns[t.Object]; ok && t.Predicate == copyTerm {
			referred[t.Object] = true
		}
	}
	var out []webrace.Triple
	for _, t := range r.said {
		switch {
		case referred[t.Subject]:
		case t.Predicate == copyTerm && referred[t.Object]:
			var err error
			if out, err = r.paste(out, t.Subject, t.Object, patterns); err != nil {
				return nil, err
			}
		default:
			out = append(out, t)
		}
	}
	return out, nil
}

// paste states of a subject what a pattern states, and the patterns that it refers to.
func (r *rdfa) paste(out []webrace.Triple, subject, pattern webrace.Term, patterns map[webrace.Term][]webrace.Triple) ([]webrace.Triple, error) {
	seen := map[webrace.Term]bool{pattern: true}
	for pending := []webrace.Term{pattern}; len(pending) > 0; pending = pending[1:] {
		for _, t := range patterns[pending[0]] {
			if err := r.step(); err != nil {
				return nil, err
			}
			_, further := patterns[t.Object]
			switch {
			case t.Predicate == copyTerm && further:
				if !seen[t.Object] {
					seen[t.Object] = true
					pending = append(pending, t.Object)
				}
			case t.Predicate == typeTerm && t.Object == patternTerm:
			case len(out) > 2*r.limits.Triples:
				return nil, &limitError{"triples", "patterns are copied to more triples than the limit allows"}
			default:
				out = append(out, webrace.Triple{Subject: subject, Predicate: t.Predicate, Object: t.Object})
			}
		}
	}
	return out, nil
}
