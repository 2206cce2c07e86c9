package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/webrace/webrace/pipeline"
)

type reads struct {
	One  pipeline.File            `toml:"one" doc:"a file"`
	Two  pipeline.File            `toml:"two" doc:"a file"`
	None pipeline.File            `toml:"none" doc:"a file"`
	All  map[string]pipeline.File `toml:"all" doc:"files"`
	List []struct {
		File pipeline.File `toml:"file" doc:"a file"`
	} `toml:"list" doc:"files"`
}

func TestFilesAreRelativeToTheFileOfTheConfigurationThatNamesThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"pipelines.toml": `
version = 1
include = "more/*.toml"
[pipeline.a]
flow = "urds > reads"
[pipeline.a.stage.reads]
none = ""
all = { "http://example.org/x.y" = "${NAME}/all.xsl", absolute = "/all.xsl" }
list = [{ file = "../list.xsl" }]
`,
		"more/more.toml": "[defaults.reads]\none = \"one.xsl\"\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	registry := configRegistry()
	pipeline.RegisterIn(registry, pipeline.Spec{Type: "reads", Summary: "reads files", In: pipeline.Kinds(pipeline.KindOf[any]())}, reads{}, func(reads, *pipeline.Env) (any, error) { return nothing(nil) })
	c, err := Load(filepath.Join(dir, "pipelines.toml"), LoadOptions{
		Registry: registry, Set: []string{"reads.two=set.xsl"}, Env: func(string) (string, bool) { return "named", true },
	})
	if err != nil {
		t.Fatal(err)
	}
	g, err := c.Graph("a")
	if err != nil {
		t.Fatal(err)
	}
	in := func(path string) pipeline.File { return pipeline.File(filepath.Join(dir, path)) }
	want := reads{
		One: in("more/one.xsl"), Two: "set.xsl",
		All: map[string]pipeline.File{"http://example.org/x.y": in("named/all.xsl"), "absolute": "/all.xsl"},
	}
	want.List = append(want.List, struct {
		File pipeline.File `toml:"file" doc:"a file"`
	}{in("../list.xsl")})
	if diff := cmp.Diff(want, g.Stages[1].Options); diff != "" {
		t.Error(diff)
	}
	for _, option := range Options(registry, "reads") {
		if (option.Name == "one" && option.Type != "file") || (option.Name == "all" && option.Type != "table of files") {
			t.Errorf("%s is a %s", option.Name, option.Type)
		}
	}
}
