package pipeline

import (
	"reflect"
	"regexp"
	"strings"
)

// Setting is an option of a stage with the value that it has.
type Setting struct {
	Name    string `json:"name"`  // "retry.max" within a table
	Value   string `json:"value"` // as in TOML; a secret says that it is one
	Doc     string `json:"doc"`
	Default bool   `json:"default"` // nobody chose it
}

// Settings lists the options of the stage, without those that every stage has. They can be shown to
// anybody: a [Secret] is left out, and so are a user with a password in a URL and, in tables of any keys,
// the values of keys that sound like secrets.
func (s *Stage) Settings() []Setting {
	options := reflect.ValueOf(s.Options)
	if !options.IsValid() || options.Kind() != reflect.Struct {
		return nil
	}
	fs, err := optionFields(options.Type())
	if err != nil {
		return nil // the options of a stage that is registered nowhere are nobody's business
	}
	return fs.settings("", options, reflect.ValueOf(s.defaults))
}

func (fs *fields) settings(prefix string, v, defaults reflect.Value) []Setting {
	var all []Setting
	for _, f := range fs.list {
		value, usual := v.FieldByIndex(f.index), reflect.Value{}
		if defaults.IsValid() {
			usual = defaults.FieldByIndex(f.index)
		}
		name := prefix + f.name
		if f.inner != nil && f.typ.Kind() == reflect.Struct {
			all = append(all, f.inner.settings(name+".", value, usual)...)
			continue
		}
		all = append(all, Setting{
			Name: name, Value: withoutPasswords(f.inline(value)), Doc: f.doc,
			Default: usual.IsValid() && reflect.DeepEqual(value.Interface(), usual.Interface()),
		})
	}
	return all
}

// inline writes a value as TOML would have it in one line, also the tables in it.
func (f field) inline(v reflect.Value) string {
	switch {
	case f.inner == nil && v.Kind() == reflect.Map && !isText(v.Type()):
		return free(v)
	case f.inner == nil:
		return literal(v)
	case v.Kind() == reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = f.inline(v.Index(i))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case v.Kind() == reflect.Map:
		return literalMap(v, f.inline)
	}
	parts := make([]string, len(f.inner.list))
	for i, inner := range f.inner.list {
		parts[i] = inner.name + " = " + inner.inline(v.FieldByIndex(inner.index))
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

// secretKey is what a key sounds like in a table whose keys nobody here knows, if its value is a secret.
var secretKey = regexp.MustCompile(`(?i)secret|token|passw|passphrase|credential|auth|key$`)

// free writes a table of any keys, and what is in it, without the values of those that sound like secrets.
func free(v reflect.Value) string {
	for v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	switch {
	case !v.IsValid():
		return `""`
	case isText(v.Type()):
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

// userinfo is what stands before the host of a URL, if there is a password in it.
var userinfo = regexp.MustCompile(`(://)[^/@\s"?#]*:[^/\s"?#]*@`)

func withoutPasswords(text string) string {
	return userinfo.ReplaceAllString(text, "${1}"+redacted+"@")
}
