package pipeline

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
)

// Peer returns another stage of the same run as a T, an interface that it implements: by its name, or, if name is
// empty, the only stage that is one. So a stage can use what another keeps, such as its connections. It may be
// called from [Opener.Open] on, when all stages have been made, and the stage that is returned is closed after the
// one that asks if it stands before it in the flow. When a reload replaces it, the one that asked is replaced as
// well.
func Peer[T any](e *Env, name string) (T, error) {
	var found T
	var from string
	var of *node
	for _, n := range e.peers() {
		if n == nil {
			continue // not made yet
		}
		peer, ok := n.impl.(T)
		switch {
		case !ok || n.env == e || name != "" && n.name != name:
		case from != "":
			return found, fmt.Errorf("stage %s: both %s and %s are a %s: it has to be said which is meant", e.Stage, from, n.name, reflect.TypeFor[T]())
		default:
			found, from, of = peer, n.name, n
		}
	}
	switch {
	case from != "":
		e.remember(of)
		return found, nil
	case name != "":
		return found, fmt.Errorf("stage %s: the pipeline has no stage %s that is a %s", e.Stage, name, reflect.TypeFor[T]())
	}
	return found, fmt.Errorf("stage %s: the pipeline has no stage that is a %s", e.Stage, reflect.TypeFor[T]())
}

// peers returns the nodes of the run, or of what it is about to become; none outside one.
func (e *Env) peers() []*node {
	if next := e.next.Load(); next != nil {
		return next.nodes
	}
	if e.run == nil {
		return nil
	}
	e.run.layout.RLock()
	defer e.run.layout.RUnlock()
	return e.run.nodes
}

// peersAsked are the nodes whose stages a stage has got by [Peer].
type peersAsked struct {
	mu    sync.Mutex
	nodes []*node
}

func (e *Env) remember(peer *node) {
	e.asked.mu.Lock()
	defer e.asked.mu.Unlock()
	if !slices.Contains(e.asked.nodes, peer) {
		e.asked.nodes = append(e.asked.nodes, peer)
	}
}

// holds reports whether a peer that the stage has got is one of those.
func (e *Env) holds(those func(*node) bool) bool {
	e.asked.mu.Lock()
	defer e.asked.mu.Unlock()
	return slices.ContainsFunc(e.asked.nodes, those)
}
