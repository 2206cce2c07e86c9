package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOnlyRequestsBetweenTheLastTwoMarksCount(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	text := "404 /mark-1\n200 /before\n404 /mark-2\n200 /robots.txt\n200 /a\n404 /dead\n304 /a\n404 /mark-3\n200 /after\n"
	if err := os.WriteFile(log, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	s := &site{log: log, marks: 3}
	got, err := s.sinceMark()
	if err != nil {
		t.Fatal(err)
	}
	if got.total != 3 || len(got.times) != 2 || !got.found["/a"] || got.found["/dead"] {
		t.Errorf("got %+v", got)
	}
	r := &crawlResult{pages: 10}
	r.add(got, []string{"/a", "/dead"}, usage{}, true)
	if r.pages != 1 || r.missed != 1 || r.requests != 3 || r.refetched != 1 {
		t.Errorf("counted %+v", r)
	}
}
