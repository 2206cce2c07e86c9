package drop

import (
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline/stagetest"
)

func TestConformance(t *testing.T) {
	stagetest.Run(t, stagetest.Case{Type: "drop", Inputs: []any{1, "two", &webrace.Document{URL: "https://example.org/"}}})
}

func TestItAcceptsEverythingAndGivesNothing(t *testing.T) {
	got := stagetest.Try(t, stagetest.Case{Type: "drop", Inputs: []any{1, nil}})
	if len(got.Out) != 0 || len(got.Failures) != 0 || got.Outcomes[0].Err != nil || got.Outcomes[1].Err != nil {
		t.Errorf("%+v", got)
	}
}
