package mariadb

import (
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the user that a server runs as: MariaDB refuses root. Nil is who runs the test.
func account() *syscall.Credential {
	if os.Geteuid() != 0 {
		return nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil
	}
	uid, _ := strconv.ParseUint(nobody.Uid, 10, 32) // a number on Linux
	gid, _ := strconv.ParseUint(nobody.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

// attributes end a server with the test binary, however that ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: account(), Pdeathsig: syscall.SIGKILL}
}

// giveAway makes a folder, and what is in it, that of the user that a server runs as.
func giveAway(dir string) error {
	a := account()
	if a == nil {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chown(path, int(a.Uid), int(a.Gid))
	})
}
