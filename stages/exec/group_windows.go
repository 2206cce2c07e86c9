package exec

import (
	"os"
	osexec "os/exec"
	"syscall"
)

// attributes let Ctrl-C go past the program, which learns from the end of its input that it is to end.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// reap waits until the process has ended.
func reap(cmd *osexec.Cmd, before func()) error {
	err := cmd.Wait()
	before()
	return err
}

func terminate(pid int) { kill(pid) }

func kill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}
