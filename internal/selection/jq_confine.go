package selection

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/itchyny/gojq"

	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/internal/xpath"
)

// The machine that runs jq cannot be stopped within an instruction, and some take as long as their result is large:
// "[.,.]" thirty times, and then tojson. So a program is confined before it is compiled. Behind all that makes a
// value which may be larger than what it is made of stands a function that measures the result, to any depth, and
// takes what it measures out of the budget; the factors of a product are measured before. What takes the square of
// its input is paid for before, or has a short argument. Functions that make much out of little, change the document,
// or give another result each time are not known.

const (
	budgetVariable  = "$__budget"
	chargeFunction  = "_charge"
	factorsFunction = "_factors"
	narrowFunction  = "_narrow"
	subjectFunction = "_subject"
)

const (
	// largestValue is the most bytes of a value that is made, those of its parts together.
	largestValue = 16 << 20
	// measuredBytes are made at the cost of a step.
	measuredBytes = 16
	// valueBytes is what a value takes besides its text.
	valueBytes = 32
	// narrowValue is the most bytes of a value that each part of another one is compared with.
	narrowValue = 8 << 10
	// mostDigits of a whole number.
	mostDigits = 1000
)

// charge takes the cost of a value out of the budget, which is the argument.
func charge(value any, args []any) any {
	run, ok := args[0].(*jqRun)
	if !ok {
		return errors.New("no budget")
	}
	m := measure{budget: run.budget}
	if m.value(value, formats.Default.Depth) != nil || m.bytes > largestValue {
		run.budget.Spend(run.budget.Left + 1)
	}
	return value
}

var errTooDeep = errors.New("nested too deep")

// measure is how large a value is. It is paid for as it is measured: what is shared by several parts counts for each.
type measure struct {
	budget *xpath.Budget
	bytes  int
}

func (m *measure) add(bytes int) {
	m.bytes += bytes
	m.budget.Spend((bytes + measuredBytes - 1) / measuredBytes)
}

func (m *measure) value(value any, depth int) error {
	if depth < 0 {
		return errTooDeep
	}
	switch v := value.(type) {
	case string:
		m.add(len(v) + valueBytes)
	case json.Number:
		m.add(len(v) + valueBytes)
	case *big.Int:
		m.add(v.BitLen()/8 + valueBytes)
	case []any:
		m.add(valueBytes)
		for _, e := range v {
			if err := m.value(e, depth-1); err != nil {
				return err
			}
		}
	case map[string]any:
		m.add(valueBytes)
		for key, e := range v {
			m.add(len(key) + valueBytes)
			if err := m.value(e, depth-1); err != nil {
				return err
			}
		}
	default:
		m.add(valueBytes)
	}
	return nil
}

// narrow refuses a value that is not short.
func narrow(value any, args []any) any {
	run := args[0].(*jqRun)
	m := measure{budget: run.budget}
	if m.value(value, formats.Default.Depth) != nil || m.bytes > narrowValue {
		run.budget.Spend(run.budget.Left + 1)
	}
	return value
}

// subject pays for looking for a pattern, of the given size, in a text. For each match the machine counts the
// characters before it.
func subject(value any, args []any) any {
	text, isText := value.(string)
	size, _ := wholeNumber(args[1])
	if isText {
		args[0].(*jqRun).budget.Spend(len(text)*size/stepsPerInstruction + len(text)/32*len(text)/32)
	}
	return value
}

// factors returns what is to be multiplied, if the product is not too large.
func factors(_ any, args []any) any {
	left, right, run := args[1], args[2], args[0].(*jqRun)
	for _, pair := range [][2]any{{left, right}, {right, left}} {
		text, isText := pair[0].(string)
		if times, ok := toFloat(pair[1]); isText && ok && times*float64(len(text)) > largestValue {
			run.budget.Spend(run.budget.Left + 1)
		}
	}
	if digits(left)+digits(right) > mostDigits {
		run.budget.Spend(run.budget.Left + 1)
	}
	return []any{left, right}
}

func toFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case float64:
		return v, true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	case *big.Int:
		return math.Inf(1), true
	}
	return 0, false
}

func digits(v any) int {
	switch v := v.(type) {
	case json.Number:
		return len(v)
	case *big.Int:
		return v.BitLen() / 3
	}
	return 0
}

// Functions that pass on values that there are already. They stay as they are, so that they may stand in a path.
var passing = functions(`empty error/0 error/1 not select/1 recurse/0 recurse/1 recurse/2 first/0 first/1 last/0 last/1 nth/1 nth/2
	limit/2 skip/2 until/2 while/2 repeat/1 getpath/1 arrays objects iterables booleans numbers finites normals strings nulls values scalars
	has/1 in/1 type length isempty/1 all/0 all/1 all/2 any/0 any/1 any/2 isnan isinfinite isfinite isnormal
	startswith/1 endswith/1 contains/1 test/1 test/2 min max min_by/1 max_by/1 IN/1 IN/2`)

// Functions whose results are measured.
var measured = functions(`abs utf8bytelength keys keys_unsorted map/1 to_entries from_entries with_entries/1 add/0 add/1 flatten/0 flatten/1
	range/1 range/2 range/3 floor round ceil trunc fabs sqrt pow/2 log log10 log2 exp tostring tonumber toboolean sort sort_by/1 group_by/1
	unique unique_by/1 reverse ltrimstr/1 rtrimstr/1 trimstr/1 ltrim rtrim trim split/1 split/2 splits/1 splits/2 join/1
	ascii_downcase ascii_upcase match/1 match/2 capture/1 capture/2 scan/1 scan/2 sub/2 sub/3 gsub/2 gsub/3
	index/1 rindex/1 indices/1 explode implode tojson fromjson todate fromdate todateiso8601 fromdateiso8601
	strptime/1 strftime/1 mktime gmtime paths/0 paths/1 path/1 del/1 walk/1 infinite nan format/1`)

// functions reads names with their numbers of arguments, of which none need not be written.
func functions(list string) map[string]bool {
	all := map[string]bool{}
	for name := range strings.FieldsSeq(list) {
		if !strings.Contains(name, "/") {
			name += "/0"
		}
		all[name] = true
	}
	return all
}

// confinement is the rewriting of a program.
type confinement struct {
	own map[string]bool // the functions that the program defines, and their parameters
	err error
}

// confine rewrites a program in place, or reports what in it may not be there.
func confine(q *gojq.Query) error {
	if q.Meta != nil || len(q.Imports) > 0 {
		return errors.New("modules cannot be included")
	}
	c := &confinement{own: map[string]bool{}}
	c.query(q)
	return c.err
}

func (c *confinement) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// queries rewrites those of a list that there are.
func (c *confinement) queries(all ...*gojq.Query) {
	for _, q := range all {
		if q != nil {
			c.query(q)
		}
	}
}

func (c *confinement) query(q *gojq.Query) {
	for _, f := range q.FuncDefs {
		c.define(f)
	}
	c.patterns(q.Patterns)
	if q.Term != nil {
		c.term(q.Term)
		return
	}
	c.queries(q.Left, q.Right)
	switch q.Op {
	case gojq.OpAdd:
		sum := &gojq.Query{Left: q.Left, Op: gojq.OpAdd, Right: q.Right}
		*q = gojq.Query{FuncDefs: q.FuncDefs, Left: sum, Op: gojq.OpPipe, Right: call(chargeFunction, variable())}
	case gojq.OpMul:
		q.Left, q.Op, q.Right = call(factorsFunction, variable(), q.Left, q.Right), gojq.OpPipe, product()
	case gojq.OpSub:
		q.Right = pipe(q.Right, call(narrowFunction, variable()))
	case gojq.OpAssign, gojq.OpModify, gojq.OpUpdateAdd, gojq.OpUpdateSub, gojq.OpUpdateMul, gojq.OpUpdateDiv, gojq.OpUpdateMod, gojq.OpUpdateAlt:
		c.fail("%s would change the document, which is only looked at", q.Op)
	}
}

// product multiplies a pair, and measures the result.
func product() *gojq.Query {
	q, err := gojq.Parse(".[0] * .[1] | " + chargeFunction + "(" + budgetVariable + ")")
	if err != nil {
		panic(err)
	}
	return q
}

func call(name string, args ...*gojq.Query) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name, Args: args}}}
}

func pipe(left, right *gojq.Query) *gojq.Query {
	return &gojq.Query{Left: left, Op: gojq.OpPipe, Right: right}
}

func variable() *gojq.Query { return call(budgetVariable) }

// define takes note of a function, whose name must not be that of another: where it is not defined, it would mean that.
func (c *confinement) define(f *gojq.FuncDef) {
	names := []string{f.Name}
	for _, arg := range f.Args {
		names = append(names, strings.TrimPrefix(arg, "$"))
	}
	for _, name := range names {
		if builtins()[name] || strings.HasPrefix(name, "_") {
			c.fail("%q is a function of jq already: call it otherwise", name)
		}
		c.own[name] = true
	}
	c.query(f.Body)
}

// builtins are the names of all functions of jq.
var builtins = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{"env": true, "input": true, "debug": true, "stderr": true, "input_filename": true, "splits": true}
	q, err := gojq.Parse("builtins[]")
	if err != nil {
		panic(err)
	}
	for iter := q.Run(nil); ; {
		v, ok := iter.Next()
		if !ok {
			return all
		}
		name, _, _ := strings.Cut(fmt.Sprint(v), "/")
		all[name] = true
	}
})

func (c *confinement) patterns(all []*gojq.Pattern) {
	for _, p := range all {
		c.pattern(p)
	}
}

func (c *confinement) pattern(p *gojq.Pattern) {
	if p == nil {
		return
	}
	c.name(p.Name)
	c.patterns(p.Array)
	for _, o := range p.Object {
		c.name(o.Key)
		c.text(o.KeyString)
		c.queries(o.KeyQuery)
		c.pattern(o.Val)
	}
}

// name refuses variables that are not the program's.
func (c *confinement) name(name string) {
	if strings.HasPrefix(name, "$__") || name == "$ENV" {
		c.fail("there is no variable %s", name)
	}
}

func (c *confinement) text(s *gojq.String) {
	if s != nil {
		c.queries(s.Queries...)
	}
}

func (c *confinement) index(i *gojq.Index) {
	if i != nil {
		c.text(i.Str)
		c.queries(i.Start, i.End)
	}
}

// term rewrites a term, and has its value measured if it is a new one.
func (c *confinement) term(t *gojq.Term) {
	made, size := false, 0
	switch t.Type {
	case gojq.TermTypeIndex:
		c.index(t.Index)
	case gojq.TermTypeFunc:
		made, size = c.call(t.Func)
	case gojq.TermTypeObject:
		for _, kv := range t.Object.KeyVals {
			c.name(kv.Key)
			c.text(kv.KeyString)
			c.queries(kv.KeyQuery, kv.Val)
		}
		made = len(t.Object.KeyVals) > 0
	case gojq.TermTypeArray:
		c.queries(t.Array.Query)
		made = t.Array.Query != nil
	case gojq.TermTypeUnary:
		c.term(t.Unary.Term)
	case gojq.TermTypeFormat, gojq.TermTypeString:
		c.text(t.Str)
		made = t.Type == gojq.TermTypeFormat || t.Str != nil && len(t.Str.Queries) > 0
	case gojq.TermTypeIf:
		c.queries(t.If.Cond, t.If.Then, t.If.Else)
		for _, e := range t.If.Elif {
			c.queries(e.Cond, e.Then)
		}
	case gojq.TermTypeTry:
		c.queries(t.Try.Body, t.Try.Catch)
	case gojq.TermTypeReduce:
		c.patterns(t.Reduce.Patterns)
		c.queries(t.Reduce.Query, t.Reduce.Start, t.Reduce.Update)
	case gojq.TermTypeForeach:
		c.patterns(t.Foreach.Patterns)
		c.queries(t.Foreach.Query, t.Foreach.Start, t.Foreach.Update, t.Foreach.Extract)
	case gojq.TermTypeLabel:
		c.queries(t.Label.Body)
	case gojq.TermTypeQuery:
		c.queries(t.Query)
	}
	for _, s := range t.SuffixList {
		c.index(s.Index)
	}
	if !made && size == 0 {
		return
	}
	core := *t
	core.SuffixList = nil
	q := &gojq.Query{Term: &core}
	if size > 0 {
		number := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeNumber, Number: strconv.Itoa(size)}}
		q = pipe(call(subjectFunction, variable(), number), q)
	}
	if made {
		q = pipe(q, call(chargeFunction, variable()))
	}
	*t = gojq.Term{Type: gojq.TermTypeQuery, SuffixList: t.SuffixList, Query: q}
}

// call rewrites a call, and reports whether its result is to be measured, and the size of the pattern that it looks
// for, if it does.
func (c *confinement) call(f *gojq.Func) (made bool, size int) {
	c.queries(f.Args...)
	if strings.HasPrefix(f.Name, "$") {
		c.name(f.Name)
		return false, 0
	}
	name := fmt.Sprintf("%s/%d", f.Name, len(f.Args))
	switch {
	case c.own[f.Name]:
		return false, 0
	case !measured[name] && !passing[name]:
		c.unknown(f.Name, name)
		return false, 0
	case f.Name == "join":
		c.literal(f)
	case patterned[name]:
		size = c.patternSize(f)
	case f.Name == "contains" || f.Name == "index" || f.Name == "rindex" || f.Name == "indices":
		f.Args[0] = pipe(f.Args[0], call(narrowFunction, variable()))
	case strings.HasSuffix(f.Name, "_by"):
		f.Args[0] = pipe(f.Args[0], call(chargeFunction, variable()))
	}
	if f.Name == "sub" || f.Name == "gsub" {
		f.Args[1] = pipe(f.Args[1], call(chargeFunction, variable()))
	}
	return measured[name], size
}

// patterned are functions whose first argument is a regular expression.
var patterned = functions(`test/1 test/2 match/1 match/2 capture/1 capture/2 scan/1 scan/2 split/2 splits/1 splits/2 sub/2 sub/3 gsub/2 gsub/3`)

// patternSize returns the size of the pattern that a call looks for.
func (c *confinement) patternSize(f *gojq.Func) int {
	if !c.literal(f) {
		return 0
	}
	p, err := parseRegex(f.Args[0].Term.Str.Str)
	if err != nil {
		c.fail("%s: %w", f.Name, err)
		return 0
	}
	return p.size
}

// literal holds that the first argument is a text in quotes, whose cost is known.
func (c *confinement) literal(f *gojq.Func) bool {
	if !isLiteral(f.Args[0]) {
		c.fail("%s takes a text in quotes", f.Name)
		return false
	}
	return true
}

func isLiteral(q *gojq.Query) bool {
	return q.Term != nil && q.Term.Type == gojq.TermTypeString && len(q.Term.SuffixList) == 0 && len(q.Term.Str.Queries) == 0
}

func (c *confinement) unknown(word, name string) {
	var known, counts []string
	for _, all := range []map[string]bool{passing, measured} {
		for _, f := range slices.Sorted(maps.Keys(all)) {
			base, arguments, _ := strings.Cut(f, "/")
			if known = append(known, base); base == word {
				counts = append(counts, arguments)
			}
		}
	}
	switch near := suggest.Nearest(word, known); {
	case len(counts) > 0:
		c.fail("%s takes %s arguments, not %s", word, strings.Join(counts, " or "), name[len(word)+1:])
	case builtins()[word]:
		c.fail("%s is not to be had here: rules look at a document, at bounded cost, and find the same each time", word)
	case near != "":
		c.fail("there is no function %s (did you mean %s?)", name, near)
	default:
		c.fail("there is no function %s", name)
	}
}
