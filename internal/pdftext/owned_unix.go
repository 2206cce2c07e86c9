//go:build unix

package pdftext

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedAlone reports whether a file is of the user whom the process runs as, and no other may write to it.
func ownedAlone(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o022 == 0
}
