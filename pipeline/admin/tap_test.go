package admin

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
)

// ticking is a source that emits a number whenever the test lets it.
type ticking chan int

func (s ticking) Run(ctx context.Context, out pipeline.Emitter) error {
	for {
		select {
		case n := <-s:
			text := strings.Repeat(fmt.Sprint("<", n, "> "), n)
			if err := out.Emit(ctx, &pipeline.Item{Value: text, Meta: map[string]string{"n": fmt.Sprint(n)}}); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// tapWorld is a process with one pipeline, "p": ticks > sink.
type tapWorld struct {
	ticks  ticking
	run    *pipeline.Run
	client *Client
	path   string
}

func newTapWorld(t *testing.T) *tapWorld {
	t.Helper()
	w := &tapWorld{ticks: make(ticking), path: filepath.Join(t.TempDir(), "s")}
	g := pipeline.NewGraph("p")
	text := pipeline.KindOf[string]()
	g.AddStage("ticks", pipeline.Spec{Type: "ticks", Out: []pipeline.Port{{Kind: text}}}, func(*pipeline.Env) (any, error) { return w.ticks, nil })
	g.Add("sink", nil)
	g.Wire("ticks > sink")
	run, err := g.Start(t.Context(), pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.run = run
	h := New()
	h.Show(map[string]*pipeline.Run{"p": run})
	listener, err := Listen(w.path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: h}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		server.Serve(listener)
	}()
	t.Cleanup(func() {
		run.Cancel()
		run.Wait()
		server.Close()
		<-ended
	})
	w.client = NewClient(w.path)
	return w
}

func TestAClientSeesItemsAsTheyPass(t *testing.T) {
	w := newTapWorld(t)
	feeding, stop := context.WithCancel(t.Context())
	defer stop()
	feed := func() { // again and again, because a tap on a slow machine does not look at everything
		go func() {
			for n := 1; ; n++ {
				select {
				case w.ticks <- 1 + n%2:
				case <-feeding.Done():
					return
				}
			}
		}()
	}
	var seen []pipeline.Tapped
	end, err := w.client.Tap(t.Context(), "p", TapQuery{Stage: "ticks", Limit: 2, Body: 5, Where: "meta.n == '2'"}, feed, func(item pipeline.Tapped) error {
		seen = append(seen, item)
		return nil
	})
	if err != nil || end.Reason != pipeline.ErrTapLimit.Error() || end.Shown != 2 || end.Passed < 2 || end.Failed {
		t.Fatalf("%+v, %v", end, err)
	}
	for _, item := range seen {
		if item.Kind != "text" || item.Meta["n"] != "2" || string(item.Body) != "<2> <" || item.BodySize != 8 {
			t.Errorf("an item is shown as %+v", item)
		}
	}
	if seen[0].Number >= seen[1].Number {
		t.Errorf("item %d comes before item %d", seen[0].Number, seen[1].Number)
	}
}

func TestATapIsOverWhenThePipelineIs(t *testing.T) {
	w := newTapWorld(t)
	end, err := w.client.Tap(t.Context(), "p", TapQuery{Stage: "sink:in"}, w.run.Drain, func(pipeline.Tapped) error { return nil })
	if err != nil || end.Reason != pipeline.ErrTapRunEnded.Error() || end.Shown != 0 {
		t.Errorf("%+v, %v", end, err)
	}
	if _, err := w.client.Tap(t.Context(), "p", TapQuery{Stage: "sink"}, func() {}, nil); err != nil {
		t.Errorf("a tap of a pipeline that has ended: %v", err)
	}
}

func TestWhoReadsATapMayGoAway(t *testing.T) {
	w := newTapWorld(t)
	enough := errors.New("enough")
	_, err := w.client.Tap(t.Context(), "p", TapQuery{Stage: "ticks"}, func() { go func() { w.ticks <- 1 }() }, func(pipeline.Tapped) error { return enough })
	if !errors.Is(err, enough) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err = w.client.Tap(ctx, "p", TapQuery{Stage: "ticks"}, cancel, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	w.ticks <- 2 // nobody holds it up
}

// A reader that reads nothing: what it is sent soon fills the socket.
func TestWhoReadsNothingHoldsNobodyUp(t *testing.T) {
	w := newTapWorld(t)
	conn, err := Dial(t.Context(), w.path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /pipelines/p/tap?stage=ticks&rate=1000&body=1000000 HTTP/1.1\r\nHost: x\r\n\r\n")
	if _, err := conn.Read(make([]byte, 12)); err != nil { // it is watching
		t.Fatal(err)
	}
	const items = 150
	for range items {
		w.ticks <- 40_000
	}
	if report := w.run.Snapshot(); report.Stages["ticks"].Out < items-1 {
		t.Errorf("%d items have passed", report.Stages["ticks"].Out)
	}
}

func TestATapIsRefusedWithWhatWouldDo(t *testing.T) {
	w := newTapWorld(t)
	for _, c := range []struct {
		name   string
		q      TapQuery
		status int
		says   string
	}{
		{"q", TapQuery{Stage: "ticks"}, 404, `no pipeline "q" runs here`},
		{"p", TapQuery{Stage: "tick"}, 404, `pipeline p has no stage "tick" (did you mean ticks?); there is ticks, sink`},
		{"p", TapQuery{Stage: "tick", Where: "true"}, 404, "did you mean ticks?"},
		{"p", TapQuery{Stage: "sink.x"}, 404, `stage sink has no output port "x"; there is sink.errors, sink:in`},
		{"p", TapQuery{Stage: "sink", Port: "x"}, 404, "no output port"},
		{"p", TapQuery{}, 400, `stage: "" is neither STAGE`},
		{"p", TapQuery{Stage: "ticks", Where: "nme == 1"}, 400, `there is no "nme"`},
		{"p", TapQuery{Stage: "ticks", Where: "1 + 1"}, 400, "no condition"},
		{"p", TapQuery{Stage: "ticks", Rate: 5000}, 400, "rate=5000: it is a number from 0 to 1000"},
		{"p", TapQuery{Stage: "ticks", Body: 1 << 21}, 400, "body=2097152"},
		{"p", TapQuery{Stage: "ticks", Limit: -2}, 400, "limit=-2"},
	} {
		_, err := w.client.Tap(t.Context(), c.name, c.q, func() { t.Errorf("%+v is watched", c.q) }, nil)
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.Status != c.status || !strings.Contains(refused.Message, c.says) {
			t.Errorf("%s %+v: %v, want %d and %q", c.name, c.q, err, c.status, c.says)
		}
	}
}

func TestATapComesAsEventsForABrowser(t *testing.T) {
	w := newTapWorld(t)
	conn, err := Dial(t.Context(), w.path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client := http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil }, DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(t.Context(), "GET", "http://x/pipelines/p/tap?stage=ticks&once=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "text/event-stream")
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("it is %s", kind)
	}
	w.ticks <- 1
	var lines []string
	for in := bufio.NewScanner(answer.Body); in.Scan(); {
		lines = append(lines, in.Text())
	}
	if len(lines) != 6 || lines[0] != "event: item" || !strings.HasPrefix(lines[1], `data: {"pipeline":"p"`) || !strings.Contains(lines[1], `"body":"<1> "`) ||
		lines[2] != "" || lines[3] != "event: end" || !strings.Contains(lines[4], `"shown":1`) {
		t.Errorf("%q", lines)
	}
}

func TestNobodyIsThere(t *testing.T) {
	nobody := NewClient(filepath.Join(t.TempDir(), "s"))
	if _, err := nobody.Pipelines(t.Context()); !errors.Is(err, ErrNobody) {
		t.Error(err)
	}
	if err := nobody.Control(t.Context(), "p", "drain"); !errors.Is(err, ErrNobody) {
		t.Error(err)
	}
}

func TestAClientAsksAndControls(t *testing.T) {
	w := newTapWorld(t)
	states, err := w.client.Pipelines(t.Context())
	if err != nil || len(states) != 1 || strings.Join(states[0].Flow, " ") != "ticks sink" || states[0].Stages["sink"].Workers != 1 {
		t.Fatalf("%+v, %v", states, err)
	}
	if err := w.client.Control(t.Context(), "nobody", "drain"); err == nil || !strings.Contains(err.Error(), `no pipeline "nobody"`) {
		t.Error(err)
	}
	if err := w.client.Control(t.Context(), "p", "drain"); err != nil {
		t.Fatal(err)
	}
	<-w.run.Done()
}
