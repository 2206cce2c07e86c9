package all

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/pipeline/finding"
)

// TestEveryCodeIsExplainedByAnExampleThatHasIt compares docs/lint.md with the codes that there are, and lints
// its examples.
func TestEveryCodeIsExplainedByAnExampleThatHasIt(t *testing.T) {
	sections := strings.Split(read(t, "lint.md"), "\n### `")[1:]
	var explained []string
	for _, section := range sections {
		code, text, _ := strings.Cut(section, "`\n")
		explained = append(explained, code)
		_, rest, found := strings.Cut(text, "```toml\n")
		example, _, closed := strings.Cut(rest, "```")
		if code == string(finding.CodeStage) { // no file has it
			continue
		}
		if !found || !closed {
			t.Errorf("%s has no example", code)
			continue
		}
		if found := lint(t, example); !slices.ContainsFunc(found, func(f finding.Finding) bool { return string(f.Code) == code && f.Message != "" }) {
			t.Errorf("the example of %s has %v", code, found)
		}
	}
	slices.Sort(explained)
	codes := codes(t)
	if !slices.Equal(explained, codes) {
		t.Errorf("docs/lint.md explains\n%q\nand there are\n%q", explained, codes)
	}
}

var command = regexp.MustCompile(`^# webrace-run (.*)\n`)

// lint returns what is found in an example, by the command in its first line if there is one.
func lint(t *testing.T, example string) finding.List {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipelines.toml")
	if err := os.WriteFile(path, []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	o := config.LoadOptions{Env: func(string) (string, bool) { return "", false }}
	check := false
	if match := command.FindStringSubmatch(example); match != nil {
		words := strings.Fields(match[1])
		switch words[0] {
		case "check":
			check = true
		case "test":
			o.Tests = true
		default:
			o.Run = words[:1]
		}
		if len(words) > 2 {
			o.Set = words[2:]
		}
	}
	config, err := config.Load(path, o)
	var found finding.List
	if err != nil && !errors.As(err, &found) {
		t.Fatal(err)
	}
	if err == nil {
		found = config.Warnings
	}
	if check && err == nil {
		graph, err := config.Graph("news")
		if err != nil {
			t.Fatal(err)
		}
		found, _ = graph.Probe(t.Context(), pipeline.RunOptions{}, 10*time.Second)
	}
	return found
}

// codes returns the values of the constants of the type Code, as the source has them.
func codes(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob("../../pipeline/finding/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no source of package finding: %v", err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Code" && len(spec.Values) == 1 {
				if text, ok := spec.Values[0].(*ast.BasicLit); ok {
					code, err := strconv.Unquote(text.Value)
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, code)
				}
			}
			return true
		})
	}
	slices.Sort(all)
	return all
}

// TestSendersThatAreAnsweredTooEarlyOrTooLate lints http-in before stages that keep items or not.
func TestSendersThatAreAnsweredTooEarlyOrTooLate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flow, options string
		want          finding.Code // "": none
	}{
		{"http-in > drop", ``, ""},
		{"http-in > write-file", `http-in.answer = "accepted"`, finding.CodeLossy},
		{"http-in > map > http-out", `http-in.answer = "accepted"`, finding.CodeLossy},
		{"http-in > queue > write-file", `http-in.answer = "accepted"`, ""},
		{"http-in > map > queue > write-file", `http-in.answer = "accepted"`, ""},
		{"http-in > frontier > fetch > drop", `http-in = { answer = "accepted", format = "urls" }`, ""},
		{"http-in > write-file", ``, ""},
		{"http-in > http-out", ``, ""},

		{"http-in > window > write-file", `window.size = "1h"`, finding.CodeTimeout},
		{"http-in > window > write-file", `window.size = "10s"`, ""},
		{"http-in > window > write-file", `window = { size = "10s", time = "at" }`, finding.CodeTimeout},
		{"http-in > window > write-file", `window = { size = "1h", hold = false }`, ""},
		{"http-in > window > batch > write-file", `window = { size = "1h", hold = false }, batch.period = "1h"`, ""},
		{"http-in > window > write-file", `window.count = 100`, finding.CodeTimeout}, // or a minute
		{"http-in > window > write-file", `window = { count = 100, period = "1s" }`, ""},
		{"http-in > window > write-file", `window.size = "1h", http-in.timeout = "2h"`, ""},
		{"http-in > queue > window > write-file", `window.size = "1h"`, ""},
		{"http-in > batch > write-file", ``, ""},
		{"http-in > map > batch > write-file", `batch.period = "1m"`, finding.CodeTimeout},
		{"http-in > batch > write-file", `batch = { period = "1m", bytes = "1MB" }`, finding.CodeTimeout},
		{"http-in > batch > write-file", `batch = { period = "1m", count = 1 }`, ""},
		{"http-in > http-out", `http-out.batch = { count = 100, period = "1m" }`, finding.CodeTimeout},
	} {
		options := `write-file.path = "x.jsonl", http-out.url = "http://127.0.0.1:1/", map.set = { a = "1" }, ` + c.options
		found := lint(t, "version = 1\n[pipeline.news]\nflow = [\""+c.flow+"\"]\nstage = { "+strings.TrimSuffix(options, ", ")+" }\n")
		found = slices.DeleteFunc(found, func(f finding.Finding) bool { return f.Code == finding.CodeUnused })
		if got := found.Error(); c.want == "" && got != "" || c.want != "" && (len(found) != 1 || found[0].Code != c.want || !found[0].Warning) {
			t.Errorf("%s with %s: %s, want %q", c.flow, c.options, got, c.want)
		}
	}
}
