// Package codec writes and reads the values that flow between stages: for programs in other languages, tests,
// expressions, and people who look. Each kind of value has a name, a header of JSON fields, and for some a body of
// bytes. Stages register the kinds that they introduce; texts, bytes, lists and records are known here.
package codec

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/webrace/webrace/pipeline/internal/flow"
	"github.com/webrace/webrace/pipeline/recordjson"
)

// Codec describes how the values of a Go type are written. A value is a header, which is JSON, and for some types a
// body, which is bytes and never part of the JSON.
//
// H is a struct whose fields have json tags; their names are what other programs know the value by, and never change. A
// field that is zero is left out ("omitzero"), and a field that is missing is zero; fields that a reader does not know
// are ignored. So both sides may be of different versions. If values may come without some of their parts, a `part` tag
// names the part that a field tells of, and a `case` tag is on the field that tells the case: see pipeline.Partial.
type Codec[T, H any] struct {
	Name   string // of the kind: "document"
	Doc    string // what a value is, in a phrase
	Body   string // what the body is, in a phrase; empty for a kind without one
	Encode func(T) (header H, body []byte)
	Decode func(header H, body []byte) (T, error) // the value may go on using the body
	// Own copies what a value borrows from its lease; nil for a kind that borrows nothing. See [Own].
	Own func(T) T
	// Size returns about how many bytes a value keeps, in no time; nil for a kind of small values. See [Size].
	Size func(T) int
}

// Names that no kind, and no field of a header, is given.
const (
	JSON = "json" // the kind of values that have no codec
	Any  = "any"  // every kind
	Body = "body" // a value's body, among its fields
)

// Register makes a codec known. It panics if the name or the type has one already, or if a field of the header has no
// name, since these are mistakes in the program.
func Register[T, H any](c Codec[T, H]) {
	k := &entry{
		name: c.Name, doc: c.Doc, bodyDoc: c.Body,
		typ: reflect.TypeFor[T](), header: reflect.TypeFor[H](), fields: headerFields(reflect.TypeFor[H]()),
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

// Encode turns a value into a header and a body. The kind is the name of its codec; a value without one is of the kind
// [JSON], and its header is the value as encoding/json writes it. The body is the value's own: it is valid as long as
// the value is, and must not be changed.
//
// Only the fields that are named are written, [Body] being one; all, if none is named.
func Encode(v any, only ...string) (kind string, header json.RawMessage, body []byte, err error) {
	k := codecs.of(v)
	if k == nil {
		header, err = json.Marshal(v)
		return JSON, header, nil, encodeError(v, err)
	}
	h, body := k.encode(v)
	if len(only) > 0 {
		for _, f := range k.fields {
			if !slices.Contains(only, f.Name) {
				h.Field(f.index).SetZero()
			}
		}
		if !slices.Contains(only, Body) {
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

// Decode turns a header and a body back into a value. A header may be empty: every field of it is zero then. A value of
// the kind [JSON] becomes what encoding/json makes of it, with numbers as records have them (package number).
func Decode(kind string, header json.RawMessage, body []byte) (any, error) {
	if kind == JSON {
		var v any
		if err := recordjson.Unmarshal(header, &v); err != nil {
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
		if err := recordjson.Unmarshal(header, h.Interface()); err != nil {
			return nil, fmt.Errorf("decode %s: %w", kind, err)
		}
	}
	return k.value(h.Elem(), body)
}

// value makes a value of a header that has been read.
func (k *entry) value(header reflect.Value, body []byte) (any, error) {
	if len(body) > 0 && k.bodyDoc == "" {
		return nil, fmt.Errorf("decode %s: it has no body, and there are %d bytes of one", k.name, len(body))
	}
	v, err := k.decode(header, body)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", k.name, err)
	}
	return v, nil
}

// entry is a [Codec] whose types are known at run time alone.
type entry struct {
	name, doc, bodyDoc string

	typ    reflect.Type
	header reflect.Type
	fields []headerField
	encode func(v any) (header reflect.Value, body []byte)
	decode func(header reflect.Value, body []byte) (any, error)
	own    func(v any) any // nil: it borrows nothing
	size   func(v any) int // nil: it is small

	info func() Info // what describe returns, made once
}

// table holds the codecs by name and by type.
type table struct {
	mu     sync.RWMutex
	byName map[string]*entry
	byType map[reflect.Type]*entry
}

var codecs = &table{byName: make(map[string]*entry), byType: make(map[reflect.Type]*entry)}

func (t *table) add(k *entry) {
	k.info = sync.OnceValue(k.describe)
	t.mu.Lock()
	defer t.mu.Unlock()
	_, named := t.byName[k.name]
	switch {
	case !flow.IsName(k.name) || k.name == JSON || k.name == Any:
		panic(fmt.Sprintf("codec: %q is no name for a kind", k.name))
	case named:
		panic(fmt.Sprintf("codec: kind %q is registered twice", k.name))
	case t.byType[k.typ] != nil:
		panic(fmt.Sprintf("codec: %s is of two kinds, %q and %q", k.typ, t.byType[k.typ].name, k.name))
	}
	t.byName[k.name], t.byType[k.typ] = k, k
}

func (t *table) named(name string) *entry {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byName[name]
}

func (t *table) of(v any) *entry {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byType[reflect.TypeOf(v)]
}
