//go:build unix && !linux

package subprocess

import "syscall"

// attributes put a program into a group.
func attributes(group int) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pgid: group}
}
