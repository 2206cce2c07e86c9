package xpath

import (
	"math"
	"strings"
	"unicode/utf8"
)

// function is one of the library. Of its implementations, it has the one of its type.
type function struct {
	least, most int  // arguments
	ofNodes     bool // the first of which has to be nodes

	string  func(*evaluation, *expr, focus) string
	number  func(*evaluation, *expr, focus) float64
	boolean func(*evaluation, *expr, focus) bool
}

func (f *function) typ() Type {
	switch {
	case f.string != nil:
		return String
	case f.number != nil:
		return Number
	}
	return Boolean
}

// mostArguments is as many as concat takes, which is any number.
const mostArguments = math.MaxInt

var functions map[string]*function

func init() { // they refer to the evaluation, and it to them
	functions = map[string]*function{
		"position": {number: func(_ *evaluation, _ *expr, f focus) float64 { return float64(f.position) }},
		"last":     {number: func(_ *evaluation, _ *expr, f focus) float64 { return float64(f.size) }},
		"count":    {least: 1, most: 1, ofNodes: true, number: count},
		"sum":      {least: 1, most: 1, ofNodes: true, number: sum},
		"number": {most: 1, number: func(e *evaluation, x *expr, f focus) float64 {
			if len(x.args) == 0 {
				return ParseNumber(e.value(f.node))
			}
			return e.numeric(x.args[0], f)
		}},
		"floor":   rounding(math.Floor),
		"ceiling": rounding(math.Ceil),
		"round":   rounding(round),

		"name": ofName(func(e *evaluation, n Node) string {
			prefix, local := e.t.Source.Name(n.Number(), n.Attribute())
			if prefix != "" {
				return prefix + ":" + local
			}
			return local
		}),
		"local-name": ofName(func(e *evaluation, n Node) string {
			_, local := e.t.Source.Name(n.Number(), n.Attribute())
			return local
		}),
		"namespace-uri": ofName(func(e *evaluation, n Node) string { return e.t.Source.Space(n.Number(), n.Attribute()) }),

		"string": {most: 1, string: text},
		"concat": {least: 2, most: mostArguments, string: concat},
		"substring-before": {least: 2, most: 2, string: func(e *evaluation, x *expr, f focus) string {
			before, _, found := strings.Cut(e.string(x.args[0], f), e.string(x.args[1], f))
			if !found {
				return ""
			}
			return before
		}},
		"substring-after": {least: 2, most: 2, string: func(e *evaluation, x *expr, f focus) string {
			_, after, _ := strings.Cut(e.string(x.args[0], f), e.string(x.args[1], f))
			return after
		}},
		"substring": {least: 2, most: 3, string: substring},
		"normalize-space": {most: 1, string: func(e *evaluation, x *expr, f focus) string {
			return strings.Join(strings.FieldsFunc(text(e, x, f), func(r rune) bool { return strings.ContainsRune(space, r) }), " ")
		}},
		"translate":  {least: 3, most: 3, string: translate},
		"lower-case": {least: 1, most: 1, string: func(e *evaluation, x *expr, f focus) string { return strings.ToLower(text(e, x, f)) }},
		"string-length": {most: 1, number: func(e *evaluation, x *expr, f focus) float64 {
			return float64(utf8.RuneCountInString(text(e, x, f)))
		}},

		"starts-with": ofTexts(strings.HasPrefix),
		"ends-with":   ofTexts(strings.HasSuffix),
		"contains":    ofTexts(strings.Contains),
		"true":        {boolean: func(*evaluation, *expr, focus) bool { return true }},
		"false":       {boolean: func(*evaluation, *expr, focus) bool { return false }},
		"boolean":     {least: 1, most: 1, boolean: func(e *evaluation, x *expr, f focus) bool { return e.boolean(x.args[0], f) }},
		"not":         {least: 1, most: 1, boolean: func(e *evaluation, x *expr, f focus) bool { return !e.boolean(x.args[0], f) }},
	}
}

func rounding(of func(float64) float64) *function {
	return &function{least: 1, most: 1, number: func(e *evaluation, x *expr, f focus) float64 { return of(e.numeric(x.args[0], f)) }}
}

// round goes to the nearest whole number, and half way up.
func round(n float64) float64 {
	whole := math.Floor(n)
	if n-whole >= 0.5 {
		return whole + 1
	}
	return whole
}

// ofTexts is a function that compares two texts.
func ofTexts(compare func(a, b string) bool) *function {
	return &function{least: 2, most: 2, boolean: func(e *evaluation, x *expr, f focus) bool {
		return compare(e.string(x.args[0], f), e.string(x.args[1], f))
	}}
}

// ofName is a function of the name of a node, which only elements and attributes have.
func ofName(of func(*evaluation, Node) string) *function {
	return &function{most: 1, ofNodes: true, string: func(e *evaluation, x *expr, f focus) string {
		n, ok := f.node, true
		if len(x.args) > 0 {
			n, ok = e.first(x.args[0], f)
		}
		if kind := e.t.Kind(n); !ok || kind != Element && kind != Attribute {
			return ""
		}
		return of(e, n)
	}}
}

// text returns the argument as a string; without one that of the node itself.
func text(e *evaluation, x *expr, f focus) string {
	if len(x.args) == 0 {
		return e.value(f.node)
	}
	return e.string(x.args[0], f)
}

func count(e *evaluation, x *expr, f focus) float64 {
	nodes := e.set(x.args[0], f)
	defer e.give(nodes)
	return float64(len(nodes))
}

func sum(e *evaluation, x *expr, f focus) (all float64) {
	nodes := e.set(x.args[0], f)
	defer e.give(nodes)
	for _, n := range nodes {
		all += ParseNumber(e.value(n))
	}
	return all
}

// concat pays for memory, which is more than reading costs: it makes long texts of one that is read once.
func concat(e *evaluation, x *expr, f focus) string {
	var all strings.Builder
	for i := range x.args {
		part := e.string(x.args[i], f)
		e.budget.Spend(len(part) / keptBytes)
		all.WriteString(part)
	}
	return all.String()
}

func substring(e *evaluation, x *expr, f focus) string {
	of, from, end := e.string(x.args[0], f), round(e.numeric(x.args[1], f)), math.Inf(1)
	if len(x.args) > 2 {
		end = from + round(e.numeric(x.args[2], f))
	} else if math.IsInf(from, -1) {
		return of
	}
	first, position := -1, 0.0
	for i := range of {
		position++
		switch in := position >= from && position < end; {
		case in && first < 0:
			first = i
		case !in && first >= 0:
			return of[first:i]
		}
	}
	if first < 0 {
		return ""
	}
	return of[first:]
}

func translate(e *evaluation, x *expr, f focus) string {
	of, from, to := e.string(x.args[0], f), e.string(x.args[1], f), []rune(e.string(x.args[2], f))
	into := make(map[rune]rune)
	position := 0
	for _, r := range from {
		if _, known := into[r]; !known {
			into[r] = -1 // left out
			if position < len(to) {
				into[r] = to[position]
			}
		}
		position++
	}
	return strings.Map(func(r rune) rune {
		if other, ok := into[r]; ok {
			return other
		}
		return r
	}, of)
}
