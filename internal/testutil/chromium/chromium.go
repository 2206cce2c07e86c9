// Package chromium opens a browser for tests that look at pages as people do.
package chromium

import (
	"os"
	"os/exec"
	"testing"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/launcher"
)

// Open starts a Chromium that ends with the test, or skips that where none is installed. Rules, as "MAP name address",
// determine how it resolves names.
func Open(t testing.TB, rules ...string) *rod.Browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("no Chromium is installed")
	}
	start := launcher.New().Bin(path).Leakless(false).Headless(true).NoSandbox(os.Geteuid() == 0).
		Set("host-resolver-rules", rules...).Set("disable-background-networking").Set("disable-dev-shm-usage").UserDataDir(t.TempDir())
	url, err := start.Launch()
	if err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	b := rod.New().ControlURL(url)
	if err := b.Connect(); err != nil {
		start.Kill()
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.Close()
		start.Kill()
		start.Cleanup()
	})
	return b
}
