package xpath

import (
	"context"
	"errors"
	"fmt"
)

// MaxExpression is the most bytes of an expression.
const MaxExpression = 4 << 10

// ErrBudget is the error of an evaluation that needs more steps than it may take.
var ErrBudget = errors.New("xpath expression needs too many steps")

// ErrExpression is the error of what looks like XPath, and is none.
var ErrExpression = errors.New("it is not an XPath expression")

const (
	// StepBytes of text cost as much as a step.
	StepBytes = 64
	// contextSteps is how many steps pass between looks at the context.
	contextSteps = 1 << 10
)

// Budget counts the steps of an evaluation. So that no part of one has to hand an error on, Spend panics, and
// [Evaluate] recovers.
type Budget struct {
	Context context.Context
	Left    int
}

type halt struct{ err error }

// Spend takes steps, and ends the evaluation if there are not as many left or the context has ended.
func (b *Budget) Spend(steps int) {
	before := b.Left
	b.Left -= steps
	if b.Left < 0 {
		panic(halt{ErrBudget})
	}
	if before/contextSteps != b.Left/contextSteps {
		if err := b.Context.Err(); err != nil {
			panic(halt{err})
		}
	}
}

// Evaluate runs what evaluates an expression. A panic becomes the error: [ErrBudget], that of the context,
// or whatever a damaged document made fail.
func Evaluate(work func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case halt:
			err = r.err
		default:
			err = fmt.Errorf("%v", r)
		}
	}()
	work()
	return nil
}
