package admin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLinksOfKilledProcessesAreRemoved listens on a name that is too long, beside links that others made: what was left
// behind goes, what may be in use and what is not a link's directory stays, and so does what links lead to.
func TestLinksOfKilledProcessesAreRemoved(t *testing.T) {
	base := t.TempDir()
	temporary := filepath.Join(base, "tmp")
	t.Setenv("TMPDIR", temporary)
	data := filepath.Join(base, strings.Repeat("long", longest/4))
	for _, dir := range []string{data, filepath.Join(temporary, linkPrefix+"files", "of others")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	long := time.Now().Add(-2 * time.Hour)
	leave := func(name string, link bool, at time.Time) {
		dir := filepath.Join(temporary, linkPrefix+name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if link {
			if err := os.Symlink(data, filepath.Join(dir, linkName)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chtimes(dir, at, at); err != nil {
			t.Fatal(err)
		}
	}
	leave("killed", true, long)
	leave("killed earlier", false, long)
	leave("in use", true, time.Now())
	leave("files", false, long)

	l, err := Listen(filepath.Join(data, "webrace.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	left, err := filepath.Glob(filepath.Join(temporary, "*"))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{linkPrefix + "files", linkPrefix + "in use"}; len(left) != 2 || filepath.Base(left[0]) != want[0] || filepath.Base(left[1]) != want[1] {
		t.Errorf("left: %q, want %q", left, want)
	}
	if _, err := os.Stat(filepath.Join(data, "webrace.sock")); err != nil {
		t.Error(err)
	}
}
