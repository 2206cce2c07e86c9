package xmlschema

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/antchfx/xpath"
)

// MaxExpression is the most bytes of an XPath expression.
const MaxExpression = 4 << 10

// Query is a compiled XPath 1.0 expression. It may be used by many goroutines at once.
type Query struct {
	source  string
	expr    func() (*xpath.Expr, error) // compiles it when it is first wanted
	hints   []Hint
	decided bool
}

// Compile compiles an expression about one document, such as
//
//	/urd[@owner='eleni' and keywords/keyword/@key='java']
//
// /urds/urd and /acis/aci mean the same as /urd and /aci, because the papers hold all documents in one;
// each is still matched alone, so that positions among them are always 1. The functions are those of
// XPath 1.0 without id and lang, and ends-with and lower-case. Names with a prefix match the prefix as it
// is written; canonical documents have none.
func Compile(expression string) (*Query, error) {
	if len(expression) > MaxExpression {
		return nil, fmt.Errorf("compile xpath: the expression is longer than %s", size(MaxExpression))
	}
	tokens, err := lex(expression)
	if err == nil {
		err = check(tokens)
	}
	if err == nil {
		tokens, err = standAlone(tokens)
	}
	if err != nil {
		return nil, fmt.Errorf("compile xpath %q: %w", expression, err)
	}
	// In boolean(), the xpath package evaluates a copy of the expression, and shares no state between
	// goroutines or matches; bare, it does both.
	q := &Query{source: expression, hints: plan(tokens)}
	q.expr = sync.OnceValues(func() (*xpath.Expr, error) { return compile("boolean(" + render(tokens) + ")") })
	if q.decided = decide(tokens, q.hints); q.decided {
		return q, nil // it is an expression, and may never be evaluated
	}
	if _, err := q.expr(); err != nil {
		return nil, fmt.Errorf("compile xpath %q: %w", expression, err)
	}
	return q, nil
}

// compile is xpath.Compile, whose parser panics on some input. Its messages are about the expression as
// it was rewritten, and no help.
func compile(expression string) (expr *xpath.Expr, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errExpression
		}
	}()
	if expr, err = xpath.Compile(expression); err != nil {
		return nil, errExpression
	}
	return expr, nil
}

var errExpression = errors.New("it is not an XPath expression")

// String returns the expression.
func (q *Query) String() string { return q.source }

// Match reports whether the expression is true of the document whose table this is, taken as XPath's
// boolean() takes it: a path is true when it selects anything. It returns [ErrBudget] for an expression
// that is too costly, the context's error when that ends first, and an error for a table that
// [BuildTable] did not make.
func (q *Query) Match(ctx context.Context, tableBytes []byte) (matched bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	t, err := openTable(tableBytes)
	if err != nil {
		return false, fmt.Errorf("match xpath: %w", err)
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case halt:
			matched, err = false, fmt.Errorf("match xpath %q: %w", q.source, r.err)
		default:
			matched, err = false, fmt.Errorf("match xpath %q: %v", q.source, r)
		}
	}()
	expr, err := q.expr()
	if err != nil {
		return false, fmt.Errorf("match xpath %q: %w", q.source, err)
	}
	root := &navigator{t: &t, budget: &budget{ctx: ctx, left: maxSteps}, attr: -1}
	matched, _ = expr.Evaluate(root).(bool)
	return matched, nil
}
