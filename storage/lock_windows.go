package storage

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// locked is the byte that is locked: far behind the text, which others must be able to read meanwhile.
var locked = windows.Overlapped{OffsetHigh: 1}

// tryLock locks an open file, alone or with others who share it, or reports false if another process has.
func tryLock(f *os.File, shared bool) (bool, error) {
	at, how := locked, uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if !shared {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func unlock(f *os.File) error {
	at := locked
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at)
}
