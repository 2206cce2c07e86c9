//go:build unix && !linux

package exec

import (
	osexec "os/exec"
	"syscall"
)

// attributes put the program in a process group of its own, so that Ctrl-C lets it finish, and so that it
// ends with all that it has started. It learns from the end of its input that this process has died.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// reap waits until the process has ended.
func reap(cmd *osexec.Cmd, before func()) error {
	err := cmd.Wait()
	before()
	return err
}
