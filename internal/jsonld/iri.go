package jsonld

import (
	"strings"

	"github.com/webrace/webrace/internal/rdf"
)

// expandIRI is IRI expansion outside of contexts (JSON-LD 1.1 API, section 5.2). ok is false for null.
func (p *processor) expandIRI(a *active, s string, relative, vocab bool) (iri string, ok bool) {
	return p.expandIRIWith(a, s, relative, vocab, nil)
}

// expandIRIWith is IRI expansion while a context is being processed, whose terms are defined as they are needed.
func (p *processor) expandIRIWith(a *active, s string, relative, vocab bool, l *local) (iri string, ok bool) {
	if s != "" && s[0] == '@' {
		if isKeyword(s) {
			return s, true
		}
		if looksLikeKeyword(s) {
			return "", false
		}
	}
	l.need(p, a, s)
	if d := a.term(s); d != nil && (vocab || isKeyword(d.iri)) {
		return d.iri, d.iri != ""
	}
	s = p.trimmed(s)
	if colon := strings.IndexByte(s, ':'); colon > 0 {
		prefix, suffix := s[:colon], s[colon+1:]
		if prefix == "_" || strings.HasPrefix(suffix, "//") {
			return s, true
		}
		l.need(p, a, prefix)
		if d := a.term(prefix); d != nil && d.iri != "" && d.prefix {
			return p.join(d.iri, suffix), true
		}
		if rdf.IsAbsolute(s) {
			return s, true
		}
	}
	if vocab && a.hasVocab {
		return p.join(a.vocab, s), true
	}
	if relative {
		return p.resolve(a.base, s), true
	}
	return s, true
}

// join makes an IRI of two parts. A few bytes of a document can make long IRIs so: they are counted.
func (p *processor) join(a, b string) string {
	n := len(a) + len(b)
	if n > p.limits.IRI {
		p.exceed("bytes of an IRI", p.limits.IRI)
	}
	if p.joined += n; p.joined > maxJoined {
		p.exceed("bytes of IRIs that are made of prefixes or relative", maxJoined)
	}
	return a + b
}

// maxJoined is how many bytes the IRIs of a document have at most that are made of parts, and all in its terms.
const maxJoined = 64 << 20

// resolve resolves a relative IRI; without a base it stays what it is.
func (p *processor) resolve(base, ref string) string {
	p.usedBase = true
	if base == "" {
		return ref
	}
	iri, err := rdf.Resolve(base, ref)
	if err != nil {
		return ref
	}
	return p.join(iri, "")
}

// isIRI reports whether a string can be an IRI of RDF: absolute, without the characters that N-Triples exclude, and
// with one fragment at most, which joining a vocabulary that has one can give it.
func isIRI(s string) bool { return rdf.IsAbsolute(s) && rdf.ValidIRI(s) && strings.Count(s, "#") < 2 }

// isLanguage reports whether a string is a well-formed language tag (BCP 47), by its outline: parts of one to eight
// letters or digits, of which the first has letters alone.
func isLanguage(tag string) bool {
	for n, part := range strings.Split(tag, "-") {
		if part == "" || len(part) > 8 {
			return false
		}
		for i := range len(part) {
			c := part[i]
			if letter := 'a' <= c|' ' && c|' ' <= 'z'; !letter && (n == 0 || c < '0' || c > '9') {
				return false
			}
		}
	}
	return true
}
