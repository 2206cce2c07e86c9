package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// typeDefaults are the options of a stage type after its [defaults.TYPE] table.
type typeDefaults struct {
	common  Common
	options reflect.Value
	table   *value // nil without one
	wrong   bool
}

// title returns a pipeline's title.
func title(table *value) string {
	if title := table.get("title"); title != nil && title.kind == stringValue {
		return title.text
	}
	return ""
}

// checkKeys reports keys that no pipeline has.
func (l *loader) checkKeys(name string, table *value) {
	keys := []string{"title", "flow", "stage"}
	for _, key := range table.keys {
		v := table.table[key]
		path := "pipeline." + name + "." + key
		switch {
		case !slices.Contains(keys, key):
			f := v.keyFinding(CodeUnknownKey, fmt.Sprintf("a pipeline has no %q, only %s", key, strings.Join(keys, ", ")))
			f.Path, f.Hint = path, nearest(key, keys)
			l.report(f)
		case key == "title" && v.kind != stringValue:
			f := v.finding(CodeWrongType, fmt.Sprintf("title takes a string, not %s", v.kind))
			f.Path = path
			l.report(f)
		}
	}
}

// pipeline makes the graph of one pipeline, and reports all that is wrong with it.
func (l *loader) pipeline(name string, table *value) *Graph {
	l.checkKeys(name, table)
	g := &Graph{Name: name, Title: title(table), registry: l.registry}
	p := &pipelineLoader{loader: l, name: name, g: g, tables: l.stageTables(table)}
	if !p.flow(table) {
		p.unused(false)
		return nil
	}
	for _, stage := range g.Stages {
		p.fill(stage, p.tables[stage.Name])
	}
	p.unused(true)
	var wrong Findings
	if errors.As(g.Check(), &wrong) {
		for _, f := range wrong {
			f.Path = cmp.Or(f.Path, "pipeline."+name+".flow")
			l.report(f)
		}
	}
	return g
}

// stageTables returns the tables of a pipeline's stages by name.
func (l *loader) stageTables(table *value) map[string]*value {
	tables := make(map[string]*value)
	stages := table.get("stage")
	if stages != nil && stages.kind != tableValue {
		l.report(stages.keyFinding(CodeWrongType, fmt.Sprintf("stage is a table of tables, not %s", stages.kind)))
		return tables
	}
	if stages == nil {
		return tables
	}
	for _, name := range stages.keys {
		if v := stages.table[name]; v.kind == tableValue {
			tables[name] = v
		} else {
			l.report(v.keyFinding(CodeWrongType, fmt.Sprintf("stage.%s is a table, not %s", name, v.kind)))
		}
	}
	return tables
}

type pipelineLoader struct {
	*loader
	name   string
	g      *Graph
	tables map[string]*value
}

// flow reads the flows of a pipeline: its edges, and its stages in the order in which they are named.
func (p *pipelineLoader) flow(table *value) bool {
	flow := table.get("flow")
	if flow == nil {
		f := table.keyFinding(CodeFlow, fmt.Sprintf(`pipeline %q has no flow, such as flow = ["a > b"]`, p.name))
		f.Path = "pipeline." + p.name
		p.report(f)
		return false
	}
	texts := p.texts(flow, "flow")
	if flow.kind == listValue && len(flow.list) == 0 {
		p.report(flow.keyFinding(CodeFlow, fmt.Sprintf("the flow of pipeline %q is empty", p.name)))
	}
	named := make(map[string]bool)
	ok := len(texts) > 0
	for _, text := range texts {
		chain, err := parseFlow(text.text)
		var wrong *flowError
		if errors.As(err, &wrong) {
			f := text.insideFinding(CodeFlow, wrong.at, wrong.width, wrong.message)
			f.Path = "pipeline." + p.name + ".flow"
			p.report(f)
			ok = false
			continue
		}
		p.g.Edges = append(p.g.Edges, chain.edges(text.inside)...)
		for _, ref := range slices.Concat(chain...) {
			if !named[ref.stage] {
				named[ref.stage] = true
				pos := text.inside(ref.at)
				p.g.Stages = append(p.g.Stages, &Stage{Name: ref.stage, Pos: pos, line: text.doc.line(pos.Line)})
			}
		}
	}
	return ok
}

// unused reports the tables of stages that no flow names, unless the flow could not be read, and what is
// wrong inside them in any case.
func (p *pipelineLoader) unused(flowIsKnown bool) {
	var names []string
	for _, s := range p.g.Stages {
		names = append(names, s.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(p.tables)) {
		if flowIsKnown && slices.Contains(names, name) {
			continue
		}
		table := p.tables[name]
		if flowIsKnown {
			f := table.keyFinding(CodeUnused, fmt.Sprintf("no flow of pipeline %q mentions stage %q", p.name, name))
			f.Path, f.Hint = p.stagePath(name), nearest(name, names)
			p.report(f)
		}
		if table.get("type") != nil || p.registry.lookup(name) != nil {
			p.fill(&Stage{Name: name, Pos: table.keyPosition()}, table)
		}
	}
}

func (p *pipelineLoader) stagePath(stage string) string {
	return "pipeline." + p.name + ".stage." + stage
}

// fill looks up the stage's type and decodes its options. A stage that something is wrong with stays
// without a function that makes it, which keeps later checks from drawing conclusions.
func (p *pipelineLoader) fill(s *Stage, table *value) {
	t := p.stageType(s, table)
	if t == nil {
		return
	}
	base := p.typeDefaults(t)
	options := reflect.New(t.defaults.Type()).Elem()
	options.Set(base.options)
	common := base.common
	d := &decoder{l: p.loader, typ: t, path: p.stagePath(s.Name)}
	into := []target{{t.common(), reflect.ValueOf(&common).Elem()}, {t.fields, options}}
	layers := []*value{base.table, table}
	if table != nil {
		d.stageTable(table, into)
	}
	for _, set := range p.sets {
		if set.concerns(p.name, s.Name) {
			layers = append(layers, set.apply(d, into))
		}
	}
	common.Type = t.spec.Type
	if d.wrong || base.wrong {
		*s = Stage{Name: s.Name, Spec: t.spec, Common: common, Pos: s.Pos}
		return
	}
	for _, options := range []any{common, options.Interface()} {
		if v, ok := options.(Validator); ok {
			d.invalid(guarded(s.Name, v.Validate), s, layers...)
		}
	}
	var made *Stage
	if err := guarded(s.Name, func() error {
		made = t.newStage(s.Name, options.Interface())
		made.askOptions()
		return nil
	}); err != nil {
		d.invalid(err, s, layers...)
		*s = Stage{Name: s.Name, Spec: t.spec, Common: common, Pos: s.Pos}
		return
	}
	made.Common, made.Pos, made.line, made.layers = common, s.Pos, s.line, layers
	if d.wrong {
		made.Make = nil
	}
	*s = *made
}

// askOptions asks the options what they say of the stage, before anything relies on it: a panic comes here or never.
func (s *Stage) askOptions() {
	_, _ = s.Ports(), s.neededParts()
	if h, ok := s.Options.(Holder); ok {
		_ = h.Holds()
	}
	if l, ok := s.Options.(Lender); ok {
		_, _ = l.Lends()
	}
}

// stageType returns the type that the stage's table names, or that has the stage's own name.
func (p *pipelineLoader) stageType(s *Stage, table *value) *stageType {
	typ := table.get("type")
	name := s.Name
	if typ != nil {
		if typ.kind != stringValue {
			p.report(typ.finding(CodeWrongType, fmt.Sprintf("type takes a string, not %s", typ.kind)))
			return nil
		}
		name = typ.text
	}
	if t := p.registry.lookup(name); t != nil {
		return t
	}
	candidates := p.registry.Types()
	f := Finding{Pos: s.Pos, Code: CodeUnknownType, Path: p.stagePath(s.Name), width: len(s.Name),
		Message: fmt.Sprintf("stage %q has no type, and there is none of its name", name)}
	if typ != nil {
		f = typ.finding(CodeUnknownType, fmt.Sprintf("there is no stage type %q", name))
		f.Path = p.stagePath(s.Name) + ".type"
	} else {
		candidates = append(candidates, slices.Sorted(maps.Keys(p.tables))...)
	}
	f.Hint = nearest(name, slices.DeleteFunc(candidates, func(c string) bool { return c == name }))
	p.report(f)
	return nil
}

// invalid reports what a validation found, each error at the option that it names, or at the stage.
func (d *decoder) invalid(err error, s *Stage, layers ...*value) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			d.invalid(one, s, layers...)
		}
		return
	}
	if err == nil {
		return
	}
	message := fmt.Sprintf("stage %q: %v", s.Name, err)
	f := Finding{Pos: s.Pos, Code: CodeInvalidOptions, Message: message, width: len(s.Name)}
	var option *OptionError
	if !errors.As(err, &option) {
		d.report(f, "")
		return
	}
	if v := lastAt(layers, option.Option); v != nil {
		f = v.optionFinding(CodeInvalidOptions, err, message)
	}
	d.report(f, option.Option)
}

// lastAt returns the value that an option has by the last of the tables that set it; nil if none does.
func lastAt(layers []*value, option string) (last *value) {
	for _, layer := range layers {
		if v := layer.at(option); v != nil {
			last = v
		}
	}
	return last
}

// placed is an error that knows the part of the option's text that it is about, width bytes, at bytes from its
// beginning, and what was probably meant there, which its text says as well; "" if it does not.
type placed interface {
	error
	Within() (at, width int)
	Meant() string
}

// optionFinding reports an error of an option with this value: at the part of its text that the error is about, if it
// knows that.
func (v *value) optionFinding(code Code, err error, message string) Finding {
	var within placed
	if !errors.As(err, &within) {
		return v.finding(code, message)
	}
	hint := within.Meant()
	if hint != "" {
		message = strings.TrimSuffix(message, fmt.Sprintf(" (did you mean %s?)", hint))
	}
	f := v.finding(code, message)
	if v.kind == stringValue && !v.doc.flag {
		at, width := within.Within()
		f = v.insideFinding(code, at, width, message)
	}
	f.Hint = hint
	return f
}

// common returns the options that every stage of the type has beside its own.
func (t *stageType) common() *fields {
	if t.spec.Batch == (Batch{}) {
		return singleFields
	}
	return commonFields
}

// typeDefaults returns what a stage of the type begins with.
func (l *loader) typeDefaults(t *stageType) typeDefaults {
	if known, ok := l.decoded[t.spec.Type]; ok {
		return known
	}
	base := typeDefaults{options: reflect.New(t.defaults.Type()).Elem(), table: l.defaults[t.spec.Type]}
	base.options.Set(t.defaults)
	if base.table != nil {
		d := &decoder{l: l, typ: t, path: "defaults." + t.spec.Type}
		if typ := base.table.get("type"); typ != nil {
			d.report(typ.keyFinding(CodeUnknownOption, "defaults are those of a type; they cannot name another"), "type")
		}
		d.stageTable(base.table, []target{{t.common(), reflect.ValueOf(&base.common).Elem()}, {t.fields, base.options}})
		base.wrong = d.wrong
	}
	l.decoded[t.spec.Type] = base
	return base
}

// checkDefaults reports defaults of types that do not exist, and, when all pipelines are checked, what is
// wrong with those that no pipeline uses.
func (l *loader) checkDefaults() {
	for _, typ := range slices.Sorted(maps.Keys(l.defaults)) {
		t := l.registry.lookup(typ)
		if t == nil {
			f := l.defaults[typ].keyFinding(CodeUnknownType, fmt.Sprintf("there is no stage type %q", typ))
			f.Path, f.Hint = "defaults."+typ, nearest(typ, l.registry.Types())
			l.report(f)
		} else if l.options.Run == nil {
			l.typeDefaults(t)
		}
	}
}
