//go:build unix

package subprocess

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// family is a shell in a group, and its child. Both ignore what asks them to end, and hold a pipe open.
type family struct {
	*exec.Cmd
	out *os.File
}

func start(t *testing.T, g *Group) family {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	f := family{exec.Command("/bin/sh", "-c", `trap "" TERM; sleep 3600 & echo started; wait; wait`), read}
	g.Add(f.Cmd)
	f.Stdout = write
	err = f.Start()
	write.Close()
	if err == nil {
		_, err = bufio.NewReader(read).ReadString('\n')
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// mustEnd waits until neither holds the pipe open.
func (f family) mustEnd(t *testing.T) {
	t.Helper()
	defer f.out.Close()
	_ = f.out.SetReadDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.Copy(io.Discard, f.out); err != nil {
		t.Errorf("a member of the group goes on: %v", err)
	}
	_ = f.Wait() // it was killed
}

func TestClosingAGroupEndsAllOfIt(t *testing.T) {
	g, err := NewGroup()
	if err != nil {
		t.Fatal(err)
	}
	f := start(t, g)
	g.Terminate() // which all of them ignore
	if err := syscall.Kill(f.Process.Pid, 0); err != nil {
		t.Errorf("the program has ended: %v", err)
	}
	g.Close()
	g.Close()
	f.mustEnd(t)
	g.Kill() // goes to no process
}

// TestTheGuardEndsItsGroup closes the pipe, as the system does when the process dies that holds it open.
func TestTheGuardEndsItsGroup(t *testing.T) {
	g, err := NewGroup()
	if err != nil {
		t.Fatal(err)
	}
	f := start(t, g)
	if err := g.hold.Close(); err != nil {
		t.Fatal(err)
	}
	f.mustEnd(t)
	g.Close()
}
