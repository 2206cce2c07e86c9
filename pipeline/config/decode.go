package config

import (
	"cmp"
	"encoding"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/finding"
	"github.com/webrace/webrace/pipeline/internal/options"
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
	fields *options.Fields
	v      reflect.Value
}

func (d *decoder) report(f finding.Finding, path string) {
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
			d.option(v, key, "", into)
		}
	}
}

// option decodes the value of one key of a table. prefix is the path of the table within the options.
func (d *decoder) option(table *value, key, prefix string, into []target) {
	v := table.table[key]
	for _, t := range into {
		f, ok := t.fields.Find(key)
		if !ok {
			if f, ok = t.fields.FindFormer(key); ok && !d.renamed(table, key, prefix, f) {
				return
			}
		}
		if ok {
			d.value(v, t.v.FieldByIndex(f.Index), f, prefix+f.Name)
			return
		}
	}
	d.unknown(key, v, prefix, into)
}

func (d *decoder) unknown(key string, v *value, prefix string, into []target) {
	var names []string
	for _, t := range into {
		names = append(names, t.fields.Names()...)
	}
	f := v.keyFinding(finding.CodeUnknownOption, fmt.Sprintf("stage type %q has no option %q", d.typ.spec.Type, prefix+key))
	switch f.Hint = suggest.Nearest(key, names); {
	case prefix == "" && key == "batch":
		f.Message = fmt.Sprintf("stage type %q takes items one at a time and has no option %q", d.typ.spec.Type, key)
	case f.Hint == "" && len(names) > 0:
		slices.Sort(names)
		f.Message += "; there are " + suggest.Choices(key, names)
	}
	d.report(f, prefix+key)
}

// value decodes one value. Lists replace what was there; tables and maps keep the entries that they do
// not mention.
func (d *decoder) value(v *value, into reflect.Value, f options.Field, path string) {
	if options.IsText(into.Type()) {
		d.text(v, into, path)
		return
	}
	if options.IsTable(into.Type()) {
		d.free(v, into, path)
		return
	}
	switch into.Kind() {
	case reflect.Struct:
		if d.expect(v, into, path, tableValue) {
			for _, key := range v.keys {
				d.option(v, key, path+".", []target{{f.Inner, into}})
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
	d.report(v.finding(finding.CodeWrongType, fmt.Sprintf("option %q takes %s%s, not %s", path, article, name, v.kind)), path)
	return false
}

// entries decodes a table into a map, which is copied first: it may be the one of the type's defaults.
func (d *decoder) entries(v *value, into reflect.Value, f options.Field, path string) {
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

func (d *decoder) stringValue(v *value, into reflect.Value, f options.Field, path string) {
	expand := d.l.expand
	if f.Expression {
		expand = d.l.expandExpression
	}
	text, ok := d.expanded(v, into, path, expand)
	if !ok {
		return
	}
	if now, was := f.FormerWords[text]; was {
		text = d.renamedWord(v, text, now, path)
	}
	if f.Enum != nil && !slices.Contains(f.Enum, text) {
		wrong := v.finding(finding.CodeBadValue, fmt.Sprintf("option %q cannot be %q, only %s", path, text, suggest.Or(f.Enum)))
		wrong.Hint = cmp.Or(f.Meant[text], suggest.Nearest(text, f.Enum))
		d.report(wrong, path)
		return
	}
	if into.Type() == reflect.TypeFor[pipeline.File]() {
		text = v.doc.beside(text)
	}
	into.SetString(text)
}

// beside returns the path of a file that the document names relative to its own place.
func (d *document) beside(path string) string {
	if path == "" || d.flag || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(d.name), path)
}

func (d *decoder) expanded(v *value, into reflect.Value, path string, expand func(*value) (string, []finding.Finding)) (string, bool) {
	if !d.expect(v, into, path, stringValue) {
		return "", false
	}
	text, wrong := expand(v)
	for _, f := range wrong {
		d.report(f, path)
	}
	return text, wrong == nil
}

// text decodes into a type that reads itself. Only a Size can be written as an integer, and dates go to
// types that take a string, such as time.Time.
func (d *decoder) text(v *value, into reflect.Value, path string) {
	text, ok := v.text, true
	isSize := into.Type() == reflect.TypeFor[pipeline.Size]()
	if v.kind != timeValue && (v.kind != integerValue || !isSize) {
		expand := d.l.expand
		if into.Type() == reflect.TypeFor[pipeline.Secret]() {
			expand = d.l.expandSecret
		}
		text, ok = d.expanded(v, into, path, expand)
	}
	if isSize && v.kind == integerValue {
		n, err := strconv.ParseInt(text, 0, 64)
		if ok = err == nil && n >= 0; ok {
			into.SetInt(n)
		} else {
			d.report(v.finding(finding.CodeBadValue, fmt.Sprintf("option %q cannot be %s", path, text)), path)
		}
		return
	}
	if !ok {
		return
	}
	fresh := reflect.New(into.Type())
	read := func() error { return fresh.Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)) }
	if err := guarded(d.typ.spec.Type, read); err != nil {
		d.report(v.finding(finding.CodeBadValue, fmt.Sprintf("option %q: %v", path, err)), path)
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
		d.report(v.finding(finding.CodeBadValue, fmt.Sprintf("option %q cannot be %s", path, v.text)), path)
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
