package exec

import (
	"errors"
	osexec "os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes put the program in a process group of its own, so that Ctrl-C lets it finish, and so that it
// ends with all that it has started; and let it be killed when this process dies, however that comes.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// reap waits until the process has ended. before is called while its id is still its own.
func reap(cmd *osexec.Cmd, before func()) error {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	before()
	return cmd.Wait()
}
