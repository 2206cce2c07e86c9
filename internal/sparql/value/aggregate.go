package value

import (
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// Aggregate computes one value of the solutions of a group (section 18.5.1).
type Aggregate interface {
	Add(webrace.Term) // what the expression is in a solution; empty counts as Failed
	Failed()          // the expression has no value in a solution: an error, but COUNT and SAMPLE pass over it
	Result() (webrace.Term, error)
	Bytes() int // about what is kept
}

// NewAggregate returns COUNT, SUM, MIN, MAX, AVG, SAMPLE or GROUP_CONCAT, by its name in upper case. For COUNT(*) any
// term is added a solution. The separator is of GROUP_CONCAT. For DISTINCT the caller adds each term once.
func NewAggregate(name, separator string) Aggregate {
	switch name {
	case "COUNT":
		return new(count)
	case "SUM":
		return &sum{total: parsed{kind: integer}}
	case "AVG":
		return &sum{total: parsed{kind: integer}, average: true}
	case "MIN":
		return &extreme{wanted: -1}
	case "MAX":
		return &extreme{wanted: 1}
	case "SAMPLE":
		return new(sample)
	case "GROUP_CONCAT":
		return &groupConcat{separator: separator}
	default:
		panic("value: no aggregate " + name)
	}
}

type count struct{ n int64 }

func (c *count) Add(t webrace.Term) {
	if t != "" {
		c.n++
	}
}

func (c *count) Failed()                       {}
func (c *count) Result() (webrace.Term, error) { return Integer(c.n), nil }
func (c *count) Bytes() int                    { return 8 }

// sum is SUM, and AVG if average is set.
type sum struct {
	total   parsed
	n       int64
	average bool
	err     error
}

func (s *sum) Add(t webrace.Term) {
	if s.err != nil {
		return
	}
	var p parsed
	parse(t, &p)
	s.err = s.total.compute('+', &p)
	s.n++
}

func (s *sum) Failed() { s.err = ErrType }

func (s *sum) Result() (webrace.Term, error) {
	if s.err != nil {
		return "", s.err
	}
	result := s.total
	if s.average && s.n > 0 {
		if err := result.compute('/', &parsed{kind: integer, num: number{n: s.n}}); err != nil {
			return "", err
		}
	}
	return result.number(), nil
}

func (s *sum) Bytes() int { return 160 }

// extreme is MIN or MAX, by the order of ORDER BY.
type extreme struct {
	wanted int
	best   webrace.Term
	failed bool
}

func (e *extreme) Add(t webrace.Term) {
	switch {
	case t == "":
		e.failed = true
	case e.best == "" || Order(t, e.best) == e.wanted:
		e.best = t
	}
}

func (e *extreme) Failed() { e.failed = true }

func (e *extreme) Result() (webrace.Term, error) {
	if e.failed || e.best == "" {
		return "", ErrType
	}
	return e.best, nil
}

func (e *extreme) Bytes() int { return len(e.best) + 32 }

// sample is the first value that there is.
type sample struct{ first webrace.Term }

func (s *sample) Add(t webrace.Term) {
	if s.first == "" {
		s.first = t
	}
}

func (s *sample) Failed() {}

func (s *sample) Result() (webrace.Term, error) {
	if s.first == "" {
		return "", ErrType
	}
	return s.first, nil
}

func (s *sample) Bytes() int { return len(s.first) + 16 }

type groupConcat struct {
	separator string
	b         strings.Builder
	n         int
	err       error
}

func (g *groupConcat) Add(t webrace.Term) {
	if g.err != nil {
		return
	}
	if k := rdf.KindOf(t); k != rdf.IRI && k != rdf.Literal {
		g.err = ErrType
		return
	}
	s := rdf.Value(t)
	if g.err = new(Env).tooLong(g.b.Len() + len(g.separator) + len(s)); g.err != nil {
		return
	}
	if g.n++; g.n > 1 {
		g.b.WriteString(g.separator)
	}
	g.b.WriteString(s)
}

func (g *groupConcat) Failed() {
	if g.err == nil {
		g.err = ErrType
	}
}

func (g *groupConcat) Result() (webrace.Term, error) {
	if g.err != nil {
		return "", g.err
	}
	return rdf.NewString(g.b.String()), nil
}

func (g *groupConcat) Bytes() int { return g.b.Cap() + 64 }
