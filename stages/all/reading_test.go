package all

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/storage"
)

// pieceStore is an index of OpenSearch, as far as the example asks it for anything.
type pieceStore struct {
	mu      sync.Mutex
	pieces  map[string]string // text by id
	indexed int
}

func (s *pieceStore) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, err := io.ReadAll(q.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if strings.HasSuffix(q.URL.Path, "/_delete_by_query") {
		var query struct {
			Query struct{ IDs struct{ Values []string } }
		}
		if err := json.Unmarshal(body, &query); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		for _, id := range query.Query.IDs.Values {
			delete(s.pieces, id)
		}
		fmt.Fprint(w, `{}`)
		return
	}
	var items []string
	lines := strings.Split(strings.TrimSpace(string(body)), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		var action struct {
			Index struct {
				ID string `json:"_id"`
			}
		}
		var piece struct{ ID, Text string }
		if json.Unmarshal([]byte(lines[i]), &action) != nil || json.Unmarshal([]byte(lines[i+1]), &piece) != nil || action.Index.ID != piece.ID {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.pieces[piece.ID] = piece.Text
		s.indexed++
		items = append(items, `{"index":{"status":201}}`)
	}
	fmt.Fprintf(w, `{"items":[%s]}`, strings.Join(items, ","))
}

// TestTheExampleOfPiecesForAVectorStoreRuns runs the pipeline in docs/reading.md over a page that changes, goes and
// comes back: the store has the pieces that the page has.
func TestTheExampleOfPiecesForAVectorStoreRuns(t *testing.T) {
	t.Parallel()
	paragraphs := make([]string, 40)
	for i := range paragraphs {
		paragraphs[i] = strings.TrimSpace(strings.Repeat(fmt.Sprintf("p%d ", i), 50))
	}
	var mu sync.Mutex
	missing := false
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if q.URL.Path != "/" || missing {
			http.NotFound(w, q)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<h1>Title</h1><p>"+strings.Join(paragraphs, "<p>"))
	}))
	defer site.Close()
	store := &pieceStore{pieces: make(map[string]string)}
	index := httptest.NewServer(store)
	defer index.Close()
	config, err := config.Parse("example.toml", []byte(section(t, section(t, read(t, "reading.md"), "## Pieces for a vector store\n", "\n## "), "```toml\n", "\n```")), config.LoadOptions{Set: []string{
		"lines.urls=" + site.URL + "/", "fetch.allow_networks=loopback", "frontier.fresh=0s", "http-out.url=" + index.URL + "/_bulk", "http-out.allow_networks=loopback",
		"remove.url=" + index.URL + "/pieces/_delete_by_query", "remove.allow_networks=loopback",
	}})
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
	pipeline.Provide[pipeline.OpenStates](resources, func() (pipeline.States, error) { return dir.States() })
	for run, change := range []func(){
		func() {},
		func() { paragraphs[20] = strings.Repeat("changed ", 45) },
		func() { paragraphs = slices.Delete(paragraphs, 5, 6) },
		func() {},
		func() { missing = true },
		func() { missing = false },
	} {
		mu.Lock()
		change()
		want := make(map[string]bool)
		for w := range strings.FieldsSeq("# Title " + strings.Join(paragraphs, " ")) {
			want[w] = true
		}
		if missing {
			clear(want)
		}
		mu.Unlock()
		store.indexed = 0
		graph, err := config.Graph("vectors")
		if err == nil {
			_, err = graph.Run(t.Context(), pipeline.RunOptions{Resources: resources})
		}
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]bool)
		for _, text := range store.pieces {
			for w := range strings.FieldsSeq(text) {
				got[w] = true
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("run %d: the store has %d words of %d", run+1, len(got), len(want))
		}
		if most := []int{10, 2, 2, 0, 0, 10}[run]; store.indexed > most || most > 0 && store.indexed == 0 {
			t.Errorf("run %d: %d pieces were put, at most %d", run+1, store.indexed, most)
		}
	}
}
