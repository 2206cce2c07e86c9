package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/webrace/webrace/internal/testutil"
)

// TestHostileBookInTry: a document that is tried takes no more memory than in a crawl, whatever it inflates to. No
// other test runs beside it: a garbage collector that gets no processor lets more come together.
func TestHostileBookInTry(t *testing.T) {
	const inflated, most = 48 << 20, 400 << 20
	file := filepath.Join(t.TempDir(), "book.epub")
	if err := os.WriteFile(file, testutil.EPUB("T", strings.Repeat("<p>a", inflated/4)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("webrace-run", "try", "--file", file, "--type", "application/epub+zip", "--keyword", "a:5")
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "it has more than 262144 blocks of text") {
		t.Errorf("%v: %s", err, out)
	}
	if used := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10; used > most {
		t.Errorf("it takes %d MiB", used>>20)
	}
}
