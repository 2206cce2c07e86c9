package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/webrace/webrace/cmd/internal/mcp"
)

// mcpPage is the page about agents, as it is read.
func mcpPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/agents-mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The table of the tools is that of the code.
func TestThePageAboutAgentsHasEveryTool(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	for _, tool := range mcp.Tools() {
		fmt.Fprintf(&table, "| `%s` | `%s` | %s |\n", tool.Name, strings.Join(tool.Arguments, "` `"), strings.ReplaceAll(tool.Description, "|", `\|`))
	}
	const head = "| tool | arguments | |\n|---|---|---|\n"
	_, rest, _ := strings.Cut(mcpPage(t), head)
	if got, _, _ := strings.Cut(rest, "\n\n"); got+"\n" != table.String() {
		t.Errorf("docs/agents-mcp.md has another table of tools than the code:\n%s\nit is to have\n\n%s%s", got, head, table.String())
	}
}

// What the page tells people to set up, works: each configuration of a client leads to the tools, and each command
// runs.
func TestThePageAboutAgentsIsTrue(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.page("/", "tea for all")
	w.run(these(w.asks("eleni", "/", about("tea"))))
	page := mcpPage(t)
	var servers []map[string]struct {
		Command string
		Args    []string
		Type    string
		URL     string
		Headers map[string]string
	}
	for _, block := range strings.Split(page, "```json\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		var config struct{ MCPServers json.RawMessage }
		if err := json.Unmarshal([]byte(text), &config); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		servers = append(servers, nil)
		if err := json.Unmarshal(config.MCPServers, &servers[len(servers)-1]); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	if len(servers) != 2 {
		t.Fatalf("%d configurations", len(servers))
	}
	program := servers[0]["webrace"]
	for i := range program.Args {
		program.Args[i] = strings.ReplaceAll(program.Args[i], "/srv/webrace/data", w.data)
	}
	mustHaveTools(t, &sdk.CommandTransport{Command: exec.Command(program.Command, program.Args...)}, w.URL+"/", "")

	dir, commands := t.TempDir(), 0
	for line := range strings.Lines(page) {
		command, indented := strings.CutPrefix(line, "    ")
		if !indented || strings.HasPrefix(command, `"`) || strings.HasPrefix(command, " ") {
			continue
		}
		commands++
		command = strings.TrimSpace(command)
		if !strings.HasPrefix(command, "webrace-run ") {
			c := exec.Command("sh", "-c", command)
			c.Dir = dir
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v: %s", command, err, out)
			}
			continue
		}
		args := strings.Fields(strings.ReplaceAll(command, "127.0.0.1:8643", "127.0.0.1:0"))[1:]
		for i := range args {
			if args[i] == "agents" {
				args[i] = filepath.Join(dir, "agents")
			}
		}
		p := startCommand(t, append(args, "--data", w.data)...)
		p.waitUntil("/mcp")
		where := regexp.MustCompile(`http://127\.0\.0\.1:\d+/mcp`).FindString(p.said())
		remote := servers[1]["webrace"]
		if want := strings.Replace(where, regexp.MustCompile(`:\d+/`).FindString(where), ":8643/", 1); remote.Type != "http" || remote.URL != want {
			t.Errorf("the configuration says %s, and agents are answered at %s", remote.URL, want)
		}
		tokens, err := os.ReadFile(filepath.Join(dir, "agents"))
		if err != nil {
			t.Fatal(err)
		}
		header := strings.Replace(remote.Headers["Authorization"], "TOKEN", strings.Fields(string(tokens))[1], 1)
		client := &http.Client{Transport: bearing{header}}
		crawl := ""
		if strings.Contains(command, "--mcp-crawl-pages") {
			crawl = "crawl"
		}
		mustHaveTools(t, &sdk.StreamableClientTransport{Endpoint: where, HTTPClient: client, DisableStandaloneSSE: true}, w.URL+"/", crawl)
		p.signal(os.Interrupt)
		p.mustExit(0)
	}
	if commands != 3 {
		t.Errorf("%d commands", commands)
	}
}

// bearing gives each request a header.
type bearing struct{ header string }

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", b.header)
	return http.DefaultTransport.RoundTrip(r)
}

// mustHaveTools connects, and finds the tools, one of which reads a page.
func mustHaveTools(t *testing.T, transport sdk.Transport, url, further string) {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(context.WithoutCancel(t.Context()), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	listed, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	names := ""
	for _, tool := range listed.Tools {
		names += tool.Name + " "
	}
	if !strings.Contains(names, "read ") || further != "" && !strings.Contains(names, further+" ") || further == "" && strings.Contains(names, "crawl") {
		t.Errorf("the tools are %s", names)
	}
	page, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "read", Arguments: map[string]any{"url": url}})
	if err != nil || page.IsError {
		t.Fatalf("%+v, %v", page, err)
	}
	if text := page.Content[1].(*sdk.TextContent).Text; !strings.Contains(text, "tea for all") {
		t.Errorf("it reads %q", text)
	}
}
