package xmlschema

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/antchfx/xpath"

	"github.com/webrace/webrace/internal/xpathguard"
)

// Selection is a compiled XPath 1.0 expression of which the values are wanted. It may be used by many
// goroutines at once.
type Selection struct{ source, text string }

// CompileSelection compiles an expression as [Compile] does.
func CompileSelection(expression string) (*Selection, error) {
	tokens, err := compileTokens(expression)
	if err != nil {
		return nil, err
	}
	s := &Selection{expression, xpathguard.Render(tokens)}
	if _, err := xpathguard.Compile(s.text); err != nil {
		return nil, fmt.Errorf("compile xpath %q: %w", expression, err)
	}
	return s, nil
}

// Values returns what the expression selects in the document whose table this is, as XPath's string() writes it:
// the value of each node of a path in document order, or the one string, number or truth value. Its errors are
// those of [Query.Match].
func (s *Selection) Values(ctx context.Context, tableBytes []byte) (values []string, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	t, err := openTable(tableBytes)
	if err != nil {
		return nil, fmt.Errorf("select by xpath: %w", err)
	}
	expr, err := xpathguard.Compile(s.text) // evaluated, it keeps state
	if err == nil {
		err = evaluate(ctx, t, func(root *navigator) { values = valuesOf(expr.Evaluate(root)) })
	}
	if err != nil {
		return nil, fmt.Errorf("select by xpath %q: %w", s.source, err)
	}
	return values, nil
}

func valuesOf(result any) (values []string) {
	switch v := result.(type) {
	case *xpath.NodeIterator:
		for v.MoveNext() {
			values = append(values, v.Current().Value())
		}
		return values
	case float64:
		return []string{numberText(v)}
	}
	return []string{fmt.Sprint(result)}
}

// numberText writes a number as XPath 1.0 does (section 4.2).
func numberText(n float64) string {
	switch {
	case math.IsInf(n, 1):
		return "Infinity"
	case math.IsInf(n, -1):
		return "-Infinity"
	case n == 0: // of either sign
		return "0"
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}
