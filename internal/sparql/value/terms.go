package value

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	mathrand "math/rand/v2"
	"strconv"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// Functions on terms: section 17.4.2.

func str(args []webrace.Term, _ *Env) (webrace.Term, error) {
	switch rdf.KindOf(args[0]) {
	case rdf.IRI, rdf.Literal:
		return plain(args[0]), nil
	}
	return "", ErrType
}

// plain returns the text of an IRI or literal as a string.
func plain(t webrace.Term) webrace.Term {
	if t[0] == '<' {
		return rdf.NewString(rdf.Value(t))
	}
	return t[:strings.LastIndexByte(string(t), '"')+1]
}

func lang(args []webrace.Term, _ *Env) (webrace.Term, error) {
	if rdf.KindOf(args[0]) != rdf.Literal {
		return "", ErrType
	}
	return rdf.NewString(rdf.Language(args[0])), nil
}

// langMatches is basic filtering (RFC 4647, section 3.3.1).
func langMatches(args []webrace.Term, _ *Env) (webrace.Term, error) {
	tag, err := simple(args[0])
	if err != nil {
		return "", err
	}
	wanted, err := simple(args[1])
	if err != nil {
		return "", err
	}
	if wanted == "*" {
		return Of(tag != ""), nil
	}
	fits := len(tag) >= len(wanted) && strings.EqualFold(tag[:len(wanted)], wanted) &&
		(len(tag) == len(wanted) || tag[len(wanted)] == '-')
	return Of(fits && wanted != ""), nil
}

func datatype(args []webrace.Term, _ *Env) (webrace.Term, error) {
	if rdf.KindOf(args[0]) != rdf.Literal {
		return "", ErrType
	}
	return rdf.NewIRI(rdf.Datatype(args[0])), nil
}

func toIRI(args []webrace.Term, env *Env) (webrace.Term, error) {
	if rdf.KindOf(args[0]) == rdf.IRI {
		return args[0], nil
	}
	ref, err := simple(args[0])
	if err != nil {
		return "", err
	}
	if !rdf.ValidIRI(ref) {
		return "", fmt.Errorf("IRI: %q has a character that no IRI can have", ref)
	}
	resolved, err := env.Base.Resolve(ref)
	if err != nil {
		return "", fmt.Errorf("IRI: %w", err)
	}
	return rdf.NewIRI(resolved), nil
}

// blankNode gives a new node, or the one that a label has in this solution.
func blankNode(args []webrace.Term, env *Env) (webrace.Term, error) {
	prefix := env.Blank
	if prefix == "" {
		prefix = "q"
	}
	if len(args) == 0 {
		env.fresh++
		return rdf.NewBlank(prefix + "n" + strconv.FormatUint(env.fresh, 10)), nil
	}
	label, err := simple(args[0])
	if err != nil {
		return "", err
	}
	// A digest, so that nothing is remembered of labels that a query computes without end.
	sum := sha256.Sum256([]byte(label))
	return rdf.NewBlank(prefix + "s" + strconv.FormatUint(env.Solution, 10) + "x" + hex.EncodeToString(sum[:10])), nil
}

func strDatatype(args []webrace.Term, _ *Env) (webrace.Term, error) {
	lexical, err := simple(args[0])
	if err != nil {
		return "", err
	}
	if rdf.KindOf(args[1]) != rdf.IRI || rdf.Value(args[1]) == rdf.LangString {
		return "", ErrType
	}
	return rdf.NewTyped(lexical, rdf.Value(args[1])), nil
}

func strLang(args []webrace.Term, _ *Env) (webrace.Term, error) {
	lexical, err := simple(args[0])
	if err != nil {
		return "", err
	}
	tag, err := simple(args[1])
	if err != nil {
		return "", err
	}
	if !validTag(tag) {
		return "", fmt.Errorf("STRLANG: %q is not a language tag, as en or de-AT", tag)
	}
	return rdf.NewLangString(lexical, tag), nil
}

// validTag reports whether a language tag can stand in a literal: [a-zA-Z]+ ('-' [a-zA-Z0-9]+)*.
func validTag(tag string) bool {
	first := true
	for part := range strings.SplitSeq(tag, "-") {
		if part == "" {
			return false
		}
		for i := range len(part) {
			c := part[i] | 0x20
			if !(c >= 'a' && c <= 'z' || !first && part[i] >= '0' && part[i] <= '9') {
				return false
			}
		}
		first = false
	}
	return true
}

func uuidIRI(_ []webrace.Term, env *Env) (webrace.Term, error) {
	return rdf.NewIRI("urn:uuid:" + env.uuid()), nil
}

func uuidText(_ []webrace.Term, env *Env) (webrace.Term, error) {
	return rdf.NewString(env.uuid()), nil
}

// uuid returns a random UUID (RFC 9562, version 4).
func (e *Env) uuid() string {
	var b [16]byte
	if e.Random != nil {
		binary.BigEndian.PutUint64(b[:8], e.Random.Uint64())
		binary.BigEndian.PutUint64(b[8:], e.Random.Uint64())
	} else {
		rand.Read(b[:])
	}
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func random(_ []webrace.Term, env *Env) (webrace.Term, error) {
	f := mathrand.Float64()
	if env.Random != nil {
		f = env.Random.Float64()
	}
	return realTerm(f, 64, rdf.XSDDouble), nil
}

func sameTerm(args []webrace.Term, _ *Env) (webrace.Term, error) { return Of(args[0] == args[1]), nil }

func isKind(k kind) func([]webrace.Term, *Env) (webrace.Term, error) {
	wanted := rdf.IRI
	if k == blank {
		wanted = rdf.Blank
	}
	return func(args []webrace.Term, _ *Env) (webrace.Term, error) { return Of(rdf.KindOf(args[0]) == wanted), nil }
}

func isLiteral(args []webrace.Term, _ *Env) (webrace.Term, error) {
	return Of(rdf.KindOf(args[0]) == rdf.Literal), nil
}

func isNumeric(args []webrace.Term, _ *Env) (webrace.Term, error) {
	var p parsed
	parse(args[0], &p)
	return Of(p.numeric()), nil
}

// simple returns the text of a string without a language.
func simple(t webrace.Term) (string, error) {
	var p parsed
	parse(t, &p)
	if p.kind != text {
		return "", ErrType
	}
	return p.text, nil
}
