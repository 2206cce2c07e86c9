// Package options knows which options a Go struct has: its exported fields, by their names in pipelines.toml. The
// registry refuses structs that can be no options, and the configuration decodes into those that can.
package options

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/webrace/webrace/pipeline/internal/flow"
)

// Fields are the options that a struct has, by their names in pipelines.toml.
type Fields struct {
	List   []Field
	byName map[string]int
	former map[string]int // by names that they had
}

// Field is one option: where it is in its struct, and what it takes.
type Field struct {
	Name, Doc string
	Enum      []string
	// Expression means that its strings hold an expression, in which a variable of the environment is a constant.
	Expression bool
	Index      []int // for [reflect.Value.FieldByIndex]
	Type       reflect.Type
	Inner      *Fields // of a struct, or of the structs in a list or map

	Former      []string          // names that it had, which are deprecated
	FormerWords map[string]string // words that those of Enum had, likewise
	Meant       map[string]string // words that it never could be, and those of Enum that are meant by them
}

// Of returns the options that are the fields of a struct, none of which may have the name of one that is taken.
func Of(t reflect.Type, taken *Fields) (*Fields, error) {
	if t.Kind() != reflect.Struct || IsText(t) {
		return nil, fmt.Errorf("options are a struct, not a %s", t)
	}
	fs, err := fieldsOf(t, nil)
	if err != nil {
		return nil, err
	}
	for _, f := range fs.List {
		for _, name := range append(f.Former, f.Name) {
			if _, twice := taken.Find(name); twice {
				return nil, fmt.Errorf("option %q is one that every stage has", name)
			}
		}
	}
	return fs, nil
}

// MustOf returns the options of a struct that is known to have some.
func MustOf(t reflect.Type) *Fields {
	fs, err := Of(t, &Fields{})
	if err != nil {
		panic(err)
	}
	return fs
}

// Without returns all options but one.
func (fs *Fields) Without(name string) *Fields {
	rest := newFields()
	for _, f := range fs.List {
		if f.Name != name {
			rest.put(f)
		}
	}
	return rest
}

// fieldsOf describes the exported fields of a struct. within holds the structs around it, to refuse those
// that contain themselves.
func fieldsOf(t reflect.Type, within []reflect.Type) (*Fields, error) {
	if slices.Contains(within, t) {
		return nil, fmt.Errorf("%s contains itself", t)
	}
	fs := newFields()
	if err := fs.add(t, nil, append(within, t)); err != nil {
		return nil, err
	}
	for name := range fs.former {
		if _, twice := fs.Find(name); twice {
			return nil, fmt.Errorf("%s: option %q is a former name of another one", t, name)
		}
	}
	return fs, nil
}

func newFields() *Fields { return &Fields{byName: make(map[string]int), former: make(map[string]int)} }

// put adds an option, and reports whether its names are its own.
func (fs *Fields) put(f Field) bool {
	_, twice := fs.byName[f.Name]
	fs.byName[f.Name] = len(fs.List)
	for _, name := range f.Former {
		_, known := fs.former[name]
		twice = twice || known
		fs.former[name] = len(fs.List)
	}
	fs.List = append(fs.List, f)
	return !twice
}

func (fs *Fields) add(t reflect.Type, index []int, within []reflect.Type) error {
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, tagged := sf.Tag.Lookup("toml")
		at := append(slices.Clone(index), i)
		if sf.Anonymous && !tagged && sf.Type.Kind() == reflect.Struct {
			if err := fs.add(sf.Type, at, within); err != nil {
				return err
			}
			continue
		}
		if !sf.IsExported() || tag == "-" {
			continue
		}
		f, err := newField(sf, at, within)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", t, sf.Name, err)
		}
		if !fs.put(f) {
			return fmt.Errorf("%s.%s: option %q stands twice", t, sf.Name, f.Name)
		}
	}
	return nil
}

func newField(sf reflect.StructField, index []int, within []reflect.Type) (Field, error) {
	name, _, _ := strings.Cut(sf.Tag.Get("toml"), ",")
	f := Field{Name: name, Doc: sf.Tag.Get("doc"), Index: index, Type: sf.Type, Expression: sf.Tag.Get("is") == "expression"}
	if enum := sf.Tag.Get("enum"); enum != "" {
		f.Enum = strings.Split(enum, ",")
	}
	switch {
	case name == "":
		return f, fmt.Errorf("it has no toml tag")
	case !flow.IsName(name):
		return f, fmt.Errorf("option name %q does not consist of letters, digits, - and _", name)
	case f.Doc == "":
		return f, fmt.Errorf("it has no doc tag")
	case f.Enum != nil && ElemOf(sf.Type).Kind() != reflect.String:
		return f, fmt.Errorf("only a string has an enum tag")
	}
	if err := f.readDeprecated(sf.Tag.Get("deprecated")); err != nil {
		return f, err
	}
	var err error
	if f.Meant, err = f.words("meant", sf.Tag.Get("meant")); err != nil {
		return f, err
	}
	f.Inner, err = checkType(sf.Type, within)
	return f, err
}

// readDeprecated reads the tag of that name: former names of the option, and former words with those that they are now,
// as in "old_name,lines=jsonl".
func (f *Field) readDeprecated(tag string) (err error) {
	if tag == "" {
		return nil
	}
	var words []string
	for _, part := range strings.Split(tag, ",") {
		switch {
		case strings.Contains(part, "="):
			words = append(words, part)
		case !flow.IsName(part) || part == f.Name || slices.Contains(f.Former, part):
			return fmt.Errorf("deprecated: %q is no former name of option %q", part, f.Name)
		default:
			f.Former = append(f.Former, part)
		}
	}
	f.FormerWords, err = f.words("deprecated", strings.Join(words, ","))
	return err
}

// words reads pairs of a word that the option cannot be, and one that it can.
func (f *Field) words(tag, pairs string) (map[string]string, error) {
	if pairs == "" {
		return nil, nil
	}
	words := make(map[string]string)
	for _, pair := range strings.Split(pairs, ",") {
		word, now, _ := strings.Cut(pair, "=")
		if word == "" || slices.Contains(f.Enum, word) || !slices.Contains(f.Enum, now) {
			return nil, fmt.Errorf("%s: %q is not a word that the option cannot be, and one of its enum tag", tag, pair)
		}
		words[word] = now
	}
	return words, nil
}

// checkType refuses types that no TOML value fits, and returns the fields of the struct it leads to.
func checkType(t reflect.Type, within []reflect.Type) (*Fields, error) {
	if IsText(t) || IsTable(t) {
		return nil, nil
	}
	if t == reflect.TypeFor[time.Duration]() {
		return nil, fmt.Errorf("time.Duration reads a number as nanoseconds; use pipeline.Duration")
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		return nil, nil
	case reflect.Struct:
		return fieldsOf(t, within)
	case reflect.Slice:
		return checkType(t.Elem(), within)
	case reflect.Map:
		if t.Key().Kind() == reflect.String && !IsText(t.Key()) {
			return checkType(t.Elem(), within)
		}
	}
	return nil, fmt.Errorf("%s is no type for an option", t)
}

// IsText reports whether values of type t are written as strings that they read themselves.
func IsText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// IsTable reports whether t is a map of strings to whatever TOML can express.
func IsTable(t reflect.Type) bool {
	return t.Kind() == reflect.Map && t.Key().Kind() == reflect.String && t.Elem() == reflect.TypeFor[any]()
}

// ElemOf returns what lists and maps hold in the end.
func ElemOf(t reflect.Type) reflect.Type {
	for !IsText(t) && (t.Kind() == reflect.Slice || t.Kind() == reflect.Map) {
		t = t.Elem()
	}
	return t
}

// Find returns the option of that name.
func (fs *Fields) Find(name string) (Field, bool) {
	i, ok := fs.byName[name]
	if !ok {
		return Field{}, false
	}
	return fs.List[i], true
}

// FindFormer returns the option that had that name.
func (fs *Fields) FindFormer(name string) (Field, bool) {
	i, ok := fs.former[name]
	if !ok {
		return Field{}, false
	}
	return fs.List[i], true
}

// FindAny returns the option that has that name, or had it.
func (fs *Fields) FindAny(name string) (Field, bool) {
	if f, ok := fs.Find(name); ok {
		return f, true
	}
	return fs.FindFormer(name)
}

// Names lists the names of the options.
func (fs *Fields) Names() []string {
	names := make([]string, len(fs.List))
	for i, f := range fs.List {
		names[i] = f.Name
	}
	return names
}

// Plural returns the plural of the name of a type, whose noun stands first.
func Plural(name string) string {
	noun, rest, more := strings.Cut(name, " ")
	if more {
		return noun + "s " + rest
	}
	return noun + "s"
}
