package diskspace

import (
	"errors"
	"slices"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// IsFull reports whether an error means that there is no space: on the disk, or in a quota.
func IsFull(err error) bool {
	if err == nil {
		return false
	}
	if slices.ContainsFunc(full, func(e error) bool { return errors.Is(err, e) }) {
		return true
	}
	var failure *sqlite.Error
	return errors.As(err, &failure) && (failure.Code()&0xff == sqlite3.SQLITE_FULL || failure.Code() == sqlite3.SQLITE_IOERR_SHMSIZE)
}
