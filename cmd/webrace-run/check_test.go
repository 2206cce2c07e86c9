package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mustBe compares two sorted lists.
func mustBe(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" && len(got)+len(want) > 0 {
		t.Errorf("%s (- want, + got):\n%s", what, diff)
	}
}

func mustSay(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("nothing says %q in:\n%s", part, text)
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
