package testutil

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// Disk is a file system of a few megabytes in memory, for tests to fill and enlarge. It is mounted in a directory until
// its test ends.
type Disk struct {
	Path string
	t    testing.TB
}

// NewDisk mounts a disk of so many megabytes. It skips the test where that cannot be done, as without the
// rights of root.
func NewDisk(t testing.TB, megabytes int) *Disk {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs tmpfs, which only Linux has")
	}
	d := &Disk{t.TempDir(), t}
	if err := mount(size(megabytes), d.Path); err != nil {
		t.Skip("needs to mount a file system:", err)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", d.Path).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	return d
}

// Resize changes the size of the disk.
func (d *Disk) Resize(megabytes int) {
	d.t.Helper()
	if err := mount("remount,"+size(megabytes), d.Path); err != nil {
		d.t.Fatal(err)
	}
}

// ReadOnly makes the disk one that cannot be written.
func (d *Disk) ReadOnly() {
	d.t.Helper()
	if err := mount("remount,ro", d.Path); err != nil {
		d.t.Fatal(err)
	}
}

func size(megabytes int) string { return fmt.Sprintf("size=%dm", megabytes) }

func mount(options, path string) error {
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", path).CombinedOutput()
	if err != nil {
		return fmt.Errorf("mount -o %s: %w: %s", options, err, strings.TrimSpace(string(out)))
	}
	return nil
}
