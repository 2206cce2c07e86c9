package all

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/stagetest"
)

// TestEveryMisspeltOptionIsFound misspells every option of every shipped stage type, those that all stages
// have included.
func TestEveryMisspeltOptionIsFound(t *testing.T) {
	cases := stagetest.TypoCases(pipeline.DefaultRegistry)
	tried := make(map[string]bool)
	for _, c := range cases {
		tried[c.Name] = true
		if err := c.Verify(pipeline.DefaultRegistry); err != nil {
			t.Error(err)
		}
	}
	for _, typ := range pipeline.DefaultRegistry.Types() {
		names := []string{"workers", "on_error"}
		for _, option := range config.Options(nil, typ) {
			names = append(names, option.Name)
		}
		for _, name := range names {
			if !tried[typ+"."+strings.NewReplacer("[]", "", ".NAME", "").Replace(name)] {
				t.Errorf("no case for %s.%s", typ, name)
			}
		}
	}
}

// TestEveryStageIsHere compares the folders beside this one with the types that are registered.
func TestEveryStageIsHere(t *testing.T) {
	folders, err := os.ReadDir("..")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, folder := range folders {
		if folder.IsDir() && !slices.Contains([]string{"all", "internal", "kinds"}, folder.Name()) {
			want = append(want, folder.Name())
		}
	}
	var got []string
	for _, typ := range pipeline.DefaultRegistry.Types() {
		got = append(got, strings.ReplaceAll(typ, "-", ""))
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("registered are %q, and there are folders %q", got, want)
	}
}

// shipped loads the pipelines that ship with webrace, with no variable of the environment set.
func shipped(t *testing.T, o config.LoadOptions) *config.Config {
	t.Helper()
	o.Env = func(string) (string, bool) { return "", false }
	config, err := config.Parse("pipelines.toml", webrace.Pipelines, o)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// TestThePageNamesEveryShippedPipeline holds that docs/pipelines.md has a line on each, and on no other.
func TestThePageNamesEveryShippedPipeline(t *testing.T) {
	t.Parallel()
	var names []string
	for _, p := range shipped(t, config.LoadOptions{}).Pipelines {
		names = append(names, p.Name)
	}
	var named []string
	for _, found := range regexp.MustCompile("(?m)^\\| `([a-z]+)` \\|").FindAllStringSubmatch(section(t, read(t, "pipelines.md"), "## The shipped pipelines\n", "\n\n`"), -1) {
		named = append(named, found[1])
	}
	slices.Sort(names)
	slices.Sort(named)
	if !slices.Equal(names, named) {
		t.Errorf("the page names %v, and there are %v", named, names)
	}
}

func TestShippedPipelinesLoadClean(t *testing.T) {
	config := shipped(t, config.LoadOptions{})
	var names []string
	for _, p := range config.Pipelines {
		names = append(names, p.Name)
		if p.Title == "" {
			t.Errorf("pipeline %s does not say what it is for", p.Name)
		}
		graph, err := config.Graph(p.Name)
		if err != nil {
			t.Errorf("%s: %v", p.Name, err)
			continue
		}
		if err := graph.Check(); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
		for _, stage := range graph.Stages {
			mustBeWired(t, graph, stage)
		}
	}
	for _, name := range []string{"archive", "crawl", "export", "gc", "search", "webrace"} {
		if !slices.Contains(names, name) {
			t.Errorf("pipeline %s does not ship: %q", name, names)
		}
	}
}

// mustBeWired fails if a shipped pipeline drops what a stage gives: it documents by example.
func mustBeWired(t *testing.T, g *pipeline.Graph, stage *pipeline.Stage) {
	t.Helper()
	switch stage.Spec.Type {
	case "print", "aci-emit":
		return // what they pass on, they have shown or stored
	}
	for _, port := range stage.Ports() {
		switch port.Name {
		case "notices": // sent only where it is said how, as by notify
			continue
		case "gone": // emitted only where it leads to a stage
			continue
		}
		if !slices.ContainsFunc(g.Edges, func(e pipeline.Edge) bool { return e.From == stage.Name && e.Port == port.Name }) {
			t.Errorf("pipeline %s: port %q of %s leads nowhere", g.Name, port.Name, stage.Name)
		}
	}
}

func TestCommonSettingsAreTaken(t *testing.T) {
	for _, set := range [][]string{
		{"lines.path=urls.txt", "lines.depth=0", "lines.scope=domain"},
		{"lines.urls=https://a.org/,https://b.org/"},
		{"urds.ids=a,b"},
		{"keyword-filter.audience=everyone"},
		{"fetch.allow_networks=loopback,private", "fetch.delay=0s"},
		{"frontier.fresh=0s", "frontier.rules=deny extension pdf,deny path /private"},
		{"write-file.format=xml", "write-file.path=acis.xml"},
	} {
		shipped(t, config.LoadOptions{Set: set})
	}
}

func TestOptionsThatNeedAValueSaySo(t *testing.T) {
	source := regexp.MustCompile(`(?m)^path = .*\n`).ReplaceAll(webrace.Pipelines, nil)
	_, err := config.Parse("pipelines.toml", source, config.LoadOptions{})
	if err == nil || !strings.Contains(err.Error(), "name the file to write") {
		t.Errorf("export without a path: %v", err)
	}
}
