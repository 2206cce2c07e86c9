//go:build unix

package readfile

import (
	"os"
	"syscall"
)

// identify returns what a file is known by under any name.
func identify(_ string, info os.FileInfo) (device, inode uint64) {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(stat.Dev), uint64(stat.Ino)
	}
	return 0, 0
}
