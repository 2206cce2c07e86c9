package admin

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
)

func TestAPipelineIsToldWithItsGraphAndWithoutSecrets(t *testing.T) {
	t.Parallel()
	run := start(t, busyGraph("toy", toyOptions{Note: "https://ann:hush@example.org/", Token: pipeline.NewSecret("hush")}))
	awaitFlow(t, run)
	h := New()
	h.Show(map[string]*pipeline.Run{"toy": run})
	status, body := ask(t, h, http.MethodGet, "/pipelines/toy")
	var got Detail
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK {
		t.Fatalf("status %d, %v: %s", status, err, body)
	}
	if got.Name != "toy" || got.State.State != running || got.Stages["work"].Workers != 1 || got.Stages["work"].Capacity != 16 || got.Stages["end"].In == 0 {
		t.Errorf("the state is %+v", got.State)
	}
	want := Graph{
		Stages: []Stage{
			{Name: "behind", Type: "behind", Source: true, Ports: []string{""}, Options: []config.Setting{}},
			{Name: "queue", Type: "queue", Queue: true, Ports: []string{""}, Options: []config.Setting{}},
			{Name: "work", Type: "work", Summary: "works <hard> & long", Ports: []string{"", "links"}, Options: []config.Setting{
				{Name: "note", Value: `"https://[redacted]@example.org/"`, Doc: "anything"},
				{Name: "token", Value: `"[redacted]"`, Doc: "what nobody is to see"},
			}},
			{Name: "end", Type: "end", Ports: []string{}, Options: []config.Setting{}},
		},
		Edges: []Edge{{"behind", "", "queue"}, {"queue", "", "work"}, {"work", "", "end"}, {"work", "links", "queue"}},
	}
	if diff := cmp.Diff(want, got.Graph); diff != "" || got.Title != run.Graph().Title {
		t.Errorf("title %q, graph %s", got.Title, diff)
	}
	if strings.Contains(body, "hush") {
		t.Error("it tells a secret")
	}
	if status, body := ask(t, h, http.MethodGet, "/pipelines/other"); status != http.StatusNotFound || !strings.Contains(body, `"other"`) {
		t.Errorf("a pipeline that does not run: %d, %s", status, body)
	}
}

func TestReadyzSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	h := New()
	h.Await("the stages of toy to open")
	if status, body := ask(t, h, http.MethodGet, "/readyz"); status != http.StatusServiceUnavailable || body != "waits for the stages of toy to open\n" {
		t.Errorf("%d, %q", status, body)
	}
	h.Show(nil)
	if status, body := ask(t, h, http.MethodGet, "/readyz"); status != http.StatusOK || body != "ok\n" {
		t.Errorf("%d, %q", status, body)
	}
}

func TestAFormIsLedBackToItsPageAndAProgramIsTold(t *testing.T) {
	t.Parallel()
	run := start(t, busyGraph("toy", toyOptions{}))
	h := New()
	h.Show(map[string]*pipeline.Run{"toy": run})
	w := knock(h, http.MethodPost, "localhost", "/pipelines/toy/pause", "Accept", "text/html,*/*")
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/" || !run.Paused() {
		t.Errorf("a form: %d to %q; paused: %t", w.Code, w.Header().Get("Location"), run.Paused())
	}
	w = knock(h, http.MethodPost, "localhost", "/pipelines/toy/resume", "Accept", "application/json")
	var state State
	if err := json.Unmarshal(w.Body.Bytes(), &state); err != nil || w.Code != http.StatusAccepted || state.State != running || run.Paused() {
		t.Errorf("a program: %d, %v, %+v; paused: %t", w.Code, err, state, run.Paused())
	}
}

func TestAServerThatStopsEndsAnswersThatWouldGoOn(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		io.WriteString(w, "the end")
	}))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	stop()
	if said, err := io.ReadAll(response.Body); err != nil || string(said) != "the end" {
		t.Errorf("%q, %v", said, err)
	}
	stop() // does no harm
	if _, err := client.Get("http://" + listener.Addr().String()); err == nil {
		t.Error("it still answers")
	}
}
