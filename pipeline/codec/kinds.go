package codec

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/webrace/webrace/internal/suggest"
)

// Info describes a kind. It is not to be changed.
type Info struct {
	Name   string
	Doc    string // what a value is, in a phrase
	Type   reflect.Type
	Fields []Field // the body last; none if they are those that each value has
}

// Named describes the kind of that name. An error tells what was probably meant.
func Named(name string) (Info, error) {
	k := codecs.named(name)
	if k == nil {
		return Info{}, unknownKind(name)
	}
	return k.info(), nil
}

func (k *entry) describe() Info {
	info := Info{Name: k.name, Doc: k.doc, Type: k.typ}
	for _, f := range k.fields {
		field := f.Field
		field.Zero = plain(reflect.Zero(f.typ))
		info.Fields = append(info.Fields, field)
	}
	if k.bodyDoc != "" {
		info.Fields = append(info.Fields, Field{Name: Body, Type: "bytes", Doc: k.bodyDoc, Zero: ""})
	}
	return info
}

// All describes the kinds that have a codec, sorted by name.
func All() []Info {
	var all []Info
	for _, name := range Names() {
		all = append(all, codecs.named(name).info())
	}
	return all
}

// Names lists the names of the kinds that have a codec, sorted.
func Names() []string {
	codecs.mu.RLock()
	defer codecs.mu.RUnlock()
	return slices.Sorted(maps.Keys(codecs.byName))
}

// Kind returns the name of a value's kind, or [JSON] if it has no codec.
func Kind(v any) string {
	if k := codecs.of(v); k != nil {
		return k.name
	}
	return JSON
}

// KindOfType returns the name of the kind of a type's values, or "" if it has no codec.
func KindOfType(t reflect.Type) string {
	codecs.mu.RLock()
	defer codecs.mu.RUnlock()
	if k := codecs.byType[t]; k != nil {
		return k.name
	}
	return ""
}

// GoType returns the type of the values of a kind by its own name in Go, as fmt writes it by %T.
func GoType(name string) (t reflect.Type, known bool) {
	codecs.mu.RLock()
	defer codecs.mu.RUnlock()
	for t := range codecs.byType {
		if t.String() == name {
			return t, true
		}
	}
	return nil, false
}

// subjects are the fields that tell what a value is about, the nearest to it first.
var subjects = []string{"url", "uri", "from"}

// Subject names what a value is about, for a person: a URL mostly. It is empty where no field gives it.
func Subject(v any) string {
	fields := Fields(v, subjects...)
	for _, name := range subjects {
		if subject, _ := fields[name].(string); subject != "" {
			return subject
		}
	}
	return ""
}

// Size returns about how many bytes a value keeps, if the codec of its kind tells it. It takes little time.
func Size(v any) (bytes int, known bool) {
	if k := codecs.of(v); k != nil && k.size != nil {
		return k.size(v), true
	}
	return 0, false
}

func unknownKind(name string) error {
	names := Names()
	if hint := suggest.Nearest(name, names); hint != "" {
		return fmt.Errorf("there is no kind %q (did you mean %s?)", name, hint)
	}
	return fmt.Errorf("there is no kind %q; there are %s", name, suggest.Choices(name, names))
}
