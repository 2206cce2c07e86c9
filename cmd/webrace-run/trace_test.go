package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheStandardVariablesOfOpenTelemetrySendSpansToACollector(t *testing.T) {
	t.Parallel()
	came := make(chan string, 100)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		came <- r.URL.Path + " " + string(body)
	}))
	defer collector.Close()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "pipelines.toml"), "version = 1\n[pipeline.one]\nflow = [\"lines > drop\"]\n[pipeline.one.stage.lines]\nurls = [\"http://a.example/\"]\n")
	c := exec.Command("webrace-run", "one")
	c.Dir = dir
	c.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "OTEL_SERVICE_NAME=crawler", "OTEL_TRACES_SAMPLER_ARG=1")
	if out, err := c.CombinedOutput(); err != nil || strings.Contains(string(out), "left out") {
		t.Fatalf("%v: %s", err, out)
	}
	close(came)
	all := strings.Join(readAll(came), "\n")
	for _, part := range []string{"/v1/traces {", `"stringValue":"crawler"`, `"name":"one"`, `"name":"drop"`, "http://a.example/"} {
		if !strings.Contains(all, part) {
			t.Errorf("the collector has nothing of %s: %s", part, all)
		}
	}
}

func readAll(c <-chan string) (all []string) {
	for s := range c {
		all = append(all, s)
	}
	return all
}
