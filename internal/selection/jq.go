package selection

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/formats"
	"github.com/webrace/webrace/internal/htmltree"
	"github.com/webrace/webrace/internal/normalform"
	"github.com/webrace/webrace/internal/xpath"
)

// jqProgram is a rule in jq. What leads to parts of a document selects these, with their paths; what computes something
// new gives that as text.
type jqProgram struct {
	values *gojq.Code
	paths  *gojq.Code // of what the program gives; it fails for what is computed
}

// stepsPerJQ are the cost of an instruction, which takes that many times as long as a step of XPath.
const stepsPerJQ = 4

// parseJQ reads a program.
func parseJQ(source string) (*jqProgram, error) {
	query, err := gojq.Parse(source)
	if err != nil {
		return nil, atCharacter(err, source)
	}
	if err := confine(query); err != nil {
		return nil, err
	}
	compile := func(q *gojq.Query) (*gojq.Code, error) {
		return gojq.Compile(q, gojq.WithVariables([]string{budgetVariable}), gojq.WithFunction(chargeFunction, 1, 1, charge),
			gojq.WithFunction(factorsFunction, 3, 3, factors), gojq.WithFunction(narrowFunction, 1, 1, narrow), gojq.WithFunction(subjectFunction, 2, 2, subject))
	}
	p := &jqProgram{}
	if p.values, err = compile(query); err != nil {
		return nil, err
	}
	p.paths, err = compile(call("path", query))
	return p, err
}

// atCharacter adds where an error of the syntax is.
func atCharacter(err error, source string) error {
	var fault *gojq.ParseError
	if !errors.As(err, &fault) {
		return err
	}
	at := min(max(fault.Offset-len(fault.Token), 0), len(source))
	if fault.Token == "" {
		return fmt.Errorf("at its end: %w", err)
	}
	return fmt.Errorf("at character %d: %w", utf8.RuneCountInString(source[:at])+1, err)
}

// meteredContext counts the instructions of a program: the machine asks it before each whether it is to end. The budget
// ends it with a panic, as all that is done for rules.
type meteredContext struct {
	*jqRun
}

// jqRun is the work of a program on one document. What an instruction takes beside its cost, since a value is large, is
// paid for where the value is made: see [confine].
type jqRun struct{ budget *xpath.Budget }

func (c meteredContext) Deadline() (time.Time, bool) { return time.Time{}, false }
func (c meteredContext) Err() error                  { return nil }
func (c meteredContext) Value(any) any               { return nil }
func (c meteredContext) Done() <-chan struct{} {
	c.budget.Spend(stepsPerJQ)
	return nil
}

// run calls back with what a program gives. The error is what the program reports of a value that it is not for.
func (r *jqRun) run(code *gojq.Code, value any, found func(any)) error {
	results := code.RunWithContext(meteredContext{r}, value, r)
	for {
		result, ok := results.Next()
		if !ok {
			return nil
		}
		if err, failed := result.(error); failed {
			return err
		}
		r.budget.Spend(stepsPerHit)
		found(result)
	}
}

// jsonValues returns the values of a document of JSON; nil if it is of another type, or broken. There is one, but in a
// file of lines.
func (d *Document) jsonValues() ([]any, error) {
	if d.parsed || !formats.IsJSON(d.mediaType) {
		return d.values, d.err
	}
	d.parsed = true
	if len(d.body) > htmltree.MaxInput {
		d.err = htmltree.ErrTooLarge
		return nil, d.err
	}
	text, err := d.utf8()
	if err != nil {
		d.err = err
		return nil, err
	}
	if formats.CountJSON(text) > mostJSONValues*min(max(len(text)>>20, 1), mostJSONShare) {
		d.err = htmltree.ErrTooLarge
		return nil, d.err
	}
	decoder := formats.Decoder(text)
	for {
		var value any
		if err := decoder.Decode(&value); err != nil {
			if !errors.Is(err, io.EOF) {
				d.broken = formats.JSONFault(text, err)
			}
			break
		}
		if !shallowerThan(value, formats.Default.Depth) {
			d.err = htmltree.ErrTooLarge
			return nil, d.err
		}
		d.values = append(d.values, inNormalForm(value))
	}
	d.numbered = len(d.values) > 1 || formats.Of(d.mediaType, "", nil) == formats.JSONLines
	d.json = text
	return d.values, nil
}

const (
	// mostJSONValues are as many as a document of a megabyte may have: what is decoded takes many times the memory of its
	// text. A larger document may have so many a megabyte, up to mostJSONShare times.
	mostJSONValues = 1 << 18
	mostJSONShare  = 4
)

// inNormalForm makes the texts of a value those that programs compare. Keys stay, since paths are made of them.
func inNormalForm(value any) any {
	switch v := value.(type) {
	case string:
		return normalform.String(v)
	case []any:
		for i := range v {
			v[i] = inNormalForm(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = inNormalForm(v[key])
		}
	}
	return value
}

func shallowerThan(value any, depth int) bool {
	if depth < 0 {
		return false
	}
	switch v := value.(type) {
	case []any:
		return !slices.ContainsFunc(v, func(e any) bool { return !shallowerThan(e, depth-1) })
	case map[string]any:
		for _, e := range v {
			if !shallowerThan(e, depth-1) {
				return false
			}
		}
	}
	return true
}

// jqPart is what rules select of a document of JSON.
type jqPart struct {
	chosen, ignored map[string]bool // paths
	computed        []string        // blocks
}

// json returns the text that the rules select of a document of JSON.
func (w *work) json(d *Document, values []any) *webrace.Text {
	part := jqPart{chosen: map[string]bool{}, ignored: map[string]bool{}}
	for i, r := range w.rules {
		if r.jq == nil {
			continue
		}
		w.running = &w.rules[i].Rule
		run := &jqRun{w.budget}
		for number, value := range values {
			prefix := []any(nil)
			if d.numbered {
				prefix = []any{number}
			}
			if w.jq(run, &r, prefix, value, &part) {
				w.matched[i] = true
			}
		}
		w.running = nil
	}
	chosen := part.chosen
	if !w.chosen {
		chosen = nil
	}
	w.budget.Spend(len(d.json) / renderedBytes)
	text := formats.Part(formats.Of(d.mediaType, "", nil), d.json, chosen, part.ignored)
	for _, block := range part.computed {
		w.budget.Spend(len(block) / renderedBytes)
		block = strings.ReplaceAll(strings.ToValidUTF8(block, "\ufffd"), "\x00", "")
		appendBlock(text, strings.Trim(block, space), webrace.FieldBody)
	}
	return text
}

// jq applies a rule to a value, and reports whether it matches anything.
func (w *work) jq(run *jqRun, r *compiled, prefix []any, value any, part *jqPart) (matched bool) {
	into := part.chosen
	if r.Ignore {
		into = part.ignored
	}
	var paths []string
	err := run.run(r.jq.paths, value, func(path any) {
		if steps, ok := resolve(value, path); ok {
			paths = append(paths, formats.Path(append(slices.Clone(prefix), steps...)))
		}
	})
	if err == nil {
		for _, path := range paths {
			into[path] = true
		}
		return len(paths) > 0
	}
	if r.Ignore {
		return false // what is computed is no part that could be ignored
	}
	size := 0
	_ = run.run(r.jq.values, value, func(result any) {
		if result == nil {
			return
		}
		matched = true
		formats.FlattenJSON(nil, result, scalarText, func(block string) bool {
			w.budget.Spend(len(block)/renderedBytes + stepsPerMatch)
			part.computed = append(part.computed, block)
			size += len(block)
			return size < formats.Default.Text
		})
	})
	return matched
}

// resolve returns the steps of a path from the beginning of lists, and whether it leads to anything.
func resolve(value any, path any) (steps []any, there bool) {
	all, ok := path.([]any)
	if !ok {
		return nil, false
	}
	for _, step := range all {
		switch step := step.(type) {
		case string:
			object, ok := value.(map[string]any)
			if !ok {
				return nil, false
			}
			if value, ok = object[step]; !ok {
				return nil, false
			}
			steps = append(steps, step)
		default:
			index, ok := wholeNumber(step)
			list, isList := value.([]any)
			if ok && index < 0 {
				index += len(list)
			}
			if !ok || !isList || index < 0 || index >= len(list) {
				return nil, false
			}
			value = list[index]
			steps = append(steps, index)
		}
	}
	return steps, true
}

func wholeNumber(v any) (int, bool) {
	switch v := v.(type) {
	case int:
		return v, true
	case float64:
		return int(v), float64(int(v)) == v
	case json.Number:
		n, err := strconv.Atoi(v.String())
		return n, err == nil
	}
	return 0, false
}

// scalarText returns how a value that is neither object nor list is written.
func scalarText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil:
		return "null"
	case float64:
		if b, err := json.Marshal(v); err == nil {
			return string(b)
		}
	case *big.Int:
		return v.String()
	}
	return fmt.Sprint(v)
}

// valueText returns a value as text: objects and lists as JSON.
func valueText(v any) string {
	switch v.(type) {
	case []any, map[string]any:
		if b, err := gojq.Marshal(v); err == nil {
			return string(b)
		}
	}
	return scalarText(v)
}
