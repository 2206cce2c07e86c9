package subprocess

import (
	"os/exec"
	"testing"
	"time"
)

// TestMemoryIsThatOfTheGroupAlone has a child of a program take memory: it is the group's, and not that of another one.
func TestMemoryIsThatOfTheGroupAlone(t *testing.T) {
	t.Parallel()
	const taken = 32 << 20
	groups := make([]*Group, 2)
	for i, script := range []string{"sleep 3600", `(x=$(head -c 33554432 /dev/zero | tr '\0' x); sleep 3600) & wait`} {
		g, err := NewGroup()
		if err != nil {
			t.Fatal(err)
		}
		c := exec.Command("/bin/sh", "-c", script)
		g.Add(c)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { g.Close(); _ = c.Wait() })
		groups[i] = g
	}
	for patience := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		has := Memory(groups...)
		if has[0] > taken/2 {
			t.Fatalf("a group that takes nothing has %d bytes", has[0])
		}
		if has[1] > taken {
			return
		}
		if time.Now().After(patience) {
			t.Fatalf("a group whose child takes %d bytes has %d", taken, has[1])
		}
	}
}
