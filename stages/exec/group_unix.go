//go:build unix

package exec

import "syscall"

func terminate(pid int) { _ = syscall.Kill(-pid, syscall.SIGTERM) }

func kill(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
