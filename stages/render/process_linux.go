package render

import (
	"os/exec"
	"syscall"
)

// ownGroup gives the browser a process group, by which all its processes are killed, and lets it die with
// this program.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup kills a process and all in its group.
func killGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
