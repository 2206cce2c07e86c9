package xmlschema

import (
	"bytes"
	"math"
	"slices"
	"strconv"

	"github.com/webrace/webrace/internal/xpath"
)

// screen answers a query at a tenth of its cost where it can: it is the predicate of an expression /urd[…] that has
// nothing in it but what probes can answer. There is none of all others.
type screen struct {
	alternatives [][]probe // one has to hold, which is that all of its probes do
	whole        bool      // there is no more to the expression
}

// probe is the existence of a path of names, or a comparison of what the path selects.
type probe struct {
	function  string // number, count, contains or starts-with; empty for the nodes themselves
	path      []uint32
	attribute uint32 // of what the path selects; ownNames for none
	operator  string // empty for none
	number    float64
	text      string
	textual   bool // the comparison is with the text
}

// verdict is what a screen finds of a document. Of several probes, or alternatives, it is the least, or the greatest.
type verdict int8

const (
	no    verdict = iota
	maybe         // the query has to be evaluated
	yes
)

func newScreen(tokens []xpath.Token) *screen {
	of := predicates(tokens)
	if len(of) == 0 || !tokens[0].Is("/") || !tokens[1].Named("urd") || !tokens[2].Is("[") {
		return nil
	}
	s := &screen{whole: closing(tokens, 2) == len(tokens)-1}
	for _, alternative := range split(of[0].tokens, "or") {
		var probes []probe
		for _, part := range split(alternative, "and") {
			p, ok := newProbe(part)
			if !ok {
				return nil
			}
			probes = append(probes, p)
		}
		s.alternatives = append(s.alternatives, probes)
	}
	return s
}

var comparisons = []string{"=", "!=", "<", "<=", ">", ">="}

func newProbe(tokens []xpath.Token) (p probe, ok bool) {
	if n := len(tokens); n > 2 && slices.Contains(comparisons, tokens[n-2].Text) {
		if !p.compareWith(tokens[n-1], tokens[n-2].Text) {
			return p, false
		}
		tokens = tokens[:n-2]
	}
	if n := len(tokens); n > 3 && tokens[1].Is("(") && closing(tokens, 1) == n-1 {
		p.function, tokens = tokens[0].Text, tokens[2:n-1]
	}
	switch n := len(tokens); p.function {
	case "number", "count":
		ok = p.operator != "" && !p.textual
	case "contains", "starts-with":
		if ok = p.operator == "" && n > 2 && tokens[n-1].Kind == xpath.StringToken && tokens[n-2].Is(","); ok {
			p.text, tokens = tokens[n-1].Literal(), tokens[:n-2]
		}
	case "":
		ok = true
	}
	return p, ok && p.follow(tokens)
}

func (p *probe) compareWith(operand xpath.Token, operator string) (ok bool) {
	p.operator = operator
	switch operand.Kind {
	case xpath.NumberToken:
		var err error
		p.number, err = strconv.ParseFloat(operand.Text, 64)
		return err == nil
	case xpath.StringToken:
		p.text, p.textual = operand.Literal(), true
		return operator == "=" || operator == "!=" // the others compare numbers
	}
	return false
}

// follow takes a path of names from the vocabulary, the last of which may be an attribute's.
func (p *probe) follow(tokens []xpath.Token) bool {
	p.attribute = ownNames
	for len(tokens) > 0 {
		isAttribute := tokens[0].Is("@")
		if isAttribute {
			tokens = tokens[1:]
		}
		if len(tokens) == 0 || tokens[0].Kind != xpath.NameToken {
			return false
		}
		name, known := vocabularyNumbers[tokens[0].Text]
		switch {
		case !known:
			return false
		case isAttribute:
			p.attribute = name
			return len(tokens) == 1
		}
		p.path = append(p.path, name)
		switch {
		case len(tokens) == 1:
			return true
		case !tokens[1].Is("/"):
			return false
		}
		tokens = tokens[2:]
	}
	return false
}

// ask returns the verdict on a document.
func (s *screen) ask(e *evaluation) verdict {
	t := &e.t
	urd := t.node(0, cellFirst)
	if s == nil || t.hasNames() || urd == 0 || t.node(urd, cellNext) != 0 || t.node(urd, cellKind) != int(xpath.Element) || word(t.node(urd, cellName)) != "urd" {
		return maybe
	}
	best := no
	for _, alternative := range s.alternatives {
		worst := yes
		for i := 0; worst > no && i < len(alternative); i++ {
			a := answer{probe: &alternative[i], e: e}
			worst = min(worst, a.verdict(urd))
		}
		best = max(best, worst)
	}
	if best == yes && !s.whole {
		return maybe
	}
	return best
}

// answer is that of a document to a probe.
type answer struct {
	*probe
	e      *evaluation
	count  int  // of the nodes that were looked at
	known  bool // and no further node matters
	holds  bool
	unsure bool // the value of a node is for the query to say
}

func (a *answer) verdict(urd int) verdict {
	a.look(urd, a.path)
	switch {
	case a.unsure:
		return maybe
	case a.known:
	case a.function == "count":
		a.holds = a.compare(float64(a.count))
	case a.function == "number":
		a.holds = a.compare(math.NaN())
	case a.function != "": // what is not there is an empty string
		a.holds = a.text == ""
	}
	if a.holds {
		return yes
	}
	return no
}

func (a *answer) look(node int, path []uint32) {
	a.e.budget.Spend(1)
	t := &a.e.t
	switch {
	case len(path) > 0:
		for kid := t.node(node, cellFirst); kid != 0 && !a.known; kid = t.node(kid, cellNext) {
			a.e.budget.Spend(1)
			if t.node(kid, cellKind) == int(xpath.Element) && t.node(kid, cellName) == int(path[0]) {
				a.look(kid, path[1:])
			}
		}
	case a.attribute == ownNames:
		text, simple := t.simpleText(node)
		a.value(text, simple)
	default:
		first := t.node(node, cellAttr)
		for at := first; at < first+t.node(node, cellAttrs) && !a.known; at++ {
			if t.attr(at, 0) == int(a.attribute) {
				a.value(t.slice(t.attr(at, 1), t.attr(at, 2)), true)
			}
		}
	}
}

// value takes the next node. Of one that is not simple, the value is not known here.
func (a *answer) value(text []byte, simple bool) {
	a.count++
	switch {
	case a.function == "count":
	case a.function == "" && a.operator == "":
		a.known, a.holds = true, true
	case !simple:
		a.known, a.unsure = true, true
	case a.function == "contains":
		a.known, a.holds = true, bytes.Contains(text, []byte(a.text))
	case a.function == "starts-with":
		a.known, a.holds = true, bytes.HasPrefix(text, []byte(a.text))
	case a.textual:
		a.holds = (string(text) == a.text) == (a.operator == "=")
		a.known = a.holds
	default:
		a.holds = a.compare(xpath.ParseNumber(string(text)))
		a.known = a.holds || a.function == "number"
	}
}

func (a *answer) compare(with float64) bool {
	switch a.operator {
	case "=":
		return with == a.number
	case "!=":
		return with != a.number
	case "<":
		return with < a.number
	case "<=":
		return with <= a.number
	case ">":
		return with > a.number
	}
	return with >= a.number
}
