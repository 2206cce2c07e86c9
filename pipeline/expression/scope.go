package expression

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/types"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
)

// Variables that every expression may name, whatever the value is.
const (
	metaName  = "meta"  // what stages said beside the value, by name
	kindName  = "kind"  // what the value is: "document", "request", "record"
	valueName = "value" // the value itself, or a map of its fields
)

// scope is what an expression may name, and of which types.
type scope struct {
	names types.Map
	open  bool // other names may be there as well: they are looked up in each value
}

// scopeOf returns the fields of all these kinds. A field that is of two types in two of them may be of any.
func scopeOf(kinds []pipeline.Kind) *scope {
	s := &scope{names: make(types.Map), open: len(kinds) == 0}
	for _, kind := range kinds {
		fields, open := fieldsOf(kind)
		s.open = s.open || open
		for name, t := range fields {
			s.add(name, t)
		}
	}
	s.names[metaName] = types.TypeOf(map[string]string(nil))
	s.names[kindName] = types.String
	if _, taken := s.names[valueName]; !taken {
		s.names[valueName] = types.Any
	}
	return s
}

// fieldsOf returns the fields that values of a kind have. It is open if they may have others as well.
func fieldsOf(kind pipeline.Kind) (fields types.Map, open bool) {
	fields = make(types.Map)
	if names, known := kind.Record(); known {
		for _, name := range names {
			fields[name] = types.Any
		}
		return fields, false
	}
	named, err := codec.Named(kind.Name())
	for _, f := range named.Fields {
		fields[f.Name] = typeOf(f.Type)
	}
	if element, known := kind.Element(); known {
		if of, open := fieldsOf(element); !open {
			fields[valueName] = types.Array(of)
		}
	}
	return fields, err != nil || len(named.Fields) == 0 // a kind whose values have fields of their own
}

func (s *scope) add(name string, t types.Type) {
	if known, ok := s.names[name]; ok && !known.Equal(t) {
		t = types.Any
	}
	s.names[name] = t
}

// env returns the environment that a program is compiled for.
func (s *scope) env() types.Map {
	env := maps.Clone(s.names)
	if s.open {
		env[types.Extra] = types.Any
	}
	return env
}

// typeOf returns the type of what [codec.Fields] gives for a field that a kind describes so.
func typeOf(described string) types.Type {
	if of, ok := strings.CutPrefix(described, "list of "); ok {
		return types.Array(typeOf(singular(of)))
	}
	switch described {
	case "string", "bytes":
		return types.String
	case "boolean":
		return types.Bool
	case "integer":
		return types.Int
	case "number":
		return types.Float64
	case "time":
		return types.TypeOf(time.Time{})
	}
	return types.Any
}

// singular undoes what makes "list of strings" of a list whose elements are each a string.
func singular(plural string) string {
	noun, rest, more := strings.Cut(plural, " ")
	noun = strings.TrimSuffix(noun, "s")
	if more {
		return noun + " " + rest
	}
	return noun
}

// lookUp fills in what the names mean for an item; nil what means nothing.
func lookUp(names []string, value any, meta map[string]string, env map[string]any) {
	found, isRecord := value.(pipeline.Record)
	if !isRecord {
		fields := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == metaName || name == kindName })
		if len(fields) > 0 {
			found = codec.Fields(value, fields...)
		}
	}
	for _, name := range names {
		switch name {
		case metaName:
			env[name] = meta
		case kindName:
			env[name] = codec.Kind(value)
		default:
			field, ok := found[name]
			if !ok && name == valueName {
				field = whole(value)
			}
			env[name] = field
		}
	}
}

// whole returns a value as expressions see it: a text, a list, or a map of fields.
func whole(value any) any {
	switch v := value.(type) {
	case nil, string, bool, int, float64, json.Number, map[string]any, []string:
		return v
	case []any:
		all := make([]any, len(v))
		for i, element := range v {
			all[i] = whole(element)
		}
		return all
	case []byte:
		return string(v)
	}
	fields := codec.Fields(value)
	if inner, ok := fields[valueName]; ok && len(fields) == 1 {
		return inner
	}
	return fields
}

// KindsNamed returns what Compile takes for an option that names a kind, which may be empty: any. An error
// tells what was probably meant.
func KindsNamed(name string) ([]pipeline.Kind, error) {
	if name == "" {
		return nil, nil
	}
	kind, err := pipeline.KindNamed(name)
	return []pipeline.Kind{kind}, err
}
