package pipelinetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/expression"
	"github.com/webrace/webrace/pipeline/number"
	"github.com/webrace/webrace/pipeline/recordjson"
)

// expect compares what left a port with one expectation.
func (r *runner) expect(e config.TestExpectation) {
	name, port := portOf(e.From)
	s := stage(r.graph, name)
	if s == nil {
		r.unknownStage("from", e.At, name)
		return
	}
	if names := append([]string{"errors"}, portsOf(s)...); !slices.Contains(names, port) {
		r.fail(e.At, "from", "stage %q has no output port %q", name, port).Hint = suggest.Nearest(port, names)
		return
	}
	all := r.seen.items[e.From]
	chosen, ok := r.choice(e, all)
	if !ok {
		return
	}
	if e.Count >= 0 && len(chosen) != e.Count || e.Count < 0 && len(chosen) == 0 {
		r.miscounted(e, all, chosen)
		return
	}
	for i, it := range chosen {
		if e.Item == 0 || e.Item == i+1 {
			r.compare(e, it, fmt.Sprintf("item %d of %d", i+1, len(chosen)))
		}
	}
	if e.Item > len(chosen) {
		r.fail(e.At, "item", "there are %d items from %s, and no item %d", len(chosen), e.From, e.Item)
	}
}

// portsOf returns the names of the output ports of a stage.
func portsOf(s *pipeline.Stage) (names []string) {
	for _, p := range s.Ports() {
		names = append(names, p.Name)
	}
	return names
}

// choice returns the items that an expectation is about.
func (r *runner) choice(e config.TestExpectation, all []item) ([]item, bool) {
	if e.Where == "" {
		return all, true
	}
	condition, err := expression.CompileBool(e.Where)
	if err != nil {
		r.fail(e.At, "where", "%v", err)
		return nil, false
	}
	var chosen []item
	for _, it := range all {
		is, err := condition.Bool(it.value, it.meta)
		if err != nil {
			r.fail(e.At, "where", "%v", err)
			return nil, false
		}
		if is {
			chosen = append(chosen, it)
		}
	}
	return chosen, true
}

func (r *runner) miscounted(e config.TestExpectation, all, chosen []item) {
	want, key := "at least 1 item", "from"
	if e.Count >= 0 {
		want, key = fmt.Sprintf("%d", e.Count), "count"
	}
	of := ""
	if e.Where != "" {
		of = fmt.Sprintf(" where %s", e.Where)
	}
	f := r.fail(e.At, key, "expected %s from %s%s, and there are %d", want, e.From, of, len(chosen))
	const shown = 10
	for i, it := range all {
		if i == shown {
			f.Detail += fmt.Sprintf("  … and %d more\n", len(all)-shown)
			break
		}
		f.Detail += "  came: " + show(brief(it.fields)) + "\n"
	}
}

// compare reports what of an item is not as expected.
func (r *runner) compare(e config.TestExpectation, it item, which string) {
	each := func(key string, table pipeline.Table, differs func(want, got any) (string, error)) {
		for _, name := range slices.Sorted(maps.Keys(table)) {
			got, there := it.fields[name]
			if !there {
				r.fail(e.At, key+"."+name, "%s from %s has no field %q", which, e.From, name).Hint = suggest.Nearest(name, slices.Collect(maps.Keys(it.fields)))
				continue
			}
			detail, err := differs(table[name], got)
			if err != nil {
				r.fail(e.At, key+"."+name, "%v", err)
			} else if detail != "" {
				r.fail(e.At, key+"."+name, "%s from %s: %s is not as expected", which, e.From, name).Detail = detail
			}
		}
	}
	each("equals", e.Equals, equals)
	each("contains", e.Contains, contains)
	each("matches", e.Matches, matches)
	r.that(e, it, which)
	r.xpaths(e, it, which)
}

func (r *runner) that(e config.TestExpectation, it item, which string) {
	if e.That == "" {
		return
	}
	condition, err := expression.CompileBool(e.That)
	if err != nil {
		r.fail(e.At, "that", "%v", err)
		return
	}
	is, err := condition.Bool(it.value, it.meta)
	switch {
	case err != nil:
		r.fail(e.At, "that", "%v", err)
	case !is:
		f := r.fail(e.At, "that", "%s from %s: it is not true that %s", which, e.From, e.That)
		for _, name := range condition.Names() {
			if v, ok := it.fields[name]; ok {
				f.Detail += fmt.Sprintf("  %s is %s\n", name, show(v))
			}
		}
	}
}

// equals describes how two values differ; the keys of a table that are not mentioned do not count.
func equals(want, got any) (string, error) {
	want, err := normalizedValue(want)
	if err != nil || within(want, got) {
		return "", err
	}
	return difference(want, got), nil
}

func contains(want, got any) (string, error) {
	want, err := normalizedValue(want)
	if err != nil {
		return "", err
	}
	switch got := got.(type) {
	case string:
		if text, ok := want.(string); ok && strings.Contains(got, text) {
			return "", nil
		}
	case []any:
		if slices.ContainsFunc(got, func(element any) bool { return within(want, element) }) {
			return "", nil
		}
	default:
		return "", fmt.Errorf("only a string or a list contains something, and this is %s", show(got))
	}
	return fmt.Sprintf("  - contains %s\n  + %s\n", show(want), show(got)), nil
}

func matches(want, got any) (string, error) {
	pattern, ok := want.(string)
	if !ok {
		return "", fmt.Errorf("a regular expression is a string, not %v", want)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", err
	}
	text, ok := got.(string)
	if !ok {
		text = show(got)
	}
	if re.MatchString(text) {
		return "", nil
	}
	return fmt.Sprintf("  - matches %s\n  + %s\n", pattern, show(got)), nil
}

// within reports whether what is wanted is there: the same, or a table all of whose entries are.
func within(want, got any) bool {
	if order, areNumbers := number.Compare(want, got); areNumbers {
		return order == 0
	}
	if list, ok := want.([]any); ok {
		other, ok := got.([]any)
		return ok && slices.EqualFunc(list, other, same)
	}
	table, ok := want.(map[string]any)
	if !ok {
		return reflect.DeepEqual(want, got)
	}
	other, ok := got.(map[string]any)
	if !ok {
		return false
	}
	for name, v := range table {
		if there, ok := other[name]; !ok || !within(v, there) {
			return false
		}
	}
	return true
}

// same is within for what is in lists, whose tables are to have no other entries.
func same(want, got any) bool {
	table, isTable := want.(map[string]any)
	other, areTables := got.(map[string]any)
	return within(want, got) && (!isTable || areTables && len(table) == len(other))
}

// normalized returns fields as JSON has them.
func normalized(fields map[string]any) (map[string]any, error) {
	v, err := normalizedValue(fields)
	table, _ := v.(map[string]any)
	return table, err
}

func normalizedValue(v any) (n any, err error) {
	text, err := json.Marshal(v)
	if err == nil {
		err = recordjson.Unmarshal(text, &n)
	}
	return n, err
}
