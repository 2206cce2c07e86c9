package render

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
)

func TestTextThatScriptsMakeIsThere(t *testing.T) {
	t.Parallel()
	s := newSite(t).
		page("/", `<div id=root></div><script src=/app.js></script>`).
		script("/app.js", `document.getElementById("root").innerHTML = "<h1>made by script é</h1><a href=/next>n</a>";`)
	got := run(t, local(t), s, "/")
	got.shows(t, "/", []string{"<title>T</title>", "<h1>made by script é</h1>", `<a href="/next">`})
	got.wants(t, map[string]int64{"rendered": 1, "requests": 1, "browser_crashes": 0, "timeouts": 0})
	d := got.documents["/"]
	if d.MediaType != "text/html" || d.Header.Get("Content-Type") != contentType || d.Truncated {
		t.Errorf("%+v", d)
	}
	if n := s.times("GET /"); n != 1 {
		t.Errorf("the page was asked for %d times", n)
	}
}

func TestTextOfAnotherEncodingIsUTF8Afterwards(t *testing.T) {
	t.Parallel()
	s := newSite(t).serve("/", "text/html; charset=iso-8859-1", "<p>caf\xe9</p><script>document.write('<b>na\xefve</b>')</script>")
	run(t, local(t), s, "/").shows(t, "/", []string{"<p>café</p>", "<b>naïve</b>"})
}

func TestDataThatScriptsLoadIsThere(t *testing.T) {
	t.Parallel()
	s := newSite(t).
		page("/", `<ul id=list></ul><script type=module src=/main.js></script>`).
		script("/main.js", `
			import { add } from "/add.js";
			const old = new XMLHttpRequest();
			old.open("GET", "/old.json"); old.onload = () => add(JSON.parse(old.responseText).name); old.send();
			const moved = await (await fetch("/moved.json")).json();
			add(moved.name + " " + (await fetch("/missing.json")).status);`).
		script("/add.js", `export const add = (text) => list.insertAdjacentHTML("beforeend", "<li>" + text + "</li>");`).
		serve("/old.json", "application/json", `{"name": "by XHR"}`).
		handle("/moved.json", http.RedirectHandler("/new.json", http.StatusFound).ServeHTTP).
		serve("/new.json", "application/json", `{"name": "by fetch"}`)
	got := run(t, local(t), s, "/")
	got.shows(t, "/", []string{"<li>by XHR</li>", "<li>by fetch 404</li>"})
	got.wants(t, map[string]int64{"requests": 6})
}

func TestWhatIsShownInShadowTreesIsThere(t *testing.T) {
	t.Parallel()
	s := newSite(t).page("/", `<x-outer></x-outer><script>
		customElements.define("x-inner", class extends HTMLElement {
			connectedCallback() { this.attachShadow({mode: "open"}).innerHTML = "<p>deep inside</p>"; }
		});
		customElements.define("x-outer", class extends HTMLElement {
			connectedCallback() { this.attachShadow({mode: "open"}).innerHTML = "<p>outside</p><x-inner></x-inner>"; }
		});</script>`)
	run(t, local(t), s, "/").shows(t, "/", []string{"<p>outside</p>", "<p>deep inside</p>"})
}

func TestLinksAreRelativeToWhereAScriptSaysThePageIs(t *testing.T) {
	t.Parallel()
	s := newSite(t).page("/", `<a href=b>b</a><script>history.pushState({}, "", "/a/page")</script>`)
	got := run(t, local(t), s, "/")
	got.shows(t, "/", []string{fmt.Sprintf(`<base href="%s/a/page">`, s.URL)})
	if len(got.links) > 0 {
		t.Errorf("it did not leave the page: %+v", got.links)
	}
}

func TestAPageIsReadyWhenTheSelectorMatches(t *testing.T) {
	t.Parallel()
	s := newSite(t).page("/", `<script>setTimeout(() => document.body.innerHTML += "<p id=late>late</p>", 700)</script>`)
	o := local(t)
	o.Selector = "#late, .later"
	got := run(t, o, s, "/")
	got.shows(t, "/", []string{`<p id="late">late</p>`})
	got.wants(t, map[string]int64{"timeouts": 0})
	o.Selector, o.Timeout = "#never", pipeline.Duration(time.Second)
	got = run(t, o, s, "/")
	got.shows(t, "/", nil)
	got.wants(t, map[string]int64{"timeouts": 1})
}

func TestScriptsAreKeptForOtherPagesAndDataIsNot(t *testing.T) {
	t.Parallel()
	page := `<p id=out></p><script src=/app.js></script>`
	s := newSite(t).page("/a", page).page("/b", page).
		script("/app.js", `fetch("/data").then(r => r.text()).then(text => out.innerHTML = text)`).
		serve("/data", "text/plain", "data")
	got := run(t, local(t), s, "/a", "/b")
	got.shows(t, "/a", []string{"data"})
	got.shows(t, "/b", []string{"data"})
	if scripts, data := s.times("GET /app.js"), s.times("GET /data"); scripts != 1 || data != 2 {
		t.Errorf("the script was asked for %d times, want 1; the data %d times, want 2", scripts, data)
	}
	got.wants(t, map[string]int64{"rendered": 2, "requests": 4})
}

func TestPagesLearnNothingFromOneAnother(t *testing.T) {
	t.Parallel()
	page := `<p id=out></p><script>
		out.innerHTML = "seen: " + localStorage.getItem("seen") + document.cookie;
		localStorage.setItem("seen", "yes"); document.cookie = "seen=yes";</script>`
	s := newSite(t).page("/a", page).page("/b", page).page("/c", page)
	got := run(t, local(t), s, "/a", "/b", "/c")
	for _, path := range []string{"/a", "/b", "/c"} {
		got.shows(t, path, []string{`>seen: null<`})
	}
}

func TestABrowserIsReplacedAfterSomePages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var paths []string
	for i := range 4 {
		paths = append(paths, fmt.Sprintf("/%d", i))
		s.page(paths[i], `<script>document.write("made")</script>`)
	}
	o := local(t)
	o.Pages = 1
	got := run(t, o, s, paths...)
	for _, path := range paths {
		got.shows(t, path, []string{"made"})
	}
	got.wants(t, map[string]int64{"browsers": 4, "rendered": 4})
}

func TestWhereAScriptLeadsIsARedirect(t *testing.T) {
	t.Parallel()
	s := newSite(t).page("/", `before<script>location.href = "/app/?a=1#top"</script>`).page("/app/", "<p>the app</p>")
	got := run(t, local(t), s, "/")
	got.shows(t, "/", []string{"before"})
	got.wants(t, map[string]int64{"redirects": 1, "blocked_navigation": 1})
	want := webrace.Links{
		From: s.URL + "/", Reach: []webrace.Reach{{Crawl: "c", Distance: 1}}, Via: webrace.ViaRedirect, Redirects: 3,
		URLs: []string{s.URL + "/app/?a=1"},
	}
	if len(got.links) != 1 || fmt.Sprint(got.links[0]) != fmt.Sprint(want) {
		t.Errorf("got %+v, want %+v", got.links, want)
	}
	if s.times("GET /app/") > 0 {
		t.Error("the browser went there")
	}
}

func TestOnlyPagesThatWantItAreRendered(t *testing.T) {
	t.Parallel()
	long := "<p>" + strings.Repeat("many words ", 40) + "</p>"
	shell := `<div id=root></div><noscript>` + long + `</noscript><nav>` + long + `</nav><SCRIPT src=a.js></SCRIPT>`
	rules := []string{"deny path /never/", "allow path /always/"}
	for _, c := range []struct {
		what      string
		rules     []string
		emptyOnly bool
		change    func(*webrace.Document)
		body      string
		want      bool
	}{
		{what: "an empty page with scripts", emptyOnly: true, body: shell, want: true},
		{what: "a page with text and scripts", emptyOnly: true, body: long + shell},
		{what: "an empty page without scripts", emptyOnly: true, body: "<div id=root></div>"},
		{what: "all pages", body: long, want: true},
		{what: "a page that a rule names", rules: rules, emptyOnly: true, body: long, want: true,
			change: func(d *webrace.Document) { d.URL = "https://example.org/always/a" }},
		{what: "a page that a rule excludes", rules: rules, body: shell,
			change: func(d *webrace.Document) { d.URL = "https://example.org/never/a" }},
		{what: "a page that no rule names", rules: rules, emptyOnly: true, body: shell, want: true},
		{what: "no HTML", body: shell, change: func(d *webrace.Document) { d.MediaType = "text/plain" }},
		{what: "XHTML", body: shell, want: true, change: func(d *webrace.Document) { d.MediaType = "application/xhtml+xml" }},
		{what: "HTML of no type", body: "<html>" + shell, want: true, change: func(d *webrace.Document) { d.MediaType, d.Header = "", nil }},
		{what: "data of no type", body: "{}", change: func(d *webrace.Document) { d.MediaType, d.Header = "", nil }},
		{what: "a page that was cut", body: shell, change: func(d *webrace.Document) { d.Truncated = true }},
		{what: "a page that was rendered", body: shell, change: func(d *webrace.Document) { d.Rendered = true }},
		{what: "a page that did not change", body: shell, change: func(d *webrace.Document) { d.Outcome = webrace.NotModified }},
		{what: "a page that is fresh", body: shell, change: func(d *webrace.Document) { d.Outcome = webrace.Fresh }},
	} {
		o := defaults
		o.Rules, o.EmptyOnly = c.rules, c.emptyOnly
		env := pipeline.NewEnv("p", "render", nil)
		made, err := newStage(o, env)
		if err != nil {
			t.Fatal(err)
		}
		d := &webrace.Document{
			URL: "https://example.org/", Outcome: webrace.Fetched, MediaType: "text/html", Body: []byte(c.body),
			Header: http.Header{"Content-Type": {"text/html"}},
		}
		if c.change != nil {
			c.change(d)
		}
		if got := made.(*stage).wants(d); got != c.want {
			t.Errorf("%s: rendered %v, want %v", c.what, got, c.want)
		}
		if looked := env.Counters()["looked_empty"] == 1; looked != (c.want && c.emptyOnly && !strings.Contains(d.URL, "always")) {
			t.Errorf("%s: counted as looking empty: %v", c.what, looked)
		}
	}
}

func TestOptionsThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	for option, change := range map[string]func(*Options){
		"rules":                    func(o *Options) { o.Rules = []string{"render /a"} },
		"rules: \"trust path /a\"": func(o *Options) { o.Rules = []string{"trust path /a"} },
		"empty_text":               func(o *Options) { o.EmptyText = 0 },
		"load":                     func(o *Options) { o.Load = []string{"script", "websocket"} },
		"allow_hosts":              func(o *Options) { o.AllowHosts = []string{"https://example.org/"} },
		"max_requests":             func(o *Options) { o.MaxRequests = -1 },
		"max_bytes":                func(o *Options) { o.MaxBytes = 0 },
		"max_page":                 func(o *Options) { o.MaxPage = 0 },
		"keep":                     func(o *Options) { o.Keep = -1 },
		"selector":                 func(o *Options) { o.Selector = "p[" },
		"idle":                     func(o *Options) { o.Idle = o.Timeout },
		"timeout":                  func(o *Options) { o.Timeout = 0 },
		"pages":                    func(o *Options) { o.Pages = 0 },
		"max_memory":               func(o *Options) { o.MaxMemory = 0 },
	} {
		o := defaults
		change(&o)
		if err := o.Validate(); err == nil || !strings.HasPrefix(err.Error(), option+": ") {
			t.Errorf("%s: %v", option, err)
		}
	}
	if err := defaults.Validate(); err != nil {
		t.Error(err)
	}
}

// TestOnlyWhatMayBeLoadedIsLoaded counts what a page asks for in vain, by reason.
func TestOnlyWhatMayBeLoadedIsLoaded(t *testing.T) {
	t.Parallel()
	image := base64.StdEncoding.EncodeToString([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"))
	other := newSite(t).handle("/data", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		fmt.Fprint(w, "from elsewhere")
	})
	elsewhere := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	s := newSite(t).
		page("/", `<link rel=stylesheet href=/style.css><img src=/image.png><img src="data:image/gif;base64,`+image+`">
			<script src=/private/app.js></script><script src=/long.js></script><iframe src=/frame.html></iframe>
			<p id=out></p><script>(async () => {
				await fetch("/post", {method: "POST", body: "x"}).catch(() => out.innerHTML += "[no post]");
				await fetch("`+elsewhere+`/data").then(r => r.text()).then(text => out.innerHTML += text, () => out.innerHTML += "[not from elsewhere]");
			})()</script>`).
		serve("/robots.txt", "text/plain", "User-agent: *\nDisallow: /private/\n").
		script("/private/app.js", `document.write("forbidden")`).
		script("/long.js", `document.write("too long")`+strings.Repeat(" ", 100_000)).
		serve("/style.css", "text/css", "p { color: red }").serve("/image.png", "image/png", "").page("/frame.html", "frame")
	o := local(t)
	o.MaxBytes = 50_000
	got := run(t, o, s, "/")
	got.shows(t, "/", []string{"[no post][not from elsewhere]"}, "<body>forbidden", "<body>too long")
	got.wants(t, map[string]int64{"blocked_method": 1, "blocked_site": 1, "blocked_robots": 1, "blocked_bytes": 1, "requests": 0})
	if got.counters["blocked_type"] < 3 {
		t.Errorf("style sheet, image and frame were not refused: %v", got.counters)
	}
	s.mu.Lock()
	asked := slices.Clone(s.asked)
	s.mu.Unlock()
	slices.Sort(asked)
	if want := []string{"GET /", "GET /long.js", "GET /robots.txt"}; !slices.Equal(asked, want) {
		t.Errorf("the server was asked for %q, want %q", asked, want)
	}

	o.AllowHosts, o.Load = []string{"localhost:" + port(t, other.URL)}, append(o.Load, "stylesheet", "image")
	got = run(t, o, s, "/")
	got.shows(t, "/", []string{"[no post]from elsewhere"})
	if s.times("GET /style.css") != 1 || s.times("GET /image.png") != 1 {
		t.Error("the style sheet or the image was not loaded, though it may be")
	}
}

func port(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Port()
}
