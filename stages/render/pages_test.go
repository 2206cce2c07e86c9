package render

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/webrace/webrace"
)

// pageCase is a page, or a few, of a site that is rendered in one run with all others.
type pageCase struct {
	what  string
	paths []string
	serve func(s *site)
	check func(t *testing.T, s *site, got *results)
}

// shown are cases of pages that only have to show something.
var shown = []struct {
	what, path string
	body       string
	has        []string
}{
	{"text that a script makes", "/inline", `<p id=p></p><script>p.innerHTML = "<b>made by script é</b>"</script>`, []string{"<title>T</title>", "<b>made by script é</b>"}},
	{"what is shown in shadow trees", "/shadow", `<x-outer></x-outer><script>
		customElements.define("x-inner", class extends HTMLElement {
			connectedCallback() { this.attachShadow({mode: "open"}).innerHTML = "<p>deep inside</p>"; }
		});
		customElements.define("x-outer", class extends HTMLElement {
			connectedCallback() { this.attachShadow({mode: "open"}).innerHTML = "<p>outside</p><x-inner></x-inner>"; }
		});</script>`, []string{"<p>outside</p>", "<p>deep inside</p>"}},
	{"a page that replaces what reads it", "/fool", `<p>the truth</p><script>
		const lie = {get: () => "lies", configurable: true};
		Object.defineProperty(Element.prototype, "outerHTML", lie);
		Object.defineProperty(document, "documentElement", lie);
		String.prototype.slice = String.prototype.toWellFormed = JSON.stringify = () => "lies";
		document.querySelector = document.querySelectorAll = () => { throw "no" };</script>`, []string{"<p>the truth</p>"}},
	{"a page that throws", "/throws", `<p>before</p><script>throw new Error("no")</script><p>after</p>`, []string{"<p>before</p>", "<p>after</p>"}},
	{"what is made for a window that is seen", "/frames", `<p id=p></p><p id=q></p><script>
		requestAnimationFrame(() => requestAnimationFrame(() => p.innerHTML = "a frame, " + document.visibilityState + ", " + innerWidth));
		new IntersectionObserver((seen) => { if (seen[0].isIntersecting) q.innerHTML = "in sight" }).observe(q);</script>`,
		[]string{"a frame, visible, 1280", "in sight"}},
	{"half of a character", "/half", `<script>document.write("<p>a\ud83db</p>")</script>`, []string{"<p>a�b</p>"}},
}

var pageCases = []pageCase{
	{"a script of the site", []string{"/script"}, func(s *site) {
		s.page("/script", `<div id=root></div><script src=/app.js></script>`)
		s.script("/app.js", `root.innerHTML = "<h1>made</h1><a href=/next>n</a>"`)
	}, func(t *testing.T, s *site, got *results) {
		got.shows(t, "/script", []string{"<h1>made</h1>", `<a href="/next">`})
		d := got.documents["/script"]
		if d.MediaType != "text/html" || d.Header.Get("Content-Type") != contentType || d.Truncated || d.Status != 200 {
			t.Errorf("%+v", d)
		}
		if n := s.times("GET /script"); n != 1 {
			t.Errorf("the page was asked for %d times", n)
		}
	}},
	{"another encoding", []string{"/latin"}, func(s *site) {
		s.serve("/latin", "text/html; charset=iso-8859-1", "<p>caf\xe9</p><script>document.write('<b>na\xefve</b>')</script>")
	}, func(t *testing.T, s *site, got *results) {
		got.shows(t, "/latin", []string{"<p>café</p>", "<b>naïve</b>"})
	}},
	{"data, modules and redirects", []string{"/data"}, func(s *site) {
		s.page("/data", `<ul id=list></ul><script type=module src=/main.js></script>`)
		s.script("/main.js", `
			import { add } from "/add.js";
			const old = new XMLHttpRequest();
			old.open("GET", "/old.json"); old.onload = () => add(JSON.parse(old.responseText).name); old.send();
			const moved = await (await fetch("/moved.json")).json();
			add(moved.name + " " + (await fetch("/missing.json")).status);`)
		s.script("/add.js", `export const add = (text) => list.insertAdjacentHTML("beforeend", "<li>" + text + "</li>");`)
		s.serve("/old.json", "application/json", `{"name": "by XHR"}`)
		s.handle("/moved.json", redirectTo("/new.json"))
		s.serve("/new.json", "application/json", `{"name": "by fetch"}`)
	}, func(t *testing.T, s *site, got *results) {
		got.shows(t, "/data", []string{"<li>by XHR</li>", "<li>by fetch 404</li>"})
	}},
	{"links relative to where a script says the page is", []string{"/pushed"}, func(s *site) {
		s.page("/pushed", `<a href=b>b</a><script>history.pushState({}, "", "/a/page")</script>`)
	}, func(t *testing.T, s *site, got *results) {
		got.shows(t, "/pushed", []string{fmt.Sprintf(`<base href="%s/a/page">`, s.URL)})
	}},
	{"scripts are kept for other pages, and data is not", []string{"/kept/a", "/kept/b"}, func(s *site) {
		page := `<p id=out></p><script src=/kept.js></script>`
		s.page("/kept/a", page).page("/kept/b", page)
		s.script("/kept.js", `fetch("/kept/data").then(r => r.text()).then(text => out.innerHTML = text)`)
		s.serve("/kept/data", "text/plain", "some data")
	}, func(t *testing.T, s *site, got *results) {
		got.shows(t, "/kept/a", []string{"some data"})
		got.shows(t, "/kept/b", []string{"some data"})
		if scripts, data := s.times("GET /kept.js"), s.times("GET /kept/data"); scripts != 1 || data != 2 {
			t.Errorf("the script was asked for %d times, want 1; the data %d times, want 2", scripts, data)
		}
	}},
	{"pages learn nothing from one another", []string{"/seen/a", "/seen/b", "/seen/c"}, func(s *site) {
		for _, path := range []string{"/seen/a", "/seen/b", "/seen/c"} {
			s.page(path, `<p id=out></p><script>
				out.innerHTML = "seen: " + localStorage.getItem("seen") + document.cookie;
				localStorage.setItem("seen", "yes"); document.cookie = "seen=yes";</script>`)
		}
	}, func(t *testing.T, s *site, got *results) {
		for _, path := range []string{"/seen/a", "/seen/b", "/seen/c"} {
			got.shows(t, path, []string{`>seen: null<`})
		}
	}},
	{"where a script leads is a redirect", []string{"/leads"}, func(s *site) {
		s.page("/leads", `before<script>location.href = "/app/?a=1#top"</script>`).page("/app/", "<p>the app</p>")
	}, func(t *testing.T, s *site, got *results) {
		got.shows(t, "/leads", []string{"before"})
		got.wants(t, map[string]int64{"redirects": 1, "blocked_navigation": 1})
		want := webrace.Links{
			From: s.URL + "/leads", Reach: []webrace.Reach{{Crawl: "c", Distance: 1}}, Via: webrace.ViaRedirect, Redirects: 3,
			URLs: []string{s.URL + "/app/?a=1"},
		}
		if len(got.links) != 1 || fmt.Sprint(got.links[0]) != fmt.Sprint(want) {
			t.Errorf("got %+v, want %+v", got.links, want)
		}
		if s.times("GET /app/") > 0 {
			t.Error("the browser went there")
		}
	}},
	{"a page that blanks itself goes on as it was", []string{"/blank"}, func(s *site) {
		s.page("/blank", `<p>the text</p><script>location.href = "about:blank"</script>`)
	}, func(t *testing.T, s *site, got *results) {
		if d := got.documents["/blank"]; d.Rendered || got.counters["failed"] != 1 {
			t.Errorf("rendered %v, counters %v", d.Rendered, got.counters)
		}
	}},
	{"a page that is too large is cut", []string{"/large"}, func(s *site) {
		s.page("/large", `<body><script>
			const parts = []; for (let i = 0; i < 20000; i++) parts.push("<p>αβγ " + i + "</p>");
			document.body.innerHTML = parts.join("")</script>`)
	}, func(t *testing.T, s *site, got *results) {
		got.shows(t, "/large", []string{"<p>αβγ 0</p>"}, "�")
		if n := len(got.bodies["/large"]); n > 100_001 || n < 99_990 || !got.documents["/large"].Truncated {
			t.Errorf("%d bytes, truncated %v", n, got.documents["/large"].Truncated)
		}
	}},
	{"dialogs are dismissed", []string{"/dialogs"}, func(s *site) {
		s.page("/dialogs", `<p id=p></p><script>for (let i = 0; i < 3; i++) { alert(i); p.innerHTML += [i, confirm("?"), prompt("?")] }
			onbeforeunload = () => "stay"</script>`)
	}, func(t *testing.T, s *site, got *results) {
		got.shows(t, "/dialogs", []string{"0,false,1,false,2,false,"})
		got.wants(t, map[string]int64{"blocked_dialog": 9})
	}},
	{"the page's own policy holds", []string{"/policy"}, func(s *site) {
		s.handle("/policy", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Content-Security-Policy", "script-src 'self'")
			fmt.Fprint(w, `<p id=p>before</p><script>p.innerHTML = "inline"</script>`)
		})
	}, func(t *testing.T, s *site, got *results) {
		got.shows(t, "/policy", []string{">before<"})
	}},
}

// TestPages renders all pages in one run: a browser takes long to start.
func TestPages(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser computes: not in short mode")
	}
	t.Parallel()
	s := newSite(t)
	var paths []string
	for _, c := range shown {
		s.page(c.path, c.body)
		paths = append(paths, c.path)
	}
	for _, c := range pageCases {
		c.serve(s)
		paths = append(paths, c.paths...)
	}
	o := local(t)
	o.MaxPage = 100_001
	got := run(t, o, s, paths...)
	got.wants(t, map[string]int64{"browser_crashes": 0, "timeouts": 0, "browsers": 1, "rendered": int64(len(paths) - 1), "failed": 1})
	for _, c := range shown {
		t.Run(c.what, func(t *testing.T) { got.shows(t, c.path, c.has) })
	}
	for _, c := range pageCases {
		t.Run(c.what, func(t *testing.T) { c.check(t, s, got) })
	}
}
