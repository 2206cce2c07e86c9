//go:build unix && !linux

package render

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the browser a process group, by which all its processes are killed.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills a process and all in its group.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
