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

func TestAPageIsReadyWhenTheSelectorMatches(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser computes: not in short mode")
	}
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

func TestABrowserIsReplacedAfterSomePages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var paths []string
	for i := range 3 {
		paths = append(paths, fmt.Sprintf("/%d", i))
		s.page(paths[i], `<script>document.write("made")</script>`)
	}
	o := local(t)
	o.Pages = 2
	got := run(t, o, s, paths...)
	for _, path := range paths {
		got.shows(t, path, []string{"made"})
	}
	got.wants(t, map[string]int64{"browsers": 2, "rendered": 3})
}

// TestFreshAndUnmodified holds the places of the stage against what it does to pages as they come there: before the
// cache a page that was rendered is asked for anew each time, and behind it what is stored is rendered each time.
func TestFreshAndUnmodified(t *testing.T) {
	spec, _ := pipeline.DefaultRegistry.Lookup("render")
	if len(spec.Needs) != 0 || spec.Needs == nil || !slices.Contains(spec.Uses, webrace.PartBody) {
		t.Errorf("it needs %q and uses %q", spec.Needs, spec.Uses)
	}
	made, err := newStage(defaults, pipeline.NewEnv("p", "render", nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, outcome := range []webrace.Outcome{webrace.Fetched, webrace.NotModified, webrace.Fresh} {
		d := &webrace.Document{URL: "https://example.org/", Outcome: outcome, MediaType: "text/html", Body: []byte("<script>1</script>")}
		if !made.(*stage).wants(d) {
			t.Errorf("%s, with its body: it is not rendered", outcome)
		}
	}
	visit := webrace.Visit{ETag: "e", LastModified: "yesterday"}
	if visit.ForgetValidators(); visit.ETag != "" || visit.LastModified != "" {
		t.Errorf("what was rendered may be confirmed by a 304: %+v", visit)
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
		{what: "a page that did not change", change: func(d *webrace.Document) { d.Outcome, d.Body = webrace.NotModified, nil }},
		{what: "a page that is fresh", change: func(d *webrace.Document) { d.Outcome, d.Body = webrace.Fresh, nil }},
		{what: "a page that did not change, as it is stored", body: shell, want: true, change: func(d *webrace.Document) { d.Outcome = webrace.NotModified }},
		{what: "a page that is fresh, as it is stored", body: shell, want: true, change: func(d *webrace.Document) { d.Outcome = webrace.Fresh }},
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
	if testing.Short() {
		t.Skip("a browser computes: not in short mode")
	}
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
