package codec

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline/internal/options"
	"github.com/webrace/webrace/pipeline/recordjson"
)

// Field describes a field of a kind: how an expression, a fixture and a stage in another language know it.
type Field struct {
	Name string
	Type string // as JSON has it: "string", "list of strings", "object"
	Doc  string
	Zero any    // what it is where it is left out: "", 0, false, an empty list or map, or nil
	Part string // of the value that it tells of; "" for none
	Case bool   // it tells the case of the value
}

// headerField is a field of a codec's header.
type headerField struct {
	Field // but for its Zero
	index int
	typ   reflect.Type
}

// headerFields returns the fields of a header type, which must each have a name.
func headerFields(t reflect.Type) []headerField {
	if t == reflect.TypeFor[Record]() {
		return nil
	}
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("codec: the header of a kind is a struct, not a %s", t))
	}
	var list []headerField
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == Body {
			panic(fmt.Sprintf("codec: %s.%s: %q is no name for a field of a header", t, f.Name, name))
		}
		field := Field{Name: name, Type: jsonType(f.Type), Doc: f.Tag.Get("doc"), Part: f.Tag.Get("part"), Case: f.Tag.Get("case") != ""}
		list = append(list, headerField{field, i, f.Type})
	}
	return list
}

func (k *entry) field(name string) (headerField, bool) {
	i := slices.IndexFunc(k.fields, func(f headerField) bool { return f.Name == name })
	if i < 0 {
		return headerField{}, false
	}
	return k.fields[i], true
}

// open reports whether the fields of the kind are those that each value has.
func (k *entry) open() bool { return k.header == reflect.TypeFor[Record]() }

// Fields returns fields of a value under the names that its codec gives them, those that are zero
// included, and the body as a string under [Body]; only those named, if any are. Structs become maps, lists
// []any, and times stay [time.Time]; anything else is a string, a boolean, an int, a uint64 or a float64, or
// a number of a record. A map with string keys is its own fields; a value without a codec or fields is the field
// "value".
//
// It costs little where few fields are asked for: what is large is not touched before.
func Fields(v any, only ...string) map[string]any {
	all := make(map[string]any)
	k := codecs.of(v)
	if k == nil || k.open() {
		maps.Copy(all, plainFields(v))
		maps.DeleteFunc(all, func(name string, _ any) bool { return len(only) > 0 && !slices.Contains(only, name) })
		return all
	}
	header, body := k.encode(v)
	for _, f := range k.fields {
		if len(only) == 0 || slices.Contains(only, f.Name) {
			all[f.Name] = plain(header.Field(f.index))
		}
	}
	if k.bodyDoc != "" && (len(only) == 0 || slices.Contains(only, Body)) {
		all[Body] = string(body)
	}
	return all
}

// plainFields returns the fields of a value without a codec.
func plainFields(v any) map[string]any {
	if fields, ok := v.(map[string]any); ok {
		return fields
	}
	if fields, ok := plain(reflect.ValueOf(v)).(map[string]any); ok {
		return fields
	}
	return map[string]any{"value": v}
}

// SetFields returns a copy of a value in which some fields, given as JSON, are replaced; the value itself
// is left as it was. A body is set by a JSON string under "body". A name that the kind does not have is an
// error with what was probably meant.
func SetFields(v any, set map[string]json.RawMessage) (any, error) {
	k := codecs.of(v)
	if k == nil || k.open() {
		return setPlain(v, set)
	}
	header, body := k.encode(v)
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if name == Body && k.bodyDoc != "" {
			var text string
			if err := json.Unmarshal(set[name], &text); err != nil {
				return nil, fmt.Errorf("set the body of a %s: %w", k.name, err)
			}
			body = []byte(text)
			continue
		}
		if err := k.set(header, name, set[name]); err != nil {
			return nil, err
		}
	}
	return k.value(header, body)
}

// set replaces one field of a header. It is decoded into a fresh value, because decoding into a list would
// write to the one that the original shares.
func (k *entry) set(header reflect.Value, name string, value json.RawMessage) error {
	f, ok := k.field(name)
	if !ok {
		names := make([]string, len(k.fields))
		for i, f := range k.fields {
			names[i] = f.Name
		}
		if hint := suggest.Nearest(name, names); hint != "" {
			return fmt.Errorf("a %s has no field %q (did you mean %s?)", k.name, name, hint)
		}
		return fmt.Errorf("a %s has no field %q, only %s", k.name, name, suggest.Choices(name, names))
	}
	fresh := reflect.New(f.typ)
	if err := json.Unmarshal(value, fresh.Interface()); err != nil {
		return fmt.Errorf("set %s of a %s: %w", name, k.name, err)
	}
	header.Field(f.index).Set(fresh.Elem())
	return nil
}

// setPlain sets fields of a map.
func setPlain(v any, set map[string]json.RawMessage) (any, error) {
	fields, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("a %T has no fields that could be set", v)
	}
	changed := maps.Clone(fields)
	if changed == nil {
		changed = make(map[string]any, len(set))
	}
	for name, raw := range set {
		var value any
		if err := recordjson.Unmarshal(raw, &value); err != nil {
			return nil, fmt.Errorf("set %s: %w", name, err)
		}
		changed[name] = value
	}
	return changed, nil
}

// SetBody returns a copy of a value with another body, which it may go on using.
func SetBody(v any, body []byte) (any, error) {
	k := codecs.of(v)
	if k == nil || k.bodyDoc == "" {
		return nil, fmt.Errorf("a %T has no body", v)
	}
	header, _ := k.encode(v)
	return k.value(header, body)
}

// plain turns a part of a header into maps, lists and scalars.
func plain(v reflect.Value) any {
	if !v.IsValid() {
		return nil
	}
	if t, ok := v.Interface().(time.Time); ok {
		return t
	}
	if none, ok := plainNil(v); ok {
		return none
	}
	if marshaler, ok := v.Interface().(json.Marshaler); ok {
		return reread(marshaler)
	}
	if marshaler, ok := v.Interface().(encoding.TextMarshaler); ok {
		text, err := marshaler.MarshalText()
		if err != nil {
			return ""
		}
		return string(text)
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return plain(v.Elem())
	case reflect.Struct:
		return plainStruct(v)
	case reflect.Map:
		m := make(map[string]any, v.Len())
		for it := v.MapRange(); it.Next(); {
			m[fmt.Sprint(it.Key())] = plain(it.Value())
		}
		return m
	case reflect.Slice, reflect.Array:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = plain(v.Index(i))
		}
		return list
	}
	return scalar(v)
}

// plainNil returns what nil stands for, which may be written in a way of its own.
func plainNil(v reflect.Value) (none any, isNil bool) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() && isJSONText(v.Type()) {
			return "", true
		}
		return nil, v.IsNil()
	case reflect.Slice:
		if v.IsNil() && v.Type() != reflect.TypeFor[json.RawMessage]() {
			return []any{}, true
		}
	}
	return nil, false
}

func scalar(v reflect.Value) any {
	switch {
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() == reflect.Bool:
		return v.Bool()
	case v.Kind() == reflect.Uint64:
		return v.Uint()
	case v.CanInt():
		return int(v.Int())
	case v.CanUint():
		return int(v.Uint())
	case v.CanFloat():
		return v.Float()
	}
	return fmt.Sprint(v.Interface())
}

func plainStruct(v reflect.Value) map[string]any {
	m := make(map[string]any, v.NumField())
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if !f.IsExported() {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			name = f.Name
		}
		m[name] = plain(v.Field(i))
	}
	return m
}

// reread gives what a value writes as JSON; what it cannot write is nil.
func reread(m json.Marshaler) any {
	text, err := m.MarshalJSON()
	if err != nil {
		return nil
	}
	var v any
	if err := recordjson.Unmarshal(text, &v); err != nil {
		return nil
	}
	return v
}

// isJSONText reports whether JSON has values of the type as strings.
func isJSONText(t reflect.Type) bool { return t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) }

// jsonType names a type for people who write JSON.
func jsonType(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "time"
	case t.Implements(reflect.TypeFor[json.Marshaler]()) && t.Kind() == reflect.Int64:
		return "number"
	case t == reflect.TypeFor[json.RawMessage]():
		return "anything"
	case isJSONText(t), t.Kind() == reflect.String:
		return "string"
	case t.Kind() == reflect.Bool:
		return "boolean"
	case t.Kind() == reflect.Slice:
		return "list of " + options.Plural(jsonType(t.Elem()))
	case t.Kind() == reflect.Map:
		return "object of " + options.Plural(jsonType(t.Elem()))
	case t.Kind() == reflect.Struct, t.Kind() == reflect.Pointer:
		return "object"
	case t.Kind() == reflect.Float32, t.Kind() == reflect.Float64:
		return "number"
	case t.Kind() == reflect.Interface:
		return "anything"
	}
	return "integer"
}
