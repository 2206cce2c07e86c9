package xmlschema

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/webrace/webrace/internal/xpath"
)

// Field is what an index over URDs can look up.
type Field string

const (
	FieldID      Field = "id"      // [URD.ID]
	FieldOwner   Field = "owner"   // [URD.Owner]
	FieldURI     Field = "uri"     // [URD.URI]
	FieldKeyword Field = "keyword" // any key of [Keywords.All]

	FieldProtocol Field = "protocol" // [URD.Protocol]
	FieldUrgency  Field = "urgency"  // [URD.Urgency], as a number
)

// Hint is a necessary condition of a query: a URD whose field has another value does not match. It is not
// a sufficient one: the whole query decides on what is left.
type Hint struct {
	Field Field
	Value string
}

// Admits reports whether the URD meets the condition.
func (h Hint) Admits(u *URD) bool {
	switch h.Field {
	case FieldID:
		return u.ID == h.Value
	case FieldOwner:
		return u.Owner == h.Value
	case FieldURI:
		return u.URI == h.Value
	case FieldProtocol:
		return orElse(u.Protocol, ProtocolHTTP) == h.Value
	case FieldUrgency:
		return strconv.Itoa(cmp.Or(u.Urgency, DefaultUrgency)) == h.Value
	}
	for k := range u.Keywords.All() {
		if k.Key == h.Value {
			return true
		}
	}
	return false
}

// Hints returns conditions that a URD must meet for the query to match it, each of which may be used to
// look candidates up instead of scanning all. A query may have none.
func (q *Query) Hints() []Hint { return slices.Clone(q.hints) }

// Decided reports whether the hints are a sufficient condition as well: every canonical URD that they admit
// matches the query, which need not be asked.
func (q *Query) Decided() bool { return q.decided }

// decide reports whether an expression is /urd with predicates that are nothing but hints.
func decide(tokens []xpath.Token, hints []Hint) bool {
	if len(tokens) < 3 || !tokens[1].Named("urd") || !tokens[2].Is("[") {
		return false
	}
	parts, depth := 0, 0
	for i, l := range tokens[2:] {
		switch {
		case l.Is("["):
			depth++
			parts++
		case l.Is("]"):
			depth--
		case l.Is("("), l.Is(")"), depth == 0:
			return false
		case l.Named("and") && xpath.IsOperator(tokens, i+2):
			parts++
		}
	}
	// A keyword of a group is in the index, and not where the usual path looks.
	return len(hints) == parts && !slices.ContainsFunc(hints, func(h Hint) bool { return h.Field == FieldKeyword })
}

// plan finds hints in an expression that is one path from the root. Its first steps must be selected for
// the path to be, and the predicates on them must hold; of these, equalities with a string that no "or"
// weakens are hints. Whatever is not plainly of this form gives none.
func plan(tokens []xpath.Token) (hints []Hint) {
	for _, p := range predicates(tokens) {
		hints = append(hints, conjuncts(p.step, p.tokens)...)
	}
	return hints
}

// predicate is one of a path.
type predicate struct {
	step   string // the name of the step that it is on
	tokens []xpath.Token
}

// predicates returns those of an expression that is plainly one path from the root, of names and attributes alone.
func predicates(tokens []xpath.Token) (all []predicate) {
	if len(tokens) < 2 || !tokens[0].Is("/") && !tokens[0].Is("//") {
		return nil
	}
	step := ""
	for i := 0; i < len(tokens); {
		switch l := tokens[i]; {
		case l.Is("/"), l.Is("//"):
			step = ""
			if i+1 < len(tokens) && tokens[i+1].Kind == xpath.NameToken {
				step = tokens[i+1].Text
				if i+2 < len(tokens) && (tokens[i+2].Is("::") || tokens[i+2].Is("(")) {
					return nil
				}
				i++
			}
			i++
		case l.Is("["):
			end := closing(tokens, i)
			all = append(all, predicate{step, tokens[i+1 : end]})
			i = end + 1
		case l.Is("@"):
			i += 2
		default:
			return nil // an operator, a function, an axis
		}
	}
	return all
}

// closing returns where the bracket at i is closed; check saw that it is.
func closing(tokens []xpath.Token, i int) int {
	depth := 0
	for ; i < len(tokens); i++ {
		switch {
		case tokens[i].Is("["), tokens[i].Is("("):
			depth++
		case tokens[i].Is("]"), tokens[i].Is(")"):
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return i
}

// conjuncts returns the hints in a predicate of the step.
func conjuncts(step string, predicate []xpath.Token) (hints []Hint) {
	if len(split(predicate, "or")) > 1 {
		return nil
	}
	for _, part := range split(predicate, "and") {
		hints = append(hints, equality(step, part)...)
	}
	return hints
}

// split cuts tokens at an operator that no brackets enclose.
func split(tokens []xpath.Token, operator string) (parts [][]xpath.Token) {
	depth, from := 0, 0
	for i, l := range tokens {
		switch {
		case l.Is("["), l.Is("("):
			depth++
		case l.Is("]"), l.Is(")"):
			depth--
		case depth == 0 && l.Named(operator) && xpath.IsOperator(tokens, i):
			parts = append(parts, tokens[from:i])
			from = i + 1
		}
	}
	return append(parts, tokens[from:])
}

// shapes are the equalities that are hints, by their step.
var shapes = []struct {
	step  string
	path  []string
	field Field
}{
	{"urd", []string{"@", "id"}, FieldID},
	{"urd", []string{"@", "owner"}, FieldOwner},
	{"urd", []string{"uri"}, FieldURI},
	{"urd", []string{"type", "/", "@", "protocol"}, FieldProtocol},
	{"urd", []string{"urgency", "/", "@", "urgent"}, FieldUrgency},
	{"urd", []string{"keywords", "/", "keyword", "/", "@", "key"}, FieldKeyword},
	{"urd", []string{".", "//", "keyword", "/", "@", "key"}, FieldKeyword},
	{"keyword", []string{"@", "key"}, FieldKeyword},
	{"uri", []string{"."}, FieldURI},
}

// equality returns the hint in path = 'string', or in keywords/keyword[…].
func equality(step string, tokens []xpath.Token) []Hint {
	n := len(tokens)
	if step == "urd" && n > 4 && tokens[n-1].Is("]") && tokens[0].Named("keywords") && tokens[1].Is("/") &&
		tokens[2].Named("keyword") && tokens[3].Is("[") && closing(tokens, 3) == n-1 {
		return conjuncts("keyword", tokens[4:n-1])
	}
	if n < 3 || tokens[n-1].Kind != xpath.StringToken || !tokens[n-2].Is("=") {
		return nil
	}
	for _, s := range shapes {
		if s.step == step && slices.EqualFunc(tokens[:n-2], s.path, func(l xpath.Token, text string) bool { return l.Text == text }) {
			return []Hint{{s.field, tokens[n-1].Literal()}}
		}
	}
	return nil
}
