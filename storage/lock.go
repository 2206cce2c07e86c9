package storage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// LockedError says that another opener owns a data directory.
type LockedError struct {
	Dir  string
	PID  int    // of the owner; 0 when it has not said yet
	Host string // where the owner runs; empty when it has not said yet
}

func (e *LockedError) Error() string {
	owner := "another process"
	if e.PID != 0 {
		owner = fmt.Sprintf("process %d", e.PID)
		if e.Host != "" {
			owner += " on " + e.Host
		}
	}
	return fmt.Sprintf("data directory %s is in use by %s: one process runs all pipelines of a directory, so name them in one command, stop that process, or choose another --data", e.Dir, owner)
}

// lock is the ownership of a data directory. The kernel holds it for the open file, and lets go of it
// however the process ends; the file itself stays, because removing it would let two owners lock two
// files of one name.
type lock struct{ file *os.File }

func acquire(dir string) (*lock, error) {
	path := filepath.Join(dir, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock data directory: %w", err)
	}
	ours, err := tryLock(f)
	if !ours && err == nil {
		pid, host := readOwner(path)
		return nil, errors.Join(&LockedError{Dir: dir, PID: pid, Host: host}, f.Close())
	}
	if err == nil {
		err = writeOwner(f)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock data directory %s: %w", dir, err), f.Close())
	}
	return &lock{f}, nil
}

// writeOwner says who holds the lock, for the message that a second opener gets.
func writeOwner(f *os.File) error {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err = f.WriteAt(fmt.Appendf(nil, "%d %s\n", os.Getpid(), host), 0)
	return err
}

func readOwner(path string) (pid int, host string) {
	content, err := os.ReadFile(path)
	if err != nil {
		return 0, ""
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(string(content)), " ")
	if pid, err = strconv.Atoi(first); err != nil {
		return 0, ""
	}
	return pid, rest
}

// release unlocks before it closes: a program that is just being started may have the file as well.
func (l *lock) release() error {
	return errors.Join(l.file.Truncate(0), unlock(l.file), l.file.Close())
}
