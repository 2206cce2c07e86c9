package transform

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/rdf"
)

// limitError is what ends a part of a document that exceeds a limit.
type limitError struct {
	limit string // its name
	says  string
}

func (e *limitError) Error() string { return e.says }

// sink collects what a document states, within its limits.
type sink struct {
	ctx      context.Context
	limits   Limits
	triples  []webrace.Triple
	seen     map[webrace.Triple]struct{}
	whole    bool
	problems []string
	unsaid   int // problems beyond mostProblems
	blank    string
	blanks   int
	steps    int // since ctx was looked at
	work     int // steps in all
	told     map[string]bool
	exceeded func(string)
	plain    bool // terms of schema.org are at http:
}

// mostProblems is how many problems are told of a document.
const mostProblems = 20

func newSink(l Limits, url string, o Options) sink {
	return sink{
		limits: l, seen: make(map[webrace.Triple]struct{}), whole: true, blank: blankOf(url), told: make(map[string]bool),
		exceeded: o.Exceeded, plain: !o.TwoSchemaOrgs,
	}
}

func (s *sink) graph() *webrace.Graph {
	if s.unsaid > 0 {
		s.problems = append(s.problems, fmt.Sprintf("and %d more", s.unsaid))
	}
	return &webrace.Graph{Triples: s.triples, Whole: s.whole, Problems: s.problems}
}

// add takes a triple, unless the document said it before.
func (s *sink) add(subject, predicate, object webrace.Term) error {
	t := webrace.Triple{Subject: subject, Predicate: predicate, Object: object}
	if s.plain {
		t = webrace.Triple{Subject: rdf.SchemaOrgTerm(subject), Predicate: rdf.SchemaOrgTerm(predicate)}
		t.Object = rdf.SchemaOrgObject(t.Predicate, object)
	}
	if _, ok := s.seen[t]; ok {
		return nil
	}
	if len(s.triples) >= s.limits.Triples {
		return s.tooMany()
	}
	s.seen[t] = struct{}{}
	s.triples = append(s.triples, t)
	return nil
}

func (s *sink) tooMany() error {
	return &limitError{"triples", fmt.Sprintf("more than %d triples", s.limits.Triples)}
}

// newBlank returns a blank node that is nowhere yet.
func (s *sink) newBlank() webrace.Term {
	s.blanks++
	return webrace.Term(s.blank + strconv.Itoa(s.blanks-1))
}

// mostSteps is the most that is done for a document, in nodes of a tree that are visited: ten times the nodes that it
// may have.
const mostSteps = 5_000_000

// step counts a step, and looks at the time every thousand.
func (s *sink) step() error {
	if s.steps++; s.steps < 1000 {
		return nil
	}
	s.work += s.steps
	s.steps = 0
	if s.work > mostSteps {
		return &limitError{"time", fmt.Sprintf("more than %d steps, which refer to the same elements over and over", mostSteps)}
	}
	return s.ended()
}

// ended returns why the context ended, if it did.
func (s *sink) ended() error { return context.Cause(s.ctx) }

// undo takes back what was said since there were so many triples.
func (s *sink) undo(mark int) {
	for _, t := range s.triples[mark:] {
		delete(s.seen, t)
	}
	s.triples = s.triples[:mark]
}

// fail notes why a document, or a part of that name, is not read.
func (s *sink) fail(part string, err error) {
	if limit := limitOf(err); limit != "" {
		s.exceed(limit)
	}
	if part != "" {
		err = fmt.Errorf("%s: %w", part, err)
	}
	s.problem(err.Error())
}

func (s *sink) problem(says string) {
	if len(s.problems) >= mostProblems {
		s.unsaid++
		return
	}
	s.problems = append(s.problems, strings.ToValidUTF8(says, "\ufffd"))
}

// exceed tells of a limit, once a document.
func (s *sink) exceed(limit string) (first bool) {
	if s.told[limit] {
		return false
	}
	s.told[limit] = true
	if s.exceeded != nil {
		s.exceeded(limit)
	}
	return true
}

// leaveOut notes that something longer than its limit is left out of a page, once a limit.
func (s *sink) leaveOut(limit, what string, most int) {
	if s.exceed(limit) {
		s.problem(fmt.Sprintf("%s of more than %d bytes is left out", what, most))
	}
}

// limitOf returns the name of the limit that an error is about; empty if it is about none.
func limitOf(err error) string {
	var ours *limitError
	if errors.As(err, &ours) {
		return ours.limit
	}
	if errors.Is(err, errTime) || errors.Is(err, context.DeadlineExceeded) {
		return "time"
	}
	var theirs *rdf.LimitError
	if !errors.As(err, &theirs) {
		return ""
	}
	for _, l := range []struct{ word, limit string }{
		{"triple", "triples"}, {"quad", "triples"}, {"literal", "literal"}, {"defin", "definitions"},
		{"within", "depth"}, {"deep", "depth"}, {"depth", "depth"}, {"nest", "depth"},
	} {
		if strings.Contains(theirs.What, l.word) {
			return l.limit
		}
	}
	return "iri" // of which labels, names and prefixes are counted as
}
