package config

import (
	"cmp"
	"reflect"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/internal/options"
)

// commonFields are the options that every stage has.
var commonFields = options.MustOf(reflect.TypeFor[pipeline.Common]())

// singleFields are those of a stage that takes items one at a time: all but batch.
var singleFields = commonFields.Without("batch")

// OptionInfo describes an option for people.
type OptionInfo struct {
	Name    string   // "retry.max" within a table, "rule[].host" within a list of tables
	Type    string   // "duration", "list of strings", "table"
	Doc     string   // a phrase
	Default string   // as it would be written in TOML; empty for a table
	Enum    []string // the words it can be, if only some

	Deprecated []string // phrases: what of it is, and what takes its place
}

// Options lists the options of a stage type, in the order of its option struct and without those that every stage has,
// which [CommonOptions] gives. A nil registry is the [pipeline.DefaultRegistry].
func Options(r *pipeline.Registry, typ string) []OptionInfo {
	t := typeOf(cmp.Or(r, pipeline.DefaultRegistry), typ)
	if t == nil {
		return nil
	}
	return infos(t.fields, "", t.defaults)
}

// CommonOptions lists the options that every stage has.
func CommonOptions() []OptionInfo {
	return infos(commonFields, "", reflect.ValueOf(pipeline.Common{OnError: pipeline.DeadLetter}))
}

// infos lists the options, those of nested tables behind the table they are in. v holds the defaults, or
// is invalid where there are none.
func infos(fs *options.Fields, prefix string, v reflect.Value) []OptionInfo {
	var all []OptionInfo
	for _, f := range fs.List {
		info := OptionInfo{Name: prefix + f.Name, Type: typeName(f.Type), Doc: f.Doc, Enum: f.Enum, Deprecated: deprecated(f)}
		var value reflect.Value
		if v.IsValid() {
			value = v.FieldByIndex(f.Index)
			info.Default = literal(value)
		}
		all = append(all, info)
		if f.Inner == nil {
			continue
		}
		if f.Type.Kind() == reflect.Struct {
			all = append(all, infos(f.Inner, info.Name+".", value)...)
		} else {
			all = append(all, infos(f.Inner, info.Name+nesting(f.Type)+".", reflect.Value{})...)
		}
	}
	return all
}

// nesting returns how one comes from a list or map to the tables in it: "[]" for each list, ".NAME" for each
// map.
func nesting(t reflect.Type) string {
	var path string
	for !options.IsText(t) {
		switch t.Kind() {
		case reflect.Slice:
			path += "[]"
		case reflect.Map:
			path += ".NAME"
		default:
			return path
		}
		t = t.Elem()
	}
	return path
}

// typeName names a type for people who write TOML.
func typeName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[pipeline.Duration]():
		return "duration"
	case reflect.TypeFor[pipeline.Size]():
		return "size"
	case reflect.TypeFor[pipeline.Secret]():
		return "secret"
	case reflect.TypeFor[pipeline.File]():
		return "file"
	case reflect.TypeFor[pipeline.Table]():
		return "table"
	}
	switch {
	case options.IsText(t), t.Kind() == reflect.String:
		return "string"
	case t.Kind() == reflect.Bool:
		return "boolean"
	case t.Kind() == reflect.Slice:
		return "list of " + options.Plural(typeName(t.Elem()))
	case t.Kind() == reflect.Map:
		return "table of " + options.Plural(typeName(t.Elem()))
	case t.Kind() == reflect.Struct:
		return "table"
	case t.Kind() == reflect.Float32, t.Kind() == reflect.Float64:
		return "number"
	}
	return "integer"
}
