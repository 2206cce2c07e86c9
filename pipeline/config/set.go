package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline/finding"
	"github.com/webrace/webrace/pipeline/internal/flow"
	"github.com/webrace/webrace/pipeline/internal/options"
)

// setting is one --set.
type setting struct {
	pipeline string // empty: all that have the stage
	stage    string
	option   []string // its path
	text     string
	doc      *document // where its findings are: nowhere in a file
}

func (s *setting) concerns(pipeline, stage string) bool {
	return s.stage == stage && (s.pipeline == "" || s.pipeline == pipeline)
}

// parseSettings reads STAGE.OPTION=VALUE and PIPELINE.STAGE.OPTION=VALUE. What begins with the names of a
// pipeline and a stage in it is the latter.
func (l *loader) parseSettings(pipelines []string) {
	for _, text := range l.options.Set {
		doc := &document{name: "--set " + text, flag: true, order: len(l.flags)}
		l.flags = append(l.flags, doc)
		path, value, found := strings.Cut(text, "=")
		keys := strings.Split(strings.TrimSpace(path), ".")
		if !found || len(keys) < 2 || slices.Contains(keys, "") {
			l.report(finding.Finding{Pos: finding.Position{File: doc.name}, Code: finding.CodeSet, Message: "expected STAGE.OPTION=VALUE"})
			continue
		}
		s := &setting{stage: keys[0], option: keys[1:], text: value, doc: doc}
		if len(keys) > 2 && slices.Contains(pipelines, keys[0]) && slices.Contains(l.stagesOf(keys[0]), keys[1]) {
			s.pipeline, s.stage, s.option = keys[0], keys[1], keys[2:]
		}
		l.sets = append(l.sets, s)
	}
}

// unusedSettings reports settings of stages that none of the pipelines has.
func (l *loader) unusedSettings(pipelines []string) {
	var stages []string
	for _, name := range pipelines {
		stages = append(stages, l.stagesOf(name)...)
	}
	slices.Sort(stages)
	for _, s := range l.sets {
		if slices.Contains(stages, s.stage) {
			continue
		}
		f := finding.Finding{Pos: finding.Position{File: s.doc.name}, Code: finding.CodeUnknownStage, Hint: suggest.Nearest(s.stage, stages),
			Message: fmt.Sprintf("there is no stage %q", s.stage)}
		if len(s.option) > 1 && slices.Contains(pipelines, s.stage) {
			stages := l.stagesOf(s.stage)
			f.Message = fmt.Sprintf("pipeline %q has no stage %q", s.stage, s.option[0])
			f.Hint = suggest.Nearest(s.option[0], stages)
		}
		l.report(f)
	}
}

// stagesOf returns the stages that the flows of a pipeline name.
func (l *loader) stagesOf(pipeline string) []string {
	var stages []string
	flows := l.pipelines[pipeline].get("flow")
	if flows == nil {
		return nil
	}
	for _, text := range append(flows.list, flows) {
		chain, _ := flow.Parse(text.text)
		for _, ref := range slices.Concat(chain...) {
			stages = append(stages, ref.Stage)
		}
	}
	return stages
}

// apply decodes the setting over a stage's options. It returns a table in which there is nothing else.
func (s *setting) apply(d *decoder, into []target) *value {
	v := s.value(optionType(s.option, into))
	for _, key := range slices.Backward(s.option) {
		v = &value{kind: tableValue, keys: []string{key}, table: map[string]*value{key: v}, doc: s.doc}
	}
	if s.option[0] == "type" {
		d.report(v.finding(finding.CodeSet, "the type of a stage cannot be set"), "type")
		return v
	}
	d.stageTable(v, into)
	return v
}

// optionType returns the type of the option at a path, or nil if there is none.
func optionType(path []string, into []target) reflect.Type {
	for _, t := range into {
		f, ok := t.fields.FindAny(path[0])
		if !ok {
			continue
		}
		typ := f.Type
		for _, key := range path[1:] {
			switch {
			case options.IsText(typ):
				return nil
			case typ.Kind() == reflect.Map:
				typ = typ.Elem()
			case typ.Kind() == reflect.Struct:
				inner, ok := f.Inner.FindAny(key)
				if !ok {
					return nil
				}
				f, typ = inner, inner.Type
			default:
				return nil
			}
		}
		return typ
	}
	return nil
}

// value reads the setting's text as TOML, unless the option takes a string and the text has no quotes.
func (s *setting) value(t reflect.Type) *value { return s.parse(strings.TrimSpace(s.text), t) }

func (s *setting) parse(text string, t reflect.Type) *value {
	bare := &value{kind: stringValue, text: text, doc: s.doc}
	isList := t != nil && !options.IsText(t) && t.Kind() == reflect.Slice
	isString := t != nil && (options.IsText(t) || t.Kind() == reflect.String)
	switch {
	case isList && !strings.HasPrefix(text, "["):
		list := &value{kind: listValue, doc: s.doc}
		for _, part := range strings.Split(text, ",") {
			if text != "" {
				list.list = append(list.list, s.parse(strings.TrimSpace(part), t.Elem()))
			}
		}
		return list
	case isString && !strings.HasPrefix(text, `"`) && !strings.HasPrefix(text, `'`):
		return bare
	}
	doc, problem := parseDocument(s.doc.name, []byte("value = "+text))
	if problem != nil || !slices.Equal(doc.root.keys, []string{"value"}) {
		return bare
	}
	doc.flag = true
	return doc.root.table["value"]
}
