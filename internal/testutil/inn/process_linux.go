package inn

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is that of the user news, by whom alone INN lets itself be run.
func account() (uid, gid int, err error) {
	news, err := user.Lookup("news")
	if err != nil {
		return 0, 0, err
	}
	uid, _ = strconv.Atoi(news.Uid) // numbers on Linux
	gid, _ = strconv.Atoi(news.Gid)
	return uid, gid, nil
}

// isNews tells why INN cannot be run here; nil if it can.
func isNews() error {
	uid, _, err := account()
	if err == nil && os.Geteuid() != 0 && os.Geteuid() != uid {
		err = errors.New("INN is run by the user news alone, which only root can become")
	}
	return err
}

// attributes run a program as that user, which ends with the test binary, however that ends.
func attributes() *syscall.SysProcAttr {
	a := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if uid, gid, err := account(); err == nil && os.Geteuid() == 0 {
		a.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return a
}

// giveAway makes a folder, with what is in it, that of the user.
func giveAway(dir string) error {
	uid, gid, err := account()
	if err != nil || os.Geteuid() != 0 {
		return err
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, uid, gid))
	})
}
