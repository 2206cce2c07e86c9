package expression

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/webrace/webrace/internal/suggest"
	"github.com/webrace/webrace/pipeline"
)

// CheckKey reports, as CompileKey does, a key that names what values of the kinds that come do not have.
func CheckKey(text string, kinds []pipeline.Kind) error { return CheckNames("key", text, kinds) }

// CheckCondition is CheckNames for a condition.
func CheckCondition(option, text string, kinds []pipeline.Kind) error {
	if err := CheckNames(option, text, kinds); err != nil || text == "" {
		return err
	}
	if _, err := CompileBool(text, kinds...); err != nil {
		return &pipeline.OptionError{Option: option, Err: err}
	}
	if name := kindNamedIn(text); name != "" && name != "json" { // which is a value of no kind
		if _, err := pipeline.KindNamed(name); err != nil {
			return &pipeline.OptionError{Option: option, Err: err}
		}
	}
	return nil
}

// CheckKind reports, as a [pipeline.OptionError], an option that names the kind of what comes if nothing of that kind
// does.
func CheckKind(name string, given []pipeline.Kind) error {
	kind, err := pipeline.KindNamed(name)
	if err != nil || slices.ContainsFunc(given, func(k pipeline.Kind) bool { return kind.Accepts(k) || k.Accepts(kind) }) {
		return nil // a name that is none is found without the flow
	}
	return &pipeline.OptionError{Option: "kind", Err: fmt.Errorf("nothing that comes is of kind %s", name)}
}

// CheckNames reports, as a [pipeline.OptionError], an expression that names what values of the kinds that come do not
// have; one that is empty names nothing.
func CheckNames(option, text string, kinds []pipeline.Kind) error {
	return CheckNamesAt(option, 0, text, kinds)
}

// CheckNamesAt is CheckNames of an expression that stands so many bytes behind the beginning of the option's text.
func CheckNamesAt(option string, before int, text string, kinds []pipeline.Kind) error {
	if text == "" {
		return nil
	}
	_, err := Compile(text, kinds...)
	if err == nil {
		return nil
	}
	if place := (*Error)(nil); errors.As(err, &place) {
		place.before = before
	}
	return &pipeline.OptionError{Option: option, Err: err}
}

// CheckField reports, as a [pipeline.OptionError], the name of a field that values of the kinds that come do not have.
func CheckField(option, name string, kinds []pipeline.Kind) error {
	names := make(map[string]bool)
	for _, kind := range kinds {
		fields, open := fieldsOf(kind)
		if open {
			return nil
		}
		for field := range fields {
			names[field] = true
		}
	}
	if names[name] {
		return nil
	}
	near := suggest.Nearest(name, slices.Sorted(maps.Keys(names)))
	return &pipeline.OptionError{Option: option, Err: fmt.Errorf("there is no field %q%s", name, suggest.DidYouMean(near))}
}

// KindMeant returns the one kind that a condition leaves to values that meet it, as `kind == "aci" and relevance > 50`
// does; false if it does not state that plainly.
func KindMeant(condition string) (pipeline.Kind, bool) {
	kind, err := pipeline.KindNamed(kindNamedIn(condition))
	return kind, err == nil
}

func kindNamedIn(condition string) string {
	tree, err := parse(condition)
	if err != nil {
		return ""
	}
	return kindMeant(tree.Node)
}

// kindMeant returns the name that a condition compares the kind with, alone or beside other conditions; "" for none.
func kindMeant(node ast.Node) string {
	b, ok := node.(*ast.BinaryNode)
	switch {
	case !ok:
		return ""
	case b.Operator == "and" || b.Operator == "&&":
		return cmp.Or(kindMeant(b.Left), kindMeant(b.Right))
	case b.Operator != "==":
		return ""
	}
	for _, sides := range [][2]ast.Node{{b.Left, b.Right}, {b.Right, b.Left}} {
		id, isName := sides[0].(*ast.IdentifierNode)
		name, isText := sides[1].(*ast.StringNode)
		if isName && isText && id.Value == kindName {
			return name.Value
		}
	}
	return ""
}
