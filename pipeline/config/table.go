package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/finding"
)

// free decodes a table without knowing its keys. Like every table it keeps the entries that are not
// mentioned.
func (d *decoder) free(v *value, into reflect.Value, path string) {
	if !d.expect(v, into, path, tableValue) {
		return
	}
	table := make(pipeline.Table)
	for it := into.MapRange(); it.Next(); {
		table[it.Key().String()] = it.Value().Interface()
	}
	for _, key := range v.keys {
		table[key] = d.anything(v.table[key], path+"."+key)
	}
	into.Set(reflect.ValueOf(table).Convert(into.Type()))
}

// anything returns a value of TOML as one of Go.
func (d *decoder) anything(v *value, path string) any {
	switch v.kind {
	case tableValue:
		table := make(map[string]any, len(v.keys))
		for _, key := range v.keys {
			table[key] = d.anything(v.table[key], path+"."+key)
		}
		return table
	case listValue:
		list := make([]any, len(v.list))
		for i, element := range v.list {
			list[i] = d.anything(element, fmt.Sprintf("%s.%d", path, i))
		}
		return list
	case boolValue:
		return v.text == "true"
	case integerValue:
		if n, err := strconv.ParseInt(v.text, 0, 64); err == nil {
			return n
		}
	case floatValue:
		if f, err := strconv.ParseFloat(strings.ReplaceAll(v.text, "_", ""), 64); err == nil {
			return f
		}
	case stringValue:
		text, wrong := d.l.expand(v)
		for _, f := range wrong {
			d.report(f, path)
		}
		return text
	case timeValue:
		return v.text
	}
	d.report(v.finding(finding.CodeBadValue, fmt.Sprintf("option %q cannot be %s", path, v.text)), path)
	return nil
}
