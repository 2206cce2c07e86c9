package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/cmd/internal/cli"
)

// What packages make at the start stays below the first collection of garbage.
func TestAShortCommandCollectsNoGarbage(t *testing.T) {
	t.Parallel()
	p := newCommand(t, "--help")
	p.Env = append(slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "GOGC=") }), "GODEBUG=gctrace=1")
	p.begin()
	p.mustExit(cli.OK)
	if strings.Contains(p.said(), "gc 1 @") {
		t.Errorf("it collects garbage:\n%s", p.said())
	}
}
