// Package mapping is the stage that changes items without a line of Go: it sets fields and meta data to what
// expressions give, makes records of some fields, and drops what does not meet a condition. What it was given
// stays as it was; a copy goes on.
package mapping

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/expression"
	_ "github.com/webrace/webrace/stages/kinds" // whose fields expressions name
)

// Options of the stage.
type Options struct {
	Where  string            `toml:"where" is:"expression" doc:"an expression: items for which it does not hold are dropped"`
	Set    map[string]string `toml:"set" is:"expression" doc:"fields and the expressions that give them their values, all of the item as it came; \"meta.NAME\" sets meta data"`
	Record bool              `toml:"record" doc:"make a record of the fields that are set, instead of changing those of the value"`
	Kind   string            `toml:"kind" doc:"the kind of the items, so that fields and expressions are checked when the pipeline is loaded; empty: they may be of any"`
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "map",
		Single:  true,
		Summary: "sets fields to what expressions give, and drops what does not meet a condition",
		Doc: "`set = { title = \"upper(title)\", \"meta.lang\" = \"language\" }` changes a title, and notes the language beside the value. " +
			"The counter `refused` says how many did not meet `where`.",
		In:  pipeline.Kinds(pipeline.KindOf[any]()),
		Out: []pipeline.Port{{Kind: pipeline.SameAsInput, Doc: "the item with its changes, or a record"}},
	}, Options{}, newStage)
}

// Ports returns a port of records if the stage makes them.
func (o Options) Ports() []pipeline.Port {
	if o.Record {
		return []pipeline.Port{{Kind: pipeline.RecordOf(o.fields()...), Doc: "the record"}}
	}
	return []pipeline.Port{{Kind: pipeline.SameWith(o.fields()...), Doc: "the item with its changes"}}
}

// fields lists the fields that are set, sorted.
func (o Options) fields() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(o.Set)) {
		if !strings.HasPrefix(name, metaPrefix) {
			names = append(names, name)
		}
	}
	return names
}

// CheckNames refuses expressions that name what nothing that comes has, and fields to set that it does not have.
func (o Options) CheckNames(given []pipeline.Kind) error {
	if o.Kind != "" {
		return expression.CheckKind(o.Kind, given)
	}
	all := []error{expression.CheckCondition("where", o.Where, given)}
	for _, name := range slices.Sorted(maps.Keys(o.Set)) {
		err := expression.CheckNames("set."+name, o.Set[name], given)
		if err == nil && !o.Record && !strings.HasPrefix(name, metaPrefix) && !slices.ContainsFunc(given, isRecord) {
			err = expression.CheckField("set."+name, name, given)
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

// isRecord reports whether values of the kind take any field.
func isRecord(k pipeline.Kind) bool { return k.Accepts(pipeline.KindOf[pipeline.Record]()) }

// NeededParts returns what the expressions need.
func (o Options) NeededParts() []pipeline.Part {
	c, err := newChange(o)
	if err != nil { // which Validate reports
		return pipeline.NoParts
	}
	programs := []*expression.Program{c.where}
	for _, a := range slices.Concat(c.fields, c.meta) {
		programs = append(programs, a.from)
	}
	return expression.Parts(programs...)
}

// Validate refuses expressions that are none, and fields that the kind does not have.
func (o Options) Validate() error {
	if o.Where == "" && len(o.Set) == 0 {
		return &pipeline.OptionError{Option: "set", Err: errors.New("is not set, and neither is where: nothing would be done")}
	}
	if o.Record && len(o.Set) == 0 {
		return &pipeline.OptionError{Option: "record", Err: errors.New("needs set, which says what is in a record")}
	}
	_, err := newChange(o)
	return err
}

// change is what is done to each item.
type change struct {
	where  *expression.Program // nil: nothing is dropped
	fields []assignment
	meta   []assignment
	record bool
}

// assignment gives a field its value.
type assignment struct {
	name string
	from *expression.Program
}

const metaPrefix = "meta."

// newChange compiles the options. Its errors are those of one of them.
func newChange(o Options) (*change, error) {
	kinds, err := expression.KindsNamed(o.Kind)
	if err != nil {
		return nil, &pipeline.OptionError{Option: "kind", Err: err}
	}
	c := &change{record: o.Record}
	if o.Where != "" {
		if c.where, err = expression.CompileBool(o.Where, kinds...); err != nil {
			return nil, &pipeline.OptionError{Option: "where", Err: err}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Set)) {
		program, err := expression.Compile(o.Set[name], kinds...)
		if err == nil && !o.Record && !strings.HasPrefix(name, metaPrefix) {
			err = settable(o.Kind, name, program.Type())
		}
		if err != nil {
			return nil, &pipeline.OptionError{Option: "set." + name, Err: err}
		}
		if key, ok := strings.CutPrefix(name, metaPrefix); ok {
			c.meta = append(c.meta, assignment{key, program})
		} else {
			c.fields = append(c.fields, assignment{name, program})
		}
	}
	return c, nil
}

// settable reports what keeps a field of a kind from being set to a value of a type, as far as both are
// known.
func settable(kind, name string, to reflect.Type) error {
	if kind == "" {
		return nil
	}
	named, err := codec.Named(kind)
	if err != nil || len(named.Fields) == 0 { // the fields are those of each value
		return err
	}
	var names []string
	for _, f := range named.Fields {
		if names = append(names, f.Name); f.Name != name {
			continue
		}
		if to != nil && !fits(f.Type, to) {
			return fmt.Errorf("the field is of type %s, and the expression gives a %s", f.Type, to)
		}
		return nil
	}
	if near := suggest.Nearest(name, names); near != "" {
		return fmt.Errorf("a %s has no such field (did you mean %s?)", kind, near)
	}
	return fmt.Errorf("a %s has no such field, only %s", kind, suggest.Choices(name, names))
}

func fits(field string, to reflect.Type) bool {
	switch field {
	case "string", "bytes":
		return to.Kind() == reflect.String
	case "integer":
		return to.Kind() == reflect.Int
	case "number":
		return to.Kind() == reflect.Int || to.Kind() == reflect.Float64
	case "boolean":
		return to.Kind() == reflect.Bool
	}
	return true
}

type stage struct {
	*change
	env *pipeline.Env
}

var (
	_ pipeline.Processor     = (*stage)(nil)
	_ pipeline.PortsProvider = Options{}
	_ pipeline.NameChecker   = Options{}
)

func newStage(o Options, env *pipeline.Env) (any, error) {
	c, err := newChange(o)
	return &stage{c, env}, err
}

func (s *stage) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	if s.where != nil {
		holds, err := s.where.Bool(it.Value, it.Meta)
		if err != nil {
			return err
		}
		if !holds {
			s.env.Counter("refused").Add(1)
			return nil
		}
	}
	value, err := s.changed(it)
	if err != nil {
		return err
	}
	result := it.With(value)
	for _, a := range s.meta {
		text, err := a.from.Text(it.Value, it.Meta)
		if err != nil {
			return fmt.Errorf("%s%s: %w", metaPrefix, a.name, err)
		}
		result = result.WithMeta(a.name, text)
	}
	return out.Emit(ctx, result)
}

// changed returns the value that goes on.
func (c *change) changed(it *pipeline.Item) (any, error) {
	if len(c.fields) == 0 && !c.record {
		return it.Value, nil
	}
	before, isRecord := it.Value.(pipeline.Record)
	var values pipeline.Record
	if isRecord && !c.record {
		values = maps.Clone(before) // the expressions look at the item as it came
	}
	if values == nil {
		values = make(pipeline.Record, len(c.fields))
	}
	for _, a := range c.fields {
		value, err := a.from.Value(it.Value, it.Meta)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
		values[a.name] = value
	}
	if c.record || isRecord {
		return values, nil
	}
	return set(it.Value, values)
}

// set changes fields of a value by its codec.
func set(value any, values pipeline.Record) (any, error) {
	raw := make(map[string]json.RawMessage, len(values))
	for name, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		raw[name] = text
	}
	if text, ok := values["text"].(string); ok && raw["blocks"] == nil && codec.Kind(value) == "document" {
		raw["blocks"] = fmt.Appendf(nil, `[{"start":0,"end":%d,"field":"body"}]`, len(text)) // the old ones are of another text
	}
	return codec.SetFields(value, raw)
}
