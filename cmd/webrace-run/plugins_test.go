package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestThePageOnPluginsIsTrue does what docs/plugins.md describes, in an empty directory: the commands of each
// section run one after the other, and files that it shows are those that there are.
func TestThePageOnPluginsIsTrue(t *testing.T) {
	t.Parallel()
	source, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(source, "docs", "plugins.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "<title>Iris</title><p>passed")
	}))
	t.Cleanup(page.Close)
	for heading, c := range map[string]struct{ needs, file string }{
		"In Python": {"python3", "shout/shout.py"}, "In Go": {"go", ""},
	} {
		t.Run(heading, func(t *testing.T) {
			t.Parallel()
			if c.needs == "go" && testing.Short() {
				t.Skip("builds a program: not in short mode")
			}
			if _, err := exec.LookPath(c.needs); err != nil {
				t.Skip(c.needs, "is not here")
			}
			_, section, found := strings.Cut(string(text), "\n## "+heading+"\n")
			section, _, _ = strings.Cut(section, "\n## ")
			commands := strings.Join(fenced(section, "sh"), "")
			if !found || commands == "" {
				t.Fatal("the page has no such commands")
			}
			dir := t.TempDir()
			out, err := shell(dir, commands, "START="+page.URL, "WEBRACE_SOURCE="+source, "PYTHONDONTWRITEBYTECODE=1")
			if err != nil || !strings.Contains(out, "IRIS!!!") || !strings.Contains(out, "1 page ") {
				t.Fatalf("%v\n%s", err, out)
			}
			if c.file == "" {
				return
			}
			if got, err := os.ReadFile(filepath.Join(dir, c.file)); err != nil || string(got) != fenced(section, "python")[0] {
				t.Errorf("%s is not what the page shows: %v\n%s", c.file, err, got)
			}
			table := fenced(section, "toml")[0]
			if got, err := os.ReadFile(filepath.Join(dir, "shout", "pipelines.toml")); err != nil || !strings.Contains(string(got), table) {
				t.Errorf("pipelines.toml does not have what the page shows: %v\n%s", err, got)
			}
		})
	}
}

// fenced returns the blocks of a language.
func fenced(text, language string) (blocks []string) {
	for _, match := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, match[1])
	}
	return blocks
}
