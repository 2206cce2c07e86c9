package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"
)

func TestVersionTellsCommitAndModules(t *testing.T) {
	t.Parallel()
	info := &debug.BuildInfo{
		GoVersion: "go1.26.0", Main: debug.Module{Version: "(devel)"},
		Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-11-21T12:00:00Z"}, {Key: "vcs.modified", Value: "true"}},
		Deps: []*debug.Module{
			{Path: "example.org/shout", Version: "v1.2.0"},
			{Path: "example.org/local", Version: "v0.0.0", Replace: &debug.Module{Path: "../local"}},
		},
	}
	line := fmt.Sprintf("devel, go1.26.0 %s/%s, commit abc of 2026-11-21T12:00:00Z, with changes\n", runtime.GOOS, runtime.GOARCH)
	if got := version(info, false); got != line {
		t.Errorf("%s\nwant the line %s", got, line)
	}
	want := line + "  example.org/shout v1.2.0\n  example.org/local v0.0.0 => ../local \n"
	if got := version(info, true); got != want {
		t.Errorf("%s\nwant:\n%s", got, want)
	}
	if got := version(nil, false); got == "" {
		t.Error("a build without information has no version at all")
	}
}
