package subprocess

import "syscall"

// attributes put a program into a group. One that leaves the group is killed all the same when the thread ends that
// has started it.
func attributes(group int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pgid: group, Pdeathsig: syscall.SIGKILL}
}
