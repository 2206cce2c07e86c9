package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/codec"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/stagetest"
	"github.com/webrace/webrace/stages/exec"
	"github.com/webrace/webrace/stages/print"
)

// servedTrials has, for each processor that runs by itself, options and items to try it on.
var servedTrials = map[string]struct {
	table  pipeline.Table
	inputs []any
}{
	"detect":     {nil, saidPages()},
	"drop":       {nil, []any{"a"}},
	"exec":       {pipeline.Table{"command": []any{"webrace-run", "stage", "detect"}, "in_flight": int64(2)}, saidPages()},
	"extract":    {pipeline.Table{"fields": map[string]any{"title": "css:title", "links": "css:a@href | url | all"}, "required": []any{"title"}}, saidPages()},
	"feed-parse": {nil, saidPages()},
	"map":        {pipeline.Table{"set": map[string]any{"title": "upper(title)", "media_type": "''"}, "where": "len(body) > 10"}, saidPages()},
	"print":      {nil, []any{"a text", saidPages()[0]}},
	"route":      {pipeline.Table{"ports": []any{map[string]any{"name": "turtle", "when": "media_type == 'text/turtle'"}}, "kind": "document"}, saidPages()},
	"sample":     {pipeline.Table{"share": 0.5, "key": "url", "seed": int64(1<<62 + 1)}, saidPages()},
	"score": {pipeline.Table{"keywords": map[string]any{"storm": int64(5)}, "opic": true}, []any{
		&webrace.Links{From: "http://a.example/", Via: webrace.ViaLink, URLs: []string{"http://a.example/storm", "http://a.example/tea"}, Anchors: []string{"a storm", "tea"}},
	}},
	"transform": {pipeline.Table{"page": true, "max_triples": int64(5)}, saidPages()},
	"xslt":      {pipeline.Table{"rules": []any{map[string]any{"root": "{urn:levanda:berths}berths", "stylesheet": "demosite/berths.xsl"}}}, saidPages()},
}

// saidPages are documents of several kinds, one of them malformed, one that states too much, one not fetched anew.
func saidPages() (pages []any) {
	for i, page := range []struct{ mediaType, body string }{
		{"text/turtle", "<#a> <#b> 'c', 'd' ."},
		{"text/turtle", "<#a> <#b> <#c"},
		{"text/plain", "<http://a.example/s> <http://a.example/p> \"Ω\\n\"@el ."},
		{"application/ld+json", `{"@context": {"name": "http://schema.org/name"}, "@id": "#a", "name": ["a", "b", "c", "d", "e", "f"]}`},
		{"text/html", `<title>Storm Iris</title><script type="application/ld+json">{"@context":"https://schema.org","@type":"Event","name":"Fair"}</script><a href=/next>on</a>`},
		{"application/rss+xml", `<rss version="2.0"><channel><title>News</title><item><title>Iris</title><link>http://a.example/iris</link></item></channel></rss>`},
		{"application/xml", `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>`},
		{"application/xml", `<berths xmlns="urn:levanda:berths" year="2025"><berth plate="1" length="6">Kyma</berth></berths>`},
	} {
		pages = append(pages, &webrace.Document{
			URL: fmt.Sprintf("http://a.example/%d", i), Outcome: webrace.Fetched, Status: 200, MediaType: page.mediaType, Body: []byte(page.body),
			Header: map[string][]string{"Content-Type": {page.mediaType}}, At: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Took: 20 * time.Millisecond,
		})
	}
	return append(pages, &webrace.Document{URL: "http://a.example/same", Outcome: webrace.NotModified, Status: 304})
}

// asProgram returns the options of an exec stage that does what one of this type with these options does.
func asProgram(t *testing.T, typ string, table pipeline.Table) exec.Options {
	t.Helper()
	o := pipeline.DefaultRegistry.Defaults("exec").(exec.Options)
	o.Command, o.Options, o.Timeout = []string{"webrace-run", "stage", typ}, table, pipeline.Duration(5*time.Minute)
	o.Ready, o.Takes, o.Gives = o.Timeout, nil, []exec.Output{}
	stage, err := config.Single(typ, config.SingleOptions{Table: table})
	if err != nil {
		t.Fatal(err)
	}
	name := func(k pipeline.Kind) string {
		if k.String() == pipeline.SameAsInput.String() {
			return "same"
		}
		return k.Name()
	}
	for _, kind := range stage.Spec.In {
		o.Takes = append(o.Takes, name(kind))
	}
	for _, port := range stage.Ports() {
		o.Gives = append(o.Gives, exec.Output{Port: port.Name, Kind: name(port.Kind), Doc: "as it gives"})
	}
	return o
}

// TestAServedStageGivesWhatItGivesInAPipeline runs each type of stages that is a processor by itself, through the stage
// exec, and in the process: the same leaves each port, the same fails for the same reason, the same is counted.
func TestAServedStageGivesWhatItGivesInAPipeline(t *testing.T) {
	t.Parallel()
	for _, typ := range pipeline.DefaultRegistry.Types() {
		why := servable(typ)
		c, tried := servedTrials[typ]
		if (why == nil) != tried {
			t.Errorf("%s: it is tried: %t, and refused: %v. A processor of a new type is either in the table of this test or in unservable", typ, tried, why)
		}
		if why != nil || !tried {
			continue
		}
		t.Run(typ, func(t *testing.T) {
			t.Parallel()
			stage, err := config.Single(typ, config.SingleOptions{Table: c.table})
			if err != nil {
				t.Fatal(err)
			}
			resources := new(pipeline.Resources)
			pipeline.Provide(resources, print.Output{Writer: io.Discard})
			here := stagetest.Try(t, stagetest.Case{Type: typ, Options: stage.Options, Inputs: c.inputs, Resources: resources, Patience: time.Minute})
			there := stagetest.Try(t, stagetest.Case{Type: "exec", Options: asProgram(t, typ, c.table), Inputs: c.inputs, Patience: 5 * time.Minute})
			if diff := cmp.Diff(told(t, here), told(t, there)); diff != "" {
				t.Errorf("in a process of its own it gives something else:\n%s", diff)
			}
			for name, n := range here.Counters {
				if there.Counters[name] != n {
					t.Errorf("it counts %s %d, and in a process of its own %d", name, n, there.Counters[name])
				}
			}
		})
	}
}

// told are the values that left each port, and what failed, as they are written.
func told(t *testing.T, r *stagetest.Result) map[string][]string {
	t.Helper()
	all := make(map[string][]string)
	for port, values := range r.Out {
		for _, v := range values {
			all[port] = append(all[port], encoded(t, v))
		}
	}
	for _, f := range r.Failures {
		all["errors"] = append(all["errors"], encoded(t, f.Value)+": "+f.Err.Error())
	}
	return all
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	kind, header, body, err := codec.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %s %q", kind, header, body)
}

// emittedItems keeps what a stage emits.
type emittedItems struct {
	ports []string
	items []*pipeline.Item
}

func (e *emittedItems) Emit(ctx context.Context, it *pipeline.Item) error {
	return e.EmitTo(ctx, "", it)
}
func (e *emittedItems) EmitTo(_ context.Context, port string, it *pipeline.Item) error {
	e.ports, e.items = append(e.ports, port), append(e.items, it)
	return nil
}

// servedStage returns a stage of type exec that is open.
func servedStage(t *testing.T, o exec.Options) pipeline.Processor {
	t.Helper()
	stage, err := pipeline.DefaultRegistry.NewStage("program", "exec", o)
	if err != nil {
		t.Fatal(err)
	}
	made, err := stage.Make(pipeline.NewEnv("p", "program", nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := made.(pipeline.Closer).Close(); err != nil {
			t.Error(err)
		}
	})
	if err := made.(pipeline.Opener).Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return made.(pipeline.Processor)
}

func TestAServedStageReadsAndSetsMetaData(t *testing.T) {
	t.Parallel()
	set := servedStage(t, asProgram(t, "map", pipeline.Table{"set": map[string]any{"meta.lang": "language", "meta.was": "meta.from"}}))
	var out emittedItems
	page := &pipeline.Item{Value: &webrace.Document{URL: "http://a.example/", Language: "el"}, Meta: map[string]string{"from": "Ω \"}", "was": "x"}}
	if err := set.Process(t.Context(), page, &out); err != nil || len(out.items) != 1 {
		t.Fatal(out.items, err)
	}
	if diff := cmp.Diff(map[string]string{"lang": "el", "was": "Ω \"}", "from": "Ω \"}"}, out.items[0].Meta); diff != "" {
		t.Error(diff)
	}
	if page.Meta["was"] != "x" {
		t.Error("the item that came was changed")
	}
	choose := servedStage(t, asProgram(t, "route", pipeline.Table{"ports": []any{map[string]any{"name": "greek", "when": "meta.lang == 'el'"}}}))
	var chosen emittedItems
	if err := choose.Process(t.Context(), out.items[0], &chosen); err != nil || !slices.Equal(chosen.ports, []string{"greek"}) {
		t.Errorf("it leaves by %q, %v", chosen.ports, err)
	}
}

// TestStagesThatCannotRunByThemselvesAreRefused calls the command for each of them.
func TestStagesThatCannotRunByThemselvesAreRefused(t *testing.T) {
	t.Parallel()
	for _, typ := range slices.Sorted(maps.Keys(unservable)) {
		if _, known := pipeline.DefaultRegistry.Lookup(typ); !known {
			t.Errorf("there is no stage type %s", typ)
		}
	}
	for typ, says := range map[string]string{
		"cache": "needs the data directory", "lines": "is a source", "frontier": "is a queue", "batch": "keeps items", "write-file": "in groups",
		"fetch": "tells the frontier", "nope": "there is no stage type", "trnsform": "did you mean transform?",
	} {
		p := newCommand(t, "stage", typ)
		if err := p.Run(); err == nil || p.ProcessState.ExitCode() != 2 || !strings.Contains(p.said(), says) {
			t.Errorf("%s: %v\n%s", typ, err, p.said())
		}
	}
}

// TestThePageNamesTheStagesThatCannotRunByThemselves holds docs/plugins.md against the types that there are, of which
// it need not name all sources.
func TestThePageNamesTheStagesThatCannotRunByThemselves(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/plugins.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "| cannot run so | because |")
	table, _, _ = strings.Cut(table, "\n## ")
	if !found {
		t.Fatal("the page has no such table")
	}
	for _, typ := range pipeline.DefaultRegistry.Types() {
		spec, _ := pipeline.DefaultRegistry.Lookup(typ)
		refused := servable(typ) != nil
		if named := strings.Contains(table, "`"+typ+"`"); named != refused && (named || len(spec.In) > 0) {
			t.Errorf("%s: the page names it: %t, and it is refused: %t", typ, named, refused)
		}
	}
}
