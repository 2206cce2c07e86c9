package testutil

import (
	"os/exec"
	"testing"
)

// Python returns the interpreter that Debian's packages are for. It skips the test if that cannot import some modules,
// which are separated by commas, and names the packages that bring them.
func Python(t testing.TB, modules, packages string) string {
	t.Helper()
	const python = "/usr/bin/python3"
	if out, err := exec.Command(python, "-c", "import "+modules).CombinedOutput(); err != nil {
		t.Skipf("needs %s for Python (apt-get install %s): %v, %s", modules, packages, err, out)
	}
	return python
}
