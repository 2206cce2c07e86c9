package pipeline

import (
	"fmt"
	"slices"
	"strings"
)

// TapError says that there is nothing to watch where a tap was to be opened, and where there is.
type TapError struct {
	Message string
	Hint    string   // what was probably meant, or ""
	Points  []string // what can be watched, as [ParseTapPoint] reads it
}

func (e *TapError) Error() string {
	text := e.Message
	if e.Hint != "" {
		text += " (did you mean " + e.Hint + "?)"
	}
	return text + "; there is " + strings.Join(e.Points, ", ")
}

// ParseTapPoint reads STAGE, STAGE.PORT or STAGE:in.
func ParseTapPoint(text string) (stage, port string, err error) {
	stage, isInput := strings.CutSuffix(text, TapInput)
	if isInput {
		port = TapInput
	} else if stage, port, _ = strings.Cut(text, "."); port == "" && stage != text {
		return "", "", fmt.Errorf("%q names no port after the point", text)
	}
	if !isName(stage) || port != "" && !isInput && !isName(port) {
		return "", "", fmt.Errorf("%q is neither STAGE nor STAGE.PORT nor STAGE:in", text)
	}
	return stage, port, nil
}

// tapPoint finds a stage and the ports of it that are meant.
func (r *Run) tapPoint(stage, port string) (*node, []string, error) {
	n := r.byName[stage]
	if n == nil {
		names := r.stageNames()
		return nil, nil, &TapError{fmt.Sprintf("pipeline %s has no stage %q", r.graph.Name, stage), nearest(stage, names), names}
	}
	var outputs []string
	for _, p := range n.stage.Ports() {
		outputs = append(outputs, p.Name)
	}
	all := append(slices.Clone(outputs), errorsPort)
	if !n.stage.IsSource() {
		all = append(all, TapInput)
	}
	switch {
	case slices.Contains(all, port):
		return n, []string{port}, nil
	case port == "" && len(outputs) > 0:
		return n, outputs, nil
	case port == "" && !n.stage.IsSource():
		return n, []string{TapInput}, nil
	}
	return nil, nil, noTapPoint(stage, port, all)
}

// noTapPoint says that a stage has no such port, and which it has.
func noTapPoint(stage, port string, all []string) *TapError {
	e := &TapError{Message: fmt.Sprintf("stage %s has no output port %q", stage, port)}
	if port == TapInput {
		e.Message = fmt.Sprintf("stage %s takes no input", stage)
	} else if hint := nearest(port, all); hint != "" {
		e.Hint = pointName(stage, hint)
	}
	for _, p := range all {
		e.Points = append(e.Points, pointName(stage, p))
	}
	return e
}

func (r *Run) stageNames() []string {
	names := make([]string, 0, len(r.nodes))
	for _, n := range r.nodes {
		names = append(names, n.name)
	}
	return names
}

// pointName writes what [ParseTapPoint] reads.
func pointName(stage, port string) string {
	switch port {
	case "", TapInput:
		return stage + port
	}
	return stage + "." + port
}

// TapKinds returns the kinds of what passes where a tap with these options would watch; none if they are
// not known.
func (r *Run) TapKinds(stage, port string) ([]Kind, error) {
	r.layout.RLock()
	defer r.layout.RUnlock()
	n, ports, err := r.tapPoint(stage, port)
	if err != nil {
		return nil, err
	}
	var kinds []Kind
	for _, name := range ports {
		switch name {
		case TapInput:
			kinds = append(kinds, n.stage.Spec.In...)
		case errorsPort:
			kinds = append(kinds, KindOf[*Failure]())
		default:
			for _, p := range n.stage.Ports() {
				if p.Name == name {
					kinds = append(kinds, p.Kind)
				}
			}
		}
	}
	return slices.DeleteFunc(kinds, func(k Kind) bool { return k.typ == nil }), nil
}
