package gostreams_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/reugn/go-streams"
	ext "github.com/reugn/go-streams/extension"
	"github.com/reugn/go-streams/flow"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/gostreams"
)

func upper(_ context.Context, s string) (string, error) { return strings.ToUpper(s), nil }

// A pipeline is an operator of a go-streams program, between a source and a sink of its own.
func ExampleFlow() {
	stage := func(name string, impl any) *pipeline.Stage {
		return &pipeline.Stage{Name: name, Make: func(*pipeline.Env) (any, error) { return impl, nil }}
	}
	graph := &pipeline.Graph{
		Name: "shout",
		Stages: []*pipeline.Stage{
			stage("upper", pipeline.Map(upper)),
			// and an operator of go-streams is a stage of the pipeline
			stage("exclaim", gostreams.FromFlow(func() streams.Flow {
				return flow.NewMap(func(s string) string { return s + "!" }, 1)
			})),
		},
		Edges: []pipeline.Edge{{From: "upper", To: "exclaim"}},
	}

	words, shouted := make(chan any, 3), make(chan any, 3)
	for _, word := range []string{"dog", "cat", "owl"} {
		words <- word
	}
	close(words)

	shout, run, err := gostreams.Flow(context.Background(), graph, pipeline.RunOptions{}, "upper", "exclaim")
	if err != nil {
		panic(err)
	}
	ext.NewChanSource(words).Via(shout).To(ext.NewChanSink(shouted))
	report, err := run.Wait()
	if err != nil {
		panic(err)
	}
	for word := range shouted {
		fmt.Println(word)
	}
	fmt.Println(report.Stages["upper"].In, "items")
	// Output:
	// DOG!
	// CAT!
	// OWL!
	// 3 items
}

// A pipeline with sources of its own is a source of a go-streams program, if nothing is fed to it.
func ExampleFlow_source() {
	words := make(chan any, 2)
	words <- "dog"
	words <- "cat"
	close(words)
	graph := pipeline.NewGraph("shout")
	graph.AddStage("words", pipeline.Spec{Out: []pipeline.Port{{Kind: pipeline.KindOf[string]()}}},
		func(*pipeline.Env) (any, error) { return gostreams.FromSource(ext.NewChanSource(words)), nil })
	graph.AddStage("upper", pipeline.Spec{In: pipeline.Kinds(pipeline.KindOf[string]()), Out: []pipeline.Port{{Kind: pipeline.KindOf[string]()}}},
		func(*pipeline.Env) (any, error) { return pipeline.Map(upper), nil })
	graph.Wire("words > upper")

	source, _, err := gostreams.Flow(context.Background(), graph, pipeline.RunOptions{}, "upper", "upper")
	if err != nil {
		panic(err)
	}
	close(source.In())
	source.Via(flow.NewMap(func(s string) string { return s + "!" }, 1)).To(ext.NewStdoutSink())
	// Output:
	// DOG!
	// CAT!
}

// A pipeline is a sink of a go-streams program, if what leaves its last stage is ignored.
func ExampleFlow_sink() {
	words := make(chan any, 2)
	words <- "dog"
	words <- "cat"
	close(words)
	graph := pipeline.NewGraph("say")
	graph.AddStage("say", pipeline.Spec{In: pipeline.Kinds(pipeline.KindOf[string]())}, func(*pipeline.Env) (any, error) {
		return pipeline.Map(func(_ context.Context, word string) (any, error) { return fmt.Println(word) }), nil
	})

	sink, run, err := gostreams.Flow(context.Background(), graph, pipeline.RunOptions{}, "say", "say")
	if err != nil {
		panic(err)
	}
	ext.NewChanSource(words).Via(sink).To(ext.NewIgnoreSink())
	report, err := run.Wait()
	fmt.Println(report.Stages["say"].In, err)
	// Output:
	// dog
	// cat
	// 2 <nil>
}

// Operators of go-streams are stages of a pipelines.toml, with options.
func ExampleRegister() {
	type atLeast struct {
		Letters int `toml:"letters" doc:"how many a word must have"`
	}
	type lists struct {
		Count int `toml:"count" doc:"words in a list"`
	}
	text, registry := pipeline.KindOf[string](), pipeline.NewRegistry()
	gostreams.RegisterIn(registry, pipeline.Spec{Type: "words", Summary: "gives words", Out: []pipeline.Port{{Kind: text}}}, struct{}{},
		func(struct{}, *pipeline.Env) (any, error) {
			return func() (streams.Source, error) {
				words := make(chan any)
				go func() {
					defer close(words)
					for _, word := range strings.Fields("a dog or a cat and an owl") {
						words <- word
					}
				}()
				return ext.NewChanSource(words), nil
			}, nil
		})
	gostreams.RegisterIn(registry, pipeline.Spec{Type: "long", Summary: "passes on long words", In: pipeline.Kinds(text), Out: []pipeline.Port{{Kind: pipeline.SameAsInput}}},
		atLeast{}, func(o atLeast, env *pipeline.Env) (any, error) {
			return gostreams.Filter(func(_ context.Context, it *pipeline.Item) (bool, error) {
				return len(it.Value.(string)) >= o.Letters, nil // of the others, the lease ends
			}, env.Workers), nil
		})
	gostreams.RegisterIn(registry, pipeline.Spec{Type: "lists", Summary: "makes lists", In: pipeline.Kinds(text), Out: []pipeline.Port{{Kind: pipeline.ListOfInput}}},
		lists{}, func(o lists, _ *pipeline.Env) (any, error) { return gostreams.Batch(o.Count, time.Minute), nil })
	gostreams.RegisterIn(registry, pipeline.Spec{Type: "say", Summary: "prints", In: pipeline.Kinds(pipeline.KindOf[pipeline.List]())}, struct{}{},
		func(struct{}, *pipeline.Env) (any, error) {
			return func() (streams.Sink, error) { return ext.NewStdoutSink(), nil }, nil
		})

	loaded, err := config.Parse("pipelines.toml", []byte(`
version = 1
[pipeline.animals]
flow = ["words > long > lists > say"]
stage = { long = { letters = 3 }, lists = { count = 2 } }
`), config.LoadOptions{Registry: registry})
	if err != nil {
		panic(err)
	}
	graph, err := loaded.Graph("animals")
	if err != nil {
		panic(err)
	}
	if _, err := graph.Run(context.Background(), pipeline.RunOptions{}); err != nil {
		panic(err)
	}
	// Output:
	// [dog cat]
	// [and owl]
}
