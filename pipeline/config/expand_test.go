package config

import (
	"strings"
	"testing"

	"github.com/webrace/webrace/pipeline/finding"
)

// A finding about an option whose variable is not set names it, so that what was never set up can be told from what is
// wrong.
func TestWhatIsFoundNamesTheVariableWhoseDefaultTheOptionHas(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]string{
		`"${PROXY:-none}"`: "PROXY", `"a ${SET:-b} and ${HOST:-c}"`: "HOST", `"${SET:-b}"`: "", `"${EMPTY:-b}"`: "EMPTY",
		`"plain"`: "", `"$${PROXY:-none}"`: "", `"${SET}"`: "",
	} {
		for _, option := range []string{"user_agent = " + written, "hosts = [\"ok\", " + written + "]"} {
			name, _, _ := strings.Cut(option, " ")
			src := "version = 1\n[pipeline.p]\nflow = [\"fetch\"]\n[pipeline.p.stage.fetch]\n" + option + "\n"
			env := map[string]string{"SET": "x", "EMPTY": ""}
			l := newLoader(LoadOptions{Env: func(name string) (string, bool) {
				value, ok := env[name]
				return value, ok
			}})
			doc := l.read("pipelines.toml", []byte(src))
			stage := doc.root.get("pipeline").get("p").get("stage").get("fetch")
			var f finding.Finding
			l.locator(finding.Position{File: "pipelines.toml"}, []*value{stage})(&f, name, nil)
			if f.Unset != want {
				t.Errorf("%s: the variable is %q, want %q", option, f.Unset, want)
			}
		}
	}
}

// The tests that ship with a configuration which is in no file are read beside it, and only if they are asked for.
func TestTestsStandBesideAConfigurationInNoFile(t *testing.T) {
	t.Parallel()
	src := []byte("version = 1\n[pipeline.p]\nflow = [\"urds > fetch\"]\n")
	beside := []byte("[[test]]\nname = \"one\"\npipeline = \"p\"\n[[test.expect]]\nfrom = \"fetch\"\n")
	for _, asked := range []bool{true, false} {
		c, err := Parse("shipped pipelines.toml", src, LoadOptions{Registry: configRegistry(), Run: []string{}, Tests: asked, Beside: beside})
		if err != nil {
			t.Fatal(err)
		}
		if (len(c.Tests) == 1) != asked || asked && c.Tests[0].At.Pos.File != "shipped pipelines_test.toml" {
			t.Errorf("asked for: %v, read: %+v", asked, c.Tests)
		}
	}
}
