package aciemit

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/xmlschema"
)

func opened(t *testing.T, path string) (*pipeline.Resources, *control.Store, *storage.Dir) {
	t.Helper()
	dir, err := storage.Open(path, storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	store, err := dir.Control()
	if err != nil {
		t.Fatal(err)
	}
	r := new(pipeline.Resources)
	pipeline.Provide(r, dir)
	return r, store, dir
}

func aci(id string, change ...func(*xmlschema.ACI)) *xmlschema.ACI {
	a := &xmlschema.ACI{
		ID: id, URD: "u1", Owner: "eleni", URI: "https://a.org/", Title: "A title", Format: xmlschema.FormatHTML, Relevance: 50, Urgency: 1,
		UpdateTime: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Summary: "a «word»", Explain: &xmlschema.Explain{Relevance: 50, Threshold: 20},
	}
	for _, c := range change {
		c(a)
	}
	return a
}

func emit(t *testing.T, r *pipeline.Resources, acis ...any) *stagetest.Result {
	t.Helper()
	return stagetest.Try(t, stagetest.Case{Type: "aci-emit", Inputs: acis, Resources: r})
}

func stored(t *testing.T, store *control.Store) (acis []*xmlschema.ACI) {
	t.Helper()
	for a, err := range store.ACIs(t.Context(), control.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		acis = append(acis, a.ACI)
	}
	return acis
}

func TestConformance(t *testing.T) {
	r, store, _ := opened(t, t.TempDir())
	stagetest.Run(t, stagetest.Case{
		Type: "aci-emit", Inputs: []any{aci("a"), aci("b"), aci("a")}, Resources: r,
		Effect: func() (any, error) { return stored(t, store), nil },
	})
}

func TestAnnotationsAreStoredOnce(t *testing.T) {
	r, store, _ := opened(t, t.TempDir())
	got := emit(t, r, aci("a"), aci("b"), aci("a"))
	if got.Counters["annotations"] != 2 || got.Counters["repeated"] != 1 {
		t.Errorf("counters %v", got.Counters)
	}
	if acis := stored(t, store); !reflect.DeepEqual(acis, []*xmlschema.ACI{aci("a"), aci("b")}) {
		t.Errorf("stored %+v", acis)
	}
	if taken, err := store.Take(t.Context(), "eleni"); err != nil || len(taken) != 2 {
		t.Fatalf("%d annotations to take, %v", len(taken), err)
	}
	got = emit(t, r, aci("b"), aci("c")) // a request is repeated after a crash
	if got.Counters["annotations"] != 1 || got.Counters["repeated"] != 1 {
		t.Errorf("counters %v", got.Counters)
	}
	if taken, err := store.Take(t.Context(), "eleni"); err != nil || len(taken) != 1 || taken[0].ID != "c" {
		t.Errorf("the owner is told again: %+v, %v", taken, err)
	}
}

func TestWhatIsAcknowledgedIsStored(t *testing.T) {
	path := t.TempDir()
	r, _, dir := opened(t, path)
	var inputs []any
	for i := range 2100 { // more than two groups
		inputs = append(inputs, aci(fmt.Sprint(i)))
	}
	for i, o := range emit(t, r, inputs...).Outcomes {
		if o.Err != nil {
			t.Fatalf("%d: %v", i, o.Err)
		}
	}
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	_, store, _ := opened(t, path)
	if n := len(stored(t, store)); n != len(inputs) {
		t.Errorf("%d of %d are stored", n, len(inputs))
	}
}

func TestAnAnnotationThatCannotBeStoredIsAFailure(t *testing.T) {
	r, store, _ := opened(t, t.TempDir())
	got := emit(t, r, aci("a", func(a *xmlschema.ACI) { a.Title = "\x00" }))
	if len(got.Failures) != 1 || len(stored(t, store)) != 0 {
		t.Errorf("failures %v", got.Failures)
	}
}

// TestOneBadAnnotationDoesNotTakeItsGroupWithIt holds that owners are told whatever else came in the group.
func TestOneBadAnnotationDoesNotTakeItsGroupWithIt(t *testing.T) {
	r, store, _ := opened(t, t.TempDir())
	got := emit(t, r, aci("a"), aci("b", func(a *xmlschema.ACI) { a.Relevance = 101 }), aci("c"), "no annotation")
	if len(got.Failures) != 4 || !strings.Contains(got.Failures[0].Error(), "relevance") || !strings.Contains(got.Failures[0].Error(), "string") {
		t.Errorf("failures %v", got.Failures)
	}
	if acis := stored(t, store); len(acis) != 2 || acis[0].ID != "a" || acis[1].ID != "c" {
		t.Errorf("stored %+v", acis)
	}
}

// What a model was to be asked of, and was not, is told as unjudged; what was judged as it was.
func TestWhatNoModelWasAskedOfIsToldUnjudged(t *testing.T) {
	t.Parallel()
	r, store, _ := opened(t, t.TempDir())
	pending := aci("a", func(a *xmlschema.ACI) { a.Judgement = &xmlschema.Judgement{Question: "Is it?", News: "it is"} })
	judged := &xmlschema.Judgement{Question: "Is it?", Answer: xmlschema.AnswerYes, Reason: "it is", Model: "m"}
	result := emit(t, r, pending, aci("b", func(a *xmlschema.ACI) { a.URI, a.Judgement = "https://b.org/", judged }))
	got := make(map[string]*xmlschema.Judgement)
	for _, a := range stored(t, store) {
		got[a.ID] = a.Judgement
	}
	if j := got["a"]; j == nil || j.Answer != xmlschema.AnswerNone || j.Question != "Is it?" || !strings.Contains(j.Reason, "no stage ask") || result.Counters["unasked"] != 1 {
		t.Errorf("%+v, %v", j, result.Counters)
	}
	if !reflect.DeepEqual(got["b"], judged) || !pending.Judgement.IsPending() {
		t.Errorf("%+v", got["b"])
	}
}
