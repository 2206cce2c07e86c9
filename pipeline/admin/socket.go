package admin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Listen listens on a unix socket at path, which the user of this process alone can connect to. A socket
// that is there already is replaced: the caller knows that its owner is gone, by a lock on something else.
// Closing the listener removes the socket.
func Listen(path string) (net.Listener, error) {
	// The socket is made where no other user comes, and appears under its name once no other user can connect to it.
	draft := path + ".new"
	err := os.RemoveAll(draft)
	if err == nil {
		err = os.Mkdir(draft, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	socket := filepath.Join(draft, "s")
	var inner net.Listener
	err = shortened(socket, func(short string) (err error) {
		inner, err = net.Listen("unix", short)
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen on %s: %w", path, err), os.RemoveAll(draft))
	}
	inner.(*net.UnixListener).SetUnlinkOnClose(false) // it does not know its name
	err = os.Chmod(socket, 0o600)
	if err == nil {
		err = os.Rename(socket, path)
	}
	if err = errors.Join(err, os.RemoveAll(draft)); err != nil {
		return nil, errors.Join(fmt.Errorf("listen on %s: %w", path, err), inner.Close())
	}
	return &listener{inner, path}, nil
}

// listener removes its socket when it is closed.
type listener struct {
	net.Listener
	path string
}

func (l *listener) Close() error {
	if err := os.Remove(l.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, l.Listener.Close())
	}
	return l.Listener.Close()
}

// Dial connects to the socket at path.
func Dial(ctx context.Context, path string) (c net.Conn, err error) {
	err = shortened(path, func(short string) (err error) {
		c, err = new(net.Dialer).DialContext(ctx, "unix", short)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", path, err)
	}
	return c, nil
}

// longest is how long the name of a socket may be on every system.
const longest = 100

// shortened calls f with a name of the socket that is short enough for the system: through a link in a
// directory of our own, if need be.
func shortened(path string, f func(short string) error) error {
	if len(path) <= longest {
		return f(path)
	}
	removeAbandoned()
	private, err := os.MkdirTemp("", linkPrefix)
	if err != nil {
		return err
	}
	defer os.RemoveAll(private)
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
	}
	link := filepath.Join(private, linkName)
	if err := os.Symlink(dir, link); err != nil {
		return err
	}
	return f(filepath.Join(link, filepath.Base(path)))
}

// The directories of links, and the link in each.
const linkPrefix, linkName = "webrace.sock-", "d"

// removeAbandoned removes the directories of links that processes left when they were killed. A link is needed for as
// long as a system call takes, so one that is an hour old is nobody's. What cannot be removed, such as another user's,
// stays.
func removeAbandoned() {
	all, _ := filepath.Glob(filepath.Join(os.TempDir(), linkPrefix+"*"))
	for _, dir := range all {
		if info, err := os.Lstat(dir); err == nil && time.Since(info.ModTime()) > time.Hour {
			os.Remove(filepath.Join(dir, linkName))
			os.Remove(dir)
		}
	}
}
