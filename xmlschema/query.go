package xmlschema

import (
	"context"
	"fmt"
	"strings"

	"github.com/webrace/webrace/internal/xpath"
)

// MaxExpression is the most bytes of an XPath expression.
const MaxExpression = xpath.MaxExpression

// Query is a compiled XPath 1.0 expression. It may be used by many goroutines at once.
type Query struct {
	source  string
	expr    *xpath.Expression
	hints   []Hint
	decided bool
	screen  *screen
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
	tokens, err := compileTokens(expression)
	if err != nil {
		return nil, err
	}
	expr, err := xpath.Parse(tokens)
	if err != nil {
		return nil, fmt.Errorf("compile xpath %q: %w", expression, err)
	}
	q := &Query{source: expression, expr: expr, hints: plan(tokens)}
	if q.decided = decide(tokens, q.hints); !q.decided {
		q.screen = newScreen(tokens)
	}
	return q, nil
}

// compileTokens checks an expression, and returns what it is made of, about one document.
func compileTokens(expression string) ([]xpath.Token, error) {
	if len(expression) > MaxExpression {
		return nil, fmt.Errorf("compile xpath: the expression is longer than %s", size(MaxExpression))
	}
	tokens, err := xpath.Lex(expression)
	if err == nil {
		tokens, err = standAlone(tokens)
	}
	if err != nil {
		return nil, fmt.Errorf("compile xpath %q: %w", expression, err)
	}
	return tokens, nil
}

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
	err = evaluate(ctx, t, func(e *evaluation) {
		verdict := q.screen.ask(e)
		if matched = verdict == yes; verdict == maybe {
			e.budget.Left = maxSteps
			matched = q.expr.True(e.grow(), 0, &e.budget)
		}
	})
	if err != nil {
		return false, fmt.Errorf("match xpath %q: %w", q.source, err)
	}
	return matched, nil
}

// standAlone rewrites paths that begin at the list of all documents to begin at the one.
func standAlone(tokens []xpath.Token) ([]xpath.Token, error) {
	out := make([]xpath.Token, 0, len(tokens))
	for i := 0; i < len(tokens); i++ {
		out = append(out, tokens[i])
		absolute := tokens[i].Is("/") && (i == 0 || !xpath.EndsOperand(tokens, i-1))
		if !absolute || i+1 == len(tokens) || !tokens[i+1].Named("urds") && !tokens[i+1].Named("acis") {
			continue
		}
		list := tokens[i+1].Text
		if i+2 == len(tokens) || !tokens[i+2].Is("/") && !tokens[i+2].Is("//") {
			return nil, fmt.Errorf("every document is matched alone: write /%s", strings.TrimSuffix(list, "s"))
		}
		out = out[:len(out)-1]
		i++ // the next round takes the slash behind the list
	}
	return out, nil
}
