package build

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
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
		c.build.Log, c.build.Step = io.Discard, func(string, int) {}
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
		c := &compiled{log: &log, step: func(what string, n int) {
			if packages = append(packages, what); n != len(packages) {
				t.Errorf("%s is package %d", what, n)
			}
		}}
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
