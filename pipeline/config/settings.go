package config

import (
	"encoding"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/internal/flow"
	"github.com/webrace/webrace/pipeline/internal/options"
)

// Setting is an option of a stage with the value that it has.
type Setting struct {
	Name    string `json:"name"`  // "retry.max" within a table
	Value   string `json:"value"` // as in TOML; a secret tells that it is one
	Doc     string `json:"doc"`
	Default bool   `json:"default"` // the configuration does not choose it
}

// Settings lists the options of the stage, without those that every stage has. They can be shown to
// anybody: a [pipeline.Secret] is left out, and so are a user with a password in a URL and, in tables of any keys,
// the values of keys that sound like secrets.
func Settings(s *pipeline.Stage) []Setting {
	chosen := reflect.ValueOf(s.Options)
	if !chosen.IsValid() || chosen.Kind() != reflect.Struct {
		return nil
	}
	fs, err := options.Of(chosen.Type(), commonFields)
	if err != nil {
		return nil // the options of a stage that is registered nowhere are not to be shown
	}
	return listSettings(fs, "", chosen, reflect.ValueOf(s.Defaults))
}

func listSettings(fs *options.Fields, prefix string, v, defaults reflect.Value) []Setting {
	var all []Setting
	for _, f := range fs.List {
		value, usual := v.FieldByIndex(f.Index), reflect.Value{}
		if defaults.IsValid() {
			usual = defaults.FieldByIndex(f.Index)
		}
		name := prefix + f.Name
		if f.Inner != nil && f.Type.Kind() == reflect.Struct {
			all = append(all, listSettings(f.Inner, name+".", value, usual)...)
			continue
		}
		all = append(all, Setting{
			Name: name, Value: withoutPasswords(inline(f, value)), Doc: f.Doc,
			Default: usual.IsValid() && reflect.DeepEqual(value.Interface(), usual.Interface()),
		})
	}
	return all
}

// inline writes a value as TOML would have it in one line, also the tables in it.
func inline(f options.Field, v reflect.Value) string {
	switch {
	case f.Inner == nil && v.Kind() == reflect.Map && !options.IsText(v.Type()):
		return free(v)
	case f.Inner == nil:
		return literal(v)
	case v.Kind() == reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = inline(f, v.Index(i))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case v.Kind() == reflect.Map:
		return literalMap(v, func(entry reflect.Value) string { return inline(f, entry) })
	}
	parts := make([]string, len(f.Inner.List))
	for i, inner := range f.Inner.List {
		parts[i] = inner.Name + " = " + inline(inner, v.FieldByIndex(inner.Index))
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

// secretKey is what a key sounds like in a table of any keys, if its value is a secret.
var secretKey = regexp.MustCompile(`(?i)secret|token|passw|passphrase|credential|auth|key$`)

// free writes a table of any keys, and what is in it, without the values of those that sound like secrets.
func free(v reflect.Value) string {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch {
	case !v.IsValid():
		return `""`
	case options.IsText(v.Type()):
		return literal(v)
	case v.Kind() == reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = free(v.Index(i))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case v.Kind() != reflect.Map:
		return literal(v)
	}
	shown := make(map[string]reflect.Value, v.Len())
	for it := v.MapRange(); it.Next(); {
		shown[it.Key().String()] = it.Value()
		if secretKey.MatchString(it.Key().String()) {
			shown[it.Key().String()] = reflect.ValueOf(redacted)
		}
	}
	return literalMap(reflect.ValueOf(shown), func(entry reflect.Value) string { return free(entry.Interface().(reflect.Value)) })
}

var redacted = pipeline.NewSecret("secret").String()

// userinfo is what stands before the host of a URL, if there is a password in it.
var userinfo = regexp.MustCompile(`(://)[^/@\s"?#]*:[^/\s"?#]*@`)

func withoutPasswords(text string) string {
	return userinfo.ReplaceAllString(text, "${1}"+redacted+"@")
}

// literal writes a value as TOML would have it; a table, which stands in lines of its own, is empty.
func literal(v reflect.Value) string {
	if options.IsText(v.Type()) {
		if v.IsZero() && v.Kind() == reflect.Struct {
			return `""`
		}
		if m, ok := v.Interface().(encoding.TextMarshaler); ok {
			if text, err := m.MarshalText(); err == nil {
				return strconv.Quote(string(text))
			}
		}
		return strconv.Quote(fmt.Sprint(v.Interface()))
	}
	switch v.Kind() {
	case reflect.String:
		return strconv.Quote(v.String())
	case reflect.Struct:
		return ""
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			if parts[i] = literal(v.Index(i)); parts[i] == "" {
				return ""
			}
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case reflect.Map:
		return literalMap(v, literal)
	}
	return fmt.Sprint(v.Interface())
}

// literalMap writes a map with the values that write makes, or nothing if it makes nothing of one.
func literalMap(v reflect.Value, write func(reflect.Value) string) string {
	var parts []string
	for it := v.MapRange(); it.Next(); {
		value := write(it.Value())
		if value == "" {
			return ""
		}
		key := it.Key().String()
		if !flow.IsName(key) {
			key = strconv.Quote(key)
		}
		parts = append(parts, key+" = "+value)
	}
	if len(parts) == 0 {
		return "{}"
	}
	slices.Sort(parts)
	return "{ " + strings.Join(parts, ", ") + " }"
}
