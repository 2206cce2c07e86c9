package mapping

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/stagetest"
)

func page() *webrace.Document {
	return &webrace.Document{
		URL: "https://a.org/x", Outcome: webrace.Fetched, Status: 200, Title: "title", Language: "el", Body: []byte("<p>"), Links: []string{"https://b.org/"},
		Text: &webrace.Text{Bytes: []byte("one two"), Blocks: []webrace.Block{{Start: 0, End: 7}}},
	}
}

func TestConformance(t *testing.T) {
	o := Options{Set: map[string]string{"title": "upper(title)", "meta.lang": "language", "text": "'new'"}, Where: "status == 200", Kind: "document"}
	stagetest.Run(t, stagetest.Case{Type: "map", Options: o, Inputs: []any{page(), page()}})
	stagetest.Run(t, stagetest.Case{Type: "map", Options: Options{Set: map[string]string{"x": "url"}, Record: true}, Inputs: []any{page()}})
}

func TestFieldsAreSetOnACopy(t *testing.T) {
	for name, c := range map[string]struct {
		options Options
		input   any
		want    any
	}{
		"document": {
			Options{Set: map[string]string{"title": "upper(title)", "status": "status + 1", "links": "filter(links, false)"}}, page(),
			func() any { d := page(); d.Title, d.Status, d.Links = "TITLE", 201, []string{}; return d }(),
		},
		"text": {
			Options{Set: map[string]string{"text": "upper(text) + '!'"}}, page(),
			func() any {
				d := page()
				d.Text = &webrace.Text{Bytes: []byte("ONE TWO!"), Blocks: []webrace.Block{{Start: 0, End: 8}}}
				return d
			}(),
		},
		"body":          {Options{Set: map[string]string{"body": "body + '</p>'"}}, page(), func() any { d := page(); d.Body = []byte("<p></p>"); return d }()},
		"all at once":   {Options{Set: map[string]string{"title": "language", "language": "title"}}, page(), func() any { d := page(); d.Title, d.Language = "el", "title"; return d }()},
		"record":        {Options{Set: map[string]string{"b": "a * 2"}}, pipeline.Record{"a": 1}, pipeline.Record{"a": 1, "b": 2}},
		"into a record": {Options{Set: map[string]string{"address": "url", "n": "len(links)"}, Record: true}, page(), pipeline.Record{"address": "https://a.org/x", "n": 1}},
		"meta alone":    {Options{Set: map[string]string{"meta.x": "url"}}, page(), page()},
		"where":         {Options{Where: "status == 200"}, page(), page()},
	} {
		t.Run(name, func(t *testing.T) {
			got := stagetest.Try(t, stagetest.Case{Type: "map", Options: c.options, Inputs: []any{c.input}})
			if len(got.Out[""]) != 1 || !reflect.DeepEqual(got.Out[""][0], c.want) {
				t.Errorf("got %+v, %v; want %+v", got.Out[""], got.Failures, c.want)
			}
		})
	}
}

func TestItemsThatDoNotMeetTheConditionAreDropped(t *testing.T) {
	got := stagetest.Try(t, stagetest.Case{Type: "map", Options: Options{Where: "value % 2 == 0"}, Inputs: []any{1, 2, 3, 4}})
	if !reflect.DeepEqual(got.Out[""], []any{2, 4}) || got.Counters["refused"] != 2 {
		t.Errorf("got %v, counters %v", got.Out, got.Counters)
	}
}

func TestMetaDataIsSetBesideTheValue(t *testing.T) {
	c, err := newStage(Options{Set: map[string]string{"meta.lang": "language", "meta.n": "meta.n + 'x'"}}, pipeline.NewEnv("p", "s", nil))
	if err != nil {
		t.Fatal(err)
	}
	before := &pipeline.Item{Value: page(), Meta: map[string]string{"n": "1", "other": "kept"}}
	var got *pipeline.Item
	if err := c.(*stage).Process(t.Context(), before, emitted(func(it *pipeline.Item) { got = it })); err != nil {
		t.Fatal(err)
	}
	if want := map[string]string{"lang": "el", "n": "1x", "other": "kept"}; !reflect.DeepEqual(got.Meta, want) || len(before.Meta) != 2 {
		t.Errorf("got %v, want %v; was %v", got.Meta, want, before.Meta)
	}
}

type emitted func(*pipeline.Item)

func (f emitted) Emit(_ context.Context, it *pipeline.Item) error { f(it); return nil }
func (f emitted) EmitTo(ctx context.Context, _ string, it *pipeline.Item) error {
	return f.Emit(ctx, it)
}

func TestWhatCannotBeSetFailsTheItem(t *testing.T) {
	for says, set := range map[string]map[string]string{
		"set status":           {"status": "'x'"},
		`has no field "titel"`: {"titel": "'x'"},
		"title: evaluate":      {"title": "links[7]"},
		"set blocks as well":   {"blocks": `[{"start": 0, "end": 99, "field": "body"}]`},
	} {
		got := stagetest.Try(t, stagetest.Case{Type: "map", Options: Options{Set: set}, Inputs: []any{page()}})
		if len(got.Failures) != 1 || !strings.Contains(got.Failures[0].Error(), says) {
			t.Errorf("%v: %v, want %q", set, got.Failures, says)
		}
	}
}

func TestOptionsAreValidated(t *testing.T) {
	for name, c := range map[string]struct {
		options      Options
		option, says string
	}{
		"nothing":            {Options{}, "set", "nothing would be done"},
		"an empty record":    {Options{Where: "true", Record: true}, "record", "needs set"},
		"no expression":      {Options{Set: map[string]string{"a": "b +"}}, "set.a", "expression"},
		"no condition":       {Options{Where: "'x'"}, "where", "gives a text"},
		"no kind":            {Options{Where: "true", Kind: "page"}, "kind", "no kind"},
		"no field":           {Options{Set: map[string]string{"titel": "url"}, Kind: "document"}, "set.titel", "did you mean title?"},
		"a field far away":   {Options{Set: map[string]string{"qqqqqqqq": "url"}, Kind: "document"}, "set.qqqqqqqq", "only requested, url"},
		"another type":       {Options{Set: map[string]string{"status": "title"}, Kind: "document"}, "set.status", "of type integer"},
		"no name of a field": {Options{Set: map[string]string{"title": "titel"}, Kind: "document"}, "set.title", "did you mean title?"},
	} {
		var fault *pipeline.OptionError
		if err := c.options.Validate(); !errors.As(err, &fault) || fault.Option != c.option || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want a fault of %s: %s", name, err, c.option, c.says)
		}
	}
	if err := (Options{Set: map[string]string{"title": "upper(title)", "anything": "url"}, Record: true, Kind: "document"}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestNamesAreLookedForInWhatComes(t *testing.T) {
	document, record := pipeline.KindOf[*webrace.Document](), pipeline.RecordOf("price")
	for name, c := range map[string]struct {
		options Options
		given   []pipeline.Kind
		option  string // empty: nothing is wrong
	}{
		"a field":                        {Options{Where: "title == ''"}, pipeline.Kinds(document), ""},
		"no field":                       {Options{Where: "titel == ''"}, pipeline.Kinds(document), "where"},
		"no field, of what is not known": {Options{Where: "titel == ''"}, pipeline.Kinds(pipeline.KindOf[any]()), ""},
		"no field, of any record":        {Options{Where: "titel == ''"}, pipeline.Kinds(document, pipeline.KindOf[pipeline.Record]()), ""},
		"a field of one of both":         {Options{Where: "titel == '' or price > 1"}, pipeline.Kinds(document, record), "where"},
		"a field of a record":            {Options{Where: "price > 1 and status == 200"}, pipeline.Kinds(document, record), ""},
		"a field that is set":            {Options{Set: map[string]string{"title": "url"}}, pipeline.Kinds(document), ""},
		"no field that is set":           {Options{Set: map[string]string{"titel": "url"}}, pipeline.Kinds(document), "set.titel"},
		"one that a record gets":         {Options{Set: map[string]string{"rate": "price"}}, pipeline.Kinds(record), ""},
		"meta data with a dot":           {Options{Set: map[string]string{"meta.a.b": "prize"}}, pipeline.Kinds(record), "set.meta.a.b"},
		"another kind":                   {Options{Where: "true", Kind: "aci"}, pipeline.Kinds(document), "kind"},
		"the kind":                       {Options{Where: "true", Kind: "document"}, pipeline.Kinds(document, record), ""},
	} {
		var fault *pipeline.OptionError
		err := c.options.CheckNames(c.given)
		if found := errors.As(err, &fault); found != (c.option != "") || found && fault.Option != c.option {
			t.Errorf("%s: got %v, want a fault of %q", name, err, c.option)
		}
	}
}

func TestWhatSetsFieldsOfRecordsSaysSo(t *testing.T) {
	set := map[string]string{"rate": "price", "meta.a": "price"}
	if fields, _ := (Options{Set: set, Record: true}).Ports()[0].Kind.Record(); !slices.Equal(fields, []string{"rate"}) {
		t.Errorf("a record has %q", fields)
	}
	if kind := (Options{Set: set}).Ports()[0].Kind; kind != pipeline.SameWith("rate") {
		t.Errorf("it gives %v", kind)
	}
}

func TestTheStageAloneKnowsTheShippedKinds(t *testing.T) {
	if _, err := pipeline.KindNamed("document"); err != nil {
		t.Error(err)
	}
}
