package all

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage"
)

// generalStages is the section of docs/pipelines.md on them.
func generalStages(t *testing.T) string {
	return section(t, read(t, "pipelines.md"), "## General stages\n", "\n## ")
}

// TestTheExampleOfGeneralStagesRuns runs the pipeline of the general stages in docs/pipelines.md, as it
// stands there, over a shop on loopback.
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
	example, _, _ := strings.Cut(section(t, generalStages(t), "```toml\n", "\n```"), "\n```")
	out := t.TempDir()
	dear, cheap := filepath.Join(out, "dear.csv"), filepath.Join(out, "cheap.jsonl")
	config, err := config.Parse("example.toml", []byte(example), config.LoadOptions{Set: []string{
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

// TestTheExampleOfWhatOthersSendRuns runs the pipeline with http-in in docs/pipelines.md, and sends what is sent there.
func TestTheExampleOfWhatOthersSendRuns(t *testing.T) {
	t.Parallel()
	text := section(t, read(t, "pipelines.md"), "### What others send\n", "\n### ")
	address := testutil.FreeAddress(t)
	file := filepath.Join(t.TempDir(), "out.jsonl")
	config, err := config.Parse("example.toml", []byte(section(t, text, "```toml\n", "\n```")), config.LoadOptions{Set: []string{
		"http-in.listen=" + address, "write-file.path=" + file,
	}})
	if err != nil {
		t.Fatal(err)
	}
	graph, err := config.Graph("readings")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := storage.Open(filepath.Join(t.TempDir(), "data"), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	resources := new(pipeline.Resources)
	pipeline.Provide(resources, dir)
	run, err := graph.Start(t.Context(), pipeline.RunOptions{Resources: resources})
	if err != nil {
		t.Fatal(err)
	}
	sent, rest, _ := strings.Cut(section(t, text, "curl -d '", "\n"), "' ")
	url, said, _ := strings.Cut(rest, "#")
	answer, err := http.Post(strings.Replace(strings.TrimSpace(url), "127.0.0.1:8480", address, 1), "", strings.NewReader(sent))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || strings.TrimSpace(string(body)) != strings.TrimSpace(said) {
		t.Errorf("answered %s: %s, %v; want %s", answer.Status, body, err, said)
	}
	run.Drain()
	if _, err := run.Wait(); err != nil {
		t.Fatal(err)
	}
	// What is in the queue when a run is told to end is left for the next.
	graph, err = config.Graph("readings")
	if err == nil {
		run, err = graph.Start(t.Context(), pipeline.RunOptions{Resources: resources})
	}
	if err != nil {
		t.Fatal(err)
	}
	testutil.Await(t, "nothing is queued", func() bool { return run.Snapshot().Stages["queue"].Counters["queued"] == 0 })
	run.Drain()
	if _, err := run.Wait(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "{\"sensor\":\"a\",\"value\":21.5}\n" {
		t.Errorf("the file is %q, %v", got, err)
	}
}

// TestTheExamplesOfParquetAndBulkRun runs what is said of write-file and of http-out, over a file of CSV.
func TestTheExamplesOfParquetAndBulkRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, parquet := filepath.Join(dir, "in.csv"), filepath.Join(dir, "out.parquet")
	if err := os.WriteFile(in, []byte("sensor,at\na,1\nb,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var ids []string
	index := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			t.Error(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(body), "\n"), "\n")
		mu.Lock()
		defer mu.Unlock()
		var items []string // both come together, or one after the other
		for action := range slices.Chunk(lines, 2) {
			ids, items = append(ids, action[0]), append(items, `{"index":{"status":201}}`)
		}
		fmt.Fprintf(w, `{"items":[%s]}`, strings.Join(items, ","))
	}))
	defer index.Close()
	bulk := section(t, read(t, "notify.md"), "## An index of OpenSearch or Elasticsearch\n", "\n## ")
	for pipe, c := range map[string]struct {
		text string
		set  []string
	}{
		"prices": {
			"[pipeline.prices]\nflow = [\"read-file > write-file\"]\n" + section(t, section(t, generalStages(t), "### Parquet\n", "\n### "), "```toml\n", "\n```"),
			[]string{"write-file.path=" + parquet},
		},
		"readings": {section(t, bulk, "```toml\n", "\n```"), []string{"http-out.url=" + index.URL, "http-out.allow_networks=loopback"}},
	} {
		config, err := config.Parse("example.toml", []byte("version = 1\n"+c.text), config.LoadOptions{Set: append(c.set, "read-file.paths="+in, "read-file.format=csv")})
		if err != nil {
			t.Fatal(err)
		}
		graph, err := config.Graph(pipe)
		if err == nil {
			_, err = graph.Run(t.Context(), pipeline.RunOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if file, err := os.ReadFile(parquet); err != nil || !strings.HasPrefix(string(file), "PAR1") {
		t.Errorf("the file begins with %.4q: %v", file, err)
	}
	slices.Sort(ids)
	if want := []string{`{"index":{"_id":"a/1","_index":"readings"}}`, `{"index":{"_id":"b/2","_index":"readings"}}`}; !slices.Equal(ids, want) {
		t.Errorf("actions %q", ids)
	}
}

// TestEveryGeneralStageIsExplained holds the list of general stages in docs/pipelines.md against the stages.
func TestEveryGeneralStageIsExplained(t *testing.T) {
	list := section(t, generalStages(t), "|---|---|\n", "\n\n")
	for _, line := range strings.Split(list, "\n") {
		for i, part := range strings.Split(strings.Split(line, "|")[1], "`") {
			if i%2 == 1 && !slices.Contains(pipeline.DefaultRegistry.Types(), part) {
				t.Errorf("there is no stage %s", part)
			}
		}
	}
}
