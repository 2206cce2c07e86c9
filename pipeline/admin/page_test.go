package admin

import (
	"errors"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/go-rod/rod/lib/input"

	"github.com/webrace/webrace/pipeline"
)

// shown serves the page of a busy pipeline behind an endpoint.
func shown(t *testing.T, run *pipeline.Run) (h *Handler, base string) {
	t.Helper()
	h = New()
	h.Show(map[string]*pipeline.Run{run.Graph().Name: run})
	server := httptest.NewServer(newEndpoint(t, "127.0.0.1:0", "").Guard(h))
	t.Cleanup(server.Close)
	return h, server.URL
}

func number(text string) int {
	n, _ := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
	return n
}

const (
	inOfWork    = `tr[data-stage="work"] [data-live="in"]`
	stateOfOne  = `[data-live="state"]`
	toggleOfOne = `[data-toggle] button`
)

func TestThePageInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser computes: not in short mode")
	}
	t.Parallel()
	b := openBrowser(t)
	options := toyOptions{Note: `<img src=x onerror=alert(1)>`, Token: pipeline.NewSecret("hush")}
	run := start(t, busyGraph("toy", options))
	h, base := shown(t, run)

	t.Run("numbers move", func(t *testing.T) {
		p := browser{b.Browser, t}.show(base, true)
		first := number(p.text(inOfWork))
		p.await(inOfWork, func(s string) bool { return number(s) > first })
		p.await("#link", contains("live"))
		p.await(`a[data-stage="work"] [data-live="rate"]`, func(s string) bool { return strings.HasSuffix(s, "/s") && s != "0/s" })
		p.await(`a[data-stage="queue"] [data-live="flow"]`, contains("1,234 queued"))
	})
	t.Run("the keyboard alone pauses and resumes", func(t *testing.T) {
		p := browser{b.Browser, t}.show(base, true)
		p.await("#link", contains("live")) // its script runs, and forms do not lead to another page
		p.tabTo("Pause toy")
		p.must(p.Keyboard.Type(input.Enter))
		p.await(stateOfOne, contains("paused"))
		p.await("#said", contains("toy is paused"))
		p.await(toggleOfOne, contains("Resume"))
		if !run.Paused() {
			t.Error("the page says that the pipeline is paused, and it is not")
		}
		p.must(p.Keyboard.Type(input.Space)) // the button has kept the focus
		p.await(stateOfOne, contains("running"))
		if run.Paused() {
			t.Error("the page says that the pipeline runs, and it does not")
		}
		p.tabTo("Stage work: show its options")
		p.must(p.Keyboard.Type(input.Enter))
		p.await(`details[data-stage="work"][open] .options`, contains("note"))
		p.tabTo("Watch what leaves work")
		p.must(p.Keyboard.Type(input.Enter))
		p.await(`details[data-stage="work"] .passing`, contains("item"))
		p.tabTo("Stop watching work")
		p.must(p.Keyboard.Type(input.Enter))
		p.await(`details[data-stage="work"] .tap [role="status"]`, contains("Stopped."))
	})
	t.Run("without scripts", func(t *testing.T) {
		p := browser{b.Browser, t}.show(base, false)
		p.await(stateOfOne, contains("running"))
		p.await(`a[data-stage="queue"]`, contains("queued"))
		if p.text(inOfWork) == "" {
			t.Errorf("the page shows %q", p.text("body"))
		}
		for _, step := range []struct{ button, state string }{{"Pause", "paused"}, {"Resume", "running"}} {
			p.await(toggleOfOne, contains(step.button))
			p.tabTo(step.button + " toy")
			p.must(p.Keyboard.Type(input.Enter))
			p.await(stateOfOne, contains(step.state))
			if run.Paused() != (step.state == "paused") {
				t.Errorf("%s did nothing", step.button)
			}
		}
	})
	t.Run("a reload that changes edges alone", func(t *testing.T) {
		failure := errors.New("p.toml:3:1: <b>no</b> such option")
		h.ReloadRefused(failure)
		p := browser{b.Browser, t}.show(base, true)
		p.await("#link", contains("live"))
		p.await(`[data-live="refused"]`, contains(failure.Error()))
		lines := p.MustEval(`() => document.querySelectorAll("path.edge").length`).Int()
		rewired := busyGraph("toy", options)
		rewired.Edges = rewired.Edges[:len(rewired.Edges)-1] // work.links leads nowhere
		if change, err := run.Reload(t.Context(), rewired); err != nil || len(change.Rewired) == 0 {
			t.Fatalf("%+v, %v", change, err)
		}
		p.await(`[data-live="reloads"]`, contains("reloads: 1 done, 1 failed"))
		p.await(`[data-reloads="1"] [data-live="refused"]`, func(s string) bool { return s == "" })
		if now := p.MustEval(`() => document.querySelectorAll("path.edge").length`).Int(); now != lines-1 {
			t.Errorf("%d edges are drawn, and %d were", now, lines)
		}
	})
	t.Run("drained", func(t *testing.T) { // the last: nothing flows any more
		p := browser{b.Browser, t}.show(base, true)
		p.await("#link", contains("live")) // its script runs, and forms do not lead to another page
		p.tabTo("Drain toy")
		p.must(p.Keyboard.Type(input.Enter))
		p.await(stateOfOne, contains("ended"))
		p.await("#said", func(s string) bool { return strings.HasPrefix(s, "toy is") })
		if _, err := run.Wait(); err != nil {
			t.Error(err)
		}
	})
	t.Run("the script writes numbers as the page does", func(t *testing.T) { // which stand still now
		h.ReloadRefused(errors.New("p.toml:4:1: no such option either"))
		b := browser{b.Browser, t}
		plain, live := b.show(base, false), b.show(base, true)
		live.await("#link", contains("live"))
		for _, what := range []string{"reloads", "refused"} {
			cell := `[data-live="` + what + `"]`
			if want := plain.text(cell); live.text(cell) != want || want == "" {
				t.Errorf("%s: %q, want %q", what, live.text(cell), want)
			}
		}
		for _, what := range []string{"in", "out", "errors", "waiting", "busy", "p50", "p99"} {
			for _, stage := range []string{"behind", "queue", "work", "end"} {
				cell := `tr[data-stage="` + stage + `"] [data-live="` + what + `"]`
				if want := plain.text(cell); live.text(cell) != want || want == "" {
					t.Errorf("%s of %s: %q, want %q", what, stage, live.text(cell), want)
				}
			}
		}
	})
}

// tabTo presses the tabulator until what has the focus has a name.
func (p *page) tabTo(name string) {
	p.t.Helper()
	for range 60 {
		p.must(p.Keyboard.Type(input.Tab))
		focus, err := p.Eval(`() => { const e = document.activeElement; return e.ariaLabel || e.textContent.trim(); }`)
		if err == nil && focus.Value.Str() == name { // an error: the page was just made anew
			return
		}
	}
	p.t.Fatalf("the tabulator never comes to %q", name)
}

// TestNamesAndOptionsAreText has a pipeline of names that would be markup.
func TestNamesAndOptionsAreText(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	const evil = `"><img src=x onerror="document.title='taken'"></script><script>document.title='taken'</script>{{.}}`
	g := busyGraph("toy", toyOptions{Note: evil, Token: pipeline.NewSecret("hush")})
	g.Name, g.Title = evil, evil
	for _, s := range g.Stages {
		for i := range g.Edges {
			if g.Edges[i].From == s.Name {
				g.Edges[i].From += evil
			}
			if g.Edges[i].To == s.Name {
				g.Edges[i].To += evil
			}
		}
		s.Name += evil
	}
	_, base := shown(t, start(t, g))
	p := b.show(base, true)
	p.await("#link", contains("live"))
	p.await("h2", func(s string) bool { return s == evil })
	p.await(`tbody tr:nth-child(3) th`, func(s string) bool { return s == "work"+evil })
	p.tabTo("Stage work" + evil + ": show its options")
	p.must(p.Keyboard.Type(input.Enter))
	p.await(`details[open] .options`, func(s string) bool { return strings.Contains(s, `onerror=`) && strings.Contains(s, "[redacted]") })
	p.tabTo("Pause " + evil)
	p.must(p.Keyboard.Type(input.Enter))
	p.await(stateOfOne, contains("paused"))
	if html, err := p.HTML(); err != nil || strings.Contains(html, "hush") {
		t.Errorf("the page tells a secret: %v", err)
	}
	if title := p.MustEval(`() => document.title`).Str(); title != "webrace" {
		t.Errorf("a name ran as a script: the title is %q", title)
	}
	if images := p.MustEval(`() => document.querySelectorAll("main img, main script").length`).Int(); images != 0 {
		t.Errorf("%d names became markup", images)
	}
}
