//go:build unix

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline/admin"
	"github.com/webrace/webrace/storage"
)

func TestACrawlGoesOnWhileItsConfigurationChangesAndFetchesEverythingOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const pages, atOnce = 30, 4
	arrived, served := make(chan struct{}, pages), make(chan struct{})
	links := []string{"/never/1"}
	for i := range pages {
		path := fmt.Sprintf("/%d", i+1)
		links = append(links, path)
		w.handle(path, func(rw http.ResponseWriter, r *http.Request) {
			arrived <- struct{}{}
			select {
			case <-served:
			case <-r.Context().Done():
				return
			}
			serveDocument(rw, r, document("page "+path+" speaks of tea", "/never/"+path[1:]))
		})
	}
	w.page("/", links...)

	file := filepath.Join(t.TempDir(), "pipelines.toml")
	shipped, err := os.ReadFile("../../pipelines.toml")
	if err != nil {
		t.Fatal(err)
	}
	const denied = "\n[pipeline.webrace.stage.frontier]\nrules = [\"deny path /never\"]\n"
	edit := func(more string) { // as editors do
		writeFile(t, file+".new", string(shipped)+denied+more)
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	edit("")
	stopServing := sync.OnceFunc(func() { close(served) })
	t.Cleanup(stopServing)
	p := w.start(these(w.asks("ann", "/", depth(3), about("tea"))), "--config", file, "--watch", "--continuous", "--set", fmt.Sprintf("frontier.leases=%d", atOnce))

	readings := 0
	serveUntil := func(says string) { // once the configuration is read again, which happens with as much in flight as can be
		p.waitUntilSaid("reading the configuration again", readings+1)
		for !strings.Contains(p.said(), says) {
			select {
			case served <- struct{}{}:
			case <-time.After(time.Millisecond):
			case <-t.Context().Done():
				return
			}
		}
		readings = strings.Count(p.said(), "reading the configuration again")
	}

	await(t, arrived, atOnce)
	edit("order = \"dfs\"\n")
	serveUntil("webrace: reconfigured frontier")
	edit("ordre = \"dfs\"\n")
	serveUntil("everything goes on as before")
	p.waitUntil("^^^^^")
	mustSay(t, p.said(), `has no option \"ordre\"`)
	states, err := admin.NewClient(filepath.Join(w.data, storage.SocketName)).Pipelines(t.Context())
	if err != nil || states[0].Done != 1 || states[0].Failed != 1 || !strings.Contains(states[0].LastFailed.Error, `has no option "ordre"`) {
		t.Errorf("the process tells of its reloads %+v, %v", states, err)
	}
	edit("order = \"bfs\"\n[pipeline.webrace.stage.fetch]\nworkers = 7\n")
	p.signal(syscall.SIGHUP) // whichever comes first
	serveUntil("replaced fetch; reconfigured frontier")
	stopServing()
	p.waitUntilServed(w, 1+pages)
	if got := w.reload(); !strings.Contains(got, "webrace: nothing") {
		t.Errorf("a reload without a change is answered %q", got)
	}
	p.signal(syscall.SIGTERM)
	p.mustExit(cli.OK)

	times := make(map[string]int)
	for _, request := range w.requests() {
		times[request]++
	}
	for i := range pages {
		if request := fmt.Sprintf("200 /%d", i+1); times[request] != 1 {
			t.Errorf("%s: %d times, want once", request, times[request])
		}
	}
	if len(times) != 1+pages {
		t.Errorf("asked for %v", times)
	}
}

// waitUntilServed waits until the site was asked for so many documents.
func (p *command) waitUntilServed(w *world, n int) {
	p.t.Helper()
	asked := func() (sum int) {
		for _, n := range w.counts() {
			sum += n
		}
		return sum
	}
	waitFor(p.t, func() bool { return asked() >= n }, func() string {
		return fmt.Sprintf("asked for %d documents, want %d:\n%s", asked(), n, p.said())
	})
}

// reload asks the process that has the data directory to read its configuration again. A process makes its socket once
// its pipelines have started, which may be after their first requests.
func (w *world) reload() string {
	w.t.Helper()
	socket := filepath.Join(w.data, storage.SocketName)
	waitFor(w.t, func() bool {
		conn, err := admin.Dial(w.t.Context(), socket)
		return err == nil && conn.Close() == nil
	}, func() string { return "nothing answers at " + socket })
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return admin.Dial(ctx, socket)
	}}}
	defer client.CloseIdleConnections()
	answer, err := client.Post("http://webrace/reload", "", nil)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

func TestAReloadReadsAStylesheetAgainWhoseTextAloneHasChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/")
	dir := t.TempDir()
	shipped, err := os.ReadFile("../../pipelines.toml")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "pipelines.toml"), strings.Replace(string(shipped), " > normalize > ", " > normalize > xslt > ", 1)+
		"\n[pipeline.webrace.stage.xslt]\nrules = [{ media_type = \"text/x\", stylesheet = \"sheets/main.xsl\" }]\n")
	const sheet = `<xsl:stylesheet version="3.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">%s</xsl:stylesheet>`
	if err := os.Mkdir(filepath.Join(dir, "sheets"), 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) { writeFile(t, filepath.Join(dir, "sheets", name), fmt.Sprintf(sheet, text)) }
	write("main.xsl", `<xsl:import href="imported.xsl"/>`)
	write("imported.xsl", "")
	p := w.start(these(w.asks("ann", "/", about("tea"))), "--config", filepath.Join(dir, "pipelines.toml"), "--continuous")
	p.waitUntilServed(w, 1)
	for _, step := range []struct{ text, answer string }{
		{"", "webrace: nothing"},
		{`<xsl:template match="/"/>`, "webrace: replaced xslt"},
		{`<xsl:template match="/"><a b="{environment-variable('HOME')}"/></xsl:template>`, "imported.xsl:1: environment-variable() is refused"},
		{`<xsl:template match="/"/>`, "webrace: nothing"},
	} {
		write("imported.xsl", step.text)
		if got := w.reload(); !strings.Contains(got, step.answer) {
			t.Errorf("a reload is answered %q, want %q", got, step.answer)
		}
	}
	p.signal(syscall.SIGTERM)
	p.mustExit(cli.OK)
}
