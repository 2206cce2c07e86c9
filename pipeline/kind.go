package pipeline

import "reflect"

// Kind is what a port carries: a Go type. An edge between ports of different kinds is refused when the
// pipeline is loaded.
type Kind struct {
	typ  reflect.Type
	same bool
}

// KindOf returns the kind of T. KindOf[any] is accepted by, and accepts, every kind.
func KindOf[T any]() Kind { return Kind{typ: reflect.TypeFor[T]()} }

// SameAsInput is the kind of an output port that passes on whatever the stage was given.
var SameAsInput = Kind{same: true}

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
	return k.typ != nil && other.typ != nil && other.typ.AssignableTo(k.typ)
}

// Holds reports whether v is a value of the kind.
func (k Kind) Holds(v any) bool {
	if k.same || k.IsAny() {
		return true
	}
	return v != nil && k.typ != nil && reflect.TypeOf(v).AssignableTo(k.typ)
}
