package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestEditorsFindMistakesByTheSchema has taplo, which is behind the TOML support of editors, lint pipelines
// with the schema that ships.
func TestEditorsFindMistakesByTheSchema(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("taplo takes seconds")
	}
	lint := taplo(t)
	shipped, err := os.ReadFile("../../pipelines.toml")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile("../../pipelines_test.toml")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := lint(string(shipped) + string(tests)); err != nil {
		t.Errorf("the shipped pipelines and their tests do not fit the schema: %v\n%s", err, out)
	}
	out, err := lint("version = 1\ndta = \"x\"\n[defaults.fetch]\nusr_agent = \"x\"\n[pipeline.p]\nflow = [\"lines > print\"]\n" +
		"[pipeline.p.stage.lines]\ndepht = 2\n[[test]]\nname = \"x\"\npipeline = \"p\"\nexpct = []\nexpect = []\n")
	if err == nil {
		t.Errorf("taplo finds nothing wrong:\n%s", out)
	}
	for _, wrong := range []string{"dta", "usr_agent", "depht", "expct"} {
		if !strings.Contains(out, wrong) {
			t.Errorf("taplo does not find %q:\n%s", wrong, out)
		}
	}
}

// taplo returns a function that lints a file with the schema; where the program cannot be had, the test is
// skipped.
func taplo(t *testing.T) func(text string) (string, error) {
	t.Helper()
	program, err := exec.LookPath("taplo")
	if err != nil {
		if _, err := exec.LookPath("npx"); err != nil {
			t.Skip("neither taplo nor npx is installed")
		}
		out, err := outputOf(t, "npx", "--yes", "--package", "@taplo/cli@0.7.0", "--call", "command -v taplo")
		lines := strings.Fields(out)
		if err != nil || len(lines) == 0 {
			t.Skipf("npx cannot have taplo: %v: %s", err, out)
		}
		program = lines[len(lines)-1]
	}
	schema, err := filepath.Abs("../../docs/pipelines.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) (string, error) {
		path := filepath.Join(t.TempDir(), "pipelines.toml")
		writeFile(t, path, strings.Replace(text, "#:schema ./docs/pipelines.schema.json", "", 1))
		return outputOf(t, program, "lint", "--schema", "file://"+filepath.ToSlash(schema), path)
	}
}

// outputOf runs a program and returns all that it prints.
func outputOf(t *testing.T, program string, arguments ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, arguments...).CombinedOutput()
	return string(out), err
}
