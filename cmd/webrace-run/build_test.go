package main

import (
	"testing"
	"time"

	"github.com/webrace/webrace/cmd/internal/build"
)

func TestABuildSaysHowLongItTakes(t *testing.T) {
	for want, c := range map[string]struct {
		p     build.Progress
		since time.Duration
	}{
		"1 of 900 packages after 0s: compiling a":                {build.Progress{Doing: "compiling a", Package: 1, Packages: 900, Left: 1}, 0},
		"9 of 900 packages after 2s: compiling a":                {build.Progress{Doing: "compiling a", Package: 9, Packages: 900, Left: 0.9}, 2 * time.Second},
		"90 of 900 packages after 1m0s, 9m0s to go: compiling a": {build.Progress{Doing: "compiling a", Package: 90, Packages: 900, Left: 0.9}, time.Minute},
		"900 of 900 packages after 2m0s, 5s to go: compiling a":  {build.Progress{Doing: "compiling a", Package: 900, Packages: 900, Left: 0}, 2 * time.Minute},
		"3 of 3 packages after 10s: compiling a":                 {build.Progress{Doing: "compiling a", Package: 3, Packages: 3, Left: 1}, 10 * time.Second},
	} {
		if got := compiling(c.p, c.since); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
