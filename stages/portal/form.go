package portal

import (
	"net/url"
	"strings"
)

// form is what was typed into a form, and what is wrong with it, by the names of fields.
type form struct {
	values url.Values
	Wrong  map[string]string
}

func newForm(values url.Values) *form {
	return &form{values: values, Wrong: make(map[string]string)}
}

// Value returns what was typed into a field.
func (f *form) Value(name string) string { return f.values.Get(name) }

// Values returns all that was chosen of a field.
func (f *form) Values(name string) []string { return f.values[name] }

// Is reports whether a box was ticked, or is what was chosen.
func (f *form) Is(name, value string) bool {
	for _, v := range f.values[name] {
		if v == value {
			return true
		}
	}
	return false
}

// line returns what was typed into a field, without the space around it.
func (f *form) line(name string) string { return strings.TrimSpace(f.values.Get(name)) }

// wrong records what is wrong with a field; what was said of it first counts.
func (f *form) wrong(name, key string, args ...any) { f.wrongText(name, text(key, args...)) }

// wrongText is wrong in words that are made already.
func (f *form) wrongText(name, said string) {
	if f.Wrong[name] == "" {
		f.Wrong[name] = said
	}
}

// ok reports whether nothing is wrong.
func (f *form) ok() bool { return len(f.Wrong) == 0 }
