package expression

import (
	"errors"
	"io"
	"regexp"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
)

// ErrTakesTooLong is the error of an expression that was stopped, see [CompileLimited] and [CompileCounted].
var ErrTakesTooLong = errors.New("the expression takes too long")

// limits are those of the work on an item besides the ones that all expressions have.
type limits struct {
	time    time.Duration // 0: none
	counted bool          // in steps
}

// limiter stops an evaluation. The machine cannot be stopped from without, so a limited expression asks its limiter at
// each element of a list that it goes through, and while it looks for a pattern in a long text. What remains takes
// time in proportion to a text or list that is there.
type limiter struct {
	limits
	deadline time.Time
	steps    int
	most     int // steps, if they are counted
	over     bool
}

func (l *limiter) begin(limits limits, steps int) {
	*l = limiter{limits: limits, most: steps}
	if limits.time > 0 {
		l.deadline = time.Now().Add(limits.time)
	}
}

// step fails once the steps are taken, or the time is over, which it looks at now and then.
func (l *limiter) step(every int) error {
	l.steps++
	if l.over || l.counted && l.steps > l.most || l.time > 0 && l.steps%every == 0 && time.Now().After(l.deadline) {
		l.over = true
		return ErrTakesTooLong
	}
	return nil
}

const (
	limiterName  = "_limiter" // in the environment
	stepName     = "_step"
	matchName    = "_match"
	longToSearch = 64 << 10 // bytes of a text in which a pattern is looked for without a look at the time
)

// limited makes an expression ask its limiter.
func limited() []expr.Option {
	return []expr.Option{
		expr.Function(stepName, func(args ...any) (any, error) { return nil, args[0].(*limiter).step(16) }, new(func(*limiter) any)),
		expr.Function(matchName, match, new(func(*limiter, any, any) bool)),
		expr.Patch(stepInserter{}),
	}
}

// stepInserter puts a step before each predicate, and the limited search in the place of that of the language.
type stepInserter struct{}

func (stepInserter) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.PredicateNode:
		n.Node = &ast.SequenceNode{Nodes: []ast.Node{call(stepName), n.Node}}
	case *ast.BinaryNode:
		if pattern := compiled(n.Right); n.Operator == "matches" && pattern != nil {
			ast.Patch(node, call(matchName, n.Left, pattern))
		}
	}
}

// compiled returns a pattern that is known as one that is ready; nil if it is none, which the compiler then tells.
func compiled(pattern ast.Node) ast.Node {
	text, ok := pattern.(*ast.StringNode)
	if !ok {
		return pattern
	}
	ready, err := regexp.Compile(text.Value)
	if err != nil {
		return nil
	}
	return &ast.ConstantNode{Value: ready}
}

func call(name string, args ...ast.Node) ast.Node {
	return &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: append([]ast.Node{&ast.IdentifierNode{Value: limiterName}}, args...)}
}

// match is the operator "matches", of which nil is no match.
func match(args ...any) (any, error) {
	l := args[0].(*limiter)
	if args[1] == nil || args[2] == nil {
		return false, nil
	}
	pattern, ready := args[2].(*regexp.Regexp)
	if !ready {
		var err error
		if pattern, err = regexp.Compile(args[2].(string)); err != nil {
			return nil, err
		}
	}
	text := args[1].(string) // as with the operator, anything else panics, which is an error of the expression
	if len(text) <= longToSearch {
		return pattern.MatchString(text), nil
	}
	matched := pattern.MatchReader(&timedText{strings.NewReader(text), l})
	if l.over {
		return nil, ErrTakesTooLong
	}
	return matched, nil
}

// timedText is a text that ends when the time does.
type timedText struct {
	*strings.Reader
	limiter *limiter
}

func (t *timedText) ReadRune() (rune, int, error) {
	if t.limiter.step(256) != nil {
		return 0, 0, io.EOF
	}
	return t.Reader.ReadRune()
}
