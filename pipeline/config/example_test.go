package config_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/finding"
)

type greetOptions struct {
	Greeting string            `toml:"greeting" doc:"what is said"`
	Pause    pipeline.Duration `toml:"pause" doc:"how long to wait before it"`
}

// names is a source.
type names []string

func (n names) Run(ctx context.Context, out pipeline.Emitter) error {
	for _, name := range n {
		if err := out.Emit(ctx, &pipeline.Item{Value: name}); err != nil {
			return err
		}
	}
	return nil
}

// shoutRegistry has a source of names, a stage that greets them, and one that forgets them.
func shoutRegistry() *pipeline.Registry {
	text := pipeline.KindOf[string]()
	out := []pipeline.Port{{Kind: text}}
	r := pipeline.NewRegistry()
	pipeline.RegisterIn(r, pipeline.Spec{Type: "names", Summary: "says who is there", Out: out}, struct{}{},
		func(struct{}, *pipeline.Env) (any, error) { return names{"Ann", "Bob"}, nil })
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

// A program of its own loads a configuration and runs a pipeline of it. Its stage types are those that it registers, or
// imports; most programs leave the registry out.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "pipelines.toml")
	const source = `version = 1
[pipeline.hello]
title = "greets who is there"
flow = ["names > greet > forget"]
stage.greet = { greeting = "good morning" }
`
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	c, err := config.Load(file, config.LoadOptions{Registry: shoutRegistry(), Set: []string{"greet.workers=2"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	graph, err := c.Graph("hello")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range config.Settings(graph.Stages[1]) {
		fmt.Println(s.Name, "=", s.Value)
	}
	report, err := graph.Run(context.Background(), pipeline.RunOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(graph.Title+":", report.Stages["forget"].In)
	// Output:
	// greeting = "good morning"
	// pause = "0s"
	// greets who is there: 2
}

// Everything that is wrong with a configuration is found at once.
func ExampleParse() {
	const source = `version = 1
[pipeline.hello]
flow = ["names > gret > forget"]
stage.gret = { type = "greet", greting = "hi", pause = 10 }
`
	_, err := config.Parse("pipelines.toml", []byte(source), config.LoadOptions{Registry: shoutRegistry()})
	var findings finding.List
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
