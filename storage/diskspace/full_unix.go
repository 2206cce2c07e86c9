//go:build unix

package diskspace

import "golang.org/x/sys/unix"

// full are the errors of a system without space.
var full = []error{unix.ENOSPC, unix.EDQUOT}
