package postgres

import (
	"bytes"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// account is the user that a server runs as: PostgreSQL refuses root. Nil is who runs the test.
func account() *syscall.Credential {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.ParseUint(found.Uid, 10, 32) // a number on Linux
		gid, _ := strconv.ParseUint(found.Gid, 10, 32)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return nil
}

// attributes end a server with the test binary, however that ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: account(), Pdeathsig: syscall.SIGKILL}
}

// giveAway makes a folder that of the user that a server runs as.
func giveAway(dir string) error {
	if a := account(); a != nil {
		return os.Chown(dir, int(a.Uid), int(a.Gid))
	}
	return nil
}

// isOurs reports whether a folder belongs to the user that a server runs as.
func isOurs(dir string) bool {
	owner := uint32(os.Geteuid())
	if a := account(); a != nil {
		owner = a.Uid
	}
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && info.Sys().(*syscall.Stat_t).Uid == owner
}

// kill ends all processes of a server. Each of its sessions is a process group of its own, and they are found by their
// parent, which is stopped first so that it starts no more.
func (s *Server) kill() error {
	if s.process == nil {
		return nil
	}
	parent := s.process.Process.Pid
	if err := syscall.Kill(parent, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stop PostgreSQL: %w", err)
	}
	started := children(parent)
	if err := s.signalAll(syscall.SIGKILL); err != nil {
		return err
	}
	_ = s.process.Wait() // it was killed
	s.process = nil
	for _, process := range started {
		for !ended(process) { // no child of this process, which could wait for it
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

// signalAll sends a signal to all processes of a server.
func (s *Server) signalAll(signal syscall.Signal) error {
	parent := s.process.Process.Pid
	for _, process := range append([]int{parent}, children(parent)...) {
		if err := syscall.Kill(process, signal); err != nil && err != syscall.ESRCH {
			return fmt.Errorf("signal PostgreSQL: %w", err)
		}
	}
	return nil
}

// CPU returns the processor time that a server has used since it was started: of its processes, and of those that have
// ended.
func (s *Server) CPU() (used time.Duration) {
	const tick = time.Second / 100 // USER_HZ, the same on all of Linux
	parent := s.process.Process.Pid
	for _, process := range append([]int{parent}, children(parent)...) {
		fields := stat(fmt.Sprintf("/proc/%d/stat", process))
		if len(fields) < 15 {
			continue // it has ended meanwhile, and its parent has its time
		}
		for _, field := range fields[11:15] { // its own in user mode and in the kernel, and that of children
			ticks, _ := strconv.ParseInt(field, 10, 64) // a number on Linux
			used += time.Duration(ticks) * tick
		}
	}
	return used
}

func (s *Server) freeze() error { return s.signalAll(syscall.SIGSTOP) }

func (s *Server) thaw() error { return s.signalAll(syscall.SIGCONT) }

// children returns the processes that a process has started.
func children(parent int) (found []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	for _, file := range all {
		if fields := stat(file); len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			process, _ := strconv.Atoi(filepath.Base(filepath.Dir(file))) // as the pattern has it
			found = append(found, process)
		}
	}
	return found
}

// ended reports whether a process has ended, waited for or not.
func ended(process int) bool {
	fields := stat(fmt.Sprintf("/proc/%d/stat", process))
	return len(fields) == 0 || fields[0] == "Z" || fields[0] == "X"
}

// stat returns what the system tells of a process behind its name, which may be anything: its state, its parent and so
// on, as in proc(5); nothing if there is none.
func stat(file string) []string {
	content, _ := os.ReadFile(file)
	return strings.Fields(string(content[bytes.LastIndexByte(content, ')')+1:]))
}
