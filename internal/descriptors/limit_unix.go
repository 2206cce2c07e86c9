//go:build unix

package descriptors

import "golang.org/x/sys/unix"

var exhausted = []error{unix.EMFILE, unix.ENFILE}

// Limit returns how many descriptors this process may have: the soft limit, which the runtime of Go has raised to the
// hard one.
func Limit() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return Unlimited
	}
	return int(min(uint64(limit.Cur), Unlimited))
}
