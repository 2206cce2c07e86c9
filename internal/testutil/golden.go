package testutil

import (
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "write the files that tests compare with anew")

// Update reports whether the files that tests compare with are to be written anew.
func Update() bool { return *update }

// Golden compares with a file, in testdata or among the pages that are generated; with -update it writes the file.
func Golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; if what is made now is right, go test -update writes it. Got:\n%s", path, got)
	}
}
