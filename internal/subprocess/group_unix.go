//go:build unix

package subprocess

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// Group is a process group that ends with this process, however that ends. Its leader is a guard: a shell that waits
// for the end of a pipe, which this process alone holds open, and then kills the group, itself included. The id of the
// group belongs to no other as long as the guard has not been waited for, which [Group.Close] does: so no signal ever
// goes to a stranger.
//
// What a program starts that leaves the group (setsid) is no part of this promise. Nor is, where there is no shell, as
// in an image of a container that holds nothing else, what a program on Linux has started, and anything elsewhere.
type Group struct {
	leader *exec.Cmd // the guard; where there is no shell, the command that was added
	hold   *os.File  // nil if there is no guard

	mu     sync.Mutex
	closed bool
}

// The guard must outlive the signals that the group is sent to end gently.
const guard = `trap "" HUP INT TERM; read -r end; kill -KILL 0`

const shell = "/bin/sh"

// NewGroup starts the guard of a group.
func NewGroup() (*Group, error) {
	if _, err := os.Stat(shell); errors.Is(err, fs.ErrNotExist) {
		return &Group{}, nil
	}
	read, hold, err := os.Pipe() // closed on exec: no other program holds it open
	if err != nil {
		return nil, err
	}
	defer read.Close()
	g := &Group{leader: exec.Command(shell, "-c", guard), hold: hold}
	g.leader.Stdin, g.leader.Dir, g.leader.Env = read, "/", []string{}
	g.leader.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := g.leader.Start(); err != nil {
		_ = hold.Close()
		return nil, fmt.Errorf("start the shell that ends programs with webrace: %w", err)
	}
	return g, nil
}

// Add makes a command that is still to be started a member of the group. On Linux it ends with the thread that starts
// it as well: who starts it keeps that for as long as it runs ([runtime.LockOSThread]), unless threads never end.
func (g *Group) Add(c *exec.Cmd) {
	if g.leader == nil {
		g.leader, c.SysProcAttr = c, attributes(0)
		return
	}
	c.SysProcAttr = attributes(g.leader.Process.Pid)
}

// ID returns the id of the group; 0 before there is anything in it.
func (g *Group) ID() int {
	if g.leader == nil || g.leader.Process == nil {
		return 0
	}
	return g.leader.Process.Pid
}

// Terminate asks all of the group to end.
func (g *Group) Terminate() { g.signal(syscall.SIGTERM) }

// Kill kills all of the group.
func (g *Group) Kill() { g.signal(syscall.SIGKILL) }

func (g *Group) signal(s syscall.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed && g.leader != nil && g.leader.Process != nil {
		_ = syscall.Kill(-g.leader.Process.Pid, s)
	}
}

// Close kills all of the group, and gives back what it took; who waits for the program does so before. Calling it twice
// does no harm.
func (g *Group) Close() {
	g.Kill()
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed && g.hold != nil {
		_ = g.hold.Close()
		_ = g.leader.Wait() // it was killed
	}
	g.closed = true
}
