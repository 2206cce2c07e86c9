package postgres

import (
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

func (s *Server) freeze() error { return s.signalAll(syscall.SIGSTOP) }

func (s *Server) thaw() error { return s.signalAll(syscall.SIGCONT) }

// children returns the processes that a process has started.
func children(parent int) (found []int) {
	all, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	for _, file := range all {
		if _, of := stat(file); of == strconv.Itoa(parent) {
			process, _ := strconv.Atoi(filepath.Base(filepath.Dir(file))) // as the pattern has it
			found = append(found, process)
		}
	}
	return found
}

// ended reports whether a process has ended, waited for or not.
func ended(process int) bool {
	state, _ := stat(fmt.Sprintf("/proc/%d/stat", process))
	return state == "" || state == "Z" || state == "X"
}

// stat returns the state and the parent of a process; nothing if there is none. Its name, in parentheses, may be
// anything.
func stat(file string) (state, parent string) {
	content, _ := os.ReadFile(file)
	fields := strings.Fields(string(content[strings.LastIndexByte(string(content), ')')+1:]))
	if len(fields) < 2 {
		return "", ""
	}
	return fields[0], fields[1]
}
