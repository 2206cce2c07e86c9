package main

import (
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/internal/testutil/npm"
)

// TestMCP has the client and the inspector that the authors of the protocol wrote ask for everything, over standard
// input and output and over HTTP beside a run.
func TestMCP(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it installs packages and runs crawls: not in short mode")
	}
	modules, run := npm.Install(t, mcpSDK), buildRun(t)
	stdio := func(w *mcpWorld, owner string, more ...string) map[string]any {
		args := append([]string{"mcp", "--data", w.data}, more...)
		if owner != "" {
			args = append(args, "--owner", owner)
		}
		return map[string]any{"command": "webrace-store", "args": args}
	}
	overHTTP := func(r *running, owner string) map[string]any {
		return map[string]any{"url": r.url, "token": r.tokens[owner]}
	}
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		w := newMCPWorld(t, run)
		ann, bob := connect(t, modules, stdio(w, "ann")), connect(t, modules, stdio(w, "bob"))
		everyTool(ann, w)
		nothingOfAnother(bob, ann, w)
		refusals(bob, w)
		obeysOwners(connect(t, modules, stdio(w, "ann")), connect(t, modules, stdio(w, "ann", "--any-use")), w)
		operator := connect(t, modules, stdio(w, ""))
		ofOperator(operator, w)
	})
	t.Run("HTTP", func(t *testing.T) {
		t.Parallel()
		w := newMCPWorld(t, run)
		r := w.beside("--mcp-crawl-pages", "300", "--mcp-crawl-depth", "2", "--mcp-crawl-host", "127.0.0.1", "--mcp-fetch")
		ann, bob := connect(t, modules, overHTTP(r, "ann")), connect(t, modules, overHTTP(r, "bob"))
		everyTool(ann, w)
		nothingOfAnother(bob, ann, w)
		crawls(bob, w)
		unbounded := connect(t, modules, stdio(w, "bob", "--crawl-pages", "299"))
		unbounded.wrong("crawl", arguments{"action": "start", "url": w.site + "/docs"}, "--set webrace.frontier.crawl_urls=299")
		fetches(bob, w)
		beside := connect(t, modules, stdio(w, "ann")) // while the run has the directory open
		everyStoredPage(beside, w)
		sessionsAreOfTheirOwners(t, r)
	})
	t.Run("fetch", func(t *testing.T) {
		t.Parallel()
		w := newMCPWorld(t, run)
		config := filepath.Join(t.TempDir(), "fetch.toml")
		writeTestFile(t, config, "version = 1\n[pipeline.x]\nflow = [\"urds > frontier > fetch > drop\", \"fetch.redirects > frontier\"]\n"+
			"[pipeline.x.stage.fetch]\nallow_networks = [\"loopback\"]\ndelay = \"0s\"\n")
		fetches(connect(t, modules, stdio(w, "bob", "--fetch", "--config", config)), w)
	})
	t.Run("inspector", func(t *testing.T) {
		t.Parallel()
		inspected(t, newMCPWorld(t, run), npm.Install(t, mcpInspector))
	})
}

// inspected has the inspector judge the server, and call a tool by it.
func inspected(t *testing.T, w *mcpWorld, modules string) {
	inspect := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "node", append([]string{filepath.Join(modules, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--cli"}, args...)...)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("inspector %q: %v: %s", args, err, out)
		}
		return string(out)
	}
	server := []string{"webrace-store", "mcp", "--data", w.data, "--owner", "ann"}
	for _, c := range []struct {
		args, want []string
	}{
		{[]string{"--method", "tools/list", "--strict"}, []string{`"sparql"`, `"watch"`}},
		{[]string{"--method", "tools/call", "--tool-name", "read", "--tool-arg", "url=" + w.site + "/"}, []string{"Black tea is served"}},
		{[]string{"--method", "tools/call", "--tool-name", "search", "--tool-arg", "query=evening"}, []string{"«evening»"}},
	} {
		out := inspect(slices.Concat(c.args, []string{"--transport", "stdio", "--"}, server)...)
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%q shows no %s: %.2000s", c.args, want, out)
			}
		}
	}
	r := w.beside()
	out := inspect("--method", "tools/call", "--tool-name", "read", "--tool-arg", "url="+w.site+"/", "--transport", "http", "--server-url", r.url, "--header", "Authorization: Bearer "+r.tokens["ann"])
	if !strings.Contains(out, "Black tea is served") {
		t.Errorf("over HTTP: %.2000s", out)
	}
}

// TestMCPIsGivenTooMuch: a client that sends a message without end is left, and is told why.
func TestMCPIsGivenTooMuch(t *testing.T) {
	t.Parallel()
	c := exec.CommandContext(t.Context(), "webrace-store", "mcp", "--data", filepath.Join(t.TempDir(), "data"))
	c.Stdin = io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`), io.LimitReader(endlessText{}, 1<<30))
	out, err := c.CombinedOutput()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), "the session ended: ") || !strings.Contains(string(out), "maximum") {
		t.Errorf("%v: %.500s", err, out)
	}
}

type endlessText struct{}

func (endlessText) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}
