package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace"
)

// The commands of the page ask a model, by the configuration that stands there.
func TestTheCommandsOfTheAskPageAskAModel(t *testing.T) {
	t.Parallel()
	page, s, j, dir := readFile(t, "../../docs/ask.md"), newSite(t), newJudge(t), t.TempDir()
	s.page("/calls", "The deadline is May 3.")
	config := fenced(page, "toml")[0]
	const flow = "[pipeline.webrace]\n"
	shipped := string(webrace.Pipelines)
	begin := strings.Index(shipped, flow)
	end := begin + strings.Index(shipped[begin:], "\n]\n") + len("\n]\n")
	config = shipped[:begin] + replaced(t, config, "http://127.0.0.1:11434/v1", j.URL+"/v1") + shipped[end:]
	writeFile(t, filepath.Join(dir, "pipelines.toml"), strings.Replace(config, "[defaults.fetch]\n", "[defaults.fetch]\nallow_networks = [\"loopback\"]\n", 1))
	said, err := shell(dir, replaced(t, fenced(page, "sh")[0], "https://example.org/calls", s.URL+"/calls"))
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	mustSay(t, said, `no alert: llama3.2 answers no to "Is a deadline moved?": No deadline is moved.`)
	if strings.Contains(said, "no model is asked") || j.count() != 1 {
		t.Errorf("the model was asked %d times\n%s", j.count(), said)
	}
	writeFile(t, filepath.Join(dir, "urds.xml"), fenced(page, "xml")[0])
	if said, err = shell(dir, "webrace-store urd lint urds.xml\n"); err != nil || strings.Contains(said, "warning") {
		t.Errorf("%v\n%s", err, said)
	}
}

// replaced replaces what a page has.
func replaced(t *testing.T, text, old, by string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("the page has no %s any more", old)
	}
	return strings.ReplaceAll(text, old, by)
}
