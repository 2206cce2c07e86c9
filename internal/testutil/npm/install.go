package npm

import (
	"context"
	"os/exec"
	"testing"
	"time"
)

// installTime is how long an installation may take.
const installTime = 3 * time.Minute

// Install installs packages, each as NAME@VERSION, with what they depend on, and returns the folder whose node_modules
// has them. None of their scripts is run. It skips the test where npm is missing, or cannot have them.
func Install(t testing.TB, names ...string) string {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not installed")
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), installTime)
	defer cancel()
	args := append([]string{"install", "--prefix", dir, "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline"}, names...)
	c := exec.CommandContext(ctx, "npm", args...)
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Skipf("npm cannot install %s: %v: %s", names, err, out)
	}
	return dir
}
