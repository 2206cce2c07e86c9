package testutil

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Shared returns a folder of data that are too large for the repository, or not ours, as "articles": the one that the
// variable WEBRACE_ARTICLES names, else shared/articles beside the repository. Without it the test is skipped.
func Shared(t testing.TB, name string) (dir string) {
	t.Helper()
	variable := "WEBRACE_" + strings.ToUpper(name)
	dir = os.Getenv(variable)
	if dir == "" {
		dir = filepath.Join(repository(t), "../shared", name)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("the data %s are not there (%s=DIR names their folder): %v", name, variable, err)
	}
	return dir
}
