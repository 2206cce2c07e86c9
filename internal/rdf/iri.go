package rdf

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// Base is an absolute IRI in its parts, against which others are resolved. The zero value is none.
type Base struct {
	scheme    string // without its colon
	authority string // with //; empty if there is none
	path      string
	query     string // with ?
}

// ParseBase takes apart what relative IRIs are resolved against. Its fragment does not count.
func ParseBase(iri string) (Base, error) {
	scheme := schemeEnd([]byte(iri))
	if scheme < 0 {
		return Base{}, fmt.Errorf("the base %q is no absolute IRI", iri)
	}
	var b Base
	b.scheme = iri[:scheme]
	b.authority, b.path, b.query, _ = split(iri[scheme+1:])
	return b, nil
}

// Resolve returns the IRI that a reference means where base is in force (RFC 3986, section 5.2, strictly). Nothing is
// normalized but the segments . and .. of paths, and an IRI that is absolute stays as it is: only relative ones are
// resolved (Turtle, section 6.3; SPARQL 1.1 Query, section 4.1.1.2).
func Resolve(base, ref string) (string, error) {
	b, err := ParseBase(base)
	if err != nil {
		return "", err
	}
	return b.Resolve(ref)
}

var errNoBase = errors.New("the IRI is relative, and there is no base to resolve it against")

// Resolve is [Resolve] with a base that was taken apart before. Absolute IRIs need none.
func (b Base) Resolve(ref string) (string, error) {
	if schemeEnd([]byte(ref)) >= 0 {
		return ref, nil
	}
	if b.scheme == "" {
		return "", errNoBase
	}
	authority, path, query, fragment := split(ref)
	switch {
	case authority != "":
		path = withoutDots(path)
	case path == "":
		authority, path = b.authority, b.path
		if query == "" {
			query = b.query
		}
	case path[0] == '/':
		authority, path = b.authority, withoutDots(path)
	default:
		authority, path = b.authority, withoutDots(b.merge(path))
	}
	return b.scheme + ":" + authority + path + query + fragment, nil
}

// merge puts a relative path in the place of the last segment of that of the base (section 5.2.3).
func (b Base) merge(path string) string {
	if b.authority != "" && b.path == "" {
		return "/" + path
	}
	return b.path[:strings.LastIndexByte(b.path, '/')+1] + path
}

// split takes apart what follows a scheme. Each part has its mark, so that an empty one differs from none.
func split(s string) (authority, path, query, fragment string) {
	if i := strings.IndexByte(s, '#'); i >= 0 {
		s, fragment = s[:i], s[i:]
	}
	if i := strings.IndexByte(s, '?'); i >= 0 {
		s, query = s[:i], s[i:]
	}
	if strings.HasPrefix(s, "//") {
		end := strings.IndexByte(s[2:], '/')
		if end < 0 {
			return s, "", query, fragment
		}
		authority, s = s[:2+end], s[2+end:]
	}
	return authority, s, query, fragment
}

// withoutDots removes the segments . and .. of a path (section 5.2.4).
func withoutDots(path string) string {
	if path[:min(1, len(path))] != "." && !strings.Contains(path, "/.") {
		return path
	}
	out := make([]byte, 0, len(path))
	for path != "" {
		switch {
		case strings.HasPrefix(path, "../"):
			path = path[len("../"):]
		case strings.HasPrefix(path, "./"):
			path = path[len("./"):]
		case strings.HasPrefix(path, "/./"):
			path = path[len("/."):]
		case path == "/.":
			path = "/"
		case strings.HasPrefix(path, "/../"):
			path, out = path[len("/.."):], withoutLast(out)
		case path == "/..":
			path, out = "/", withoutLast(out)
		case path == "." || path == "..":
			path = ""
		default:
			end := strings.IndexByte(path[1:], '/') + 1
			if end == 0 {
				end = len(path)
			}
			out, path = append(out, path[:end]...), path[end:]
		}
	}
	return string(out)
}

func withoutLast(path []byte) []byte { return path[:max(0, bytes.LastIndexByte(path, '/'))] }

// IsAbsolute reports whether an IRI begins with a scheme, and is not to be resolved.
func IsAbsolute(iri string) bool { return schemeEnd([]byte(iri)) >= 0 }

// schemeEnd returns where the colon behind the scheme of an IRI stands; -1 if it is relative.
func schemeEnd(iri []byte) int {
	for i, c := range iri {
		switch {
		case is(c, isLetter):
		case i > 0 && (is(c, isDigit) || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return i
		default:
			return -1
		}
	}
	return -1
}
