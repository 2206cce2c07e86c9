package admin

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/webrace/webrace/pipeline"
)

// everything returns a handler with all that can be mounted on one, and what asks for each of its routes: a method
// and a path.
func everything(t *testing.T, run *pipeline.Run) (h *Handler, asked [][2]string) {
	t.Helper()
	h = New()
	h.OnReload(func(context.Context) (string, error) { return "nothing", nil })
	h.Show(map[string]*pipeline.Run{"toy": run})
	for _, pattern := range h.mux.patterns {
		method, path, found := strings.Cut(pattern, " ")
		if !found {
			t.Fatalf("the route %q is of every method: name one", pattern)
		}
		path = strings.NewReplacer("{name}", "toy", "{$}", "").Replace(path)
		asked = append(asked, [2]string{method, path})
	}
	if len(asked) < 15 {
		t.Fatalf("only %d routes: %v", len(asked), asked)
	}
	return h, append(asked, [2]string{"GET", loginPath}, [2]string{"POST", loginPath}, [2]string{"OPTIONS", "/pipelines"}, [2]string{"HEAD", "/"})
}

// counting counts what comes through.
type counting struct {
	http.Handler
	came atomic.Int64
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.came.Add(1)
	c.Handler.ServeHTTP(w, r)
}

const (
	chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
	safari = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/15.0 Safari/605.1.15"
)

// Whatever is mounted, and whatever the method: a page elsewhere, a name that was led here, and one who knows no token
// come to nothing but what tells nothing.
func TestEndpointRefusesOnEveryRoute(t *testing.T) {
	t.Parallel()
	run := start(t, busyGraph("toy", toyOptions{}))
	h, routes := everything(t, run)
	inside := &counting{Handler: h}
	open, locked := newEndpoint(t, "localhost:0", "").Guard(inside), newEndpoint(t, ":0", token).Guard(inside)
	const host = "localhost:8641"
	type attempt struct {
		what     string
		endpoint http.Handler
		host     string
		fields   []string
		want     int
	}
	attempts := []attempt{{"a name led here", open, "evil.example:8641", nil, 421}}
	for _, site := range []string{"cross-site", "same-site", "something-new"} {
		for _, mode := range []string{"navigate", "no-cors", "cors", "websocket"} {
			attempts = append(attempts, attempt{site + " " + mode, open, host, []string{"Sec-Fetch-Site", site, "Sec-Fetch-Mode", mode, "User-Agent", chrome, "Accept", "text/html"}, 403})
		}
	}
	for _, said := range [][]string{
		{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Origin", "http://localhost:9999"}, {"Origin", "http://localhost:8641.evil.example"},
		{"Referer", "https://evil.example/page"}, {"Referer", "http://localhost:9999/x?http://localhost:8641/"},
	} {
		attempts = append(attempts, attempt{strings.Join(said, " "), open, host, said, 403})
	}
	withToken := []string{"Authorization", "Bearer " + token}
	for _, a := range attempts[1:] {
		attempts = append(attempts, attempt{a.what + ", with the token", locked, "any.example", append(withToken, a.fields...), 403})
	}
	for _, route := range routes {
		for _, a := range attempts {
			if got := knock(a.endpoint, route[0], a.host, route[1], a.fields...).Code; got != a.want {
				t.Errorf("%s %s, %s: %d, want %d", route[0], route[1], a.what, got, a.want)
			}
		}
		public := route[0] == "GET" && (route[1] == "/healthz" || route[1] == "/readyz" || route[1] == assetPath)
		for _, host := range []string{"any.example", "127.0.0.1:8641"} {
			before := inside.came.Load()
			got := knock(locked, route[0], host, route[1]).Code
			if in := inside.came.Load() != before; in != public || !public && route[1] != loginPath && got != http.StatusUnauthorized {
				t.Errorf("%s %s without the token: %d, came in: %t", route[0], route[1], got, in)
			}
		}
	}
	if run.Paused() || isClosed(run.Draining()) {
		t.Error("the pipeline was held or ended")
	}
}

// What is no page of another site goes on as it does: typed addresses, the page itself, and programs.
func TestEndpointLetsIn(t *testing.T) {
	t.Parallel()
	h, routes := everything(t, start(t, busyGraph("toy", toyOptions{})))
	const own = "http://localhost:8641"
	for what, c := range map[string]struct {
		fields  []string
		refused func(path string) bool
	}{
		"curl":              {fields: []string{"User-Agent", "curl/8.5.0", "Accept", "*/*"}},
		"Prometheus":        {fields: []string{"User-Agent", "Prometheus/3.5.0", "Accept", "application/openmetrics-text"}},
		"a Go program":      {},
		"a typed address":   {fields: []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate", "User-Agent", chrome}},
		"the page":          {fields: []string{"Sec-Fetch-Site", "same-origin", "User-Agent", chrome}},
		"a form of it":      {fields: []string{"Sec-Fetch-Site", "same-origin", "Origin", own, "User-Agent", chrome}},
		"an old page":       {fields: []string{"Referer", own + "/", "User-Agent", safari}},
		"an old form of it": {fields: []string{"Origin", own, "User-Agent", safari}},
		"an old browser": {
			fields: []string{"User-Agent", safari},
			refused: func(path string) bool {
				return path != "/" && path != loginPath && path != "/healthz" && path != "/readyz" && path != assetPath
			},
		},
	} {
		for _, route := range routes {
			if route[0] != "GET" {
				continue
			}
			came := false
			inside := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, pattern := h.mux.Handler(r)
				came = pattern != "" || r.URL.Path == loginPath
			})
			status := knock(newEndpoint(t, "localhost:0", "").Guard(inside), route[0], "localhost:8641", route[1], c.fields...).Code
			if want := c.refused == nil || !c.refused(route[1]); came != want {
				t.Errorf("%s comes to %s: %t (%d), want %t", what, route[1], came, status, want)
			}
		}
	}
}

// A page elsewhere tries everything that a browser offers it: nothing of it comes in, in a real browser.
func TestForeignPagesInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser computes: not in short mode")
	}
	t.Parallel()
	b := openBrowser(t, "MAP evil.example 127.0.0.1")
	h, _ := everything(t, start(t, busyGraph("toy", toyOptions{})))
	var typed atomic.Bool
	inside := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !typed.Load() && r.URL.Path != "/favicon.ico" { // which the browser itself asks for where it shows the refusal
			t.Errorf("%s %s came in: %v", r.Method, r.URL, r.Header)
		}
		h.ServeHTTP(w, r)
	})
	outside := &counting{Handler: newEndpoint(t, "127.0.0.1:0", "").Guard(inside)}
	admin := httptest.NewServer(outside)
	defer admin.Close()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/go" { // a redirect of its own site to another one
			http.Redirect(w, r, admin.URL+"/pipelines?how=redirect", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, strings.ReplaceAll(attack, "ADMIN", admin.Listener.Addr().String()))
	}))
	defer elsewhere.Close()
	_, port, _ := net.SplitHostPort(elsewhere.Listener.Addr().String())
	for _, from := range []string{"localhost:" + port, "127.0.0.1:" + port, "evil.example:" + port} { // another site, and another port
		before := outside.came.Load()
		p := b.visit("http://" + from + "/")
		p.await("#done", contains("done"))
		if came := outside.came.Load() - before; came < attacks {
			t.Errorf("only %d requests of %s arrived, want %d", came, from, attacks)
		}
		p.MustEval(`() => { document.querySelector("#link").click() }`)
		p.await("body", contains("another site"))
		p.Close()
	}
	_, port, _ = net.SplitHostPort(admin.Listener.Addr().String())
	p := b.visit("http://evil.example:" + port + "/")
	p.await("body", contains("no name of this machine"))
	p.Close()
	typed.Store(true)
	p = b.visit(admin.URL + "/pipelines")
	p.await("body", contains(`"name":"toy"`))
}

// attacks is how many requests the page sends at least.
const attacks = 14

const attack = `<!DOCTYPE html><title>elsewhere</title>
<link rel="stylesheet" href="http://ADMIN/page/page.css">
<img src="http://ADMIN/pipelines?how=img">
<script src="http://ADMIN/pipelines?how=script"></script>
<iframe name="f" src="http://ADMIN/pipelines?how=frame"></iframe>
<iframe src="/go"></iframe>
<object data="http://ADMIN/pipelines?how=object"></object>
<video src="http://ADMIN/pipelines?how=video"></video>
<form id="get" target="f" action="http://ADMIN/pipelines/toy/tap"><input name="stage" value="work"></form>
<form id="post" target="f" method="post" action="http://ADMIN/pipelines/toy/drain"></form>
<a id="link" href="http://ADMIN/">admin</a>
<p id="done"></p>
<script>
const tap = "http://ADMIN/pipelines/toy/tap?stage=work&where=true", wait = ms => new Promise(r => setTimeout(r, ms));
const settled = source => new Promise(r => { source.onopen = source.onerror = source.onmessage = r });
(async () => {
  await Promise.allSettled([
    fetch(tap), fetch(tap, { mode: "no-cors" }), fetch(tap, { mode: "no-cors", referrerPolicy: "no-referrer", credentials: "include" }),
    fetch("http://ADMIN/pipelines/toy/pause", { method: "POST", mode: "no-cors" }),
    fetch("http://ADMIN/pipelines", { headers: { Authorization: "Bearer x" } }),
    settled(new EventSource(tap)), settled(new WebSocket("ws://ADMIN/pipelines/toy/tap?stage=work")),
  ]);
  navigator.sendBeacon("http://ADMIN/pipelines/toy/drain", "x");
  document.querySelector("#get").submit();
  await wait(100);
  document.querySelector("#post").submit();
  await wait(300);
  document.querySelector("#done").textContent = "done";
})();
</script>`
