package xmlschema

import (
	"context"
	"fmt"

	"github.com/webrace/webrace/internal/xpath"
)

// Selection is a compiled XPath 1.0 expression of which the values are wanted. It may be used by many
// goroutines at once.
type Selection struct {
	source string
	expr   *xpath.Expression
}

// CompileSelection compiles an expression as [Compile] does.
func CompileSelection(expression string) (*Selection, error) {
	tokens, err := compileTokens(expression)
	if err != nil {
		return nil, err
	}
	expr, err := xpath.Parse(tokens)
	if err != nil {
		return nil, fmt.Errorf("compile xpath %q: %w", expression, err)
	}
	return &Selection{expression, expr}, nil
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
	err = evaluate(ctx, t, func(e *evaluation) { values = s.expr.Values(e.grow(), 0, &e.budget) })
	if err != nil {
		return nil, fmt.Errorf("select by xpath %q: %w", s.source, err)
	}
	return values, nil
}
