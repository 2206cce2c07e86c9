package webrace_test

import (
	"context"
	"fmt"
	"testing"

	ext "github.com/reugn/go-streams/extension"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/gostreams"
	"github.com/webrace/webrace/pipeline/stagetest"
	_ "github.com/webrace/webrace/stages/print"
	"github.com/webrace/webrace/xmlschema"
)

// Options of the stage.
type Options struct {
	Over int `toml:"over" doc:"the relevance, 0 to 100, that an annotation must exceed"`
}

func init() {
	pipeline.Register(pipeline.Spec{
		Type:    "big-news",
		Summary: "passes on the annotations that matter most",
		In:      pipeline.Kinds(pipeline.KindOf[*xmlschema.ACI]()),
		Out:     []pipeline.Port{{Kind: pipeline.KindOf[*xmlschema.ACI](), Doc: "the annotation, as it came"}},
	}, Options{Over: 80}, func(o Options, _ *pipeline.Env) (any, error) { return bigNews{o}, nil })
}

type bigNews struct{ options Options }

func (s bigNews) Process(ctx context.Context, it *pipeline.Item, out pipeline.Emitter) error {
	aci, err := pipeline.ValueOf[*xmlschema.ACI](it)
	if err != nil {
		return err
	}
	if aci.Relevance <= s.options.Over {
		return nil // to emit nothing is to leave it out
	}
	return out.Emit(ctx, it)
}

// One call tests what every stage owes to the pipelines it stands in.
func TestConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{
		Type:   "big-news",
		Inputs: []any{&xmlschema.ACI{Relevance: 91}, &xmlschema.ACI{Relevance: 40}},
	})
}

// A stage of one's own stands in a pipeline like any other.
func Example_stage() {
	found := make(chan any, 2)
	found <- &xmlschema.ACI{Owner: "eleni", URI: "https://example.org/a", Title: "Java news", Summary: "… «Java» …", Relevance: 91}
	found <- &xmlschema.ACI{Owner: "eleni", URI: "https://example.org/b", Title: "Travel", Summary: "… to «Java» …", Relevance: 40}
	close(found)

	graph := pipeline.NewGraph("headlines")
	graph.AddStage("found", pipeline.Spec{Out: []pipeline.Port{{Kind: pipeline.KindOf[*xmlschema.ACI]()}}},
		func(*pipeline.Env) (any, error) { return gostreams.FromSource(ext.NewChanSource(found)), nil })
	graph.Add("big-news", Options{Over: 50})
	graph.Add("print", nil)
	graph.Wire("found > big-news > print")
	if err := graph.Check(); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := graph.Run(context.Background(), pipeline.RunOptions{}); err != nil {
		fmt.Println(err)
	}
	// Output: 91	eleni	https://example.org/a	Java news	… «Java» …
}
