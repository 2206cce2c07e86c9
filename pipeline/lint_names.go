package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// checkNames has the stages that name fields of what they are given look whether there are such: it is the flow that
// says of which kinds their input is.
func (l *linter) checkNames(arriving map[string][]Kind) {
	if slices.ContainsFunc(l.g.Stages, func(s *Stage) bool { return !l.known(s.Name) }) {
		return // what comes from there is not known
	}
	for _, s := range l.g.Stages {
		if namer, ok := s.Options.(Namer); ok && len(arriving[s.Name]) > 0 {
			given := arriving[s.Name]
			l.misnamed(s, given, guarded(s.Name, func() error { return namer.CheckNames(given) }))
		}
	}
}

// misnamed reports names that nothing has, each at its place in the option, or at the stage.
func (l *linter) misnamed(s *Stage, given []Kind, err error) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			l.misnamed(s, given, one)
		}
		return
	}
	if err == nil {
		return
	}
	message := fmt.Sprintf("stage %q is given %s: %v", s.Name, kindNames(given), err)
	f := Finding{Pos: s.Pos, Code: CodeName, Message: message, width: len(s.Name)}
	var option *OptionError
	if errors.As(err, &option) {
		if v := lastAt(s.layers, option.Option); v != nil {
			f = v.optionFinding(CodeName, err, message)
		}
		if l.g.Name != "" {
			f.Path = fmt.Sprintf("pipeline.%s.stage.%s.%s", l.g.Name, s.Name, option.Option)
		}
	}
	l.findings = append(l.findings, f)
}

// kindNames returns what a list of kinds is called where people write pipelines, with what is known to be in them.
func kindNames(kinds []Kind) string {
	var names []string
	for _, k := range kinds {
		name := k.called()
		if element, known := k.Element(); known {
			name += " of " + element.called()
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return joinOr(names)
}

// called returns the name of one kind.
func (k Kind) called() string {
	name := cmp.Or(k.Name(), k.String())
	if fields, known := k.Record(); known {
		name += " (" + strings.Join(fields, ", ") + ")"
	}
	return name
}
