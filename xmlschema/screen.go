package xmlschema

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/antchfx/xpath"

	"github.com/webrace/webrace/internal/xpathguard"
)

// screen is a necessary condition of a query that costs a tenth of it: any of its alternatives, of which all probes must
// hold of the document's element. It is the predicate of an expression /urd[…] that has nothing in it but what probes
// can answer; of all others there is none, and everything is admitted.
type screen [][]probe

// probe is the existence of a path of names, or a comparison of what the path selects.
type probe struct {
	function  string // number, count, contains or starts-with; empty for the nodes themselves
	path      []uint32
	attribute uint32 // of what the path selects; ownNames for none
	operator  string // empty for none
	number    float64
	text      string
}

func newScreen(tokens []xpathguard.Token) screen {
	of := predicates(tokens)
	if len(of) == 0 || !tokens[0].Is("/") || !tokens[1].Named("urd") || !tokens[2].Is("[") {
		return nil
	}
	var all screen
	for _, alternative := range split(of[0].tokens, "or") {
		var probes []probe
		for _, part := range split(alternative, "and") {
			p, ok := newProbe(part)
			if !ok {
				return nil
			}
			probes = append(probes, p)
		}
		all = append(all, probes)
	}
	return all
}

var comparisons = []string{"=", "!=", "<", "<=", ">", ">="}

func newProbe(tokens []xpathguard.Token) (p probe, ok bool) {
	if n := len(tokens); n > 2 && tokens[n-1].Kind == xpathguard.Number && slices.Contains(comparisons, tokens[n-2].Text) {
		number, err := strconv.ParseFloat(tokens[n-1].Text, 64)
		if err != nil {
			return p, false
		}
		p.operator, p.number, tokens = tokens[n-2].Text, number, tokens[:n-2]
	}
	if n := len(tokens); n > 3 && tokens[1].Is("(") && closing(tokens, 1) == n-1 {
		p.function, tokens = tokens[0].Text, tokens[2:n-1]
	}
	switch n := len(tokens); p.function {
	case "number", "count":
		ok = p.operator != ""
	case "contains", "starts-with":
		if ok = p.operator == "" && n > 2 && tokens[n-1].Kind == xpathguard.String && tokens[n-2].Is(","); ok {
			p.text, tokens = tokens[n-1].Literal(), tokens[:n-2]
		}
	case "":
		ok = true
	}
	return p, ok && p.follow(tokens)
}

// follow takes a path of names from the vocabulary, the last of which may be an attribute's.
func (p *probe) follow(tokens []xpathguard.Token) bool {
	p.attribute = ownNames
	for len(tokens) > 0 {
		isAttribute := tokens[0].Is("@")
		if isAttribute {
			tokens = tokens[1:]
		}
		if len(tokens) == 0 || tokens[0].Kind != xpathguard.Name {
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

// admits reports whether the query may be true of the document.
func (s screen) admits(root *navigator) bool {
	t := &root.e.t
	urd := t.node(0, cellFirst)
	if s == nil || t.hasNames() || urd == 0 || t.node(urd, cellNext) != 0 || t.node(urd, cellKind) != int(xpath.ElementNode) {
		return true
	}
	for _, alternative := range s {
		all := true
		for i := 0; all && i < len(alternative); i++ {
			a := answer{probe: &alternative[i], e: root.e}
			all = a.holds(urd)
		}
		if all {
			return true
		}
	}
	return false
}

// answer is that of a document to a probe.
type answer struct {
	*probe
	e     *evaluation
	count int  // of the nodes that were looked at
	known bool // and no further node matters
	yes   bool
}

func (a *answer) holds(urd int) bool {
	a.look(urd, a.path)
	switch {
	case a.known:
		return a.yes
	case a.function == "count":
		return a.compare(float64(a.count))
	case a.function == "number":
		return a.compare(math.NaN())
	}
	return false
}

func (a *answer) look(node int, path []uint32) {
	a.e.budget.Spend(1)
	t := &a.e.t
	switch {
	case len(path) > 0:
		for kid := t.node(node, cellFirst); kid != 0 && !a.known; kid = t.node(kid, cellNext) {
			a.e.budget.Spend(1)
			if t.node(kid, cellKind) == int(xpath.ElementNode) && t.node(kid, cellName) == int(path[0]) {
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

// value takes the next node. Of one that is not simple, the value is not known here: it is for the query to say.
func (a *answer) value(text []byte, simple bool) {
	a.count++
	switch {
	case a.function == "count":
	case a.function == "" && a.operator == "", !simple:
		a.known, a.yes = true, true
	case a.function == "contains":
		a.known, a.yes = true, bytes.Contains(text, []byte(a.text))
	case a.function == "starts-with":
		a.known, a.yes = true, bytes.HasPrefix(text, []byte(a.text))
	default:
		number, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
		if err != nil {
			number = math.NaN()
		}
		a.yes = a.compare(number)
		a.known = a.yes || a.function == "number"
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
