package pipeline

import (
	"context"
	"strings"
	"testing"
)

// named is a stage that others may ask for.
type namer interface{ Name() string }

type named struct {
	process
	name string
}

func (n named) Name() string { return n.name }

// asks is a stage that asks for a peer when it is opened.
type asks struct {
	process
	env  *Env
	want string
	got  *string
}

func (a asks) Name() string { return "itself" }

func (a asks) Open(context.Context) error {
	peer, err := Peer[namer](a.env, a.want)
	if err == nil {
		*a.got = peer.Name()
	}
	return err
}

func TestPeerIsTheStageThatIsMeant(t *testing.T) {
	for _, c := range []struct {
		what, want  string
		others      []string
		got, failed string
	}{
		{"the only one", "", []string{"a"}, "a", ""},
		{"one of two by its name", "b", []string{"a", "b"}, "b", ""},
		{"none, not even itself", "", nil, "", "no stage that is a pipeline.namer"},
		{"another name", "c", []string{"a"}, "", "no stage c that is"},
		{"two", "", []string{"a", "b"}, "", "both a and b are"},
	} {
		var got string
		g := build().add("source", count{})
		nothing := process(func(context.Context, *Item, Emitter) error { return nil })
		for _, other := range c.others {
			g = g.add(other, named{nothing, other}).edge("source", "", other)
		}
		g = g.add("asks", nil)
		g.g.Stages[len(g.g.Stages)-1].Make = func(e *Env) (any, error) { return asks{nothing, e, c.want, &got}, nil }
		_, err := g.edge("source", "", "asks").g.Run(t.Context(), RunOptions{})
		if failed := err != nil; failed != (c.failed != "") || failed && !strings.Contains(err.Error(), c.failed) || got != c.got {
			t.Errorf("%s: got %q and error %v, want %q and %q", c.what, got, err, c.got, c.failed)
		}
	}
	if _, err := Peer[namer](NewEnv("p", "alone", nil), ""); err == nil {
		t.Error("a stage outside a run has a peer")
	}
}
