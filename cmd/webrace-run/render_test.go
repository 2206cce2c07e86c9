package main

import (
	"bytes"
	"fmt"
	"image/png"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/cmd/internal/cli"
)

// renderingConfig returns the arguments for the shipped pipelines with a stage that renders.
func renderingConfig(t *testing.T) []string {
	t.Helper()
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("no Chromium is installed")
	}
	config := strings.ReplaceAll(string(webrace.Pipelines), "fetch > ", "fetch > render > ")
	config = strings.ReplaceAll(config, "fetch.redirects, ", "fetch.redirects, render.redirects, ")
	file := filepath.Join(t.TempDir(), "pipelines.toml")
	writeFile(t, file, config)
	return []string{"--config", file, "--set", "render.sandbox=" + fmt.Sprint(os.Geteuid() != 0)}
}

// An application is a page without text: its scripts load a list, and show what is behind its entries.
func TestWhatScriptsShowIsCrawledAndAlertedOf(t *testing.T) {
	t.Parallel()
	flags := renderingConfig(t)
	w := newWorld(t)
	const shell = `<!DOCTYPE html><title>App</title><div id=root></div><script src="/app.js"></script>`
	for _, path := range []string{"/", "/app", "/item/1", "/item/2"} {
		w.handle(path, func(out http.ResponseWriter, r *http.Request) { serveDocument(out, r, []byte(shell)) })
	}
	w.handle("/app.js", func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(out, `
			if (location.pathname == "/") location.replace("/app");
			else fetch("/data" + location.pathname).then(r => r.json()).then(list => {
				root.innerHTML = list.map(e => "<p>" + e.text + (e.link ? " <a href=" + e.link + ">more</a>" : "") + "</p>").join("");
			});`)
	})
	data := func(path, json string) {
		w.handle("/data"+path, func(out http.ResponseWriter, r *http.Request) {
			out.Header().Set("Content-Type", "application/json")
			fmt.Fprint(out, json)
		})
	}
	data("/app", `[{"text": "first", "link": "/item/1"}, {"text": "second", "link": "/item/2"}]`)
	data("/item/1", `[{"text": "a boat on the lake, a boat on the sea"}]`)
	data("/item/2", `[{"text": "nothing but weather"}]`)

	urds := these(w.asks("ann", "/", about("boat"), depth(2)))
	w.run(urds)
	mustBe(t, "told without rendering", w.news())

	w = &world{site: w.site, t: t, data: filepath.Join(t.TempDir(), "rendered")}
	w.requests()
	w.run(urds, append(flags, "--set", "render.screenshot=page")...)
	mustBe(t, "told of what scripts show", w.news(), "ann /item/1")
	mustBe(t, "asked for", w.requests(), "200 /", "200 /app", "200 /app.js", "200 /data/app", "200 /data/item/1", "200 /data/item/2", "200 /item/1", "200 /item/2")
	w.mustShow("/item/1")

	data("/item/2", `[{"text": "another boat, and a boat more"}]`)
	w.run(urds, append(flags, askAll...)...)
	mustBe(t, "told when data changed behind the same page", w.news(), "ann /item/2")

	// The second version was stored without one.
	said, status := w.store("cache", "screenshot", w.URL+"/item/2")
	if status != cli.Failed || !strings.Contains(said, "version 1 has one (--version 1)") {
		t.Errorf("cache screenshot of a version without one ends with %d: %s", status, said)
	}
}

// mustShow wants the screenshot of a page to be written, to a file and through a pipe.
func (w *world) mustShow(path string) {
	w.t.Helper()
	file := filepath.Join(w.t.TempDir(), "page.png")
	if said, status := w.store("cache", "screenshot", w.URL+path, "--output", file); status != cli.OK || said != "" {
		w.t.Fatalf("cache screenshot ends with %d: %s", status, said)
	}
	written, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	piped, status := w.store("cache", "screenshot", w.URL+path, "--version", "1")
	if status != cli.OK || piped != string(written) {
		w.t.Errorf("through a pipe, cache screenshot gives %d bytes, and to a file %d", len(piped), len(written))
	}
	shown, err := png.Decode(bytes.NewReader(written))
	if err != nil || shown.Bounds().Dx() != 1280 || shown.Bounds().Dy() < 500 {
		w.t.Errorf("the screenshot is %v, %v", shown.Bounds(), err)
	}
	ink := 0
	for x := range 400 {
		for y := range 100 {
			if r, _, _, _ := shown.At(x, y).RGBA(); r < 0x8000 {
				ink++
			}
		}
	}
	if ink == 0 {
		w.t.Error("the screenshot shows no text")
	}
}
