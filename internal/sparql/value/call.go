package value

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// DefaultMaxString is how many bytes a computed text may have.
const DefaultMaxString = 1 << 20

// ErrTooLong is that a computed text is longer than its limit. It is no error of an expression: it ends the query.
var ErrTooLong = errors.New("a computed text is longer than its limit")

// Env is what functions need of the query that calls them. It is for one goroutine. The zero Env works: it has no base,
// and takes the limit of the package.
type Env struct {
	Now         time.Time    // what NOW returns, one for a query
	Base        rdf.Base     // what IRI resolves against; without one it takes absolute ones alone
	Solution    uint64       // which solution is being computed: BNODE of one label gives one node in each
	Blank       string       // what labels of new blank nodes begin with; "q" if empty
	Random      *rand.Rand   // of RAND, UUID and STRUUID; nil is the source of the program
	MaxString   int          // bytes of a computed text; DefaultMaxString if zero
	Interrupted func() error // asked before what may take milliseconds; its error ends the query. May be nil

	// Instructions grows by what regular expressions may take: their instructions times the bytes of the texts. Who calls
	// the functions may set it back.
	Instructions int

	fresh   uint64 // blank nodes that BNODE() made
	regexes map[regexKey]*regex
}

// tooLong reports a text of n bytes that a function is about to compute, if it is too long.
func (e *Env) tooLong(n int) error {
	limit := e.MaxString
	if limit == 0 {
		limit = DefaultMaxString
	}
	if n > limit {
		return fmt.Errorf("%w of %d bytes", ErrTooLong, limit)
	}
	return nil
}

// interrupted asks the query whether it has ended.
func (e *Env) interrupted() error {
	if e.Interrupted == nil {
		return nil
	}
	return e.Interrupted()
}

// function is a built-in function; max is -1 if there may be any number of arguments.
type function struct {
	min, max int
	call     func(args []webrace.Term, env *Env) (webrace.Term, error)
}

var functions map[string]function

func init() { // the table names functions that reach it
	functions = map[string]function{
		"STR": {1, 1, str}, "LANG": {1, 1, lang}, "LANGMATCHES": {2, 2, langMatches}, "DATATYPE": {1, 1, datatype},
		"IRI": {1, 1, toIRI}, "URI": {1, 1, toIRI}, "BNODE": {0, 1, blankNode}, "STRDT": {2, 2, strDatatype},
		"STRLANG": {2, 2, strLang}, "UUID": {0, 0, uuidIRI}, "STRUUID": {0, 0, uuidText},

		"SAMETERM": {2, 2, sameTerm}, "ISIRI": {1, 1, isKind(iri)}, "ISURI": {1, 1, isKind(iri)},
		"ISBLANK": {1, 1, isKind(blank)}, "ISLITERAL": {1, 1, isLiteral}, "ISNUMERIC": {1, 1, isNumeric},

		"STRLEN": {1, 1, strLen}, "SUBSTR": {2, 3, substring}, "UCASE": {1, 1, upperCase}, "LCASE": {1, 1, lowerCase},
		"STRSTARTS": {2, 2, strStarts}, "STRENDS": {2, 2, strEnds}, "CONTAINS": {2, 2, contains},
		"STRBEFORE": {2, 2, strBefore}, "STRAFTER": {2, 2, strAfter}, "CONCAT": {0, -1, concat},
		"ENCODE_FOR_URI": {1, 1, encodeForURI}, "REGEX": {2, 3, matchRegex}, "REPLACE": {3, 4, replace},

		"ABS": {1, 1, absolute}, "CEIL": {1, 1, rounded(up)}, "FLOOR": {1, 1, rounded(down)},
		"ROUND": {1, 1, rounded(nearest)}, "RAND": {0, 0, random},

		"NOW": {0, 0, now}, "YEAR": {1, 1, year}, "MONTH": {1, 1, month}, "DAY": {1, 1, day}, "HOURS": {1, 1, hours},
		"MINUTES": {1, 1, minutes}, "SECONDS": {1, 1, seconds}, "TIMEZONE": {1, 1, timezone}, "TZ": {1, 1, tz},

		"MD5": {1, 1, digest(md5Hex)}, "SHA1": {1, 1, digest(sha1Hex)}, "SHA256": {1, 1, digest(sha256Hex)},
		"SHA384": {1, 1, digest(sha384Hex)}, "SHA512": {1, 1, digest(sha512Hex)},
	}
	for name, cast := range casts {
		functions[name] = function{1, 1, func(args []webrace.Term, _ *Env) (webrace.Term, error) {
			var p parsed
			parse(args[0], &p)
			return cast(&p)
		}}
	}
}

// Arity returns how many arguments a function takes, by its name in upper case or the IRI of a cast; max is -1 if there
// is no greatest number. ok reports that there is such a function.
func Arity(name string) (min, max int, ok bool) {
	f, ok := functions[name]
	return f.min, f.max, ok
}

// Call calls a function by its name in upper case, or a cast by its IRI. An empty argument is unbound, which no
// function takes. The caller has checked the name and the number of arguments by [Arity]. [ErrTooLong] and the error of
// Env.Interrupted end a query; every other is that of the expression alone.
func Call(name string, args []webrace.Term, env *Env) (webrace.Term, error) {
	f, ok := functions[name]
	if !ok {
		return "", fmt.Errorf("no function %s", strings.Trim(name, "<>"))
	}
	if len(args) < f.min || f.max >= 0 && len(args) > f.max {
		return "", fmt.Errorf("%s takes %d to %d arguments, not %d", name, f.min, f.max, len(args))
	}
	for _, a := range args {
		if a == "" {
			return "", ErrType
		}
	}
	if env == nil {
		env = new(Env)
	}
	return f.call(args, env)
}
