package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// mcpClient is a client that others wrote.
type mcpClient struct {
	*testing.T
	in  io.WriteCloser
	out *bufio.Reader
}

// connect starts a client, which connects as it is told.
func connect(t *testing.T, modules string, how map[string]any) *mcpClient {
	t.Helper()
	script, err := os.ReadFile("testdata/mcp/client.mjs")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.CreateTemp(modules, "client*.mjs")
	if err == nil {
		_, err = file.Write(script)
	}
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	c := exec.Command("node", file.Name())
	c.Stderr = os.Stderr
	client := &mcpClient{T: t}
	if client.in, err = c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	client.out = bufio.NewReader(out)
	t.Cleanup(func() {
		client.in.Close()
		io.Copy(io.Discard, out)
		c.Wait()
	})
	if answer := client.do(map[string]any{"connect": how}); answer.Error != "" {
		t.Fatalf("connect %v: %s", how, answer.Error)
	}
	return client
}

// said is what a client tells of what it did.
type said struct {
	Error        string `json:"error"`
	Instructions string `json:"instructions"`
	Tools        []struct {
		Name         string         `json:"name"`
		InputSchema  map[string]any `json:"inputSchema"`
		OutputSchema map[string]any `json:"outputSchema"`
	} `json:"tools"`
	Result struct {
		IsError bool `json:"isError"`
		Content []struct {
			Type, Text  string
			Annotations map[string]any
			Meta        map[string]any `json:"_meta"`
		} `json:"content"`
		Structured map[string]any `json:"structuredContent"`
	} `json:"result"`
	Progress []struct {
		Progress float64 `json:"progress"`
		Message  string  `json:"message"`
	} `json:"progress"`
	line string
}

func (c *mcpClient) do(what map[string]any) (s said) {
	c.Helper()
	line, err := json.Marshal(what)
	if err == nil {
		_, err = c.in.Write(append(line, '\n'))
	}
	if err == nil {
		s.line, err = c.out.ReadString('\n')
	}
	if err == nil {
		err = json.Unmarshal([]byte(s.line), &s)
	}
	if err != nil {
		c.Fatalf("%s: %v", line, err)
	}
	return s
}

type arguments = map[string]any

func (c *mcpClient) call(tool string, a arguments) said {
	c.Helper()
	return c.do(map[string]any{"call": tool, "arguments": a, "progress": true})
}

// must calls a tool that is to answer.
func (c *mcpClient) must(tool string, a arguments) map[string]any {
	c.Helper()
	s := c.call(tool, a)
	if s.Error != "" || s.Result.IsError || s.Result.Structured == nil {
		c.Fatalf("%s %v: %.600s", tool, a, s.line)
	}
	return s.Result.Structured
}

// wrong calls a tool that is to refuse, and whose model is told why.
func (c *mcpClient) wrong(tool string, a arguments, want string) {
	c.Helper()
	s := c.call(tool, a)
	if !s.Result.IsError || len(s.Result.Content) != 1 || !strings.Contains(s.Result.Content[0].Text, want) {
		c.Errorf("%s %v: %.600s, want an error with %q", tool, a, s.line, want)
	}
}
