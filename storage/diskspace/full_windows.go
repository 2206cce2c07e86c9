package diskspace

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// full are the errors of a system without space.
var full = []error{windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED, syscall.ENOSPC}
