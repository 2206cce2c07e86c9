package pipeline_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/reugn/go-streams"
	ext "github.com/reugn/go-streams/extension"
	"github.com/reugn/go-streams/flow"
	"github.com/webrace/webrace/pipeline"
)

func upper(_ context.Context, s string) (string, error) { return strings.ToUpper(s), nil }

// A pipeline is an operator of a go-streams program, between a source and a sink of its own.
func ExampleGraph_Flow() {
	stage := func(name string, impl any) *pipeline.Stage {
		return &pipeline.Stage{Name: name, Make: func(*pipeline.Env) (any, error) { return impl, nil }}
	}
	graph := &pipeline.Graph{
		Name: "shout",
		Stages: []*pipeline.Stage{
			stage("upper", pipeline.Map(upper)),
			// and an operator of go-streams is a stage of the pipeline
			stage("exclaim", pipeline.FromFlow(func() streams.Flow {
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

	shout, run, err := graph.Flow(context.Background(), pipeline.RunOptions{}, "upper", "exclaim")
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
