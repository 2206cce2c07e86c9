package all

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/storage"
)

// TestTheExampleOfGeneralStagesRuns runs the pipeline of docs/general-stages.md, as it stands there, over a
// shop on loopback.
func TestTheExampleOfGeneralStagesRuns(t *testing.T) {
	t.Parallel()
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != "/" {
			http.NotFound(w, q)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		for _, item := range [][2]string{{"Pen", "2.50"}, {"Desk", "€ 1,200"}, {"Pen", "3"}, {"Lamp", "ask"}, {"Chair", "101"}} {
			fmt.Fprintf(w, `<div class="item"><a href="/%s"><b class="name">%s</b></a> <i class="price">%s</i></div>`, item[0], item[0], item[1])
		}
	}))
	defer shop.Close()
	example, _, _ := strings.Cut(section(t, read(t, "general-stages.md"), "```toml\n", "\n```"), "\n```")
	out := t.TempDir()
	dear, cheap := filepath.Join(out, "dear.csv"), filepath.Join(out, "cheap.jsonl")
	config, err := pipeline.Parse("example.toml", []byte(example), pipeline.LoadOptions{Set: []string{
		"lines.urls=" + shop.URL, "dear.path=" + dear, "cheap.path=" + cheap, "fetch.allow_networks=loopback", "fetch.delay=0s",
	}})
	if err != nil {
		t.Fatal(err)
	}
	graph, err := config.Graph("prices")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := storage.Open(filepath.Join(out, "data"), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, dir)
	report, err := graph.Run(t.Context(), pipeline.RunOptions{Resources: resources})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		dear:  fmt.Sprintf("name,price,link\nDesk,1200,%[1]s/Desk\nChair,101,%[1]s/Chair\n", shop.URL),
		cheap: fmt.Sprintf("{\"link\":\"%[1]s/Pen\",\"name\":\"Pen\",\"price\":2.5,\"url\":\"%[1]s/\"}\n", shop.URL),
	}
	for path, want := range want {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is %q, %v; want %q", filepath.Base(path), got, err, want)
		}
	}
	if c := report.Stages["extract"].Counters["incomplete"]; c != 1 {
		t.Errorf("%d records are incomplete", c)
	}
}

// TestEveryGeneralStageIsExplained holds the list of docs/general-stages.md against the stages.
func TestEveryGeneralStageIsExplained(t *testing.T) {
	list := section(t, read(t, "general-stages.md"), "|---|---|\n", "\n\n")
	for _, line := range strings.Split(list, "\n") {
		for i, part := range strings.Split(strings.Split(line, "|")[1], "`") {
			if i%2 == 1 && !slices.Contains(pipeline.Types(), part) {
				t.Errorf("there is no stage %s", part)
			}
		}
	}
}
