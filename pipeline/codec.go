package pipeline

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Codec says how the values of a Go type are written for whoever is no Go program: a stage in another
// language, a test's fixture, an expression, a person who looks. A value is a header, which is JSON, and
// for some types a body, which is bytes and never part of the JSON.
//
// H is a struct whose fields have json tags; their names are what other programs know the value by, and
// never change. A field that is zero is left out ("omitzero"), and a field that is missing is zero; fields
// that a reader does not know are ignored. So both sides may be of different versions. Of a kind that is [Partial], a
// `part` tag names the part that a field tells of, and a `case` tag is on the field that tells the case.
type Codec[T, H any] struct {
	Name   string // of the kind: "document"
	Doc    string // what a value is, in a phrase
	Body   string // what the body is, in a phrase; empty for a kind without one
	Encode func(T) (header H, body []byte)
	Decode func(header H, body []byte) (T, error) // the value may go on using the body
	// Own copies what a value borrows from its lease; nil for a kind that borrows nothing. See [Own].
	Own func(T) T
	// Size returns about how many bytes a value keeps, in no time; nil for a kind of small values. See [Memory].
	Size func(T) int
}

// RegisterCodec makes a codec known. It panics if the name or the type has one already, or if a field of
// the header has no name, since these are mistakes in the program.
func RegisterCodec[T, H any](c Codec[T, H]) {
	k := &codec{
		name: c.Name, doc: c.Doc, bodyDoc: c.Body,
		kind: KindOf[T](), header: reflect.TypeFor[H](), fields: headerFields(reflect.TypeFor[H]()),
	}
	k.encode = func(v any) (reflect.Value, []byte) {
		header, body := c.Encode(v.(T))
		return reflect.ValueOf(&header).Elem(), body
	}
	k.decode = func(header reflect.Value, body []byte) (any, error) {
		return c.Decode(header.Interface().(H), body)
	}
	if c.Own != nil {
		k.own = func(v any) any { return c.Own(v.(T)) }
	}
	if c.Size != nil {
		k.size = func(v any) int { return c.Size(v.(T)) }
	}
	codecs.add(k)
}

// EncodeValue turns a value into a header and a body. The kind is the name of its codec; a value without
// one is of the kind "json", and its header is the value as encoding/json writes it. The body is the
// value's own: it is valid as long as the value is, and must not be changed.
func EncodeValue(v any) (kind string, header json.RawMessage, body []byte, err error) {
	return EncodeFields(v)
}

// EncodeFields is EncodeValue for whoever needs no more than some fields of a value, "body" being one. All
// are written if none is named.
func EncodeFields(v any, only ...string) (kind string, header json.RawMessage, body []byte, err error) {
	k := codecs.of(v)
	if k == nil {
		header, err = json.Marshal(v)
		return jsonKind, header, nil, encodeError(v, err)
	}
	h, body := k.encode(v)
	if len(only) > 0 {
		for _, f := range k.fields {
			if !slices.Contains(only, f.name) {
				h.Field(f.index).SetZero()
			}
		}
		if !slices.Contains(only, bodyField) {
			body = nil
		}
	}
	header, err = json.Marshal(h.Addr().Interface()) // which copies nothing
	return k.name, header, body, encodeError(v, err)
}

func encodeError(v any, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("encode a %T: %w", v, err)
}

// DecodeValue turns a header and a body back into a value. A header may be empty: every field of it is
// zero then. A value of the kind "json" becomes what encoding/json makes of it.
func DecodeValue(kind string, header json.RawMessage, body []byte) (any, error) {
	if kind == jsonKind {
		var v any
		if err := json.Unmarshal(header, &v); err != nil {
			return nil, fmt.Errorf("decode json: %w", err)
		}
		return v, nil
	}
	k := codecs.named(kind)
	if k == nil {
		return nil, unknownKind(kind)
	}
	h := reflect.New(k.header)
	if len(header) > 0 {
		if err := json.Unmarshal(header, h.Interface()); err != nil {
			return nil, fmt.Errorf("decode %s: %w", kind, err)
		}
	}
	return k.value(h.Elem(), body)
}

// value makes a value of a header that has been read.
func (k *codec) value(header reflect.Value, body []byte) (any, error) {
	if len(body) > 0 && k.bodyDoc == "" {
		return nil, fmt.Errorf("decode %s: it has no body, and there are %d bytes of one", k.name, len(body))
	}
	v, err := k.decode(header, body)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", k.name, err)
	}
	return v, nil
}

// KindNames lists the names of the kinds that have a codec, sorted.
func KindNames() []string {
	codecs.mu.RLock()
	defer codecs.mu.RUnlock()
	return slices.Sorted(maps.Keys(codecs.byName))
}

// KindNamed returns the kind of that name; "any" is the one of every value. An error says what was
// probably meant.
func KindNamed(name string) (Kind, error) {
	if name == anyKind {
		return KindOf[any](), nil
	}
	if k := codecs.named(name); k != nil {
		return k.kind, nil
	}
	return Kind{}, unknownKind(name)
}

// Name returns the name by which the kind is known outside of Go, or "" if it has no codec.
func (k Kind) Name() string {
	if k.IsAny() {
		return anyKind
	}
	codecs.mu.RLock()
	defer codecs.mu.RUnlock()
	if c := codecs.byType[k.typ]; c != nil {
		return c.name
	}
	return ""
}

const (
	jsonKind = "json" // values without a codec
	anyKind  = "any"
)

func unknownKind(name string) error {
	names := KindNames()
	if hint := nearest(name, names); hint != "" {
		return fmt.Errorf("there is no kind %q (did you mean %s?)", name, hint)
	}
	return fmt.Errorf("there is no kind %q; there are %s", name, strings.Join(names, ", "))
}

// codec is a [Codec] whose types are known at run time alone.
type codec struct {
	name, doc, bodyDoc string

	kind   Kind
	header reflect.Type
	fields []headerField
	encode func(v any) (header reflect.Value, body []byte)
	decode func(header reflect.Value, body []byte) (any, error)
	own    func(v any) any // nil: it borrows nothing
	size   func(v any) int // nil: it is small
}

// codecTable holds the codecs by name and by type.
type codecTable struct {
	mu     sync.RWMutex
	byName map[string]*codec
	byType map[reflect.Type]*codec
}

var codecs = &codecTable{byName: make(map[string]*codec), byType: make(map[reflect.Type]*codec)}

func (t *codecTable) add(k *codec) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, named := t.byName[k.name]
	switch {
	case !isName(k.name) || k.name == jsonKind || k.name == anyKind:
		panic(fmt.Sprintf("pipeline: %q is no name for a kind", k.name))
	case named:
		panic(fmt.Sprintf("pipeline: kind %q is registered twice", k.name))
	case t.byType[k.kind.typ] != nil:
		panic(fmt.Sprintf("pipeline: %s is of two kinds, %q and %q", k.kind, t.byType[k.kind.typ].name, k.name))
	}
	t.byName[k.name], t.byType[k.kind.typ] = k, k
}

func (t *codecTable) named(name string) *codec {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byName[name]
}

func (t *codecTable) of(v any) *codec {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byType[reflect.TypeOf(v)]
}
