package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/webrace/webrace/pipeline"
)

type greetOptions struct {
	Greeting string            `toml:"greeting" doc:"what is said"`
	Pause    pipeline.Duration `toml:"pause" doc:"how long to wait before it"`
}

// shoutRegistry has a source of names, a stage that greets them, and one that forgets them.
func shoutRegistry() *pipeline.Registry {
	text := pipeline.KindOf[string]()
	out := []pipeline.Port{{Kind: text}}
	r := pipeline.NewRegistry()
	pipeline.RegisterIn(r, pipeline.Spec{Type: "names", Summary: "says who is there", Out: out}, struct{}{},
		func(struct{}, *pipeline.Env) (any, error) { return nil, errors.New("nobody is there") })
	pipeline.RegisterIn(r, pipeline.Spec{Type: "greet", Summary: "greets", In: pipeline.Kinds(text), Out: out},
		greetOptions{Greeting: "hello"},
		func(o greetOptions, _ *pipeline.Env) (any, error) {
			return pipeline.Map(func(_ context.Context, name string) (string, error) {
				return o.Greeting + " " + name, nil
			}), nil
		})
	pipeline.RegisterIn(r, pipeline.Spec{Type: "forget", Summary: "does nothing", In: pipeline.Kinds(text)}, struct{}{},
		func(struct{}, *pipeline.Env) (any, error) {
			return pipeline.Map(func(_ context.Context, text string) (string, error) { return text, nil }), nil
		})
	return r
}

// Everything that is wrong with a configuration is found at once.
func ExampleParse() {
	const source = `version = 1
[pipeline.hello]
flow = ["names > gret > forget"]
stage.gret = { type = "greet", greting = "hi", pause = 10 }
`
	_, err := pipeline.Parse("pipelines.toml", []byte(source), pipeline.LoadOptions{Registry: shoutRegistry()})
	var findings pipeline.Findings
	if errors.As(err, &findings) {
		if err := findings.Format(os.Stdout, false); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// pipelines.toml:4:32: stage type "greet" has no option "greting" (did you mean greeting?)
	//     4 | stage.gret = { type = "greet", greting = "hi", pause = 10 }
	//       |                                ^^^^^^^
	// pipelines.toml:4:56: option "pause" takes a duration, not an integer
	//     4 | stage.gret = { type = "greet", greting = "hi", pause = 10 }
	//       |                                                        ^^
}

// A graph can be built without a file.
func ExampleRegistry_NewGraph() {
	g := shoutRegistry().NewGraph("hello")
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
