package render

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/webrace/webrace/pipeline"
)

// shop serves pages that show something only to those who do something.
func shop(s *site) {
	s.page("/more", `<div id=list></div><button id=more>more</button><script>
		let n = 0;
		more.onclick = async (e) => {
			list.innerHTML += "<p>" + await (await fetch("/items/" + n)).text() + (e.isTrusted ? " for a mouse" : "") + "</p>";
			if (++n === 3) more.remove();
		}</script>`)
	for i := range 3 {
		s.serve(fmt.Sprintf("/items/%d", i), "text/plain", fmt.Sprintf("item %d", i))
	}
	s.page("/form", `<input id=q><select id=lang><option value=en>English<option value=el>Greek</select><p id=out></p><script>
		const show = () => setTimeout(() => out.innerHTML = "<b id=done>" + q.value + " in " + lang.value + "</b>", 200);
		Object.defineProperty(q, "value", {get: () => Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").get.call(q), set: () => {}});
		q.addEventListener("input", show); lang.addEventListener("change", show);</script>`)
	s.page("/feed", `<div id=feed style="height:3000px">start</div><script>
		let n = 0;
		addEventListener("scroll", () => { if (n < 2 && innerHeight + scrollY >= document.documentElement.scrollHeight - 2) {
			n++; feed.innerHTML += "<p>part " + n + "</p>"; feed.style.height = 3000 + 2000 * n + "px" } });</script>`)
	s.page("/covered", `<button id=b>b</button><div id=banner style="position:fixed;inset:0;background:#fff"><button id=ok>accept</button></div><p id=p></p><script>
		ok.onclick = () => banner.remove(); b.onclick = () => p.innerHTML = "behind the banner"</script>`)
	s.page("/away", `<a id=a href=/elsewhere>go</a>`)
	s.page("/slow", `<p>slow</p>`)
}

func TestSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("browsers that wait for pages: not in short mode")
	}
	t.Parallel()
	s := newSite(t)
	shop(s)
	o := local(t)
	o.Idle = pipeline.Duration(200 * time.Millisecond)
	o.Steps = []Step{
		{Pages: "path /more", Click: "#more", Times: 10},
		{Pages: "path /form", Fill: "#q", Value: `storm "Iris" \ </script>`},
		{Pages: "path /form", Fill: "select", Value: "Greek"},
		{Pages: "path /form", Wait: "#done"},
		{Pages: "path /feed", Scroll: "end", Times: 20},
		{Pages: "path /covered", Click: "#cookies .reject", Optional: true, Timeout: pipeline.Duration(100 * time.Millisecond)},
		{Pages: "path /covered", Click: "#ok"},
		{Pages: "path /covered", Click: "#b"},
		{Pages: "path /away", Click: "#a"},
	}
	got := run(t, o, s, "/more", "/form", "/feed", "/covered", "/away", "/slow")
	got.shows(t, "/more", []string{"<p>item 0 for a mouse</p><p>item 1 for a mouse</p><p>item 2 for a mouse</p>"}, "</button>")
	got.shows(t, "/form", []string{`<b id="done">storm "Iris" \  in el</b>`})
	got.shows(t, "/feed", []string{"<p>part 1</p>", "<p>part 2</p>"})
	got.shows(t, "/covered", []string{"behind the banner"}, "accept")
	got.shows(t, "/slow", []string{"slow"})
	got.wants(t, map[string]int64{"failed_steps": 0, "failed": 0, "steps": 8, "steps_skipped": 1, "redirects": 1, "rendered": 6, "browsers": 1})
	if len(got.links) != 1 || got.links[0].URLs[0] != s.URL+"/elsewhere" || s.times("GET /elsewhere") != 0 {
		t.Errorf("a click on a link led to %+v", got.links)
	}
}

// TestStepsThatCannotBeDone has pages with a step that cannot be done, each for a reason of its own.
func TestStepsThatCannotBeDone(t *testing.T) {
	if testing.Short() {
		t.Skip("browsers that wait for pages: not in short mode")
	}
	t.Parallel()
	s := newSite(t)
	shop(s)
	s.page("/hidden", `<a href=/ style="display:none">x</a>`)
	s.page("/busy", `<b>x</b><script>setTimeout(() => { for (;;); }, 50)</script>`)
	o := local(t)
	o.Idle, o.Timeout = pipeline.Duration(100*time.Millisecond), pipeline.Duration(5*time.Second)
	var paths, want []string
	for i, c := range []struct {
		path string
		step Step
		why  string
	}{
		{"/slow", Step{Click: "#more"}, `click "#more": no element matches`},
		{"/covered", Step{Click: "#b"}, `click "#b": <button id=ok> covers it`},
		{"/form", Step{Fill: "p", Value: "x"}, `fill "p": <p id=out> is no field`},
		{"/more", Step{Fill: "button", Value: "x"}, `fill "button": <button id=more> takes no text: click it`},
		{"/hidden", Step{Click: "a"}, `click "a": <a> is not shown`},
		{"/busy", Step{Click: "b"}, `click "b": the page had no time left for it (option timeout): context deadline exceeded`},
	} {
		c.step.Pages, c.step.Timeout = "path "+c.path, pipeline.Duration(300*time.Millisecond)
		o.Steps = append(o.Steps, c.step)
		paths, want = append(paths, c.path), append(want, fmt.Sprintf("%s: step %d, %s", c.path, i+1, c.why))
	}
	got := run(t, o, s, paths...)
	slices.Sort(want)
	slices.Sort(got.failures)
	if diff := cmp.Diff(want, got.failures); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if len(got.documents) > 0 {
		t.Errorf("%d pages went on", len(got.documents))
	}
	got.wants(t, map[string]int64{"failed_steps": 6, "failed": 0, "rendered": 0, "timeouts": 0})
}

func TestStepsThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	good := Step{Pages: "host shop.example.org", Click: "#more, .more", Times: 3}
	for where, change := range map[string]func(*Step){
		"steps.1":         func(s *Step) { s.Click = "" },
		"steps.1 ":        func(s *Step) { s.Wait = "p" },
		"steps.1.click":   func(s *Step) { s.Click = "p[" },
		"steps.1.value":   func(s *Step) { s.Value = "x" },
		"steps.1.times":   func(s *Step) { s.Times = mostTimes + 1 },
		"steps.1.times ":  func(s *Step) { s.Click, s.Wait = "", "p" },
		"steps.1.timeout": func(s *Step) { s.Timeout = pipeline.Duration(time.Hour) },
		"steps.1.pages":   func(s *Step) { s.Pages = "hosts shop.example.org" },
	} {
		wrong := good
		change(&wrong)
		o := defaults
		o.Steps = []Step{good, wrong}
		var option *pipeline.OptionError
		if err := o.Validate(); !errors.As(err, &option) || option.Option != strings.TrimSpace(where) || !strings.Contains(err.Error(), "step 2: ") {
			t.Errorf("%s: %v", where, err)
		}
	}
	o := defaults
	o.Steps = make([]Step, mostSteps+1)
	if err := o.Validate(); err == nil || !strings.HasPrefix(err.Error(), "steps: 51 steps") {
		t.Error(err)
	}
	o.Steps = []Step{good, {Scroll: "end"}}
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
}

// TestRequestsAreLinks has what scripts ask for noted, whether they may load it or not, and nothing where it is not
// asked for.
func TestRequestsAreLinks(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser computes: not in short mode")
	}
	t.Parallel()
	s := newSite(t)
	s.page("/", `<script src=/app.js></script>`)
	s.script("/app.js", `(async () => {
		await fetch("/api/items?page=1#top"); await fetch("/api/items?page=1");
		await fetch("/api/save", {method: "POST", body: "x"}).catch(() => 0);
		await fetch("https://elsewhere.example/data").catch(() => 0);
		await fetch("data:text/plain,x");
		const x = new XMLHttpRequest(); x.open("GET", "/api/old"); x.send();
	})()`)
	s.serve("/api/items", "application/json", "[]").serve("/api/old", "application/json", "[]")
	o := local(t)
	if got := run(t, o, s, "/"); got.documents["/"].Requested != nil {
		t.Errorf("without the option: %q", got.documents["/"].Requested)
	}
	o.Requests = true
	got := run(t, o, s, "/")
	want := []string{s.URL + "/api/items?page=1", "https://elsewhere.example/data", s.URL + "/api/old"}
	for i, url := range got.documents["/"].Requested {
		got.documents["/"].Requested[i], _, _ = strings.Cut(url, "#")
	}
	if d := got.documents["/"]; !slices.Equal(d.Requested, want) || !d.Rendered {
		t.Errorf("requested %q, want %q", d.Requested, want)
	}
	o.MaxRequests = 1
	if got := run(t, o, s, "/"); len(got.documents["/"].Requested) > 1 {
		t.Errorf("%d are more than max_requests", len(got.documents["/"].Requested))
	}
}
