package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/finding"
)

// SingleOptions determine what a stage that is in no pipeline is made with.
type SingleOptions struct {
	Registry *pipeline.Registry // nil is the [pipeline.DefaultRegistry]
	From     any                // the options that it begins with; nil: those of its type
	Set      []string           // OPTION=VALUE, as in [LoadOptions] after the stage
	Table    pipeline.Table     // options, which go before those of Set; numbers may be a [json.Number]
}

// Single makes a stage that is in no pipeline. What cannot be decoded is a [finding.List], whose paths are those of
// options; an option with a value that cannot be is a [pipeline.OptionError].
func Single(typ string, o SingleOptions) (*pipeline.Stage, error) {
	l := newLoader(LoadOptions{Registry: o.Registry})
	t := l.lookup(typ)
	if t == nil {
		return nil, finding.List{l.registry.Missing(typ)}
	}
	chosen := reflect.New(t.defaults.Type()).Elem()
	chosen.Set(reflect.ValueOf(cmp.Or(o.From, t.defaults.Interface())))
	d, into := &decoder{l: l, typ: t}, []target{{t.fields, chosen}}
	for _, text := range o.Set {
		l.singleSet(d, text, into)
	}
	doc := &document{name: "options", flag: true}
	d.stageTable(doc.valueOf(map[string]any(o.Table)), into)
	if len(l.findings) > 0 {
		for i, f := range l.findings {
			l.findings[i].Path = strings.TrimPrefix(f.Path, ".")
		}
		return nil, l.findings
	}
	if v, ok := chosen.Interface().(pipeline.Validator); ok {
		if err := guarded(typ, v.Validate); err != nil {
			return nil, err
		}
	}
	return l.registry.NewStage(typ, typ, chosen.Interface())
}

// singleSet applies OPTION=VALUE.
func (l *loader) singleSet(d *decoder, text string, into []target) {
	doc := &document{name: "--set " + text, flag: true}
	path, value, found := strings.Cut(text, "=")
	keys := strings.Split(strings.TrimSpace(path), ".")
	if !found || slices.Contains(keys, "") {
		l.report(finding.Finding{Pos: finding.Position{File: doc.name}, Code: finding.CodeSet, Message: "expected OPTION=VALUE"})
		return
	}
	(&setting{option: keys, text: value, doc: doc}).apply(d, into)
}

// valueOf makes a value of one of Go, of those that JSON and TOML have.
func (doc *document) valueOf(v any) *value {
	switch v := v.(type) {
	case map[string]any:
		table := &value{kind: tableValue, table: make(map[string]*value), doc: doc, keys: slices.Sorted(maps.Keys(v))}
		for key, entry := range v {
			table.table[key] = doc.valueOf(entry)
		}
		return table
	case []any:
		list := &value{kind: listValue, doc: doc}
		for _, element := range v {
			list.list = append(list.list, doc.valueOf(element))
		}
		return list
	case bool:
		return &value{kind: boolValue, text: strconv.FormatBool(v), doc: doc}
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return &value{kind: floatValue, text: v.String(), doc: doc}
		}
		return &value{kind: integerValue, text: v.String(), doc: doc}
	case int64:
		return &value{kind: integerValue, text: strconv.FormatInt(v, 10), doc: doc}
	case float64:
		return &value{kind: floatValue, text: strconv.FormatFloat(v, 'g', -1, 64), doc: doc}
	}
	return &value{kind: stringValue, text: fmt.Sprint(v), doc: doc}
}
