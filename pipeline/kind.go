package pipeline

import (
	"reflect"
	"slices"
	"strings"

	"github.com/webrace/webrace/pipeline/codec"
)

// Kind is what a port carries: a Go type. An edge between ports of different kinds is refused when the pipeline is
// loaded.
//
// Of records and lists it may tell what is in them: lint holds expressions against it, and lists against what takes
// them.
type Kind struct {
	typ  reflect.Type
	same bool

	fields string       // of records, or what a port of SameAsInput adds to them: names, joined; empty if they are not known
	lists  bool         // a port that makes lists of what the stage is given
	of     reflect.Type // what is in the list; nil if that is not known. Of records in it, fields tells more
	forget bool         // with same: the values may have other fields than those that came
}

// KindOf returns the kind of T. KindOf[any] is accepted by, and accepts, every kind.
func KindOf[T any]() Kind { return Kind{typ: reflect.TypeFor[T]()} }

// KindNamed returns the kind of that name; "any" is the one of every value. An error tells what was probably meant.
func KindNamed(name string) (Kind, error) {
	if name == codec.Any {
		return KindOf[any](), nil
	}
	named, err := codec.Named(name)
	return Kind{typ: named.Type}, err
}

// Name returns the name by which the kind is known outside of Go, or "" if it has no codec.
func (k Kind) Name() string {
	if k.IsAny() {
		return codec.Any
	}
	return codec.KindOfType(k.typ)
}

// Kinds of output ports that depend on what the stage was given.
var (
	// SameAsInput is that of a port that passes on whatever the stage was given.
	SameAsInput = Kind{same: true}
	// SameKind is that of a port that gives values of the kind that the stage was given, but not those: records may
	// have other fields.
	SameKind = Kind{same: true, forget: true}
	// ListOfInput is that of a port that makes a [List] of several of the stage's input.
	ListOfInput = Kind{typ: reflect.TypeFor[List](), lists: true}
)

// Values of stages that need no type of their own.
type (
	List   = codec.List   // several values as one, as a batch is
	Record = codec.Record // a value whose fields are its own: a row, an object of JSON
)

// ListOf is the kind of a [List] that has nothing but values of type T in it.
func ListOf[T any]() Kind { return Kind{typ: reflect.TypeFor[List](), of: reflect.TypeFor[T]()} }

// RecordOf is the kind of a [Record] that has these fields, and no others.
func RecordOf(fields ...string) Kind {
	return Kind{typ: reflect.TypeFor[Record](), fields: joinedNames(fields)}
}

// SameWith is [SameAsInput] of a stage that sets these fields, where it is given records.
func SameWith(fields ...string) Kind { return Kind{same: true, fields: joinedNames(fields)} }

// joined makes a set of names comparable.
func joinedNames(names []string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	return strings.Join(names, "\x00")
}

func split(names string) []string {
	if names == "" {
		return nil
	}
	return strings.Split(names, "\x00")
}

// Record returns the names of the fields, if the kind is that of records whose fields are known.
func (k Kind) Record() (fields []string, known bool) {
	return split(k.fields), k.typ == reflect.TypeFor[Record]() && k.fields != ""
}

// Element returns the kind of what is in a list, if the kind is that of lists and it is known.
func (k Kind) Element() (element Kind, known bool) {
	return Kind{typ: k.of, fields: k.fields}, k.of != nil
}

// given returns the kind of what leaves a port of this kind when something of another comes in.
func (k Kind) given(in Kind) Kind {
	switch {
	case k.lists:
		return Kind{typ: k.typ, of: in.typ, fields: in.fields}
	case !k.same:
		return k
	case k.forget:
		in.fields = ""
		return in
	}
	if fields, known := in.Record(); known && k.fields != "" {
		in.fields = joinedNames(append(fields, split(k.fields)...))
	}
	return in
}

// Kinds lists the kinds that a stage accepts.
func Kinds(kinds ...Kind) []Kind { return kinds }

// String returns the type's name, such as "*webrace.Document".
func (k Kind) String() string {
	switch {
	case k.same:
		return "same as input"
	case k.typ == nil:
		return "nothing"
	case k.IsAny():
		return "any"
	}
	if element, known := k.Element(); known {
		return "list of " + element.String()
	}
	return k.typ.String()
}

// IsAny reports whether the kind is that of every value.
func (k Kind) IsAny() bool {
	return k.typ != nil && k.typ.Kind() == reflect.Interface && k.typ.NumMethod() == 0
}

// Accepts reports whether a port of kind k takes values of kind other.
func (k Kind) Accepts(other Kind) bool {
	if k.IsAny() || other.IsAny() || k.same || other.same {
		return true
	}
	if element, known := k.Element(); known {
		if given, known := other.Element(); known && !element.Accepts(given) {
			return false
		}
	}
	return k.typ != nil && other.typ != nil && other.typ.AssignableTo(k.typ)
}

// Holds reports whether v is a value of the kind.
func (k Kind) Holds(v any) bool {
	if k.same || k.IsAny() {
		return true
	}
	return v != nil && k.typ != nil && reflect.TypeOf(v).AssignableTo(k.typ)
}
