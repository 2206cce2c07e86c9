// Package expression compiles the conditions and values that pipelines are configured with, in the language
// of expr-lang: `media_type in ["text/html"] and host(url) endsWith ".org"`.
//
// What an expression may name is decided when it is compiled: the fields of the values that come, by the names
// that their codecs give them ([codec.Fields]), `meta`, `kind`, `value`, and functions. A name that is none
// of these, or an operator that does not fit its operands, is an error that tells in which column. Where nothing
// is known of the values (records, any kind), names are looked up in each.
//
// An expression reads, and changes nothing. Only the fields that it names are made: one that looks at the URL
// does not touch the text. Its work on an item is bounded: there are no loops but over lists, nested twice at
// most, and what it builds is limited. A program may be used by many goroutines at once, and panics for no
// input.
package expression

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"

	"github.com/webrace/webrace/pipeline"
)

const (
	mostBytes   = 8192    // of an expression
	mostNodes   = 1000    // of its tree
	mostNesting = 2       // of functions that call a predicate for each element
	budget      = 1e6     // elements that an expression may build
	countedMost = 10_000  // the same of one whose steps are counted
	mostText    = 8 << 20 // bytes of a string that it may build
)

// Program is a compiled expression.
type Program struct {
	text   string
	code   *vm.Program
	result reflect.Type // nil where it is not known
	names  []string     // what it needs of an item, each once
	limits limits
	pool   sync.Pool // of *evaluation
}

// evaluation is what one goroutine needs to evaluate a program; its environment is filled for each item.
type evaluation struct {
	machine vm.VM
	env     map[string]any
	limiter limiter
}

// Compile makes an expression over values of these kinds ready: any value, if there are none or one of them
// has no fields that are known before. The error tells in which column what is wrong.
func Compile(text string, kinds ...pipeline.Kind) (*Program, error) {
	return compile(text, scopeOf(kinds), limits{})
}

// CompileBool is Compile for a condition. An expression whose result is not known until it is evaluated is
// one as well.
func CompileBool(text string, kinds ...pipeline.Kind) (*Program, error) {
	return condition(Compile(text, kinds...))
}

func condition(p *Program, err error) (*Program, error) {
	if err == nil && p.result != nil && p.result.Kind() != reflect.Bool {
		return nil, fmt.Errorf("expression %q is no condition: it gives %s", p.text, article(p.result))
	}
	return p, err
}

// CompileLimited is CompileBool for a condition that may take about so long on an item, and is [ErrTakesTooLong] then.
func CompileLimited(limit time.Duration, text string, kinds ...pipeline.Kind) (*Program, error) {
	return condition(compile(text, scopeOf(kinds), limits{time: limit}))
}

// CompileCounted is CompileBool for a condition whose work is counted, see [Program.BoolWithin], and that builds no
// long lists.
func CompileCounted(text string, kinds ...pipeline.Kind) (*Program, error) {
	return condition(compile(text, scopeOf(kinds), limits{counted: true}))
}

func compile(text string, s *scope, l limits) (*Program, error) {
	if len(text) > mostBytes {
		return nil, fmt.Errorf("the expression has %d bytes, more than %d", len(text), mostBytes)
	}
	tree, err := parse(text)
	if err != nil {
		return nil, positioned(text, err)
	}
	used, err := look(tree, s)
	if err != nil {
		return nil, positioned(text, err)
	}
	if err := checkConstants(tree); err != nil {
		return nil, positioned(text, err)
	}
	env, options := s.env(), append(functions(), expr.MaxNodes(mostNodes), expr.Patch(bounded{}), expr.Patch(exact{}))
	if l != (limits{}) {
		env[limiterName] = types.TypeOf((*limiter)(nil))
		options = append(options, limited()...)
	}
	options = append(options, expr.Env(env))
	if s.open {
		options = append(options, expr.AllowUndefinedVariables())
	}
	code, err := expr.Compile(text, options...)
	if err != nil {
		return nil, positioned(text, err)
	}
	p := &Program{text: text, code: code, names: used, limits: l, result: code.Node().Type()}
	if p.result != nil && p.result.Kind() == reflect.Interface {
		p.result = nil
	}
	most := uint(budget)
	if l.counted {
		most = countedMost
	}
	p.pool.New = func() any {
		return &evaluation{machine: vm.VM{MemoryBudget: most}, env: make(map[string]any, len(used))}
	}
	return p, nil
}

// parse returns the tree of an expression; the parser's panics are errors.
func parse(text string) (tree *parser.Tree, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	return parser.Parse(text)
}

// Type returns the type of the result; nil where it is not known before it is evaluated.
func (p *Program) Type() reflect.Type { return p.result }

// String returns the expression as it was written.
func (p *Program) String() string { return p.text }

// Names returns the fields and variables that the expression needs, sorted.
func (p *Program) Names() []string { return slices.Clone(p.names) }

// Parts returns the parts of a value that the expression needs, which an item may come without: those that the fields
// tell of that it names. One that asks for the case that an item is of, such as the outcome of a document, decides by
// itself, and needs none. Of several programs, nil ones are left out.
func Parts(programs ...*Program) []pipeline.Part {
	all := pipeline.NoParts
	for _, p := range programs {
		if p == nil {
			continue
		}
		parts, byCase := pipeline.PartsOfFields(p.names...)
		if byCase {
			continue
		}
		if slices.Contains(p.names, valueName) {
			parts = append(parts, pipeline.AllParts)
		}
		all = append(all, parts...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Value evaluates the expression over an item: its value and its meta data. The result keeps nothing of the
// value that is borrowed.
func (p *Program) Value(value any, meta map[string]string) (result any, err error) {
	result, _, err = p.evaluate(value, meta, 0)
	return result, err
}

// evaluate does so within so many steps, if they are counted, and returns how many it took.
func (p *Program) evaluate(value any, meta map[string]string, steps int) (result any, taken int, err error) {
	e := p.pool.Get().(*evaluation)
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("expression %q: %v", p.text, v)
		}
		taken = e.limiter.steps
		clear(e.env)
		p.pool.Put(e)
	}()
	if p.limits != (limits{}) {
		e.limiter.begin(p.limits, steps)
		e.env[limiterName] = &e.limiter
	}
	lookUp(p.names, value, meta, e.env)
	if result, err = e.machine.Run(p.code, e.env); err != nil {
		if e.limiter.over {
			return nil, 0, ErrTakesTooLong
		}
		return nil, 0, p.failed(err)
	}
	return result, 0, nil
}

// Bool evaluates a condition. A result that is no boolean is an error.
func (p *Program) Bool(value any, meta map[string]string) (bool, error) {
	result, err := p.Value(value, meta)
	if err != nil {
		return false, err
	}
	return p.asBool(result)
}

// BoolWithin evaluates a condition of [CompileCounted] within so many steps, one for each element of a list that it
// goes through, and returns how many it took. One that wants more is [ErrTakesTooLong], the same one each time.
func (p *Program) BoolWithin(value any, meta map[string]string, steps int) (holds bool, taken int, err error) {
	result, taken, err := p.evaluate(value, meta, steps)
	if err != nil {
		return false, taken, err
	}
	holds, err = p.asBool(result)
	return holds, taken, err
}

func (p *Program) asBool(result any) (bool, error) {
	holds, ok := result.(bool)
	if !ok {
		return false, fmt.Errorf("expression %q is no condition: it gave %T", p.text, result)
	}
	return holds, nil
}

// Text evaluates the expression as a text: "" for nil.
func (p *Program) Text(value any, meta map[string]string) (string, error) {
	result, err := p.Value(value, meta)
	if err != nil {
		return "", err
	}
	return Text(result), nil
}

// failed adds where in the expression an evaluation failed.
func (p *Program) failed(err error) error {
	return fmt.Errorf("evaluate: %w", positioned(p.text, err))
}

// Error is a mistake in an expression, with its place.
type Error struct {
	text   string
	place  *file.Error
	meant  string
	before int // bytes of the option's text that the expression does not begin with
}

func (e *Error) Error() string {
	if e.place.Line > 1 {
		return fmt.Sprintf("expression %q, line %d, column %d: %s", e.text, e.place.Line, e.place.Column+1, e.place.Message)
	}
	return fmt.Sprintf("expression %q, column %d: %s", e.text, e.place.Column+1, e.place.Message)
}

// Within returns the part of the option's text that the mistake is in: width bytes, at bytes from its beginning.
func (e *Error) Within() (at, width int) {
	from := byteOf(e.text, e.place.From)
	return e.before + from, byteOf(e.text, max(e.place.To, e.place.From)) - from
}

// byteOf returns where the character with this number begins, or the end of the text if it has fewer.
func byteOf(text string, character int) int {
	for at := range text {
		if character <= 0 {
			return at
		}
		character--
	}
	return len(text)
}

// Meant returns what was probably meant in place of that, which the text of the error tells as well; "" if it does not.
func (e *Error) Meant() string { return e.meant }

// positioned names the column of a mistake, counted from 1.
func positioned(text string, err error) error {
	var at *file.Error
	if !errors.As(err, &at) {
		return fmt.Errorf("expression %q: %w", text, err)
	}
	e := &Error{text: text, place: at}
	if near := (*nearError)(nil); errors.As(err, &near) {
		e.meant = near.meant
	}
	return e
}

// nearError is a name that there is not, and the one that was probably meant.
type nearError struct {
	at    *file.Error
	meant string
}

func (e *nearError) Error() string { return e.at.Error() }
func (e *nearError) Unwrap() error { return e.at }

// Text writes a result as a text: "" for nothing, numbers as they were written, lists and maps as JSON.
func Text(result any) string {
	switch r := result.(type) {
	case nil:
		return ""
	case string:
		return r
	case bool:
		return strconv.FormatBool(r)
	case int:
		return strconv.Itoa(r)
	case float64:
		return written(r)
	case json.Number:
		return r.String()
	case time.Time:
		return r.Format(time.RFC3339Nano)
	case fmt.Stringer:
		return r.String()
	}
	text, err := json.Marshal(result)
	if err != nil {
		return fmt.Sprint(result)
	}
	return string(text)
}
