package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/webrace/webrace/pipeline"
)

type greetOptions struct {
	Greeting string `toml:"greeting" doc:"what is said"`
}

// A graph can be built without a file.
func ExampleRegistry_NewGraph() {
	text := pipeline.KindOf[string]()
	out := []pipeline.Port{{Kind: text}}
	r := pipeline.NewRegistry()
	pipeline.RegisterIn(r, pipeline.Spec{Type: "names", Summary: "says who is there", Out: out}, struct{}{},
		func(struct{}, *pipeline.Env) (any, error) { return nil, errors.New("no name is known") })
	pipeline.RegisterIn(r, pipeline.Spec{Type: "greet", Summary: "greets", In: pipeline.Kinds(text), Out: out}, greetOptions{"hello"},
		func(o greetOptions, _ *pipeline.Env) (any, error) {
			return pipeline.Map(func(_ context.Context, name string) (string, error) { return o.Greeting + " " + name, nil }), nil
		})
	pipeline.RegisterIn(r, pipeline.Spec{Type: "forget", Summary: "does nothing", In: pipeline.Kinds(text)}, struct{}{},
		func(struct{}, *pipeline.Env) (any, error) {
			return pipeline.Map(func(_ context.Context, text string) (string, error) { return text, nil }), nil
		})
	g := r.NewGraph("hello")
	g.Add("names", nil)
	g.Add("greet", greetOptions{Greeting: "good morning"}).Common.Workers = 4
	g.Add("forget", nil)
	g.Wire("names > greet > forget")
	fmt.Println(g.Check())
	fmt.Println(strings.TrimSpace(g.Mermaid()))
	// Output:
	// <nil>
	// flowchart LR
	//     s0(["names"])
	//     s1["greet"]
	//     s2["forget"]
	//     s0 --> s1
	//     s1 --> s2
}
