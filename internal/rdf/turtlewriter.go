package rdf

import (
	"bufio"
	"slices"
	"strings"

	"github.com/webrace/webrace"
)

// turtleBody writes Turtle or TriG: what is said of a subject in one statement as long as it comes without a break.
type turtleBody struct {
	graphs   bool
	prefixes []prefix
	begun    bool
	last     Quad // the statement that is open; without a subject there is none
	within   bool // in the braces of last.Graph
}

// prefix stands for a namespace.
type prefix struct{ name, space string }

// sortedPrefixes returns those that a syntax takes, by their names.
func sortedPrefixes(prefixes map[string]string, takes func(name string) bool) []prefix {
	var all []prefix
	for name, space := range prefixes {
		if takes(name) && space != "" && ValidIRI(space) {
			all = append(all, prefix{name, space})
		}
	}
	slices.SortFunc(all, func(a, b prefix) int { return strings.Compare(a.name, b.name) })
	return all
}

func newTurtleBody(graphs bool, prefixes map[string]string) *turtleBody {
	return &turtleBody{graphs: graphs, prefixes: sortedPrefixes(prefixes, func(name string) bool {
		return name == "" || isPlainName(name) && is(name[0], isLetter)
	})}
}

// isPlainName reports whether a name is of ASCII letters, digits, _ and -, and can stand in Turtle and XML as it is,
// but for how it begins.
func isPlainName(name string) bool {
	for i := range len(name) {
		if !is(name[i], inName) {
			return false
		}
	}
	return name != ""
}

func (t *turtleBody) write(out *bufio.Writer, q Quad) error {
	t.begin(out)
	if !t.graphs {
		q.Graph = ""
	}
	if q.Graph != t.last.Graph {
		t.endGraph(out)
		out.WriteString(t.term(q.Graph) + " {\n")
		t.within = true
	}
	switch {
	case q.Subject != t.last.Subject:
		t.endStatement(out)
		out.WriteString(t.term(q.Subject) + " " + t.predicate(q.Predicate) + " ")
	case q.Predicate != t.last.Predicate:
		out.WriteString(" ;\n    " + t.predicate(q.Predicate) + " ")
	default:
		out.WriteString(", ")
	}
	t.last = q
	_, err := out.WriteString(t.term(q.Object))
	return err
}

func (t *turtleBody) begin(out *bufio.Writer) {
	if t.begun {
		return
	}
	t.begun = true
	for _, p := range t.prefixes {
		out.WriteString("@prefix " + p.name + ": <" + p.space + "> .\n")
	}
	if len(t.prefixes) > 0 {
		out.WriteByte('\n')
	}
}

func (t *turtleBody) endStatement(out *bufio.Writer) {
	if t.last.Subject != "" {
		out.WriteString(" .\n")
	}
	t.last.Subject = ""
}

func (t *turtleBody) endGraph(out *bufio.Writer) {
	t.endStatement(out)
	if t.within {
		out.WriteString("}\n")
	}
	t.within = false
}

func (t *turtleBody) end(out *bufio.Writer) error {
	t.begin(out)
	t.endGraph(out)
	return nil
}

func (t *turtleBody) predicate(p webrace.Term) string {
	if p == typeTerm {
		return "a"
	}
	return t.term(p)
}

// term writes a term in its shortest form.
func (t *turtleBody) term(term webrace.Term) string {
	switch KindOf(term) {
	case IRI:
		return t.iri(term)
	case Literal:
		end := endOfText(term) + 1
		suffix := term[end:]
		if !strings.HasPrefix(string(suffix), "^^") {
			break
		}
		if text := string(term[1 : end-1]); isShort(text, string(suffix[len("^^"):])) {
			return text
		}
		return string(term[:end]) + "^^" + t.iri(suffix[len("^^"):])
	}
	return string(term)
}

// iri writes an IRI with the prefix of the longest namespace that fits, if the rest is a plain name.
func (t *turtleBody) iri(term webrace.Term) string {
	iri := string(term[1 : len(term)-1])
	best := prefix{}
	for _, p := range t.prefixes {
		rest, ok := strings.CutPrefix(iri, p.space)
		if ok && len(p.space) > len(best.space) && (rest == "" || isPlainName(rest) && rest[0] != '-') {
			best = p
		}
	}
	if best.space == "" {
		return string(term)
	}
	return best.name + ":" + iri[len(best.space):]
}

// isShort reports whether a literal can be written without quotation marks and its datatype.
func isShort(text, datatype string) bool {
	switch datatype {
	case "<" + XSDBoolean + ">":
		return text == "true" || text == "false"
	case "<" + XSDInteger + ">", "<" + XSDDecimal + ">", "<" + XSDDouble + ">":
		return numberType(text) == datatype
	}
	return false
}

// numberType returns the datatype that Turtle gives a number; empty if it is none, or could be taken for the end of a
// statement.
func numberType(text string) string {
	text = strings.TrimLeft(text[:min(1, len(text))], "+-") + text[min(1, len(text)):]
	mantissa, exponent, double := strings.Cut(strings.ToLower(text), "e")
	whole, fraction, point := strings.Cut(mantissa, ".")
	exponent = strings.TrimLeft(exponent[:min(1, len(exponent))], "+-") + exponent[min(1, len(exponent)):]
	if !areDigits(whole) || !areDigits(fraction) || !areDigits(exponent) || whole+fraction == "" {
		return ""
	}
	switch {
	case double && exponent != "":
		return "<" + XSDDouble + ">"
	case !double && point && fraction != "":
		return "<" + XSDDecimal + ">"
	case !double && !point:
		return "<" + XSDInteger + ">"
	}
	return ""
}

func areDigits(s string) bool {
	for i := range len(s) {
		if !is(s[i], isDigit) {
			return false
		}
	}
	return true
}
