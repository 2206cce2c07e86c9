package expression

import (
	"github.com/webrace/webrace/pipeline"
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

// Of is the key of an item as text; "" for a nil result, and without an expression. Numbers that are equal have one
// key, however they are written.
func (k *Key) Of(it *pipeline.Item) (string, error) {
	if k == nil {
		return "", nil
	}
	result, err := k.program.Value(it.Value, it.Meta)
	if err != nil {
		return "", err
	}
	if key, isNumber := number.Key(result); isNumber {
		return key, nil
	}
	return Text(canonical(result)), nil
}
