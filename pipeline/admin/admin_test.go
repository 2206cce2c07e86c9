package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// endless is a source that emits one item and then waits for the end of the run.
type endless struct{ emitted chan struct{} }

func (e endless) Run(ctx context.Context, out pipeline.Emitter) error {
	if err := out.Emit(ctx, &pipeline.Item{Value: "item"}); err != nil {
		return err
	}
	close(e.emitted)
	<-ctx.Done()
	return nil
}

var emitted chan struct{} // of the source that is made next

func init() {
	text := pipeline.KindOf[string]()
	pipeline.Register(pipeline.Spec{Type: "endless", Summary: "never ends", Out: []pipeline.Port{{Kind: text, Doc: "one item"}}},
		struct{}{}, func(struct{}, *pipeline.Env) (any, error) { return endless{emitted}, nil })
	pipeline.Register(pipeline.Spec{Type: "sink", Summary: "takes all", In: pipeline.Kinds(text)},
		struct{}{}, func(struct{}, *pipeline.Env) (any, error) {
			return pipeline.Map(func(_ context.Context, s string) (string, error) { return s, nil }), nil
		})
}

func startRun(t *testing.T) *pipeline.Run {
	t.Helper()
	loaded, err := config.Parse("test", []byte("version = 1\ndata = \"d\"\n[pipeline.p]\ntitle = \"t\"\nflow = [\"endless > sink\"]\n"), config.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	graph, err := loaded.Graph("p")
	if err != nil {
		t.Fatal(err)
	}
	run, err := graph.Start(t.Context(), pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func ask(t *testing.T, h http.Handler, method, path string) (status int, body string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w.Code, w.Body.String()
}

func TestARunningPipelineIsSeenAndDrained(t *testing.T) {
	h := New()
	if status, _ := ask(t, h, "GET", "/healthz"); status != http.StatusOK {
		t.Errorf("healthz answers %d", status)
	}
	if status, _ := ask(t, h, "GET", "/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("readyz answers %d before anything runs", status)
	}
	emitted = make(chan struct{})
	run := startRun(t)
	h.Show(map[string]*pipeline.Run{"p": run})
	if status, _ := ask(t, h, "GET", "/readyz"); status != http.StatusOK {
		t.Errorf("readyz answers %d while a pipeline runs", status)
	}
	<-emitted
	if s := stateOfOnly(t, h); s.Name != "p" || s.State != "running" || s.Stages["endless"].Out != 1 {
		t.Errorf("the running pipeline is shown as %+v", s)
	}
	run.Pause()
	if s := stateOfOnly(t, h); s.State != "paused" {
		t.Errorf("the paused pipeline is shown as %s", s.State)
	}
	run.Resume()
	if status, _ := ask(t, h, "POST", "/pipelines/q/drain"); status != http.StatusNotFound {
		t.Errorf("draining what does not run is answered %d", status)
	}
	if status, _ := ask(t, h, "GET", "/pipelines/p/drain"); status != http.StatusMethodNotAllowed {
		t.Errorf("a GET that would drain is answered %d", status)
	}
	if status, _ := ask(t, h, "POST", "/pipelines/p/drain"); status != http.StatusAccepted {
		t.Errorf("draining is answered %d", status)
	}
	if _, err := run.Wait(); err != nil {
		t.Error(err)
	}
	if s := stateOfOnly(t, h); s.State != "ended" || s.Stages["sink"].In != 1 {
		t.Errorf("the ended pipeline is shown as %+v", s)
	}
}

func stateOfOnly(t *testing.T, h http.Handler) State {
	t.Helper()
	_, body := ask(t, h, "GET", "/pipelines")
	var states []State
	if err := json.Unmarshal([]byte(body), &states); err != nil || len(states) != 1 {
		t.Fatalf("%v: %s", err, body)
	}
	return states[0]
}

// hello answers one connection.
func hello(t *testing.T, l net.Listener) {
	t.Helper()
	c, err := l.Accept()
	if err != nil {
		t.Error(err)
		return
	}
	io.WriteString(c, "hello")
	c.Close()
}

func mustSayHello(t *testing.T, path string) {
	t.Helper()
	c, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if said, err := io.ReadAll(c); err != nil || !bytes.Equal(said, []byte("hello")) {
		t.Errorf("%s says %q, %v", path, said, err)
	}
}

func TestASocketIsForItsUserAloneAndGoneAfterwards(t *testing.T) {
	for name, dir := range map[string]string{
		"short": t.TempDir(),
		"long":  filepath.Join(t.TempDir(), strings.Repeat("a-long-name-of-a-directory/", 8)),
	} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "s.sock")
		if _, err := Dial(t.Context(), path); err == nil {
			t.Errorf("%s: connected to nobody", name)
		}
		for range 2 { // the second time the remains of a dead owner lie there
			l, err := Listen(path)
			if err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: the socket is %v, %v", name, info.Mode(), err)
			}
			go hello(t, l)
			mustSayHello(t, path)
			if err := l.Close(); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: the socket is still there: %v", name, err)
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
