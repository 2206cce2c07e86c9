package pipeline

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// fields are the options that a struct has, by their names in pipelines.toml.
type fields struct {
	list   []field
	byName map[string]int
}

// field is one option: where it is in its struct, and what it takes.
type field struct {
	name, doc string
	enum      []string
	index     []int // for [reflect.Value.FieldByIndex]
	typ       reflect.Type
	inner     *fields // of a struct, or of the structs in a list or map
}

// commonFields are the options that every stage has.
var commonFields = mustFields(reflect.TypeFor[Common]())

// singleFields are those of a stage that takes items one at a time: all but batch.
var singleFields = commonFields.without("batch")

func (fs *fields) without(name string) *fields {
	rest := &fields{byName: make(map[string]int)}
	for _, f := range fs.list {
		if f.name != name {
			rest.byName[f.name] = len(rest.list)
			rest.list = append(rest.list, f)
		}
	}
	return rest
}

func mustFields(t reflect.Type) *fields {
	fs, err := fieldsOf(t, nil)
	if err != nil {
		panic(err)
	}
	return fs
}

// optionFields returns the fields of a stage type's option struct.
func optionFields(t reflect.Type) (*fields, error) {
	if t.Kind() != reflect.Struct || isText(t) {
		return nil, fmt.Errorf("options are a struct, not a %s", t)
	}
	fs, err := fieldsOf(t, nil)
	if err != nil {
		return nil, err
	}
	for _, f := range fs.list {
		if _, taken := commonFields.byName[f.name]; taken {
			return nil, fmt.Errorf("option %q is one that every stage has", f.name)
		}
	}
	return fs, nil
}

// fieldsOf describes the exported fields of a struct. within holds the structs around it, to refuse those
// that contain themselves.
func fieldsOf(t reflect.Type, within []reflect.Type) (*fields, error) {
	if slices.Contains(within, t) {
		return nil, fmt.Errorf("%s contains itself", t)
	}
	fs := &fields{byName: make(map[string]int)}
	if err := fs.add(t, nil, append(within, t)); err != nil {
		return nil, err
	}
	return fs, nil
}

func (fs *fields) add(t reflect.Type, index []int, within []reflect.Type) error {
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, tagged := sf.Tag.Lookup("toml")
		at := append(slices.Clone(index), i)
		if sf.Anonymous && !tagged && sf.Type.Kind() == reflect.Struct {
			if err := fs.add(sf.Type, at, within); err != nil {
				return err
			}
			continue
		}
		if !sf.IsExported() || tag == "-" {
			continue
		}
		f, err := newField(sf, at, within)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", t, sf.Name, err)
		}
		if _, twice := fs.byName[f.name]; twice {
			return fmt.Errorf("%s.%s: option %q stands twice", t, sf.Name, f.name)
		}
		fs.byName[f.name] = len(fs.list)
		fs.list = append(fs.list, f)
	}
	return nil
}

func newField(sf reflect.StructField, index []int, within []reflect.Type) (field, error) {
	name, _, _ := strings.Cut(sf.Tag.Get("toml"), ",")
	f := field{name: name, doc: sf.Tag.Get("doc"), index: index, typ: sf.Type}
	if enum := sf.Tag.Get("enum"); enum != "" {
		f.enum = strings.Split(enum, ",")
	}
	switch {
	case name == "":
		return f, fmt.Errorf("it has no toml tag")
	case !isName(name):
		return f, fmt.Errorf("option name %q does not consist of letters, digits, - and _", name)
	case f.doc == "":
		return f, fmt.Errorf("it has no doc tag")
	case f.enum != nil && elemOf(sf.Type).Kind() != reflect.String:
		return f, fmt.Errorf("only a string has an enum tag")
	}
	inner, err := checkType(sf.Type, within)
	f.inner = inner
	return f, err
}

// checkType refuses types that no TOML value fits, and returns the fields of the struct it leads to.
func checkType(t reflect.Type, within []reflect.Type) (*fields, error) {
	if isText(t) || isTable(t) {
		return nil, nil
	}
	if t == reflect.TypeFor[time.Duration]() {
		return nil, fmt.Errorf("time.Duration reads a number as nanoseconds; use pipeline.Duration")
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		return nil, nil
	case reflect.Struct:
		return fieldsOf(t, within)
	case reflect.Slice:
		return checkType(t.Elem(), within)
	case reflect.Map:
		if t.Key().Kind() == reflect.String && !isText(t.Key()) {
			return checkType(t.Elem(), within)
		}
	}
	return nil, fmt.Errorf("%s is no type for an option", t)
}

// isText reports whether values of type t are written as strings that they read themselves.
func isText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// elemOf returns what lists and maps hold in the end.
func elemOf(t reflect.Type) reflect.Type {
	for !isText(t) && (t.Kind() == reflect.Slice || t.Kind() == reflect.Map) {
		t = t.Elem()
	}
	return t
}

func (fs *fields) find(name string) (field, bool) {
	i, ok := fs.byName[name]
	if !ok {
		return field{}, false
	}
	return fs.list[i], true
}

func (fs *fields) names() []string {
	names := make([]string, len(fs.list))
	for i, f := range fs.list {
		names[i] = f.name
	}
	return names
}

// OptionInfo describes an option for people.
type OptionInfo struct {
	Name    string   // "retry.max" within a table, "rule[].host" within a list of tables
	Type    string   // "duration", "list of strings", "table"
	Doc     string   // a phrase
	Default string   // as it would be written in TOML; empty for a table
	Enum    []string // the words it can be, if only some
}

// CommonOptions lists the options that every stage has.
func CommonOptions() []OptionInfo {
	return commonFields.infos("", reflect.ValueOf(Common{OnError: DeadLetter}))
}

// infos lists the options, those of nested tables behind the table they are in. v holds the defaults, or
// is invalid where there are none.
func (fs *fields) infos(prefix string, v reflect.Value) []OptionInfo {
	var all []OptionInfo
	for _, f := range fs.list {
		info := OptionInfo{Name: prefix + f.name, Type: typeName(f.typ), Doc: f.doc, Enum: f.enum}
		var value reflect.Value
		if v.IsValid() {
			value = v.FieldByIndex(f.index)
			info.Default = literal(value)
		}
		all = append(all, info)
		if f.inner == nil {
			continue
		}
		if f.typ.Kind() == reflect.Struct {
			all = append(all, f.inner.infos(info.Name+".", value)...)
		} else {
			all = append(all, f.inner.infos(info.Name+nesting(f.typ)+".", reflect.Value{})...)
		}
	}
	return all
}

// nesting says how one comes from a list or map to the tables in it: "[]" for each list, ".NAME" for each
// map.
func nesting(t reflect.Type) string {
	var path string
	for !isText(t) {
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
	case reflect.TypeFor[Duration]():
		return "duration"
	case reflect.TypeFor[Size]():
		return "size"
	case reflect.TypeFor[Secret]():
		return "secret"
	case reflect.TypeFor[Table]():
		return "table"
	}
	switch {
	case isText(t), t.Kind() == reflect.String:
		return "string"
	case t.Kind() == reflect.Bool:
		return "boolean"
	case t.Kind() == reflect.Slice:
		return "list of " + plural(typeName(t.Elem()))
	case t.Kind() == reflect.Map:
		return "table of " + plural(typeName(t.Elem()))
	case t.Kind() == reflect.Struct:
		return "table"
	case t.Kind() == reflect.Float32, t.Kind() == reflect.Float64:
		return "number"
	}
	return "integer"
}

// plural returns the plural of what typeName gives, whose noun stands first.
func plural(name string) string {
	noun, rest, more := strings.Cut(name, " ")
	if more {
		return noun + "s " + rest
	}
	return noun + "s"
}
