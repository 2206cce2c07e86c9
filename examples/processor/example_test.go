package processor

import (
	"context"
	"fmt"
	"reflect"
	"testing"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	_ "github.com/webrace/webrace/stages/print"
	"github.com/webrace/webrace/xmlschema"
)

var found = []any{
	&xmlschema.ACI{Owner: "eleni", URI: "https://example.org/a", Title: "Team", Summary: "… write to ann@example.org, or call …", Relevance: 80},
	&xmlschema.ACI{Owner: "eleni", URI: "https://example.org/b", Title: "News", Summary: "… nothing to hide …", Relevance: 60},
}

func TestConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{Type: "redact", Inputs: found})
}

func TestNoAddressIsLeft(t *testing.T) {
	t.Parallel()
	annotation := &xmlschema.ACI{Title: "ann@example.org", Summary: "or bob@example.org", Values: map[string]string{"contact": "<eve@example.org>"}}
	got := stagetest.Try(t, stagetest.Case{Type: "redact", Inputs: []any{annotation}}).Out[""]
	want := &xmlschema.ACI{Title: "[address]", Summary: "or [address]", Values: map[string]string{"contact": "<[address]>"}}
	if !reflect.DeepEqual(got, []any{want}) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A processor stands between others.
func Example_redact() {
	graph := pipeline.NewGraph("outbox")
	graph.AddStage("found", pipeline.Spec{Out: []pipeline.Port{{Kind: pipeline.KindOf[*xmlschema.ACI]()}}},
		func(*pipeline.Env) (any, error) { return source(found), nil })
	graph.Add("redact", nil)
	graph.Add("print", nil)
	graph.Wire("found > redact > print")
	report, err := graph.Run(context.Background(), pipeline.RunOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Stages["redact"].Counters["redacted"], "redacted")
	// Output:
	// 80	eleni	https://example.org/a	Team	… write to [address], or call …
	// 60	eleni	https://example.org/b	News	… nothing to hide …
	// 1 redacted
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
