package config

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/finding"
)

const hush = "hush-6f1d"

// loadWith loads a configuration of one stage with options, beside files with secrets.
func loadWith(t *testing.T, options string) (*Config, error) {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{
		"pipelines.toml": "version = 1\n[pipeline.a]\nflow = \"urds > fetch > print\"\n[pipeline.a.stage.fetch]\n" + strings.ReplaceAll(options, "DIR", dir) + "\n",
		"secret":         hush + "\n", "empty": "\n", "large": hush + strings.Repeat("a", 64<<10), "binary": hush + "\xff",
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Load(filepath.Join(dir, "pipelines.toml"), LoadOptions{Registry: configRegistry()})
}

func TestTheSecretOfAFileIsReadAndNotShown(t *testing.T) {
	t.Parallel()
	c, err := loadWith(t, `
realm.near.password = "${file:secret}"
realm.far.password = "Bearer ${file:DIR/secret}$${x}"`)
	if err != nil {
		t.Fatal(err)
	}
	g, err := c.Graph("a")
	if err != nil {
		t.Fatal(err)
	}
	realms := g.Stages[1].Options.(fetchOptions).Realms
	for name, want := range map[string]string{"near": hush, "far": "Bearer " + hush + "${x}"} {
		if got := realms[name].Password.Reveal(); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, setting := range Settings(g.Stages[1]) {
		if strings.Contains(setting.Value, hush) {
			t.Errorf("%s shows it: %s", setting.Name, setting.Value)
		}
	}
	if shown := fmt.Sprintf("%+v", *g.Stages[1]); strings.Contains(shown, hush) || !strings.Contains(shown, pipeline.NewSecret("x").String()) {
		t.Errorf("the stage shows it: %s", shown)
	}
}

func TestWhatIsWrongWithTheFileOfASecretIsSaidAtItsPlace(t *testing.T) {
	t.Parallel()
	for options, want := range map[string]string{
		`realm.a.password = "x ${file:none}"`:         "pipelines.toml:5:23: there is no file DIR/none: put the secret there",
		`realm.a.password = "${file:empty}"`:          "pipelines.toml:5:21: DIR/empty holds nothing",
		`realm.a.password = "${file:large}"`:          "DIR/large holds more than 64 KB",
		`realm.a.password = "${file:binary}"`:         "DIR/binary holds what is no text",
		`realm.a.password = "${file:.}"`:              "DIR is a directory",
		`realm.a.password = "${file:}"`:               "names no file: it is written ${file:PATH}",
		`realm.a.password = "${file:${HOME}/secret}"`: "a variable within ${file:PATH} is not replaced",
		`realm.a.password = "${file:secret"`:          "${ begins a variable",
		`user_agent = "x/${file:secret}"`:             "pipelines.toml:5:17: ${file:PATH} is a secret, and would be shown here",
		`delay = "${file:secret}"`:                    "would be shown here",
		`headers = { X = "${file:secret}" }`:          "would be shown here",
	} {
		_, err := loadWith(t, options)
		found, ok := err.(finding.List)
		var said bytes.Buffer
		if ok {
			_ = found.Format(&said, false)
		}
		dir := ""
		if ok && len(found) > 0 {
			dir = filepath.Dir(found[0].Pos.File)
		}
		if text := strings.ReplaceAll(said.String(), dir, "DIR"); !strings.Contains(text, want) || len(found) != 1 || strings.Contains(text, hush) {
			t.Errorf("%s: %v\n%s\nwant %q", options, err, text, want)
		}
	}
	for _, toml := range []string{`data = "${file:secret}"`, "include = \"${file:secret}\"", "memory = \"${file:secret}\""} {
		_, err := Parse("p.toml", []byte("version = 1\n"+toml), LoadOptions{Registry: configRegistry()})
		if err == nil || !strings.Contains(err.Error(), "${file:PATH} is a secret") && !strings.Contains(err.Error(), "only a file can include") {
			t.Errorf("%s: %v", toml, err)
		}
	}
}
