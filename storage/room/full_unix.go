//go:build unix

package room

import "golang.org/x/sys/unix"

// full are the errors of a system without room.
var full = []error{unix.ENOSPC, unix.EDQUOT}
