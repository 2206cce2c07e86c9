package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
)

type freeOptions struct {
	Kind    string         `toml:"kind" doc:"what it takes"`
	Options pipeline.Table `toml:"options" doc:"whatever"`
}

func (o freeOptions) InputKinds() []pipeline.Kind {
	if o.Kind == "bytes" {
		return pipeline.Kinds(pipeline.KindOf[[]byte]())
	}
	return pipeline.Kinds(pipeline.KindOf[string]())
}

func freeRegistry() *pipeline.Registry {
	r := pipeline.NewRegistry()
	none := func(struct{}, *pipeline.Env) (any, error) { return nil, nil }
	pipeline.RegisterIn(r, pipeline.Spec{Type: "texts", Summary: "s", Out: []pipeline.Port{{Kind: pipeline.KindOf[string]()}}}, struct{}{}, none)
	pipeline.RegisterIn(r, pipeline.Spec{Type: "free", Summary: "s", In: pipeline.Kinds(pipeline.KindOf[any]())}, freeOptions{Options: pipeline.Table{"kept": true, "loud": false}},
		func(freeOptions, *pipeline.Env) (any, error) { return nil, nil })
	return r
}

func TestATableTakesWhateverTOMLCanSay(t *testing.T) {
	source := `version = 1
[pipeline.p]
flow = ["texts > free"]
[pipeline.p.stage.free.options]
loud = true
count = 1_000
hex = 0xff
share = 0.5
name = "${NAME}"
day = 2026-01-02
list = [1, "two", { three = 3 }]
[pipeline.p.stage.free.options.deep]
down = ["${NAME}"]
`
	env := func(string) (string, bool) { return "value", true }
	config, err := Parse("p.toml", []byte(source), LoadOptions{Registry: freeRegistry(), Env: env, Set: []string{"free.options.set=7", "free.options.text=bare"}})
	if err != nil {
		t.Fatal(err)
	}
	graph, err := config.Graph("p")
	if err != nil {
		t.Fatal(err)
	}
	want := pipeline.Table{
		"kept": true, "loud": true, "count": int64(1000), "hex": int64(255), "share": 0.5, "name": "value", "day": "2026-01-02",
		"list": []any{int64(1), "two", map[string]any{"three": int64(3)}},
		"deep": map[string]any{"down": []any{"value"}}, "set": int64(7), "text": "bare",
	}
	if got := stageOf(graph, "free").Options.(freeOptions).Options; !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v", got)
	}
	_, err = Parse("p.toml", []byte(strings.ReplaceAll(source, "1_000", "99999999999999999999")), LoadOptions{Registry: freeRegistry(), Env: env})
	if err == nil || !strings.Contains(err.Error(), "p.toml:6:9: decimal number is too large") {
		t.Errorf("a number that is too large: %v", err)
	}
}

func TestWhatAStageTakesMayDependOnItsOptions(t *testing.T) {
	source := "version = 1\n[pipeline.p]\nflow = [\"texts > free\"]\n[pipeline.p.stage.free]\nkind = \"bytes\"\n"
	_, err := Parse("p.toml", []byte(source), LoadOptions{Registry: freeRegistry()})
	if err == nil || !strings.Contains(err.Error(), `stage "free" takes []uint8, but texts gives string`) {
		t.Errorf("got %v", err)
	}
	if _, err := Parse("p.toml", []byte(strings.ReplaceAll(source, "bytes", "text")), LoadOptions{Registry: freeRegistry()}); err != nil {
		t.Error(err)
	}
}
