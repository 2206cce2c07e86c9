package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/webrace/webrace/xmlschema"
)

// readmeBlock returns the block of a language in the README that has some text in it.
func readmeBlock(t *testing.T, language, with string) string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, rest := range strings.Split(string(readme), "```"+language+"\n")[1:] {
		if block, _, _ := strings.Cut(rest, "```"); strings.Contains(block, with) {
			return block
		}
	}
	t.Fatalf("the README has no block of %s with %q", language, with)
	return ""
}

// The README writes what was stored to a file: each annotation once, whatever is repeated.
func TestTheFileOfTheREADMEHasEachAnnotationOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const text = "The ferry to the islands leaves an hour later than usual because of the wind, the harbour master said on Monday, and asked for patience"
	w.page("/", "start", "/a", "/b", "/c", "/d")
	for _, path := range []string{"/a", "/b", "/c"} {
		w.page(path, text) // mirrors
	}
	w.page("/d", "one more ferry")
	dir := t.TempDir()
	found := filepath.Join(dir, "found.jsonl")
	config := filepath.Join(dir, "pipelines.toml")
	writeFile(t, config, strings.Replace(readmeBlock(t, "toml", "aci-emit.new"), `"found.jsonl"`, fmt.Sprintf("%q", found), 1))
	urds := these(w.asks("ann", "/", depth(2), about("ferry")), w.asks("bob", "/", depth(2), about("harbour")))
	w.run(urds, "--config", config)
	mustBe(t, "lines", lines(t, found), "ann", "ann", "bob") // ann of the mirrors and of /d, bob of the mirrors

	for _, urd := range urds { // to be imported again: the same interests, which are matched anew
		if said, status := w.store("urd", "rm", urd.ID); status != 0 {
			t.Fatal(said)
		}
	}
	w.run(urds, append(askAll, "--config", config)...)
	mustBe(t, "lines after everything was matched again", lines(t, found), "ann", "ann", "bob")
	if n := len(w.acis()); n != 3 {
		t.Errorf("%d are stored, want 3", n)
	}
}

// lines returns the owners of the annotations in a file of JSON lines, sorted.
func lines(t *testing.T, path string) []string {
	t.Helper()
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var owners []string
	for line := range bytes.Lines(written) {
		var aci xmlschema.ACI
		if err := json.Unmarshal(line, &aci); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		owners = append(owners, aci.Owner)
	}
	slices.Sort(owners)
	return owners
}
