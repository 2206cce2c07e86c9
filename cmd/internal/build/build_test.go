package build

import (
	"io"
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
		c.build.Log = io.Discard
		if err := c.build.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.build, err, c.want)
		}
	}
}
