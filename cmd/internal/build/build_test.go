package build

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// What is built is tried by the test of docs/plugins.md in cmd/webrace-run.

func TestWhatCannotBeBuiltSaysWhy(t *testing.T) {
	for _, c := range []struct {
		build Build
		want  string
	}{
		{Build{}, "name what to build with"},
		{Build{Source: ".", With: []string{"./nowhere"}}, "--with ./nowhere: "},
		{Build{Source: ".", With: []string{"../../.."}, Output: "x"}, "is no source of webrace"},
		{Build{Source: "../../..", With: []string{"../../.."}, Replace: []string{"nonsense"}, Output: "x"}, "--replace nonsense: it is MODULE=DIRECTORY or MODULE=MODULE@VERSION"},
	} {
		c.build.Log, c.build.Step = io.Discard, func(Progress) {}
		if err := c.build.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.build, err, c.want)
		}
	}
}

// TestWhatIsCompiledIsToldFromWhatIsSaid parts the output of the go command, however it is cut.
func TestWhatIsCompiledIsToldFromWhatIsSaid(t *testing.T) {
	const said = "go: downloading example.org/shout v1.2.0\ninternal/goarch\nexample.org/shout\n# example.org/shout\n./shout.go:3:1: undefined: x\ncommand-line-arguments\n"
	for size := 1; size <= len(said); size++ {
		var log bytes.Buffer
		var packages []string
		c := newCompiled(nil, &log, func(p Progress) {
			if packages = append(packages, p.Doing); p.Package != len(packages) {
				t.Errorf("%s is package %d", p.Doing, p.Package)
			}
		})
		for part := range slices.Chunk([]byte(said), size) {
			if _, err := c.Write(part); err != nil {
				t.Fatal(err)
			}
		}
		if want := []string{"compiling internal/goarch", "compiling example.org/shout", "compiling command-line-arguments"}; !slices.Equal(packages, want) {
			t.Errorf("compiled %q", packages)
		}
		if want := "go: downloading example.org/shout v1.2.0\n# example.org/shout\n./shout.go:3:1: undefined: x\n"; log.String() != want {
			t.Errorf("said %q", log.String())
		}
	}
}

// TestABuildIsAsFarAsItsSource compiles a long package between two short ones, and one more than was known.
func TestABuildIsAsFarAsItsSource(t *testing.T) {
	var got []Progress
	c := newCompiled(map[string]int64{"a": 10, "long": 80, "b": 10}, io.Discard, func(p Progress) { got = append(got, p) })
	if _, err := c.Write([]byte("a\nlong\nb\nplugin\n")); err != nil {
		t.Fatal(err)
	}
	want := []Progress{{"compiling a", 1, 3, 1}, {"compiling long", 2, 3, 0.9}, {"compiling b", 3, 3, 0.1}, {"compiling plugin", 4, 4, 0}}
	if !slices.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestWhatIsToBeCompiledIsKnown lists a module of which nothing was compiled yet, since its source is new, and
// again when it is in Go's cache.
func TestWhatIsToBeCompiledIsKnown(t *testing.T) {
	t.Parallel()
	dir, part := t.TempDir(), fmt.Sprintf("package part\n\nconst N = %d\n", time.Now().UnixNano())
	for name, content := range map[string]string{
		"go.mod": "module example.org/m\n\ngo 1.26\n", "cmd/webrace-run/main.go": "package main\n\nimport _ \"example.org/m/part\"\n\nfunc main() {}\n",
		"part/part.go": part, "overlay.json": "{}",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var compiling []Progress
	b := Build{Log: io.Discard, Step: func(p Progress) {
		if p.Package > 0 {
			compiling = append(compiling, p)
		}
	}}
	w := workDir{Build: b, source: dir, dir: dir, mod: filepath.Join(dir, "go.mod")}
	stale := w.stale(t.Context(), nil)
	if stale["example.org/m/part"] != int64(len(part)) || stale["example.org/m/cmd/webrace-run"] == 0 {
		t.Errorf("to be compiled: %v", stale)
	}
	if err := w.build(t.Context(), filepath.Join(dir, "program")); err != nil {
		t.Fatal(err)
	}
	if last := compiling[len(compiling)-1]; last.Package != len(stale) || last.Packages != len(stale) {
		t.Errorf("%d packages were to be compiled; the last was %v", len(stale), last)
	}
	if stale := w.stale(t.Context(), nil); len(stale) != 0 {
		t.Errorf("after the build are to be compiled: %v", stale)
	}
}
