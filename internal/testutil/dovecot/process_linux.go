package dovecot

import (
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// ordinary is the user that the server runs as where the test is run by root.
const ordinary, ordinaryGroup = "nobody", "nogroup"

// credential is that of the ordinary user; nil where the server runs as the test does.
func credential() *syscall.Credential {
	if os.Geteuid() != 0 {
		return nil
	}
	found, err := user.Lookup(ordinary)
	if err != nil {
		return nil
	}
	uid, _ := strconv.ParseUint(found.Uid, 10, 32) // a number on Linux
	gid, _ := strconv.ParseUint(found.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// attributes end the server, and with it its processes, with the test binary, however that ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: credential(), Pdeathsig: syscall.SIGTERM}
}

// giveAway makes a folder, with all that is in it, that of the user that the server runs as.
func giveAway(dir string) error {
	c := credential()
	if c == nil {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(c.Uid), int(c.Gid))
	})
}
