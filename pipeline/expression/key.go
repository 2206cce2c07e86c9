package expression

import (
	"regexp"
	"strings"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/number"
)

// Key is the expression of an option `key`: items for which it gives the same belong together. Without one, it
// is nil, all do.
type Key struct{ program *Program }

// CompileKey compiles the option. Its error is a [pipeline.OptionError].
func CompileKey(text string) (*Key, error) {
	if text == "" {
		return nil, nil
	}
	program, err := Compile(text)
	if err != nil {
		return nil, &pipeline.OptionError{Option: "key", Err: err}
	}
	return &Key{program}, nil
}

// CompileWorkersKey compiles the option workers_key; nil without one. Its error is a [pipeline.OptionError].
func CompileWorkersKey(text string) (pipeline.WorkersKey, error) {
	if text == "" {
		return nil, nil
	}
	program, err := Compile(text)
	if err != nil {
		return nil, &pipeline.OptionError{Option: "workers_key", Err: err}
	}
	return workersKey{&Key{program}, text}, nil
}

type workersKey struct {
	*Key
	text string
}

func (k workersKey) CheckNames(given []pipeline.Kind) error {
	return CheckNames("workers_key", k.text, given)
}

// Parts returns the parts that the expression needs of an item, as [Parts] does; none without an expression.
func (k *Key) Parts() []pipeline.Part {
	if k == nil {
		return pipeline.NoParts
	}
	return Parts(k.program)
}

// KeyParts returns the parts that the option needs, if it is a right one.
func KeyParts(text string) []pipeline.Part {
	key, _ := CompileKey(text) // what is wrong with it is said elsewhere
	return key.Parts()
}

// Missing is the value of a key that is a field which the item does not have. One that is null is nil.
type Missing struct{}

// String is that of a text which is not there.
func (Missing) String() string { return "" }

// Of tells the keys of items apart: it is the same for those that are equal. 7 and "7" are not, nor are null, "" and a
// field that there is not; but numbers are that are written in other ways. It is "" without an expression.
func (k *Key) Of(it *pipeline.Item) (string, error) {
	identity, _, err := k.Value(it)
	return identity, err
}

// Value returns what [Key.Of] does, and the key itself.
func (k *Key) Value(it *pipeline.Item) (identity string, value any, err error) {
	if k == nil {
		return "", "", nil
	}
	value, err = k.program.Value(it.Value, it.Meta)
	if err != nil {
		return "", nil, err
	}
	if key, isNumber := number.Key(value); isNumber {
		return key, value, nil
	}
	const mark = "\x00" // of what could be taken for a number, or for a text
	switch v := value.(type) {
	case string:
		if number.Valid(v) || strings.HasPrefix(v, mark) {
			return mark + `"` + v, v, nil
		}
		return v, v, nil
	case nil:
		if !k.program.isGiven(it.Value) {
			return mark, Missing{}, nil
		}
		return mark + "null", nil, nil
	}
	return mark + Text(canonical(value)), value, nil
}

// isGiven reports whether the field is there that the expression names, unless it is more than a name.
func (p *Program) isGiven(value any) bool {
	if !isPath.MatchString(p.text) {
		return true
	}
	fields, isRecord := value.(pipeline.Record)
	path := strings.Split(strings.TrimSpace(p.text), ".")
	if !isRecord {
		fields = codec.Fields(value, path[0])
	}
	var at any = fields
	for _, name := range path {
		within, _ := at.(map[string]any)
		var ok bool
		if at, ok = within[name]; !ok {
			return false
		}
	}
	return true
}

var isPath = regexp.MustCompile(`^\s*[\pL_][\pL\pN_]*(\.[\pL_][\pL\pN_]*)*\s*$`)
