package subprocess

import (
	"os/exec"
	"syscall"
)

// Group lets Ctrl-C go past a program, which learns from the end of its input that it is to end. That is all that it
// does here: who started a program kills it.
type Group struct{}

// NewGroup returns a group.
func NewGroup() (*Group, error) { return &Group{}, nil }

// Add makes a command that is still to be started a member of the group.
func (*Group) Add(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// ID returns 0: there is none.
func (*Group) ID() int { return 0 }

// Terminate does nothing.
func (*Group) Terminate() {}

// Kill does nothing.
func (*Group) Kill() {}

// Close does nothing.
func (*Group) Close() {}
