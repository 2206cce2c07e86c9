package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/expression"
	"github.com/webrace/webrace/pipeline/finding"
	"github.com/webrace/webrace/pipeline/internal/flow"
	"github.com/webrace/webrace/pipeline/internal/options"
)

// typeDefaults are the options of a stage type after its [defaults.TYPE] table.
type typeDefaults struct {
	common  pipeline.Common
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
			f := v.keyFinding(finding.CodeUnknownKey, fmt.Sprintf("a pipeline has no %q, only %s", key, strings.Join(keys, ", ")))
			f.Path, f.Hint = path, suggest.Nearest(key, keys)
			l.report(f)
		case key == "title" && v.kind != stringValue:
			f := v.finding(finding.CodeWrongType, fmt.Sprintf("title takes a string, not %s", v.kind))
			f.Path = path
			l.report(f)
		}
	}
}

// pipeline makes the graph of one pipeline, and reports all that is wrong with it.
func (l *loader) pipeline(name string, table *value) *pipeline.Graph {
	l.checkKeys(name, table)
	g := l.registry.NewGraph(name)
	g.Title = title(table)
	p := &pipelineLoader{loader: l, name: name, g: g, tables: l.stageTables(table)}
	if !p.flow(table) {
		p.unused(false)
		return nil
	}
	for _, stage := range g.Stages {
		p.fill(stage, p.tables[stage.Name])
	}
	p.unused(true)
	var wrong finding.List
	if errors.As(g.Check(), &wrong) {
		for _, f := range wrong {
			f.Path = cmp.Or(f.Path, "pipeline."+name+".flow")
			l.report(f)
		}
		return g
	}
	for _, f := range g.Warnings() {
		f.Path = cmp.Or(f.Path, "pipeline."+name+".flow")
		l.warnings = append(l.warnings, f)
	}
	if l.cluster != nil {
		l.findings = append(l.findings, g.Undivided()...)
	}
	return g
}

// stageTables returns the tables of a pipeline's stages by name.
func (l *loader) stageTables(table *value) map[string]*value {
	tables := make(map[string]*value)
	stages := table.get("stage")
	if stages != nil && stages.kind != tableValue {
		l.report(stages.keyFinding(finding.CodeWrongType, fmt.Sprintf("stage is a table of tables, not %s", stages.kind)))
		return tables
	}
	if stages == nil {
		return tables
	}
	for _, name := range stages.keys {
		if v := stages.table[name]; v.kind == tableValue {
			tables[name] = v
		} else {
			l.report(v.keyFinding(finding.CodeWrongType, fmt.Sprintf("stage.%s is a table, not %s", name, v.kind)))
		}
	}
	return tables
}

type pipelineLoader struct {
	*loader
	name   string
	g      *pipeline.Graph
	tables map[string]*value
}

// flow reads the flows of a pipeline: its edges, and its stages in the order in which they are named.
func (p *pipelineLoader) flow(table *value) bool {
	flows := table.get("flow")
	if flows == nil {
		f := table.keyFinding(finding.CodeFlow, fmt.Sprintf(`pipeline %q has no flow, such as flow = ["a > b"]`, p.name))
		f.Path = "pipeline." + p.name
		p.report(f)
		return false
	}
	texts := p.texts(flows, "flow")
	if flows.kind == listValue && len(flows.list) == 0 {
		p.report(flows.keyFinding(finding.CodeFlow, fmt.Sprintf("the flow of pipeline %q is empty", p.name)))
	}
	named := make(map[string]bool)
	ok := len(texts) > 0
	for _, text := range texts {
		chain, err := flow.Parse(text.text)
		var wrong *flow.Error
		if errors.As(err, &wrong) {
			f := text.insideFinding(finding.CodeFlow, wrong.At, wrong.Width, wrong.Message)
			f.Path = "pipeline." + p.name + ".flow"
			p.report(f)
			ok = false
			continue
		}
		for _, link := range chain.Links() {
			from, to := link[0], link[1]
			p.g.Edges = append(p.g.Edges, pipeline.Edge{
				From: from.Stage, Port: from.Port, To: to.Stage,
				Pos: text.inside(from.At), PortPos: text.inside(from.PortAt), ToPos: text.inside(to.At),
			})
		}
		for _, ref := range slices.Concat(chain...) {
			if !named[ref.Stage] {
				named[ref.Stage] = true
				p.g.Stages = append(p.g.Stages, &pipeline.Stage{Name: ref.Stage, Pos: text.inside(ref.At)})
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
			f := table.keyFinding(finding.CodeUnused, fmt.Sprintf("no flow of pipeline %q mentions stage %q", p.name, name))
			f.Path, f.Hint = p.stagePath(name), suggest.Nearest(name, names)
			p.report(f)
		}
		if table.get("type") != nil || p.lookup(name) != nil {
			p.fill(&pipeline.Stage{Name: name, Pos: table.keyPosition()}, table)
		}
	}
}

func (p *pipelineLoader) stagePath(stage string) string {
	return "pipeline." + p.name + ".stage." + stage
}

// fill looks up the stage's type and decodes its options. A stage that something is wrong with stays
// without a function that makes it, which keeps later checks from drawing conclusions.
func (p *pipelineLoader) fill(s *pipeline.Stage, table *value) {
	t := p.stageType(s, table)
	if t == nil {
		return
	}
	base := p.typeDefaults(t)
	chosen := reflect.New(t.defaults.Type()).Elem()
	chosen.Set(base.options)
	common := base.common
	d := &decoder{l: p.loader, typ: t, path: p.stagePath(s.Name)}
	into := []target{{t.common, reflect.ValueOf(&common).Elem()}, {t.fields, chosen}}
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
	*s = pipeline.Stage{Name: s.Name, Spec: t.spec, Common: common, Pos: s.Pos, Locate: p.locator(s.Pos, layers)}
	if d.wrong || base.wrong {
		return
	}
	for _, given := range []any{common, chosen.Interface()} {
		if v, ok := given.(pipeline.Validator); ok {
			d.invalid(guarded(s.Name, v.Validate), s)
		}
	}
	made, err := p.registry.NewStage(s.Name, t.spec.Type, chosen.Interface())
	if d.invalid(err, s); err != nil {
		return
	}
	made.Common, made.Pos, made.Locate = common, s.Pos, s.Locate
	made.WorkersKey, err = expression.CompileWorkersKey(common.Key)
	d.invalid(err, s)
	if d.wrong {
		made.Make = nil
	}
	*s = *made
}

// guarded calls the code of a stage type, whose panic is an error that names the stage.
func guarded(stage string, call func() error) error { return (&pipeline.Env{Stage: stage}).Try(call) }

// stageType returns the type that the stage's table names, or that has the stage's own name.
func (p *pipelineLoader) stageType(s *pipeline.Stage, table *value) *stageType {
	typ := table.get("type")
	name := s.Name
	if typ != nil {
		if typ.kind != stringValue {
			p.report(typ.finding(finding.CodeWrongType, fmt.Sprintf("type takes a string, not %s", typ.kind)))
			return nil
		}
		name = typ.text
	}
	if t := p.lookup(name); t != nil {
		return t
	}
	f, missing := finding.Finding{Pos: s.Pos, Code: finding.CodeUnknownType, Path: p.stagePath(s.Name), Width: len(s.Name)}, p.registry.Missing(name)
	switch {
	case typ != nil:
		f = typ.finding(missing.Code, missing.Message)
		f.Path, f.Hint = p.stagePath(s.Name)+".type", missing.Hint
	case p.registry.Elsewhere(name) != "":
		f.Message = missing.Message
	default:
		f.Message = fmt.Sprintf("stage %q has no type, and there is none of its name", name)
		candidates := append(p.registry.Types(), slices.Sorted(maps.Keys(p.tables))...)
		f.Hint = suggest.Nearest(name, slices.DeleteFunc(candidates, func(c string) bool { return c == name }))
	}
	p.report(f)
	return nil
}

// invalid reports what a validation found, each error at the option that it names, or at the stage.
func (d *decoder) invalid(err error, s *pipeline.Stage) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			d.invalid(one, s)
		}
		return
	}
	if err == nil {
		return
	}
	f := finding.Finding{Pos: s.Pos, Code: finding.CodeInvalidOptions, Message: fmt.Sprintf("stage %q: %v", s.Name, err), Width: len(s.Name)}
	var option *pipeline.OptionError
	if !errors.As(err, &option) {
		d.report(f, "")
		return
	}
	s.Locate(&f, option.Option, err)
	d.report(f, option.Option)
}

// locator returns what moves findings to where a stage that a flow names at pos, or one of its options, is written.
// The layers are the tables that the options were read from, weakest first.
func (l *loader) locator(pos finding.Position, layers []*value) func(*finding.Finding, string, error) bool {
	return func(f *finding.Finding, option string, err error) bool {
		v := lastAt(layers, option)
		if v == nil {
			i := slices.IndexFunc(l.docs, func(d *document) bool { return d.name == pos.File })
			f.SourceLine = l.docs[i].line(pos.Line)
			return false
		}
		*f = v.optionFinding(*f, err)
		f.Unset = l.unsetIn(v)
		return true
	}
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
// beginning, and what was probably meant there, which its text tells as well; "" if it does not.
type placed interface {
	error
	Within() (at, width int)
	Meant() string
}

// optionFinding moves a finding to the option with this value: to the part of its text that the error is about, if it
// knows that.
func (v *value) optionFinding(f finding.Finding, err error) finding.Finding {
	at, inside := v.finding(f.Code, f.Message), placed(nil)
	if errors.As(err, &inside) {
		at.Hint = inside.Meant()
		at.Message = strings.TrimSuffix(f.Message, suggest.DidYouMean(at.Hint))
		if v.kind == stringValue && !v.doc.flag {
			from, width := inside.Within()
			at.Pos, at.Width = v.inside(from), width
		}
	}
	at.Path, at.SourceLine = f.Path, v.doc.line(at.Pos.Line)
	return at
}

// stageType is a registered type of stages: what it is, and what its options are.
type stageType struct {
	spec     pipeline.Spec
	defaults reflect.Value   // an option struct
	fields   *options.Fields // its own options
	common   *options.Fields // those that every stage of the type has beside
}

// typeOf returns the stage type of that name; nil if there is none.
func typeOf(r *pipeline.Registry, name string) *stageType {
	spec, ok := r.Lookup(name)
	if !ok {
		return nil
	}
	t := &stageType{spec: spec, defaults: reflect.ValueOf(r.Defaults(name)), common: commonFields}
	if spec.Batch == (pipeline.Batch{}) {
		t.common = singleFields
	}
	t.fields = options.MustOf(t.defaults.Type()) // which the registry has accepted
	return t
}

// lookup returns the stage type of that name; nil if there is none.
func (l *loader) lookup(name string) *stageType {
	t, known := l.types[name]
	if !known {
		t = typeOf(l.registry, name)
		l.types[name] = t
	}
	return t
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
			d.report(typ.keyFinding(finding.CodeUnknownOption, "defaults are those of a type; they cannot name another"), "type")
		}
		d.stageTable(base.table, []target{{t.common, reflect.ValueOf(&base.common).Elem()}, {t.fields, base.options}})
		base.wrong = d.wrong
	}
	l.decoded[t.spec.Type] = base
	return base
}

// checkDefaults reports defaults of types that do not exist, and, when all pipelines are checked, what is
// wrong with those that no pipeline uses.
func (l *loader) checkDefaults() {
	for _, typ := range slices.Sorted(maps.Keys(l.defaults)) {
		t := l.lookup(typ)
		if t == nil {
			missing := l.registry.Missing(typ)
			f := l.defaults[typ].keyFinding(missing.Code, missing.Message)
			f.Path, f.Hint = "defaults."+typ, missing.Hint
			l.report(f)
		} else if l.options.Run == nil {
			l.typeDefaults(t)
		}
	}
}
