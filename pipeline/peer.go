package pipeline

import (
	"fmt"
	"reflect"
)

// Peer returns another stage of the same run as a T, an interface that it implements: by its name, or, if
// name is empty, the only stage that is one. So a stage can use what another keeps, such as its
// connections. It may be called from [Opener.Open] on, when all stages have been made, and the stage that
// is returned is closed after the one that asks if it stands before it in the flow.
func Peer[T any](e *Env, name string) (T, error) {
	var found T
	var from string
	for _, n := range e.peers() {
		peer, ok := n.impl.(T)
		switch {
		case !ok || n.env == e || name != "" && n.name != name:
		case from != "":
			return found, fmt.Errorf("stage %s: both %s and %s are a %s: it has to be said which is meant", e.Stage, from, n.name, reflect.TypeFor[T]())
		default:
			found, from = peer, n.name
		}
	}
	switch {
	case from != "":
		return found, nil
	case name != "":
		return found, fmt.Errorf("stage %s: the pipeline has no stage %s that is a %s", e.Stage, name, reflect.TypeFor[T]())
	}
	return found, fmt.Errorf("stage %s: the pipeline has no stage that is a %s", e.Stage, reflect.TypeFor[T]())
}

// peers returns the nodes of the run; none outside one.
func (e *Env) peers() []*node {
	if e.run == nil {
		return nil
	}
	return e.run.nodes
}
