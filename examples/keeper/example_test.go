package keeper

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	_ "github.com/webrace/webrace/stages/print"
)

var edits = []any{
	pipeline.Record{"page": "start", "edit": 1}, pipeline.Record{"page": "start", "edit": 2},
	pipeline.Record{"page": "news", "edit": 3}, pipeline.Record{"page": "start", "edit": 4},
}

func TestConformance(t *testing.T) {
	options := Options{Key: "page", Quiet: pipeline.Duration(time.Millisecond), MaxItems: 10}
	stagetest.Run(t, stagetest.Case{Type: "debounce", Options: options, Inputs: edits})
}

// TestWithoutRoomBurstsEndEarly is of a limit that keeps memory bounded: nothing is lost by it.
func TestWithoutRoomBurstsEndEarly(t *testing.T) {
	got := stagetest.Try(t, stagetest.Case{
		Type: "debounce", Options: Options{Key: "page", Quiet: pipeline.Duration(time.Hour), MaxItems: 1}, Inputs: edits,
	}).Out[""]
	if len(got) != len(edits) {
		t.Errorf("%d of %d items went on: %v", len(got), len(edits), got)
	}
}

// What is kept when the run ends goes on as well: the last edit of each page.
func Example_debounce() {
	graph := pipeline.NewGraph("edits")
	graph.AddStage("made", pipeline.Spec{Out: []pipeline.Port{{Kind: pipeline.KindOf[pipeline.Record]()}}},
		func(*pipeline.Env) (any, error) { return source(edits), nil })
	graph.Add("debounce", Options{Key: "page", Quiet: pipeline.Duration(time.Hour), MaxItems: 10})
	graph.Add("print", nil)
	graph.Wire("made > debounce > print")
	if _, err := graph.Run(context.Background(), pipeline.RunOptions{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"edit":3,"page":"news"}
	// {"edit":4,"page":"start"}
}

// source emits values.
type source []any

func (s source) Run(ctx context.Context, out pipeline.Emitter) error {
	for _, value := range s {
		if err := out.Emit(ctx, pipeline.NewItem(value, nil)); err != nil {
			return err
		}
	}
	return nil
}
