package pipeline

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// decoder sets options from the values of a table. It goes on after a value that does not fit, so that
// one mistake never hides another.
type decoder struct {
	l     *loader
	typ   *stageType
	path  string // of the table: pipeline.search.stage.index
	wrong bool   // something was reported
}

// target is a struct that takes options.
type target struct {
	fields *fields
	v      reflect.Value
}

func (d *decoder) report(f Finding, path string) {
	f.Path = d.path
	if path != "" {
		f.Path += "." + path
	}
	d.wrong = true
	d.l.report(f)
}

// stageTable decodes the table of a stage, or of the defaults of a type. Its type has been read already.
func (d *decoder) stageTable(v *value, into []target) {
	for _, key := range v.keys {
		if key != "type" {
			d.option(key, v.table[key], "", into)
		}
	}
}

// option decodes the value of one key of a table. prefix is the path of the table within the options.
func (d *decoder) option(key string, v *value, prefix string, into []target) {
	for _, t := range into {
		if f, ok := t.fields.find(key); ok {
			d.value(v, t.v.FieldByIndex(f.index), f, prefix+key)
			return
		}
	}
	d.unknown(key, v, prefix, into)
}

func (d *decoder) unknown(key string, v *value, prefix string, into []target) {
	var names []string
	for _, t := range into {
		names = append(names, t.fields.names()...)
	}
	finding := v.keyFinding(CodeUnknownOption, fmt.Sprintf("stage type %q has no option %q", d.typ.spec.Type, prefix+key))
	switch finding.Hint = nearest(key, names); {
	case prefix == "" && key == "batch":
		finding.Message = fmt.Sprintf("stage type %q takes items one at a time and has no option %q", d.typ.spec.Type, key)
	case finding.Hint == "" && len(names) > 0:
		slices.Sort(names)
		finding.Message += "; there are " + strings.Join(names, ", ")
	}
	d.report(finding, prefix+key)
}

// value decodes one value. Lists replace what was there; tables and maps keep the entries that they do
// not mention.
func (d *decoder) value(v *value, into reflect.Value, f field, path string) {
	if isText(into.Type()) {
		d.text(v, into, path)
		return
	}
	if isTable(into.Type()) {
		d.free(v, into, path)
		return
	}
	switch into.Kind() {
	case reflect.Struct:
		if d.expect(v, into, path, tableValue) {
			for _, key := range v.keys {
				d.option(key, v.table[key], path+".", []target{{f.inner, into}})
			}
		}
	case reflect.Slice:
		if d.expect(v, into, path, listValue) {
			list := reflect.MakeSlice(into.Type(), len(v.list), len(v.list))
			for i, element := range v.list {
				d.value(element, list.Index(i), f, fmt.Sprintf("%s.%d", path, i))
			}
			into.Set(list)
		}
	case reflect.Map:
		if d.expect(v, into, path, tableValue) {
			d.entries(v, into, f, path)
		}
	case reflect.String:
		d.stringValue(v, into, f, path)
	case reflect.Bool:
		if d.expect(v, into, path, boolValue) {
			into.SetBool(v.text == "true")
		}
	default:
		d.number(v, into, path)
	}
}

// expect reports a value of another kind than those the option takes.
func (d *decoder) expect(v *value, into reflect.Value, path string, kinds ...valueKind) bool {
	if slices.Contains(kinds, v.kind) {
		return true
	}
	name := typeName(into.Type())
	article := "a "
	if strings.HasPrefix(name, "integer") {
		article = "an "
	}
	d.report(v.finding(CodeWrongType, fmt.Sprintf("option %q takes %s%s, not %s", path, article, name, v.kind)), path)
	return false
}

// entries decodes a table into a map, which is copied first: it may be the one of the type's defaults.
func (d *decoder) entries(v *value, into reflect.Value, f field, path string) {
	entries := reflect.MakeMap(into.Type())
	for it := into.MapRange(); it.Next(); {
		entries.SetMapIndex(it.Key(), it.Value())
	}
	for _, key := range v.keys {
		k := reflect.ValueOf(key).Convert(into.Type().Key())
		entry := reflect.New(into.Type().Elem()).Elem()
		if before := entries.MapIndex(k); before.IsValid() {
			entry.Set(before)
		}
		d.value(v.table[key], entry, f, path+"."+key)
		entries.SetMapIndex(k, entry)
	}
	into.Set(entries)
}

func (d *decoder) stringValue(v *value, into reflect.Value, f field, path string) {
	text, ok := d.expanded(v, into, path)
	if !ok {
		return
	}
	if f.enum != nil && !slices.Contains(f.enum, text) {
		finding := v.finding(CodeBadValue, fmt.Sprintf("option %q cannot be %q, only %s", path, text, joinOr(f.enum)))
		finding.Hint = nearest(text, f.enum)
		d.report(finding, path)
		return
	}
	into.SetString(text)
}

func (d *decoder) expanded(v *value, into reflect.Value, path string) (string, bool) {
	if !d.expect(v, into, path, stringValue) {
		return "", false
	}
	text, wrong := d.l.expand(v)
	for _, f := range wrong {
		d.report(f, path)
	}
	return text, wrong == nil
}

// text decodes into a type that reads itself. Only a Size can be written as an integer, and dates go to
// types that take a string, such as time.Time.
func (d *decoder) text(v *value, into reflect.Value, path string) {
	text, ok := v.text, true
	isSize := into.Type() == reflect.TypeFor[Size]()
	if v.kind != timeValue && (v.kind != integerValue || !isSize) {
		text, ok = d.expanded(v, into, path)
	}
	if isSize && v.kind == integerValue {
		n, err := strconv.ParseInt(text, 0, 64)
		if ok = err == nil && n >= 0; ok {
			into.SetInt(n)
		} else {
			d.report(v.finding(CodeBadValue, fmt.Sprintf("option %q cannot be %s", path, text)), path)
		}
		return
	}
	if !ok {
		return
	}
	fresh := reflect.New(into.Type())
	read := func() error { return fresh.Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)) }
	if err := guarded(d.typ.spec.Type, read); err != nil {
		d.report(v.finding(CodeBadValue, fmt.Sprintf("option %q: %v", path, err)), path)
		return
	}
	into.Set(fresh.Elem())
}

func (d *decoder) number(v *value, into reflect.Value, path string) {
	kinds := []valueKind{integerValue}
	if into.CanFloat() {
		kinds = append(kinds, floatValue)
	}
	if d.expect(v, into, path, kinds...) && !setNumber(into, v) {
		d.report(v.finding(CodeBadValue, fmt.Sprintf("option %q cannot be %s", path, v.text)), path)
	}
}

// setNumber reports whether the number fits.
func setNumber(into reflect.Value, v *value) bool {
	if into.CanFloat() {
		n, err := strconv.ParseFloat(strings.ReplaceAll(v.text, "_", ""), 64)
		if v.kind == integerValue {
			var whole int64
			whole, err = strconv.ParseInt(v.text, 0, 64)
			n = float64(whole)
		}
		if err != nil || into.OverflowFloat(n) {
			return false
		}
		into.SetFloat(n)
		return true
	}
	n, err := strconv.ParseInt(v.text, 0, 64)
	switch {
	case err != nil:
		return false
	case into.CanInt() && !into.OverflowInt(n):
		into.SetInt(n)
		return true
	case into.CanUint() && n >= 0 && !into.OverflowUint(uint64(n)):
		into.SetUint(uint64(n))
		return true
	}
	return false
}
